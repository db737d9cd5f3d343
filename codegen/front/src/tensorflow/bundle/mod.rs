//! The variables of a SavedModel: a table of what there is (`variables.index`), and files of bytes (`variables.data-00000-of-00001`).

mod snappy;
mod table;

use super::proto::{self, text, Failure, Parsed};
use crate::budget::Budget;
use crate::protobuf::{Message, Value};
use std::collections::HashMap;

/// Most files of bytes.
const MOST_SHARDS: i64 = 1 << 12;

/// Where a variable's elements lie.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) dtype: i64,
    pub(super) dims: Vec<i64>,
    shard: i64,
    offset: i64,
    size: i64,
    /// A checksum of its bytes.
    crc: Option<u32>,
    /// Whether it is stored in several parts under keys of their own.
    is_sliced: bool,
}

/// The table, by key.
pub(super) struct Index {
    pub(super) shards: usize,
    entries: HashMap<Vec<u8>, Entry>,
}

impl Index {
    pub(super) fn parse(bytes: &[u8], budget: &mut Budget) -> Parsed<Self> {
        let mut index = Index { shards: 0, entries: HashMap::new() };
        let mut header = false;
        table::entries(bytes, budget, &mut |key, value, budget| {
            if key.is_empty() {
                header = true;
                index.shards = shards(value)?;
                return Ok(());
            }
            budget.charge(160 + 2 * key.len())?;
            index.entries.insert(key.to_vec(), entry(value, budget)?);
            Ok(())
        })?;
        match header {
            true => Ok(index),
            false => Err(Failure::Broken("the table of variables has no header".into())),
        }
    }
}

/// How many files the header counts.
fn shards(header: &[u8]) -> Parsed<usize> {
    let (mut shards, mut endianness) = (0, 0);
    for field in Message(header) {
        match field? {
            (1, number) => shards = number.int()?,
            (2, kind) => endianness = kind.int()?,
            _ => {}
        }
    }
    if endianness != 0 {
        return Err(Failure::Broken("the variables are stored in big-endian order".into()));
    }
    match shards {
        0..=MOST_SHARDS => Ok(shards as usize),
        _ => Err(Failure::Broken(format!("the variables are said to lie in {shards} files"))),
    }
}

fn entry(bytes: &[u8], budget: &mut Budget) -> Parsed<Entry> {
    let mut entry = Entry::default();
    for field in Message(bytes) {
        match field? {
            (1, dtype) => entry.dtype = dtype.int()?,
            (2, shape) => entry.dims = proto::dims(shape.bytes()?, budget)?.unwrap_or_default(),
            (3, shard) => entry.shard = shard.int()?,
            (4, offset) => entry.offset = offset.int()?,
            (5, size) => entry.size = size.int()?,
            (6, Value::Fixed32(crc)) => entry.crc = Some(crc),
            (7, _) => entry.is_sliced = true,
            _ => {}
        }
    }
    Ok(entry)
}

/// The table with its files.
pub(super) struct Bundle<'a> {
    pub(super) index: Index,
    pub(super) shards: Vec<&'a [u8]>,
}

impl<'a> Bundle<'a> {
    /// The variable of that key, if there is one, with its bytes.
    pub(super) fn find(&self, key: &[u8]) -> Parsed<Option<(&Entry, &'a [u8])>> {
        let Some(entry) = self.index.entries.get(key) else { return Ok(None) };
        let name = text(key).map(proto::short).unwrap_or_default();
        let broken = |what: &str| Failure::Broken(format!("the bytes of variable \"{name}\" {what}"));
        if entry.is_sliced {
            return Err(broken("are stored in several parts: save the model without partitioned variables"));
        }
        let shard = usize::try_from(entry.shard).ok().and_then(|shard| self.shards.get(shard));
        let shard = shard.ok_or_else(|| broken("lie in a file that is missing"))?;
        let range = |begin: i64, size: i64| {
            let begin = usize::try_from(begin).ok()?;
            shard.get(begin..begin.checked_add(usize::try_from(size).ok()?)?)
        };
        let bytes =
            range(entry.offset, entry.size).ok_or_else(|| broken("reach beyond the end of their file"))?;
        // Texts have a checksum of another kind.
        if entry.dtype != 7 && entry.crc.is_some_and(|crc| crc != table::masked_crc(&[bytes])) {
            return Err(broken("do not fit their checksum: the file is damaged, or of another model"));
        }
        Ok(Some((entry, bytes)))
    }

    /// Names of all variables.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.index.entries.keys().map(Vec::as_slice)
    }
}

#[cfg(test)]
pub(super) use table::testing;

#[cfg(test)]
mod tests {
    use super::testing::table;
    use super::*;

    /// An entry of two floats in file 0.
    fn two_floats(crc: u32) -> Vec<u8> {
        [&[0x08, 1, 0x12, 4, 0x12, 2, 0x08, 2, 0x20, 4, 0x28, 8, 0x35], &crc.to_le_bytes()[..]].concat()
    }

    #[test]
    fn variables_have_their_bytes() {
        let shard = [&[9; 4], &1f32.to_le_bytes()[..], &2f32.to_le_bytes()].concat();
        let crc = table::masked_crc(&[&shard[4..]]);
        for snappy in [false, true] {
            let file = table(
                &[(b"", vec![0x08, 1]), (b"net/a", two_floats(crc)), (b"net/b", two_floats(!crc))],
                snappy,
            );
            let index = Index::parse(&file, &mut Budget::new(file.len())).ok().unwrap();
            let bundle = Bundle { index, shards: vec![&shard] };
            let (entry, bytes) = bundle.find(b"net/a").ok().flatten().unwrap();
            assert_eq!((entry.dtype, &entry.dims[..], bytes), (1, &[2][..], &shard[4..]));
            assert!(bundle.find(b"net/b").is_err() && matches!(bundle.find(b"net"), Ok(None)));
        }
    }

    #[test]
    fn damaged_tables() {
        let file = table(&[(b"", vec![0x08, 1]), (b"net/a", two_floats(0))], false);
        for len in 0..file.len() {
            assert!(Index::parse(&file[..len], &mut Budget::new(len)).is_err());
        }
        for at in 0..file.len() {
            let mut file = file.clone();
            file[at] ^= 0x40;
            let _ = Index::parse(&file, &mut Budget::new(file.len()));
        }
    }
}
