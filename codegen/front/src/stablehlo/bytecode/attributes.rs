//! Attributes: those of VHLO, and those of MLIR itself.

use super::cursor::{Broken, Cursor, Parsed};
use super::dense;
use super::file::{Dialect, File};
use super::types::{Entry, Function, DEPTH};
use crate::half;
use crate::stablehlo::module::{Attribute, Attributes, Element, Tensor, Type};
use std::borrow::Cow;

/// Enumerators of VHLO, by the number of the attribute: those from 0 on.
fn enumerators(code: u64) -> Option<&'static [&'static str]> {
    Some(match code {
        3 => &["EQ", "NE", "GE", "GT", "LE", "LT"],
        4 => &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"],
        7 => &["FFT", "IFFT", "RFFT", "IRFFT"],
        11 => &["DEFAULT", "HIGH", "HIGHEST"],
        12 => &["DEFAULT", "THREE_FRY", "PHILOX"],
        13 => &["", "UNIFORM", "NORMAL"],
        16 => &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"],
        19 => &["DEFAULT", "HIGHEST", "TOLERANCE"],
        _ => return None,
    })
}

/// The names of parts.
macro_rules! parts {
    ($($name:literal: $value:expr),+ $(,)?) => {
        Attribute::Parts(Attributes(vec![$((Cow::Borrowed($name), $value)),+]))
    };
}

impl<'m> File<'m> {
    /// The attribute with that number.
    pub(super) fn attribute_value(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Attribute<'m>> {
        self.attribute_at(index, cursor, DEPTH)
    }

