//! The directory of a zip file, and the files in it. PyTorch and Keras store weights as they are. Only text is compressed, and what it becomes is charged to a budget.

#[cfg(any(feature = "keras", feature = "torchscript"))]
use crate::budget::Budget;
#[cfg(any(feature = "keras", feature = "torchscript"))]
use kiln_ir::error::Error;
#[cfg(any(feature = "keras", feature = "torchscript"))]
use miniz_oxide::inflate::decompress_to_vec_with_limit;
#[cfg(any(feature = "keras", feature = "torchscript"))]
use std::borrow::Cow;

/// A zip file.
pub(crate) struct Archive<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
}

/// A file in it.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    method: Method,
    size: usize,
    /// Its size in the archive.
    packed: usize,
    /// Where its own header begins.
    header: usize,
}

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
    Other,
}

/// Signatures, and bytes of what they begin without names and comments.
const END: (&[u8], usize) = (b"PK\x05\x06", 22);
const LISTED: (&[u8], usize) = (b"PK\x01\x02", 46);
const FILE: (&[u8], usize) = (b"PK\x03\x04", 30);

/// Longest comment behind the directory.
const LONGEST_COMMENT: usize = 0xFFFF;

impl<'a> Archive<'a> {
    /// Reads the directory; `None` for what is no zip file, or a damaged one.
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(FILE.0) {
            return None;
        }
        let last = bytes.len().checked_sub(END.1)?;
        let earliest = last.saturating_sub(LONGEST_COMMENT);
        let end = (earliest..=last).rev().find(|&at| bytes.get(at..at + 4) == Some(END.0))?;
        let end = bytes.get(end..)?;
        let (count, at) = (number::<2>(end, 10)?, number::<4>(end, 16)?);
        let mut entries = Vec::new();
        let mut rest = bytes.get(at..)?;
        for _ in 0..count {
            if !rest.starts_with(LISTED.0) {
                return None;
            }
            let [name, extra, comment] =
                [number::<2>(rest, 28)?, number::<2>(rest, 30)?, number::<2>(rest, 32)?];
            let entry = Entry {
                name: std::str::from_utf8(rest.get(LISTED.1..LISTED.1 + name)?).ok()?,
                method: match (number::<2>(rest, 10)?, number::<2>(rest, 8)? & 1) {
                    (0, 0) => Method::Stored,
                    (8, 0) => Method::Deflated,
                    _ => Method::Other,
                },
                size: number::<4>(rest, 24)?,
                packed: number::<4>(rest, 20)?,
                header: number::<4>(rest, 42)?,
            };
            entries.push(entry);
            rest = rest.get(LISTED.1 + name + extra + comment..)?;
        }
        Some(Archive { bytes, entries })
    }

    /// The file whose name ends so, behind a slash.
    pub(crate) fn ending(&self, end: &str) -> Option<Entry<'a>> {
        let is_it = |entry: &&Entry<'a>| match entry.name.strip_suffix(end) {
            Some(folder) => folder.is_empty() || folder.ends_with('/'),
            None => false,
        };
        self.entries.iter().find(is_it).copied()
    }

    /// The programs: `models/NAME.json`.
    pub(crate) fn programs(&self) -> impl Iterator<Item = Entry<'a>> + use<'_, 'a> {
        let is_program = |entry: &&Entry<'a>| {
            let Some((folder, name)) = entry.name.rsplit_once('/') else { return false };
            name.ends_with(".json") && (folder == "models" || folder.ends_with("/models"))
        };
        self.entries.iter().filter(is_program).copied()
    }

    /// The bytes of a file; what is wrong otherwise.
    pub(crate) fn read(&self, entry: Entry<'a>) -> Result<&'a [u8], String> {
        let name = entry.name;
        if entry.method != Method::Stored {
            return Err(format!("\"{name}\" in the archive is compressed, which only text may be"));
        }
        self.data(entry, entry.size).ok_or_else(|| format!("\"{name}\" lies outside of the archive"))
    }

    /// The bytes of a file that may be compressed.
    #[cfg(any(feature = "keras", feature = "torchscript"))]
    pub(crate) fn text(&self, entry: Entry<'a>, budget: &mut Budget) -> Result<Cow<'a, [u8]>, Error> {
        if entry.method != Method::Deflated {
            let bytes = self.read(entry).map_err(|what| Error::malformed("archive", what))?;
            return Ok(Cow::Borrowed(bytes));
        }
        budget.charge(entry.size)?;
        let stream = self.data(entry, entry.packed);
        let bytes = stream.and_then(|stream| decompress_to_vec_with_limit(stream, entry.size).ok());
        let wrong = || Error::malformed("archive", format!("\"{}\" in it is damaged", entry.name));
        bytes.filter(|bytes| bytes.len() == entry.size).map(Cow::Owned).ok_or_else(wrong)
    }

    fn data(&self, entry: Entry<'a>, size: usize) -> Option<&'a [u8]> {
        let header = self.bytes.get(entry.header..)?;
        if !header.starts_with(FILE.0) {
            return None;
        }
        let first = FILE.1 + number::<2>(header, 26)? + number::<2>(header, 28)?;
        header.get(first..first.checked_add(size)?)
    }

    /// What names of a module's files begin with.
    fn root(&self) -> Option<&'a str> {
        self.ending("data.pkl").and_then(|entry| entry.name.strip_suffix("data.pkl"))
    }

    /// Whether it holds a module with code: `NAME/data.pkl`, and files in `NAME/code/`.
    pub(crate) fn has_code(&self) -> bool {
        self.root().is_some_and(|root| self.entries.iter().any(|entry| is_code(root, entry.name)))
    }

    /// The files with code, with their names from `code/` on.
    #[cfg(any(feature = "keras", feature = "torchscript"))]
    pub(crate) fn code(&self) -> impl Iterator<Item = (Entry<'a>, &'a str)> + use<'_, 'a> {
        let root = self.root().unwrap_or_default();
        let of_root = move |entry: &&Entry<'a>| is_code(root, entry.name);
        self.entries.iter().filter(of_root).map(move |entry| (*entry, &entry.name[root.len()..]))
    }
}

fn is_code(root: &str, name: &str) -> bool {
    name.strip_prefix(root).is_some_and(|name| name.starts_with("code/") && name.ends_with(".py"))
}

/// A little-endian number.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(N)?)?;
    Some(digits.iter().rev().fold(0, |number, &digit| number << 8 | usize::from(digit)))
}
