//! The tables of a file: strings, names of operations, attributes, types and properties. Only where each entry lies is read here.
//!
//! A file is a number of its version, the name of its producer, and sections. What a version has:
//! 0. the first.
//! 1. Dialects may have versions.
//! 2. Regions that use no values from outside are sections.
//! 3. Orders of uses are written.
//! 4. Block arguments without a location do without. The number of operation names is written.
//! 5. Attributes that belong to an operation are properties. Names of operations say whether their dialect was known.
//! 6. Properties hold the sizes of groups of operands. VHLO has none.

use super::cursor::{Broken, Cursor, Parsed};
use super::known::{known, Known};
use super::MAGIC;
use std::borrow::Cow;
use std::fmt;

/// The newest version.
const NEWEST: u64 = 6;
/// Most names of operations. StableHLO has about 150.
const MOST_NAMES: usize = 1 << 14;
/// Bytes of what is read for each byte of file, and for every file. An operation takes about 10 bytes in a file, and 400 when it is read. As many as Kiln
/// compiles fit into what every file may have.
const PER_BYTE: usize = 16;
const BASE: usize = 4 << 20;

/// What the sections are called in messages, by their number.
const SECTIONS: [&str; 9] = [
    "strings",
    "dialects",
    "attributes and types",
    "offsets of attributes and types",
    "operations",
    "resources",
    "offsets of resources",
    "versions of dialects",
    "properties",
];
const STRINGS: usize = 0;
const DIALECTS: usize = 1;
const ENTRIES: usize = 2;
const OFFSETS: usize = 3;
pub(super) const OPERATIONS: usize = 4;
const PROPERTIES: usize = 8;

/// The name of the section with that number.
pub(super) fn section_name(id: u8) -> &'static str {
    SECTIONS.get(usize::from(id)).copied().unwrap_or("unknown kind")
}

/// Whose an attribute, a type or an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// MLIR's own.
    Builtin,
    /// The dialect of StableHLO's files.
    Vhlo,
    Other,
}

/// Where an attribute or a type lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    at: u32,
    bytes: u32,
    pub(super) dialect: Dialect,
    /// Whether it is written in the dialect's code, or else as text.
    pub(super) is_code: bool,
}

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperationName<'m> {
    pub(super) dialect: &'m str,
    pub(super) name: &'m str,
    /// What is known of it, if it is VHLO's.
    pub(super) known: Option<&'static Known>,
}

/// How much memory what is read may still take. Whoever makes a copy charges it first: a file can name the same few bytes many times.
pub(super) struct Allowance(usize);

/// A file, of which the tables have been read.
pub(super) struct File<'m> {
    bytes: &'m [u8],
    pub(super) version: u64,
    /// Each as text, if it is UTF-8.
    strings: Vec<Result<&'m str, &'m [u8]>>,
    pub(super) names: Vec<OperationName<'m>>,
    attributes: Vec<Entry>,
    types: Vec<Entry>,
    properties: Vec<u32>,
    sections: [Option<Cursor<'m>>; SECTIONS.len()],
    pub(super) allowance: Allowance,
}

impl fmt::Display for OperationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.dialect, self.name)
    }
}

impl Allowance {
    pub(super) fn charge(&mut self, bytes: usize, cursor: &Cursor<'_>) -> Parsed<()> {
        let what = "the file declares more data than one of its size can contain";
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| cursor.broken(what))?;
        Ok(())
    }

    /// Gives back what was charged for something that is no longer there.
    pub(super) fn release(&mut self, bytes: usize) {
        self.0 += bytes;
    }

    /// A list with room for that many elements.
    pub(super) fn list<T>(&mut self, count: usize, cursor: &Cursor<'_>) -> Parsed<Vec<T>> {
        self.charge(count.saturating_mul(size_of::<T>()), cursor)?;
        Ok(Vec::with_capacity(count))
    }
}

