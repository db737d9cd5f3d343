//! Locations: what a person calls the place of an operation.

use super::cursor::{Cursor, Parsed};
use super::file::{Dialect, File};
use std::borrow::Cow;

/// How many locations are looked at until a place has no name.
const MOST: usize = 32;

impl<'m> File<'m> {
    /// The name that a location gives; `None` where it gives none.
    pub(super) fn name_of(&mut self, location: u64, cursor: &Cursor<'m>) -> Parsed<Option<Cow<'m, str>>> {
        let (entry, mut location) = self.attribute(location, cursor)?;
        if !entry.is_code || entry.dialect != Dialect::Builtin || location.number()? != NAME {
            return Ok(None);
        }
        let name = location.number()?;
        let name = self.text_attribute(name, &location)?;
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// The place of an operation: the first name among its locations, or else the first line of a file, or else the byte at which it is read.
    pub(super) fn place(&mut self, location: u64, cursor: &Cursor<'m>) -> Parsed<Cow<'m, str>> {
        let (mut line, mut next) = (None, vec![location]);
        for _ in 0..MOST {
            let Some(index) = next.pop() else { break };
            let (entry, mut location) = self.attribute(index, cursor)?;
            if !entry.is_code || entry.dialect != Dialect::Builtin {
                continue;
            }
            match location.number()? {
                CALL => {
                    let (callee, caller) = (location.number()?, location.number()?);
                    next.extend([caller, callee]);
                }
                FUSED | FUSED_WITH_METADATA => {
                    let count = location.count(1)?;
                    let first = next.len();
                    for _ in 0..count.min(MOST) {
                        next.push(location.number()?);
                    }
                    next[first..].reverse();
                }
                NAME => {
                    let (name, child) = (location.number()?, location.number()?);
                    let name = self.text_attribute(name, &location)?;
                    if !name.is_empty() {
                        return Ok(name);
                    }
                    next.push(child);
                }
                LINE if line.is_none() => {
                    let (file, number, column) = (location.number()?, location.number()?, location.number()?);
                    line = Some((file, number, column));
                }
                RANGE if line.is_none() => {
                    let (file, numbers) = (location.number()?, location.number()?);
                    let number = if numbers > 0 { location.number()? } else { 0 };
                    line = Some((file, number, if numbers > 1 { location.number()? } else { 0 }));
                }
                _ => {}
            }
        }
        let place = match line {
            Some((file, number, column)) => {
                format!("{}:{number}:{column}", self.text_attribute(file, cursor)?)
            }
            None => format!("byte {}", cursor.at()),
        };
        self.allowance.charge(place.len(), cursor)?;
        Ok(place.into())
    }
}

/// Locations, by their number among MLIR's own attributes: a place and where it is called from, several places, a line, a name.
const CALL: u64 = 10;
const LINE: u64 = 11;
const FUSED: u64 = 12;
const FUSED_WITH_METADATA: u64 = 13;
const NAME: u64 = 14;
const RANGE: u64 = 22;
