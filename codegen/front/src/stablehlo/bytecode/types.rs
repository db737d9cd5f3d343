//! Types: those of VHLO, and those of MLIR itself.

use super::cursor::{Cursor, Parsed};
use super::file::{Dialect, File};
use crate::stablehlo::module::{Element, Quantised, Tensor, Type};

/// How deep attributes and types may lie in one another.
pub(super) const DEPTH: usize = 32;
/// Most dimensions of a tensor.
const RANK: usize = 64;

/// What an entry of the table of types is.
#[derive(Debug)]
pub(super) enum Entry {
    /// A type of elements: tensors have it, and numbers among attributes.
    Element(Element),
    /// A type of values.
    Value(Type),
    Function(Function),
    /// The type of an attribute that is not given.
    None,
    Other,
}

/// The type of a function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) arguments: Vec<Type>,
    pub(super) results: Vec<Type>,
}

/// Types of VHLO without parts, by their number.
fn plain_vhlo(code: u64) -> Option<Entry> {
    let element = match code {
        0 => Element::Bool,
        2 => Element::BFloat16,
        3 => Element::Float(16),
        4 => Element::Float(32),
        5 => Element::Float(64),
        9 => Element::Index,
        10..=14 => Element::Signed(4 << (code - 10)),
        15..=19 => Element::Unsigned(4 << (code - 15)),
        31 => Element::Signed(2),
        32 => Element::Unsigned(2),
        6 => Element::Other("f8E4M3FN".into()),
        7 => Element::Other("f8E5M2".into()),
        27 => Element::Other("f8E4M3FNUZ".into()),
        28 => Element::Other("f8E5M2FNUZ".into()),
        29 => Element::Other("f8E4M3B11FNUZ".into()),
        34 => Element::Other("tf32".into()),
        35 => Element::Other("f8E4M3".into()),
        36 => Element::Other("f8E3M4".into()),
        37 => Element::Other("f4E2M1FN".into()),
        38 => Element::Other("f6E2M3FN".into()),
        39 => Element::Other("f6E3M2FN".into()),
        40 => Element::Other("f8E8M0FNU".into()),
        22 => return Some(Entry::Value(Type::Token)),
        33 => return Some(Entry::None),
        26 => return Some(Entry::Other),
        _ => return None,
    };
    Some(Entry::Element(element))
}

impl<'m> File<'m> {
    /// The type of a value.
    pub(super) fn value_type(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Type> {
        self.value_type_at(index, cursor, DEPTH)
    }

    fn value_type_at(&mut self, index: u64, cursor: &Cursor<'m>, depth: usize) -> Parsed<Type> {
        Ok(match self.type_entry(index, cursor, depth)? {
            Entry::Value(ty) => ty,
            Entry::Element(_) | Entry::Function(_) | Entry::None | Entry::Other => Type::Other,
        })
    }

    /// The type of elements with that number.
    pub(super) fn element_type(&mut self, index: u64, cursor: &Cursor<'m>, depth: usize) -> Parsed<Element> {
        match self.type_entry(index, cursor, depth)? {
            Entry::Element(element) => Ok(element),
            _ => Err(cursor.broken(format!("type {index} is no type of elements"))),
        }
    }

    /// The entry of the table of types with that number.
    pub(super) fn type_entry(&mut self, index: u64, cursor: &Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(cursor.broken("types lie in one another too deep, or in a cycle"));
        };
        let (entry, mut cursor) = self.ty(index, cursor)?;
        if !entry.is_code {
            return Ok(Entry::Other);
        }
        let code = match entry.dialect {
            Dialect::Other => return Ok(Entry::Other),
            Dialect::Vhlo | Dialect::Builtin => cursor.number()?,
        };
        let ty = match entry.dialect {
            Dialect::Builtin => self.builtin_type(code, &mut cursor, depth)?,
            _ => self.vhlo_type(code, &mut cursor, depth)?,
        };
        cursor.finish()?;
        Ok(ty)
    }

    fn vhlo_type(&mut self, code: u64, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        if let Some(plain) = plain_vhlo(code) {
            return Ok(plain);
        }
        match code {
            1 => self.complex(cursor, depth),
            8 => self.function(cursor, depth),
            20 => self.tensor(cursor, depth),
            21 => {
                // What the tensor is said to be besides, such as bounds of open dimensions.
                cursor.number()?;
                self.tensor(cursor, depth)
            }
            23 => Ok(Entry::Value(Type::Tuple(self.value_types(cursor, depth)?))),
            24 => self.quantised(cursor, depth),
            30 => self.quantised_per_axis(cursor, depth),
            // Tensors of no known rank.
            25 => {
                cursor.number()?;
                Ok(Entry::Other)
            }
            // Buffers.
            41 => {
                self.tensor(cursor, depth)?;
                Ok(Entry::Other)
            }
            // What is computed at the same time.
            42 => {
                self.value_types(cursor, depth)?;
                Ok(Entry::Other)
            }
            _ => Err(cursor
                .broken(format!("VHLO's type {code} is not known"))
                .with_help("export it for an older version of StableHLO")),
        }
    }

