//! Locations in MLIR's text: `loc("jit(f)/dot_general"(#loc3))`. Of each, the name is kept that says most to a person.

use super::Reader;
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// What a location says: its text, and whether that is a name rather than a place in a file.
pub(super) type Location<'m> = Option<(Cow<'m, str>, bool)>;

/// Of two, the one that says more.
fn better<'m>(first: Location<'m>, second: Location<'m>) -> Location<'m> {
    match (&first, &second) {
        (Some((_, true)), _) | (Some(_), Some((_, false)) | None) => first,
        _ => second,
    }
}

impl<'m> Reader<'m> {
    /// Reads `loc(...)`, if it is next.
    pub(super) fn location(&mut self) -> Parsed<Location<'m>> {
        if !self.scan.takes_word("loc") {
            return Ok(None);
        }
        self.scan.wants("(")?;
        let location = self.location_inside()?;
        self.scan.wants(")")?;
        Ok(location)
    }

    fn location_inside(&mut self) -> Parsed<Location<'m>> {
        self.scan.enter()?;
        let location = match self.scan.peek() {
            b'#' => self.location_of_alias()?,
            b'"' => {
                let name = self.scan.string()?;
                if self.scan.takes("(") {
                    let child = self.location_inside()?;
                    self.scan.wants(")")?;
                    if name.is_empty() {
                        child
                    } else {
                        Some((name, true))
                    }
                } else if self.scan.takes(":") {
                    Some((self.line_and_column(&name)?, false))
                } else {
                    (!name.is_empty()).then_some((name, true))
                }
            }
            _ => match self.scan.word() {
                "callsite" => {
                    self.scan.wants("(")?;
                    let callee = self.location_inside()?;
                    if !self.scan.takes_word("at") {
                        return self.scan.broken("\"at\" is wanted here");
                    }
                    let caller = self.location_inside()?;
                    self.scan.wants(")")?;
                    better(callee, caller)
                }
                "fused" => {
                    if self.scan.sees("<") {
                        self.scan.balanced()?;
                    }
                    self.scan.wants("[")?;
                    let mut best = None;
                    if !self.scan.takes("]") {
                        loop {
                            best = better(best, self.location_inside()?);
                            if self.scan.takes("]") {
                                break;
                            }
                            self.scan.wants(",")?;
                        }
                    }
                    best
                }
                "loc" => {
                    self.scan.wants("(")?;
                    let location = self.location_inside()?;
                    self.scan.wants(")")?;
                    location
                }
                "unknown" => None,
                _ => return self.scan.broken("a location is wanted here"),
            },
        };
        self.scan.leave();
        Ok(location)
    }

    /// `12:3`, or a range: `12:3 to 13:4`, `12:3 to :4`.
    fn line_and_column(&mut self, file: &str) -> Parsed<Cow<'m, str>> {
        let line = self.scan.integer()?;
        self.scan.wants(":")?;
        let column = self.scan.integer()?;
        if self.scan.takes_word("to") {
            if !self.scan.sees(":") {
                self.scan.integer()?;
            }
            self.scan.wants(":")?;
            self.scan.integer()?;
        }
        self.scan.charge(file.len() + 16)?;
        Ok(Cow::Owned(format!("{file}:{line}:{column}")))
    }

    /// What an alias stands for. It is looked at once, because aliases stand for each other.
    fn location_of_alias(&mut self) -> Parsed<Location<'m>> {
        let start = self.scan.at();
        self.scan.wants("#")?;
        let name = self.scan.word();
        if let Some(known) = self.locations.get(name) {
            let known = known.clone();
            if let Some((Cow::Owned(text), _)) = &known {
                self.scan.charge(text.len())?;
            }
            return Ok(known);
        }
        // What is behind many others says little.
        if self.scan.is_deep() {
            return Ok(None);
        }
        let back = self.scan.at();
        let Some(&at) = self.aliases.get(name) else {
            return self.scan.broken_at(start, format!("the location #{name} is not defined"));
        };
        self.scan.jump(at);
        let location = self.location()?;
        self.scan.jump(back);
        self.scan.charge(64)?;
        self.locations.insert(name, location.clone());
        Ok(location)
    }
}
