//! Values of attributes in HLO's text.

use super::emit::{Draft, Emitter};
use super::Instruction;
use crate::stablehlo::module::{Attribute, Attributes};
use crate::stablehlo::scanner::{integer, Parsed};
use std::borrow::Cow;

impl<'m> Emitter<'_, 'm> {
    pub(super) fn add(&mut self, draft: &mut Draft<'m>, key: &'m str, value: Attribute<'m>) -> Parsed<()> {
        self.add_to(&mut draft.attributes, key, value)
    }

    pub(super) fn add_to(
        &mut self,
        attributes: &mut Attributes<'m>,
        key: &'m str,
        value: Attribute<'m>,
    ) -> Parsed<()> {
        self.scan.charge(size_of::<(Cow<'_, str>, Attribute<'_>)>())?;
        attributes.0.push((key.into(), value));
        Ok(())
    }

    /// An integer that an instruction must have.
    pub(super) fn integer_of(&mut self, instruction: &Instruction<'m>, key: &str) -> Parsed<i64> {
        match instruction.attribute(key) {
            Some(at) => {
                self.scan.jump(at);
                self.scan.integer()
            }
            None => self.scan.broken_at(instruction.at, format!("{} has no {key}", instruction.name)),
        }
    }

    /// `{0,1}`, or nothing where the instruction does not have it.
    pub(super) fn integers_of(&mut self, instruction: &Instruction<'m>, key: &str) -> Parsed<Vec<i64>> {
        let mut integers = Vec::new();
        if let Some(at) = instruction.attribute(key) {
            self.scan.jump(at);
            self.scan.wants("{")?;
            self.scan.list("}", |scan| {
                scan.charge(8)?;
                integers.push(scan.integer()?);
                Ok(())
            })?;
        }
        Ok(integers)
    }

    /// A word; nothing where the instruction does not have it.
    pub(super) fn word_of(&mut self, instruction: &Instruction<'m>, key: &str) -> &'m str {
        match instruction.attribute(key) {
            Some(at) => {
                self.scan.jump(at);
                self.scan.word()
            }
            None => "",
        }
    }

    /// Whether an attribute is there and true.
    pub(super) fn truth_of(&mut self, instruction: &Instruction<'m>, key: &str) -> bool {
        self.word_of(instruction, key) == "true"
    }

    /// An attribute as it is written.
    pub(super) fn any(&mut self, at: usize) -> Parsed<Attribute<'m>> {
        self.scan.jump(at);
        Ok(match self.scan.peek() {
            b'"' => Attribute::Text(self.scan.string()?),
            b'-' | b'0'..=b'9' => {
                let number = self.scan.number()?;
                match (integer(number), number.parse()) {
                    (Some(integer), _) => Attribute::Int(integer),
                    (None, Ok(float)) => Attribute::Float(float),
                    (None, Err(_)) => return self.scan.broken_at(at, "a number is wanted here"),
                }
            }
            b'{' => {
                self.scan.wants("{")?;
                let mut integers = Vec::new();
                while let b'-' | b'0'..=b'9' = self.scan.peek() {
                    self.scan.charge(8)?;
                    integers.push(self.scan.integer()?);
                    self.scan.takes(",");
                }
                match self.scan.takes("}") {
                    true => Attribute::Ints(integers),
                    false => Attribute::Unit,
                }
            }
            _ => match self.scan.word() {
                "true" => Attribute::Bool(true),
                "false" => Attribute::Bool(false),
                word => Attribute::Text(Cow::Borrowed(word)),
            },
        })
    }
}
