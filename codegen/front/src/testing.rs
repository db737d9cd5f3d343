//! What tests of all formats share.

pub(crate) mod flatbuffer;

/// A small deterministic generator (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A file in which some bytes are others, often one of `bytes`. The first `intact` ones stay.
pub(crate) fn damaged(file: &[u8], intact: usize, bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = file.to_vec();
    for _ in 0..=random.below(3) {
        let at = intact + random.below(damaged.len() - intact);
        damaged[at] = match random.below(2) {
            0 => bytes[random.below(bytes.len())],
            _ => random.below(256) as u8,
        };
    }
    damaged
}

/// A zip file with these files, stored as they are.
pub(crate) fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let short = |list: &mut Vec<u8>, number: usize| list.extend((number as u16).to_le_bytes());
    let long = |list: &mut Vec<u8>, number: usize| list.extend((number as u32).to_le_bytes());
    for (name, data) in files {
        let header = bytes.len();
        bytes.extend(b"PK\x03\x04");
        bytes.extend([0; 14]);
        directory.extend(b"PK\x01\x02");
        directory.extend([0; 16]);
        for list in [&mut bytes, &mut directory] {
            long(list, data.len());
            long(list, data.len());
            short(list, name.len());
            short(list, 0);
        }
        directory.extend([0; 10]);
        long(&mut directory, header);
        bytes.extend(name.as_bytes());
        bytes.extend(data);
        directory.extend(name.as_bytes());
    }
    let at = bytes.len();
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06");
    bytes.extend([0; 4]);
    short(&mut bytes, files.len());
    short(&mut bytes, files.len());
    long(&mut bytes, directory.len());
    long(&mut bytes, at);
    short(&mut bytes, 0);
    bytes
}
