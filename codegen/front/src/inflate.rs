//! Decompression of DEFLATE streams (RFC 1951), as zip files have them.

/// Longest code of a symbol, in bits.
const LONGEST: usize = 15;

/// The order in which the lengths of the code of lengths are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// What a stream holds: exactly `size` bytes. `None` for a damaged one, or one that holds another number of bytes.
///
/// `size` bytes are allocated as they are found: the caller bounds it.
pub(crate) fn inflate(stream: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes: stream, at: 0, held: 0, count: 0 };
    let mut all = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut all, size)?,
            1 => {
                let lengths: Vec<u8> = (0..288)
                    .map(|symbol| match symbol {
                        0..=143 => 8,
                        144..=255 => 9,
                        256..=279 => 7,
                        _ => 8,
                    })
                    .collect();
                let (literals, distances) = (Code::of(&lengths)?, Code::of(&[5; 30])?);
                block(&mut bits, &literals, &distances, &mut all, size)?;
            }
            2 => {
                let (literals, distances) = codes(&mut bits)?;
                block(&mut bits, &literals, &distances, &mut all, size)?;
            }
            _ => return None,
        }
        if is_last {
            return (all.len() == size).then_some(all);
        }
    }
}

/// The bits of a stream, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    /// The next bits as a number; up to 16.
    fn take(&mut self, count: u32) -> Option<u32> {
        while self.count < count {
            self.held |= u32::from(*self.bytes.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let number = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        Some(number)
    }
}

/// Bytes that are stored as they are.
fn stored(bits: &mut Bits<'_>, all: &mut Vec<u8>, size: usize) -> Option<()> {
    // They begin at a whole byte.
    (bits.held, bits.count) = (0, 0);
    let header = bits.bytes.get(bits.at..bits.at.checked_add(4)?)?;
    let length = u16::from_le_bytes([header[0], header[1]]);
    if length != !u16::from_le_bytes([header[2], header[3]]) {
        return None;
    }
    let first = bits.at + 4;
    let bytes = bits.bytes.get(first..first.checked_add(length.into())?)?;
    if bytes.len() > size - all.len() {
        return None;
    }
    all.extend_from_slice(bytes);
    bits.at = first + bytes.len();
    Some(())
}

/// A prefix code: how many symbols have a code of each length, and the symbols in the order of their codes.
struct Code {
    counts: [u16; LONGEST + 1],
    symbols: Vec<u16>,
}

impl Code {
    /// The code of symbols with these lengths; 0 for symbols without a code. `None` where the codes would not be distinct.
    fn of(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0u16; LONGEST + 1];
        for &length in lengths {
            *counts.get_mut(usize::from(length))? += 1;
        }
        counts[0] = 0;
        let mut left = 1i32;
        for &count in &counts[1..] {
            left = (left << 1) - i32::from(count);
            if left < 0 {
                return None;
            }
        }
        let mut firsts = [0u16; LONGEST + 2];
        for length in 1..=LONGEST {
            firsts[length + 1] = firsts[length] + counts[length];
        }
        let mut symbols = vec![0; lengths.iter().filter(|&&length| length > 0).count()];
        for (symbol, &length) in lengths.iter().enumerate().filter(|(_, &length)| length > 0) {
            let place = &mut firsts[usize::from(length)];
            symbols[usize::from(*place)] = symbol as u16;
            *place += 1;
        }
        Some(Code { counts, symbols })
    }

    /// The next symbol.
    fn next(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for length in 1..=LONGEST {
            code |= bits.take(1)? as i32;
            let count = i32::from(self.counts[length]);
            if code - first < count {
                let at = usize::try_from(index + code - first).ok()?;
                return self.symbols.get(at).map(|&symbol| symbol.into());
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// The codes that stand at the beginning of a block.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let literals = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let count = bits.take(4)? as usize + 4;
    let mut own = [0u8; 19];
    for &place in &ORDER[..count] {
        own[place] = bits.take(3)? as u8;
    }
    let own = Code::of(&own)?;
    let mut lengths = Vec::new();
    while lengths.len() < literals + distances {
        let (length, times) = match own.next(bits)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat_n(length, times as usize));
    }
    if lengths.len() != literals + distances {
        return None;
    }
    Some((Code::of(&lengths[..literals])?, Code::of(&lengths[literals..])?))
}

/// Bytes, and repetitions of bytes that stand before.
fn block(
    bits: &mut Bits<'_>,
    literals: &Code,
    distances: &Code,
    all: &mut Vec<u8>,
    size: usize,
) -> Option<()> {
    loop {
        match literals.next(bits)? {
            byte @ 0..=255 if all.len() < size => all.push(byte as u8),
            256 => return Some(()),
            symbol @ 257..=285 => {
                let length = match symbol - 257 {
                    short @ 0..=7 => 3 + short,
                    28 => 258,
                    group => extended(bits, group, 4)? + 3,
                };
                let distance = match distances.next(bits)? {
                    near @ 0..=3 => 1 + near,
                    group @ 4..=29 => extended(bits, group, 2)? + 1,
                    _ => return None,
                };
                let first = all.len().checked_sub(distance)?;
                if length > size - all.len() {
                    return None;
                }
                for at in first..first + length {
                    all.push(all[at]);
                }
            }
            _ => return None,
        }
    }
}

/// A number of which a symbol says the first bits: `steps` symbols for each number of further bits.
fn extended(bits: &mut Bits<'_>, symbol: usize, steps: usize) -> Option<usize> {
    let extra = (symbol / steps - 1) as u32;
    Some(((steps + symbol % steps) << extra) + bits.take(extra)? as usize)
}

#[cfg(test)]
mod tests {
    use super::inflate;

    #[test]
    fn reads_what_other_programs_wrote() {
        // Fixed codes: "abcabcabcabc" of zlib.
        let fixed = [0x4b, 0x4c, 0x4a, 0x4e, 0x84, 0x21, 0x00];
        assert_eq!(inflate(&fixed, 12).as_deref(), Some(&b"abcabcabcabc"[..]));
        let stored = [0x01, 0x03, 0x00, 0xfc, 0xff, b'a', b'b', b'c'];
        assert_eq!(inflate(&stored, 3).as_deref(), Some(&b"abc"[..]));
        // Another number of bytes than is declared.
        assert_eq!((inflate(&fixed, 11), inflate(&fixed, 13), inflate(&stored, 2)), (None, None, None));
        assert_eq!(inflate(&[], 0), None);
    }

    #[test]
    fn reads_codes_of_its_own() {
        let stream = TEXT;
        let text: String = (0..40).map(|k| format!("x{} = torch.add(x{}, {});\n", k + 1, k, k * k)).collect();
        assert_eq!(inflate(stream, text.len()).as_deref(), Some(text.as_bytes()));
        // Damaged streams end.
        for at in 0..stream.len() {
            for bit in 0..8 {
                let mut damaged = stream.to_vec();
                damaged[at] ^= 1 << bit;
                let _ = inflate(&damaged, text.len());
            }
        }
    }

    /// The text, as zlib wrote it.
    #[rustfmt::skip]
    const TEXT: &[u8] = &[
        93, 211, 189, 78, 3, 49, 16, 4, 224, 158, 167, 112, 9, 146, 133, 188, 59, 182, 207, 86, 196,
        195, 32, 82, 208, 33, 33, 138, 60, 62, 251, 147, 198, 211, 206, 197, 231, 157, 239, 54, 15,
        41, 31, 229, 239, 231, 247, 235, 251, 253, 243, 126, 127, 125, 180, 90, 218, 219, 237, 229,
        161, 103, 44, 181, 136, 199, 56, 99, 173, 165, 123, 220, 207, 24, 181, 108, 143, 199, 25,
        119, 123, 201, 244, 124, 158, 249, 168, 69, 135, 231, 215, 153, 207, 90, 16, 191, 95, 103,
        126, 217, 173, 241, 254, 125, 230, 171, 150, 25, 227, 72, 59, 31, 236, 90, 86, 140, 47, 212,
        86, 172, 174, 180, 40, 44, 220, 216, 43, 107, 158, 162, 214, 98, 181, 165, 231, 77, 212, 92,
        224, 29, 99, 56, 161, 246, 226, 245, 119, 244, 17, 2, 16, 23, 72, 2, 33, 3, 153, 142, 147,
        167, 136, 65, 204, 65, 87, 222, 69, 18, 98, 20, 208, 152, 80, 201, 66, 182, 171, 70, 47, 37,
        13, 53, 141, 158, 26, 74, 26, 106, 26, 189, 231, 41, 222, 1, 95, 130, 149, 119, 145, 134,
        154, 198, 208, 152, 80, 73, 67, 77, 99, 92, 209, 75, 73, 67, 77, 99, 166, 134, 146, 134,
        154, 198, 124, 158, 34, 13, 53, 141, 235, 121, 23, 105, 168, 105, 92, 57, 33, 72, 67, 125,
        53, 178, 23, 72, 3, 166, 177, 83, 3, 164, 1, 211, 216, 105, 8, 210, 128, 239, 70, 75, 122,
        240, 223, 194, 151, 163, 229, 23, 3, 121, 192, 183, 67, 242, 67, 131, 64, 48, 124, 21, 83,
        4, 36, 130, 233, 207, 114, 173, 64, 36, 48, 18, 65, 110, 35, 200, 4, 43, 118, 56, 255, 189,
        132, 2, 67, 145, 17, 187, 255, 15,
    ];
}