    /// The attribute that is a function's type.
    pub(super) fn function_type(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Function> {
        let (entry, mut cursor) = self.attribute(index, cursor)?;
        let is_type = entry.is_code && entry.dialect == Dialect::Vhlo && cursor.number()? == TYPE;
        let function = match is_type {
            true => {
                let index = cursor.number()?;
                self.type_entry(index, &cursor, DEPTH)?
            }
            false => Entry::Other,
        };
        match function {
            Entry::Function(function) => Ok(function),
            _ => Err(cursor.broken("the type of a function is wanted")),
        }
    }

    /// Names and values of the dictionary with that number: MLIR's own, as operations have it. Values are numbers of attributes.
    pub(super) fn dictionary(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Vec<(Cow<'m, str>, u64)>> {
        let (entry, mut cursor) = self.attribute(index, cursor)?;
        if !entry.is_code || entry.dialect != Dialect::Builtin || cursor.number()? != DICTIONARY {
            return Err(cursor.broken("attributes of an operation are no dictionary"));
        }
        let count = cursor.count(2)?;
        let mut list = self.allowance.list(count, &cursor)?;
        for _ in 0..count {
            let (name, value) = (cursor.number()?, cursor.number()?);
            list.push((self.text_attribute(name, &cursor)?, value));
        }
        cursor.finish()?;
        Ok(list)
    }

    /// The attribute with that number, which is a text.
    pub(super) fn text_attribute(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Cow<'m, str>> {
        match self.attribute_at(index, cursor, DEPTH)? {
            Attribute::Text(text) => Ok(text),
            _ => Err(cursor.broken(format!("attribute {index} is no text"))),
        }
    }

    fn attribute_at(&mut self, index: u64, cursor: &Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(cursor.broken("attributes lie in one another too deep, or in a cycle"));
        };
        let (entry, mut cursor) = self.attribute(index, cursor)?;
        if !entry.is_code {
            self.allowance.charge(3 * cursor.left(), &cursor)?;
            return Ok(Attribute::Text(String::from_utf8_lossy(cursor.zero_terminated()?)));
        }
        let attribute = match entry.dialect {
            Dialect::Vhlo => self.vhlo_attribute(&mut cursor, depth)?,
            Dialect::Builtin => self.builtin_attribute(&mut cursor, depth)?,
            // What other dialects say of an operation cannot be read, and does not change what it computes.
            Dialect::Other => return Ok(Attribute::Unit),
        };
        cursor.finish()?;
        Ok(attribute)
    }

    /// The next attribute that is named.
    fn next(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let index = cursor.number()?;
        self.attribute_at(index, cursor, depth)
    }

    /// The next text, which is a string of the file.
    fn next_text(&mut self, cursor: &mut Cursor<'m>) -> Parsed<Cow<'m, str>> {
        let index = cursor.number()?;
        self.string(index, cursor)
    }

    fn vhlo_attribute(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let code = cursor.number()?;
        if let Some(names) = enumerators(code) {
            let value = cursor.number()?;
            let name = usize::try_from(value).ok().and_then(|value| names.get(value));
            let name = name.ok_or_else(|| newer(cursor, "enumerator", value))?;
            return Ok(Attribute::Text(Cow::Borrowed(name)));
        }
        Ok(match code {
            1 => Attribute::List(self.list(cursor, depth)?),
            2 => Attribute::Bool(cursor.number()? != 0),
            5 => Attribute::Int(cursor.number()? as i64),
            6 => Attribute::Parts(self.parts(cursor, depth)?),
            8 => self.float(cursor, depth)?,
            9 => self.integer(cursor, depth)?,
            10 => {
                self.allowance.charge(3 * size_of::<(Cow<'_, str>, Attribute<'_>)>(), cursor)?;
                parts! {
                    "output_tuple_indices": Attribute::Ints(self.signed_list(cursor)?),
                    "operand_index": Attribute::Int(cursor.signed()?),
                    "operand_tuple_indices": Attribute::Ints(self.signed_list(cursor)?),
                }
            }
            14 => Attribute::Text(self.next_text(cursor)?),
            15 => self.dense(cursor, depth)?,
            TYPE => self.type_attribute(cursor, depth)?,
            20 => self.accuracy(cursor, depth)?,
            // Bounds of open dimensions, which only types have. Meshes of devices.
            18 | 21..=25 => {
                cursor.take(cursor.left() as u64)?;
                Attribute::Unit
            }
            _ => return Err(newer(cursor, "attribute", code)),
        })
    }

    fn builtin_attribute(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        Ok(match cursor.number()? {
            0 => Attribute::List(self.list(cursor, depth)?),
            DICTIONARY => Attribute::Parts(self.parts(cursor, depth)?),
            2 => Attribute::Text(self.next_text(cursor)?),
            3 => {
                let text = self.next_text(cursor)?;
                cursor.number()?;
                Attribute::Text(text)
            }
            // A symbol.
            4 => self.next(cursor, depth)?,
            5 => {
                let symbol = self.next(cursor, depth)?;
                cursor.take(cursor.left() as u64)?;
                symbol
            }
            6 => self.type_attribute(cursor, depth)?,
            7 => Attribute::Unit,
            8 => self.integer(cursor, depth)?,
            9 => self.float(cursor, depth)?,
            17 => {
                let (element, count) = (cursor.number()?, cursor.number()?);
                let element = self.element_type(element, cursor, depth)?;
                let length = cursor.number()?;
                let bytes = cursor.take(length)?;
                dense::array(&element, count, bytes, &mut self.allowance, cursor)?
            }
            18 => self.dense(cursor, depth)?,
            // Locations, resources, tensors of texts, sparse tensors: nothing in VHLO means anything by them.
            _ => {
                cursor.take(cursor.left() as u64)?;
                Attribute::Unit
            }
        })
    }

    fn list(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Vec<Attribute<'m>>> {
        let count = cursor.count(1)?;
        let mut list = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            list.push(self.next(cursor, depth)?);
        }
        Ok(list)
    }

    fn parts(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attributes<'m>> {
        let count = cursor.count(2)?;
        let mut list = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            let Attribute::Text(name) = self.next(cursor, depth)? else {
                return Err(cursor.broken("a name in a dictionary is no text"));
            };
            list.push((name, self.next(cursor, depth)?));
        }
        Ok(Attributes(list))
    }

