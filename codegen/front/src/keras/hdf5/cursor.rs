//! Bytes that are read one after the other.

use super::{Broken, Parsed};

/// How many bytes addresses and lengths have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) offset: usize,
    pub(super) length: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { offset: 8, length: 8 }
    }
}

impl Sizes {
    pub(super) fn of(offset: u8, length: u8) -> Parsed<Self> {
        let is_known = |size: u8| matches!(size, 2 | 4 | 8);
        match is_known(offset) && is_known(length) {
            true => Ok(Sizes { offset: offset.into(), length: length.into() }),
            false => Broken::damaged(format!("its addresses have {offset} bytes, its lengths {length}")),
        }
    }
}

/// What is left of some bytes. Numbers are little-endian.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    sizes: Sizes,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a [u8], sizes: Sizes) -> Self {
        Cursor { rest, sizes }
    }

    pub(super) fn with(self, sizes: Sizes) -> Self {
        Cursor { sizes, ..self }
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Broken::damaged("the file ends too early"),
        }
    }

    pub(super) fn skip(&mut self, count: usize) -> Parsed<()> {
        self.take(count).map(drop)
    }

    /// Whether this is next; then it is read.
    pub(super) fn takes(&mut self, token: &[u8]) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// An unsigned number of up to eight bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Parsed<u64> {
        let taken = self.take(bytes.min(8))?;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub(super) fn byte(&mut self) -> Parsed<u8> {
        Ok(self.number(1)? as u8)
    }

    pub(super) fn short(&mut self) -> Parsed<usize> {
        Ok(self.number(2)? as usize)
    }

    pub(super) fn word(&mut self) -> Parsed<u64> {
        self.number(4)
    }

    pub(super) fn address(&mut self) -> Parsed<u64> {
        self.number(self.sizes.offset)
    }

    /// An address, unless it is none: one of ones.
    pub(super) fn optional_address(&mut self) -> Parsed<Option<u64>> {
        let address = self.address()?;
        let none = u64::MAX >> (64 - 8 * self.sizes.offset.clamp(1, 8));
        Ok((address != none).then_some(address))
    }

    pub(super) fn length(&mut self) -> Parsed<u64> {
        self.number(self.sizes.length)
    }

    /// The bytes up to the next zero, which is read too.
    pub(super) fn until_zero(&mut self) -> Parsed<&'a [u8]> {
        let Some(length) = self.rest.iter().position(|&byte| byte == 0) else {
            return Broken::damaged("a name has no end");
        };
        let taken = self.take(length)?;
        self.skip(1)?;
        Ok(taken)
    }
}