impl<'m> File<'m> {
    /// Reads the tables.
    pub(super) fn open(bytes: &'m [u8]) -> Parsed<File<'m>> {
        let mut cursor = Cursor::new(bytes, 0, bytes.len(), "head");
        if bytes.len() > u32::MAX as usize {
            return Err(cursor.broken("it is larger than 4 GB").with_help("compile a smaller model"));
        }
        if cursor.take(MAGIC.len() as u64)? != MAGIC {
            return Err(cursor.broken("it is no MLIR bytecode"));
        }
        let version = cursor.number()?;
        if version > NEWEST {
            let what = format!("its bytecode has version {version}, and Kiln knows versions up to {NEWEST}");
            return Err(cursor.broken(what).with_help("export it for an older version of StableHLO"));
        }
        cursor.zero_terminated()?;
        let mut sections = [const { None }; SECTIONS.len()];
        while cursor.left() > 0 {
            let (id, section) = cursor.section(section_name)?;
            match sections.get_mut(usize::from(id)) {
                Some(place @ None) => *place = Some(section),
                Some(_) => return Err(section.broken("there are two sections of this kind")),
                None => return Err(section.broken(format!("there is no section {id}"))),
            }
        }
        let mut file = File {
            bytes,
            version,
            strings: Vec::new(),
            names: Vec::new(),
            attributes: Vec::new(),
            types: Vec::new(),
            properties: Vec::new(),
            sections,
            allowance: Allowance(bytes.len().saturating_mul(PER_BYTE).saturating_add(BASE)),
        };
        file.read_strings()?;
        let dialects = file.read_dialects()?;
        file.read_offsets(&dialects)?;
        if file.sections[PROPERTIES].is_some() {
            file.read_properties()?;
        }
        Ok(file)
    }

    /// The section with that number.
    pub(super) fn section(&self, id: usize) -> Parsed<Cursor<'m>> {
        let missing = || Cursor::new(self.bytes, 0, 0, SECTIONS[id]).broken("the section is not there");
        self.sections[id].clone().ok_or_else(missing)
    }

    /// Strings: their lengths with the zero at their ends, the last first, then all of them.
    fn read_strings(&mut self) -> Parsed<()> {
        let mut cursor = self.section(STRINGS)?;
        let count = cursor.count(2)?;
        self.strings = self.allowance.list(count, &cursor)?;
        let mut lengths = self.allowance.list(count, &cursor)?;
        for _ in 0..count {
            lengths.push(cursor.number()?);
        }
        for length in lengths.into_iter().rev() {
            let string = cursor.take(length)?;
            let Some((0, string)) = string.split_last() else {
                return Err(cursor.broken("a string does not end in zero"));
            };
            self.strings.push(std::str::from_utf8(string).map_err(|_| string));
        }
        cursor.finish()
    }

