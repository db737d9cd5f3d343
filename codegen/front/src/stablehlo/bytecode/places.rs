//! Locations: what a person calls the place of an operation.

use super::cursor::{Cursor, Parsed};
use super::file::{Dialect, File};
use std::borrow::Cow;

/// How many locations lie in one another until the place has no name.
const DEPTH: usize = 32;

impl<'m> File<'m> {
    /// The place of an operation: the first name that its location has, or else the line of a file, or else the byte at which it is read.
    pub(super) fn place(&mut self, location: u64, cursor: &Cursor<'m>) -> Parsed<Cow<'m, str>> {
        match self.location(location, cursor)? {
            Some(place) => Ok(place),
            None => self.written(format!("byte {}", cursor.at()), cursor),
        }
    }

    /// The name of a location, or the line of a file; `None` for unknown ones.
    fn location(&mut self, mut index: u64, cursor: &Cursor<'m>) -> Parsed<Option<Cow<'m, str>>> {
        for _ in 0..DEPTH {
            let (entry, mut location) = self.attribute(index, cursor)?;
            if !entry.is_code || entry.dialect != Dialect::Builtin {
                return Ok(None);
            }
            match location.number()? {
                // The place of a call: what is called, then the caller.
                CALL => index = location.number()?,
                // Several places.
                FUSED | FUSED_WITH_METADATA => {
                    if location.number()? == 0 {
                        return Ok(None);
                    }
                    index = location.number()?;
                }
                LINE | RANGE => return self.line(&mut location),
                NAME => return self.name_of_location(index, cursor),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The name that a location gives; `None` where it gives none.
    pub(super) fn name_of_location(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Option<Cow<'m, str>>> {
        let (entry, mut location) = self.attribute(index, cursor)?;
        if !entry.is_code || entry.dialect != Dialect::Builtin || location.number()? != NAME {
            return Ok(None);
        }
        let name = location.number()?;
        self.text_attribute(name, &location).map(Some)
    }

    fn line(&mut self, location: &mut Cursor<'m>) -> Parsed<Option<Cow<'m, str>>> {
        let file = location.number()?;
        let file = self.text_attribute(file, location)?;
        let line = location.number()?;
        self.written(format!("{file}:{line}"), location).map(Some)
    }

    fn written(&mut self, place: String, cursor: &Cursor<'m>) -> Parsed<Cow<'m, str>> {
        self.allowance.charge(place.len(), cursor)?;
        Ok(place.into())
    }
}

/// Locations by their number among MLIR's own attributes.
const CALL: u64 = 10;
const LINE: u64 = 11;
const FUSED: u64 = 12;
const FUSED_WITH_METADATA: u64 = 13;
const NAME: u64 = 14;
const RANGE: u64 = 22;