    fn signed_list(&mut self, cursor: &mut Cursor<'m>) -> Parsed<Vec<i64>> {
        let count = cursor.count(1)?;
        let mut list = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            list.push(cursor.signed()?);
        }
        Ok(list)
    }

    fn type_attribute(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let index = cursor.number()?;
        Ok(match self.type_entry(index, cursor, depth)? {
            Entry::Value(ty) => Attribute::Type(ty),
            Entry::Element(element) => Attribute::Type(Type::Tensor(Tensor { element, shape: Vec::new() })),
            Entry::None => Attribute::Unit,
            Entry::Function(_) | Entry::Other => Attribute::Type(Type::Other),
        })
    }

    fn integer(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let index = cursor.number()?;
        let element = self.element_type(index, cursor, depth)?;
        Ok(match element {
            Element::Bool => Attribute::Bool(cursor.byte()? & 1 == 1),
            Element::Signed(bits @ 0..=8) => Attribute::Int(sign_extended(u64::from(cursor.byte()?), bits)),
            Element::Unsigned(0..=8) => Attribute::Int(i64::from(cursor.byte()?)),
            Element::Signed(bits) => Attribute::Int(sign_extended(cursor.signed()? as u64, bits)),
            Element::Unsigned(bits) => {
                Attribute::Int((cursor.signed()? as u64 & (u64::MAX >> (64 - u32::from(bits)))) as i64)
            }
            Element::Index => Attribute::Int(cursor.signed()?),
            other => return Err(cursor.broken(format!("an integer has type {other:?}"))),
        })
    }

    fn float(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let index = cursor.number()?;
        let element = self.element_type(index, cursor, depth)?;
        let number = match element {
            Element::Float(16) => f64::from(half::widen(cursor.signed()? as u16)),
            Element::BFloat16 => f64::from(f32::from_bits((cursor.signed()? as u32) << 16)),
            Element::Float(32) => f64::from(f32::from_bits(cursor.signed()? as u32)),
            Element::Float(_) => f64::from_bits(cursor.signed()? as u64),
            other => {
                let what = format!("a number has type {other:?}");
                return Err(cursor.broken(what).with_help("use numbers of 16, 32 or 64 bits"));
            }
        };
        Ok(Attribute::Float(number))
    }

    /// The accuracy that a result has at least. Without parts it is the default.
    fn accuracy(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let absolute = f64::from_bits(cursor.signed()? as u64);
        let relative = f64::from_bits(cursor.signed()? as u64);
        let units = cursor.signed()?;
        let mode = self.next(cursor, depth)?;
        if absolute == 0.0
            && relative == 0.0
            && units == 0
            && matches!(&mode, Attribute::Text(mode) if mode == "DEFAULT")
        {
            return Ok(Attribute::Parts(Attributes::default()));
        }
        self.allowance.charge(4 * size_of::<(Cow<'_, str>, Attribute<'_>)>(), cursor)?;
        Ok(parts! {
            "atol": Attribute::Float(absolute),
            "rtol": Attribute::Float(relative),
            "ulps": Attribute::Int(units),
            "mode": mode,
        })
    }

    /// The elements of a tensor, or the integers of one.
    fn dense(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Attribute<'m>> {
        let (index, length) = (cursor.number()?, cursor.number()?);
        let Entry::Value(Type::Tensor(ty)) = self.type_entry(index, cursor, depth)? else {
            return Err(cursor.broken("a tensor has a type that is none of tensors"));
        };
        let bytes = cursor.take(length)?;
        Ok(Attribute::Dense(dense::tensor(ty, bytes, &mut self.allowance, cursor)?))
    }
}

/// Numbers of attributes that are asked for.
const TYPE: u64 = 17;
const DICTIONARY: u64 = 1;

/// The lowest bits as a number with a sign.
fn sign_extended(bits: u64, width: u8) -> i64 {
    let unused = 64u32.saturating_sub(u32::from(width));
    (bits << unused) as i64 >> unused
}

/// What a file of a newer version has.
fn newer(cursor: &Cursor<'_>, kind: &str, number: u64) -> Broken {
    cursor
        .broken(format!("VHLO's {kind} {number} is not known"))
        .with_help("export it for an older version of StableHLO")
}