    fn builtin_type(&mut self, code: u64, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        Ok(match code {
            0 => {
                let number = cursor.number()?;
                let is_unsigned = number & 3 == 2;
                Entry::Element(match u8::try_from(number >> 2) {
                    Ok(1) => Element::Bool,
                    Ok(bits @ (2 | 4 | 8 | 16 | 32 | 64)) if is_unsigned => Element::Unsigned(bits),
                    Ok(bits @ (2 | 4 | 8 | 16 | 32 | 64)) => Element::Signed(bits),
                    _ => Element::Other(format!("i{}", number >> 2)),
                })
            }
            1 => Entry::Element(Element::Index),
            2 => self.function(cursor, depth)?,
            3 => Entry::Element(Element::BFloat16),
            4 => Entry::Element(Element::Float(16)),
            5 => Entry::Element(Element::Float(32)),
            6 => Entry::Element(Element::Float(64)),
            9 => self.complex(cursor, depth)?,
            12 => Entry::None,
            13 => self.tensor(cursor, depth)?,
            14 => {
                cursor.number()?;
                self.tensor(cursor, depth)?
            }
            15 => Entry::Value(Type::Tuple(self.value_types(cursor, depth)?)),
            _ => {
                cursor.take(cursor.left() as u64)?;
                Entry::Other
            }
        })
    }

    fn value_types(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Vec<Type>> {
        let count = cursor.count(1)?;
        let mut types = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            let index = cursor.number()?;
            types.push(self.value_type_at(index, cursor, depth)?);
        }
        Ok(types)
    }

    fn function(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let arguments = self.value_types(cursor, depth)?;
        let results = self.value_types(cursor, depth)?;
        Ok(Entry::Function(Function { arguments, results }))
    }

    fn complex(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let index = cursor.number()?;
        match self.element_type(index, cursor, depth)? {
            Element::Float(bits @ (32 | 64)) => Ok(Entry::Element(Element::Complex(bits))),
            part => Err(cursor.broken(format!("complex numbers have parts of type {part:?}"))),
        }
    }

    fn tensor(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let rank = cursor.count(1)?;
        if rank > RANK {
            return Err(cursor.broken(format!("a tensor has {rank} dimensions")));
        }
        let mut shape = self.allowance.list(rank, cursor)?;
        for _ in 0..rank {
            // Open dimensions are negative.
            shape.push(usize::try_from(cursor.signed()?).ok());
        }
        let index = cursor.number()?;
        let element = self.element_type(index, cursor, depth)?;
        Ok(Entry::Value(Type::Tensor(Tensor { element, shape })))
    }

    /// What stands for real numbers, and for which.
    fn storage(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<(Element, Element)> {
        let is_signed = cursor.number()? & 1 == 1;
        let (storage, expressed) = (cursor.number()?, cursor.number()?);
        let storage = match self.element_type(storage, cursor, depth)? {
            Element::Signed(bits) | Element::Unsigned(bits) if is_signed => Element::Signed(bits),
            Element::Signed(bits) | Element::Unsigned(bits) => Element::Unsigned(bits),
            other => return Err(cursor.broken(format!("quantised numbers are stored as {other:?}"))),
        };
        Ok((storage, self.element_type(expressed, cursor, depth)?))
    }

    fn quantised(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let (storage, expressed) = self.storage(cursor, depth)?;
        let scale = f64::from_bits(cursor.signed()? as u64);
        let zero_point = cursor.signed()?;
        let range = (cursor.signed()?, cursor.signed()?);
        self.allowance.charge(size_of::<Quantised>(), cursor)?;
        let scales = vec![(scale, zero_point)];
        let quantised = Quantised { storage, range, expressed, dimension: None, scales };
        Ok(Entry::Element(Element::Quantised(Box::new(quantised))))
    }

    fn quantised_per_axis(&mut self, cursor: &mut Cursor<'m>, depth: usize) -> Parsed<Entry> {
        let (storage, expressed) = self.storage(cursor, depth)?;
        let dimension = cursor.number()?;
        let range = (cursor.signed()?, cursor.signed()?);
        let count = cursor.count(1)?;
        self.allowance.charge(size_of::<Quantised>(), cursor)?;
        let mut scales: Vec<(f64, i64)> = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            scales.push((f64::from_bits(cursor.signed()? as u64), 0));
        }
        let zero_points = cursor.count(1)?;
        if zero_points != count {
            return Err(cursor.broken(format!("there are {count} scales and {zero_points} zero points")));
        }
        for scale in &mut scales {
            scale.1 = cursor.signed()?;
        }
        let dimension =
            Some(usize::try_from(dimension).map_err(|_| cursor.broken("a dimension is too large"))?);
        let quantised = Quantised { storage, range, expressed, dimension, scales };
        Ok(Entry::Element(Element::Quantised(Box::new(quantised))))
    }
}
