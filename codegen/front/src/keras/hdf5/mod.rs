//! Reader of HDF5 files, as far as Keras and h5py write them: groups, attributes, and arrays of numbers and texts.
//!
//! - [`object`]: headers of objects, which are lists of messages.
//! - [`group`]: which objects a group names.
//! - [`element`]: types of elements, and numbers from their bytes.
//! - [`dataset`]: arrays, in one piece or in chunks.
//! - [`text`]: attributes that are texts.
//! - [`heap`]: texts of any length.
//!
//! The bytes are not trusted. Every offset and length is checked; blocks and messages that are visited are counted, so that cycles end; and what is made of the
//! file is charged to its budget.
//!
//! Not read: groups and attributes with more entries than fit into their object, as the newest version of the format stores them (Keras asks for the oldest), arrays in other files, and
//! filters other than deflate, shuffle and Fletcher's checksum.

mod cursor;
mod dataset;
mod element;
mod group;
mod heap;
mod object;
mod text;

use cursor::{Cursor, Sizes};
use kiln_ir::error::Error;
use std::cell::Cell;

/// What a file begins with.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Most blocks and messages that all questions to a file may visit, for each byte of it, and for every file.
const VISITS_PER_BYTE: usize = 64;
const VISITS: usize = 1 << 20;

/// Why a file, or a part of it, cannot be read.
#[derive(Debug)]
pub(super) enum Broken {
    /// It is damaged.
    Damaged(String),
    /// It is sound, but uses what is not read.
    Unknown(String),
}

pub(super) type Parsed<T> = Result<T, Broken>;

impl Broken {
    fn damaged<T>(what: impl Into<String>) -> Parsed<T> {
        Err(Broken::Damaged(what.into()))
    }

    fn unknown<T>(what: impl Into<String>) -> Parsed<T> {
        Err(Broken::Unknown(what.into()))
    }

    /// As an error about a place in the model.
    pub(super) fn at(self, place: impl Into<String>) -> Error {
        match self {
            Broken::Damaged(what) => Error::malformed(place.into(), what),
            Broken::Unknown(what) => Error::Unsupported(vec![kiln_ir::error::Problem {
                place: place.into(),
                what,
                help: "save the model again with Keras".into(),
            }]),
        }
    }
}

/// Where the header of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object(u64);

/// A file.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    /// What addresses count from.
    base: u64,
    sizes: Sizes,
    root: Object,
    /// Blocks and messages that may still be visited.
    visits: Cell<usize>,
}

impl<'a> File<'a> {
    /// Reads where everything begins.
    pub(super) fn open(bytes: &'a [u8]) -> Parsed<Self> {
        if !bytes.starts_with(SIGNATURE) {
            return Broken::damaged("it is no HDF5 file");
        }
        let mut cursor = Cursor::new(bytes, Sizes::default());
        cursor.skip(SIGNATURE.len())?;
        let version = cursor.byte()?;
        let (base, sizes, root) = match version {
            0 | 1 => {
                // Versions of parts that have only one.
                cursor.skip(4)?;
                let sizes = Sizes::of(cursor.byte()?, cursor.byte()?)?;
                let mut cursor = cursor.with(sizes);
                // Reserved, sizes of nodes, and flags.
                cursor.skip(1 + 4 + 4 + if version == 1 { 4 } else { 0 })?;
                let base = cursor.address()?;
                // Free space, the end, the driver, and the name of the root.
                cursor.skip(4 * sizes.offset)?;
                (base, sizes, cursor.address()?)
            }
            2 | 3 => {
                let sizes = Sizes::of(cursor.byte()?, cursor.byte()?)?;
                let mut cursor = cursor.with(sizes);
                cursor.skip(1)?;
                let base = cursor.address()?;
                cursor.skip(2 * sizes.offset)?;
                (base, sizes, cursor.address()?)
            }
            version => return Broken::unknown(format!("its superblock has version {version}")),
        };
        let visits = Cell::new(bytes.len().saturating_mul(VISITS_PER_BYTE).saturating_add(VISITS));
        Ok(File { bytes, base, sizes, root: Object(root), visits })
    }

    /// The group that all others are in.
    pub(super) fn root(&self) -> Object {
        self.root
    }

    /// What an address points to, up to the end of the file.
    fn at(&self, address: u64) -> Parsed<Cursor<'a>> {
        self.visit()?;
        let from = self.base.checked_add(address).and_then(|at| usize::try_from(at).ok());
        match from.and_then(|from| self.bytes.get(from..)) {
            Some(rest) => Ok(Cursor::new(rest, self.sizes)),
            None => Broken::damaged("an address lies outside of the file"),
        }
    }

    /// So many bytes at an address.
    fn block(&self, address: u64, length: u64) -> Parsed<Cursor<'a>> {
        let mut cursor = self.at(address)?;
        let length = usize::try_from(length).or(Broken::damaged("a block is longer than the file"))?;
        let bytes = cursor.take(length)?;
        Ok(Cursor::new(bytes, self.sizes))
    }

    /// Counts a block or message that is visited.
    fn visit(&self) -> Parsed<()> {
        match self.visits.get().checked_sub(1) {
            Some(left) => {
                self.visits.set(left);
                Ok(())
            }
            None => Broken::damaged("its blocks refer to each other without end"),
        }
    }
}

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
