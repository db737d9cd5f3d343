//! The files of `jax.export`: a flatbuffer, of which one field is bytecode.
//!
//! A flatbuffer begins with the position of a table. A table begins with the distance back to its list of fields: the bytes of the list, the bytes of the
//! table, and the place of each field in the table, or 0. A list of bytes is its length and the bytes.

use super::form::is_bytecode;
use kiln_ir::error::Error;

/// The field with the version of the file.
const VERSION: usize = 0;
/// The field with the bytecode.
const MODULE: usize = 13;
/// Versions of the file; later ones have more fields.
const VERSIONS: std::ops::RangeInclusive<u16> = 1..=255;

/// The bytecode in such a file; `None` if the bytes are none.
pub(super) fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let table = long(bytes, 0)?;
    let version =
        bytes.get(field(bytes, table, VERSION)?..)?.first_chunk().copied().map(u16::from_le_bytes)?;
    if !VERSIONS.contains(&version) {
        return None;
    }
    let reference = field(bytes, table, MODULE)?;
    let list = reference.checked_add(long(bytes, reference)?)?;
    let first = list.checked_add(4)?;
    let payload = bytes.get(first..first.checked_add(long(bytes, list)?)?)?;
    is_bytecode(payload).then_some(payload)
}

/// The position of a field of a table.
fn field(bytes: &[u8], table: usize, index: usize) -> Option<usize> {
    let distance = i64::from(long(bytes, table)? as u32 as i32);
    let fields = usize::try_from(i64::try_from(table).ok()?.checked_sub(distance)?).ok()?;
    let entry = 4 + 2 * index;
    if usize::from(short(bytes, fields)?) < entry + 2 {
        return None;
    }
    match short(bytes, fields.checked_add(entry)?)? {
        0 => None,
        place => table.checked_add(usize::from(place)),
    }
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

/// The error of a file that is none of `jax.export`.
pub(super) fn damaged() -> Error {
    Error::malformed("jax.export", "the file has no bytecode of MLIR")
}
