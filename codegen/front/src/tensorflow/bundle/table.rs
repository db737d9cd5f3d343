//! Sorted tables in LevelDB's format: blocks of keys with values, where a key repeats the beginning of the one before; an index of blocks; a footer.

use super::snappy;
use crate::budget::Budget;
use crate::protobuf::Message;
use crate::tensorflow::proto::{Failure, Parsed};

const FOOTER: usize = 48;
const MAGIC: [u8; 8] = 0xdb47_7524_8b80_fb57_u64.to_le_bytes();

/// Bytes behind a block: how it is compressed, and its checksum.
const TRAILER: usize = 5;

fn broken(what: &str) -> Failure {
    Failure::Broken(format!("the table of variables (variables.index) {what}"))
}

/// What is called with each key and its value.
type Each<'e> = dyn FnMut(&[u8], &[u8], &mut Budget) -> Parsed<()> + 'e;

/// All entries of a table, in the order of keys.
pub(super) fn entries(file: &[u8], budget: &mut Budget, each: &mut Each<'_>) -> Parsed<()> {
    let begin = file.len().checked_sub(FOOTER).ok_or_else(|| broken("is cut short"))?;
    let footer = &file[begin..];
    if !footer.ends_with(&MAGIC) {
        return Err(broken("is cut short, or no such table"));
    }
    let mut handles = Message(footer);
    // Of blocks about blocks, which no bundle has.
    handles.varint()?;
    handles.varint()?;
    let (offset, size) = (handles.varint()?, handles.varint()?);
    let index = block(file, offset, size, budget)?;
    walk(index.bytes(), budget, &mut |_, handle, budget| {
        let mut handle = Message(handle);
        let own = block(file, handle.varint()?, handle.varint()?, budget)?;
        walk(own.bytes(), budget, each)
    })
}

/// The contents of a block.
enum Block<'a> {
    Plain(&'a [u8]),
    Made(Vec<u8>),
}

impl Block<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Block::Plain(bytes) => bytes,
            Block::Made(bytes) => bytes,
        }
    }
}

fn block<'a>(file: &'a [u8], offset: u64, size: u64, budget: &mut Budget) -> Parsed<Block<'a>> {
    let range = || {
        let (offset, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
        let end = offset.checked_add(size)?;
        Some((file.get(offset..end)?, file.get(end..end.checked_add(TRAILER)?)?))
    };
    let (bytes, trailer) = range().ok_or_else(|| broken("has a block beyond its end"))?;
    let &[kind, a, b, c, d] = trailer else { return Err(broken("is cut short")) };
    // A block can be named more than once.
    budget.charge(bytes.len())?;
    if u32::from_le_bytes([a, b, c, d]) != masked_crc(&[bytes, &[kind]]) {
        return Err(broken("is damaged: a block does not fit its checksum"));
    }
    match kind {
        0 => Ok(Block::Plain(bytes)),
        1 => snappy::decompressed(bytes, budget).map(Block::Made),
        _ => Err(broken("has a block that is compressed in an unknown way")),
    }
}

/// All entries of a block.
fn walk(block: &[u8], budget: &mut Budget, each: &mut Each<'_>) -> Parsed<()> {
    let cut = || broken("has a block that is cut short");
    let (front, count) = block.split_last_chunk::<4>().ok_or_else(cut)?;
    let restarts = (u32::from_le_bytes(*count) as usize).checked_mul(4).ok_or_else(cut)?;
    let end = front.len().checked_sub(restarts).ok_or_else(cut)?;
    let mut rest = Message(&front[..end]);
    let mut key = Vec::new();
    while !rest.0.is_empty() {
        let mut number = || -> Parsed<usize> { usize::try_from(rest.varint()?).map_err(|_| cut()) };
        let (shared, own, value) = (number()?, number()?, number()?);
        let (added, behind) = rest.0.split_at_checked(own).ok_or_else(cut)?;
        let (value, behind) = behind.split_at_checked(value).ok_or_else(cut)?;
        if shared > key.len() {
            return Err(broken("has a key that repeats more than there is"));
        }
        // Keys that repeat long ones are work without bytes.
        budget.charge(shared / 8)?;
        key.truncate(shared);
        key.extend_from_slice(added);
        each(&key, value, budget)?;
        rest.0 = behind;
    }
    Ok(())
}

/// A checksum as these files have it: CRC-32C, turned and shifted.
pub(super) fn masked_crc(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut crc, mut bit) = (byte as u32, 0);
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8;
    let crc = !parts.iter().copied().flatten().fold(!0, step);
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
pub(in crate::tensorflow) mod testing {
    use super::*;

    fn varint(out: &mut Vec<u8>, mut number: usize) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    fn written(entries: &[(&[u8], Vec<u8>)]) -> Vec<u8> {
        let (mut block, mut before) = (Vec::new(), &b""[..]);
        for (key, value) in entries {
            let shared = key.iter().zip(before).take_while(|(a, b)| a == b).count();
            [shared, key.len() - shared, value.len()].into_iter().for_each(|n| varint(&mut block, n));
            block.extend_from_slice(&key[shared..]);
            block.extend_from_slice(value);
            before = key;
        }
        block.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0]);
        block
    }

    /// A block as one literal of Snappy.
    fn packed(block: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        varint(&mut packed, block.len());
        packed.extend_from_slice(&[61 << 2, (block.len() - 1) as u8, ((block.len() - 1) >> 8) as u8]);
        packed.extend_from_slice(block);
        packed
    }

    /// A table with one block.
    pub(in crate::tensorflow) fn table(entries: &[(&[u8], Vec<u8>)], snappy: bool) -> Vec<u8> {
        let mut file = Vec::new();
        let mut add = |block: Vec<u8>| -> Vec<u8> {
            let block = if snappy { packed(&block) } else { block };
            let mut handle = Vec::new();
            varint(&mut handle, file.len());
            varint(&mut handle, block.len());
            let crc = masked_crc(&[&block, &[u8::from(snappy)]]);
            file.extend_from_slice(&block);
            file.push(u8::from(snappy));
            file.extend_from_slice(&crc.to_le_bytes());
            handle
        };
        let data = add(written(entries));
        let last = entries.last().map_or(&b""[..], |(key, _)| key);
        let index = add(written(&[(last, data)]));
        let mut footer = [&[0, 0], &index[..]].concat();
        footer.resize(FOOTER - 8, 0);
        file.extend_from_slice(&footer);
        file.extend_from_slice(&MAGIC);
        file
    }

    #[test]
    fn checksums() {
        // "123456789" has the CRC-32C e3069283.
        assert_eq!(
            masked_crc(&[b"12345", b"6789"]),
            0xe306_9283_u32.rotate_right(15).wrapping_add(0xa282_ead8)
        );
    }
}