    /// A string. What is no UTF-8 in it is replaced.
    pub(super) fn string(&mut self, index: u64, cursor: &Cursor<'_>) -> Parsed<Cow<'m, str>> {
        match self.string_or_bytes(index, cursor)? {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(bytes) => {
                self.allowance.charge(3 * bytes.len(), cursor)?;
                Ok(String::from_utf8_lossy(bytes))
            }
        }
    }

    fn string_or_bytes(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<Result<&'m str, &'m [u8]>> {
        let string = usize::try_from(index).ok().and_then(|index| self.strings.get(index));
        string.copied().ok_or_else(|| missing("string", index, self.strings.len(), cursor))
    }

    /// A string that is a name.
    fn name(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<&'m str> {
        self.string_or_bytes(index, cursor)?.map_err(|_| cursor.broken("a name is no UTF-8"))
    }

    /// Dialects, and the names of operations in groups. Gives the names of the dialects.
    fn read_dialects(&mut self) -> Parsed<Vec<&'m str>> {
        let mut cursor = self.section(DIALECTS)?;
        let count = cursor.count(1)?;
        let mut dialects: Vec<&str> = self.allowance.list(count, &cursor)?;
        for _ in 0..count {
            let (index, has_version) = match self.version {
                0 => (cursor.number()?, false),
                _ => cursor.flagged()?,
            };
            dialects.push(self.name(index, &cursor)?);
            if has_version {
                cursor.section(section_name)?;
            }
        }
        if self.version >= 4 {
            cursor.number()?;
        }
        while cursor.left() > 0 {
            let dialect = dialect_of(&mut cursor, &dialects)?;
            let count = cursor.count(1)?;
            if self.names.len() + count > MOST_NAMES {
                return Err(cursor.broken(format!("it has more than {MOST_NAMES} names of operations")));
            }
            self.allowance.charge(count * size_of::<OperationName<'_>>(), &cursor)?;
            for _ in 0..count {
                let index = if self.version < 5 { cursor.number()? } else { cursor.flagged()?.0 };
                let name = self.name(index, &cursor)?;
                let known = if dialect == VHLO { known(name) } else { None };
                self.names.push(OperationName { dialect, name, known });
            }
        }
        Ok(dialects)
    }

    /// The operation name with that number.
    pub(super) fn operation_name(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<OperationName<'m>> {
        let name = usize::try_from(index).ok().and_then(|index| self.names.get(index));
        name.copied().ok_or_else(|| missing("name of an operation", index, self.names.len(), cursor))
    }

    /// Where attributes and types lie: the length of each, in groups of the same dialect.
    fn read_offsets(&mut self, dialects: &[&'m str]) -> Parsed<()> {
        let mut entries = self.section(ENTRIES)?;
        let mut cursor = self.section(OFFSETS)?;
        let (attributes, types) = (cursor.count(1)?, cursor.count(1)?);
        self.attributes = self.read_entries(attributes, dialects, &mut cursor, &mut entries)?;
        self.types = self.read_entries(types, dialects, &mut cursor, &mut entries)?;
        cursor.finish()
    }

    fn read_entries(
        &mut self,
        count: usize,
        dialects: &[&'m str],
        cursor: &mut Cursor<'m>,
        entries: &mut Cursor<'m>,
    ) -> Parsed<Vec<Entry>> {
        let mut list = self.allowance.list(count, cursor)?;
        while list.len() < count {
            let dialect = match dialect_of(cursor, dialects)? {
                "builtin" => Dialect::Builtin,
                VHLO => Dialect::Vhlo,
                _ => Dialect::Other,
            };
            let of_dialect = cursor.count(1)?;
            if of_dialect == 0 || of_dialect > count - list.len() {
                return Err(
                    cursor.broken(format!("{of_dialect} of {} entries are in a group", count - list.len()))
                );
            }
            for _ in 0..of_dialect {
                let (bytes, is_code) = cursor.flagged()?;
                let at = entries.at() as u32;
                let bytes = entries.take(bytes)?.len() as u32;
                list.push(Entry { at, bytes, dialect, is_code });
            }
        }
        Ok(list)
    }

    /// The attribute with that number, and its bytes.
    pub(super) fn attribute(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<(Entry, Cursor<'m>)> {
        self.entry("attribute", &self.attributes, index, cursor)
    }

    /// The type with that number, and its bytes.
    pub(super) fn ty(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<(Entry, Cursor<'m>)> {
        self.entry("type", &self.types, index, cursor)
    }

    fn entry(
        &self,
        kind: &str,
        list: &[Entry],
        index: u64,
        cursor: &Cursor<'_>,
    ) -> Parsed<(Entry, Cursor<'m>)> {
        let entry = usize::try_from(index).ok().and_then(|index| list.get(index).copied());
        let entry = entry.ok_or_else(|| missing(kind, index, list.len(), cursor))?;
        let at = entry.at as usize;
        Ok((entry, Cursor::new(self.bytes, at, at + entry.bytes as usize, SECTIONS[ENTRIES])))
    }

    /// Properties: for each list of them, its length and its bytes.
    fn read_properties(&mut self) -> Parsed<()> {
        let mut cursor = self.section(PROPERTIES)?;
        let count = cursor.count(1)?;
        self.properties = self.allowance.list(count, &cursor)?;
        for _ in 0..count {
            self.properties.push(cursor.at() as u32);
            let length = cursor.number()?;
            cursor.take(length)?;
        }
        cursor.finish()
    }

    /// The bytes of the list of properties with that number.
    pub(super) fn properties(&self, index: u64, cursor: &Cursor<'_>) -> Parsed<Cursor<'m>> {
        let at = usize::try_from(index).ok().and_then(|index| self.properties.get(index).copied());
        let at = at.ok_or_else(|| missing("list of properties", index, self.properties.len(), cursor))?;
        let mut list = Cursor::new(self.bytes, at as usize, self.bytes.len(), SECTIONS[PROPERTIES]);
        let length = list.number()?;
        list.split(length, SECTIONS[PROPERTIES])
    }
}

/// The dialect of StableHLO's files.
pub(super) const VHLO: &str = "vhlo";

fn dialect_of<'m>(cursor: &mut Cursor<'m>, dialects: &[&'m str]) -> Parsed<&'m str> {
    let index = cursor.number()?;
    let dialect = usize::try_from(index).ok().and_then(|index| dialects.get(index).copied());
    dialect.ok_or_else(|| missing("dialect", index, dialects.len(), cursor))
}

fn missing(kind: &str, index: u64, count: usize, cursor: &Cursor<'_>) -> Broken {
    cursor.broken(format!("{kind} {index} is named, and there are {count}"))
}
