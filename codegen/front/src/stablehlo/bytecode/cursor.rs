//! Bytes that are read from front to back, with the numbers of MLIR's bytecode.

use kiln_ir::error::{Error, Problem};

/// Why bytecode cannot be read, and where.
#[derive(Debug)]
pub(super) struct Broken {
    at: usize,
    section: &'static str,
    operation: Option<String>,
    what: String,
    /// The way out, where the file is not damaged.
    help: Option<&'static str>,
}

pub(super) type Parsed<T> = Result<T, Broken>;

impl Broken {
    /// The same of a sound file, with a way out.
    pub(super) fn with_help(self, help: &'static str) -> Self {
        Broken { help: Some(help), ..self }
    }

    /// The same with the operation that is being read, if none is named yet.
    pub(super) fn in_operation(mut self, name: &str) -> Self {
        self.operation.get_or_insert_with(|| name.into());
        self
    }
}

impl From<Broken> for Error {
    fn from(broken: Broken) -> Self {
        let operation = broken.operation.map(|name| format!(", operation `{name}`")).unwrap_or_default();
        let place = format!("byte {}, section of {}{operation}", broken.at, broken.section);
        match broken.help {
            Some(help) => Error::Unsupported(vec![Problem { place, what: broken.what, help: help.into() }]),
            None => Error::malformed(place, broken.what),
        }
    }
}

/// A part of a file, of which the first bytes have been read.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'m> {
    file: &'m [u8],
    at: usize,
    end: usize,
    section: &'static str,
}

impl<'m> Cursor<'m> {
    /// The bytes of a file from `at` to `end`, which belong to a section. What lies outside of the file is left out.
    pub(super) fn new(file: &'m [u8], at: usize, end: usize, section: &'static str) -> Self {
        let end = end.min(file.len());
        Cursor { file, at: at.min(end), end, section }
    }

    /// What is wrong here.
    pub(super) fn broken(&self, what: impl Into<String>) -> Broken {
        Broken { at: self.at, section: self.section, operation: None, what: what.into(), help: None }
    }

    /// The position in the file.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// Refuses what is left.
    pub(super) fn finish(&self) -> Parsed<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(self.broken(format!("{left} bytes are left over"))),
        }
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: u64) -> Parsed<&'m [u8]> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let Some(end) = end.filter(|&end| end <= self.end) else {
            return Err(self.broken(format!("{count} bytes are wanted, and {} are there", self.left())));
        };
        let bytes = &self.file[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    /// The next bytes, as a cursor of their own.
    pub(super) fn split(&mut self, count: u64, section: &'static str) -> Parsed<Cursor<'m>> {
        let at = self.at;
        let bytes = self.take(count)?;
        Ok(Cursor { file: self.file, at, end: at + bytes.len(), section })
    }

    /// A byte.
    pub(super) fn byte(&mut self) -> Parsed<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number. The zeros at the end of its first byte tell how many bytes follow.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros() as usize;
        let mut bytes = [0; 8];
        if more == 8 {
            bytes.copy_from_slice(self.take(8)?);
            return Ok(u64::from_le_bytes(bytes));
        }
        bytes[0] = first;
        bytes[1..=more].copy_from_slice(self.take(more as u64)?);
        Ok(u64::from_le_bytes(bytes) >> (more + 1))
    }

    /// A number with a sign, which is its lowest bit.
    pub(super) fn signed(&mut self) -> Parsed<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A number with a flag, which is its lowest bit.
    pub(super) fn flagged(&mut self) -> Parsed<(u64, bool)> {
        let number = self.number()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// How many of something follow, of which each takes so many bytes at least.
    pub(super) fn count(&mut self, bytes_each: usize) -> Parsed<usize> {
        let count = self.number()?;
        self.fits(count, bytes_each)
    }

    /// That many, if so many can follow.
    pub(super) fn fits(&self, count: u64, bytes_each: usize) -> Parsed<usize> {
        match usize::try_from(count).ok().filter(|&count| count <= self.left() / bytes_each) {
            Some(count) => Ok(count),
            None => {
                Err(self.broken(format!("{count} elements are declared, and {} bytes follow", self.left())))
            }
        }
    }

    /// Text up to a zero.
    pub(super) fn zero_terminated(&mut self) -> Parsed<&'m [u8]> {
        let rest = &self.file[self.at..self.end];
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return Err(self.broken("a text has no end"));
        };
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// A section: its number, and its bytes.
    pub(super) fn section(&mut self, name: impl Fn(u8) -> &'static str) -> Parsed<(u8, Cursor<'m>)> {
        let first = self.byte()?;
        let length = self.number()?;
        if first & 0x80 != 0 {
            let alignment = self.number()?;
            if !alignment.is_power_of_two() {
                return Err(self
                    .broken(format!("a section is aligned to {alignment} bytes, which is no power of two")));
            }
            // Files are aligned themselves: positions in the file are as good as addresses.
            while self.at as u64 & (alignment - 1) != 0 {
                if self.byte()? != PADDING {
                    return Err(self.broken("what is before an aligned section is not padding"));
                }
            }
        }
        let id = first & 0x7f;
        Ok((id, self.split(length, name(id))?))
    }
}

/// The byte that stands between a section and its aligned data.
const PADDING: u8 = 0xcb;

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> Parsed<u64> {
        Cursor::new(bytes, 0, bytes.len(), "tests").number()
    }

    #[test]
    fn numbers_take_one_to_nine_bytes() {
        assert_eq!(number(&[0b1]).unwrap(), 0);
        assert_eq!(number(&[0xff]).unwrap(), 127);
        assert_eq!(number(&[0b10, 0b10]).unwrap(), 128);
        assert_eq!(number(&[0b100, 0, 1]).unwrap(), 1 << 13);
        assert_eq!(number(&[0x80, 1, 0, 0, 0, 0, 0, 0]).unwrap(), 1);
        assert_eq!(number(&[0, 255, 255, 255, 255, 255, 255, 255, 255]).unwrap(), u64::MAX);
        assert!(number(&[0b10]).is_err() && number(&[]).is_err() && number(&[0, 1]).is_err());
    }

    #[test]
    fn signs_are_in_the_lowest_bit() {
        let signed = |bytes: &[u8]| Cursor::new(bytes, 0, bytes.len(), "tests").signed().unwrap();
        assert_eq!([signed(&[0b001]), signed(&[0b011]), signed(&[0b101]), signed(&[0b111])], [0, -1, 1, -2]);
        assert_eq!(signed(&[0, 255, 255, 255, 255, 255, 255, 255, 255]), i64::MIN);
    }

    #[test]
    fn counts_are_compared_with_what_follows() {
        let count = |bytes: &[u8], each| Cursor::new(bytes, 0, bytes.len(), "tests").count(each);
        assert_eq!(count(&[0b101, 0, 0], 1).unwrap(), 2);
        assert!(count(&[0b101, 0, 0], 2).is_err());
        assert!(count(&[0, 255, 255, 255, 255, 255, 255, 255, 255], 1).is_err());
    }
}
