//! Types of elements, and numbers from their bytes.

use super::{Broken, Cursor, Parsed};
use crate::half;
use kiln_ir::{DType, Data};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) class: Class,
    /// Bytes of an element.
    pub(super) size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Integer {
        big: bool,
        signed: bool,
    },
    Float {
        big: bool,
    },
    /// `bfloat16`, the upper half of a float.
    Brain {
        big: bool,
    },
    /// A truth value, which h5py writes as an enumeration of bytes.
    Truth,
    /// A text of that many bytes.
    Text,
    /// A text of any length.
    LongText,
}

impl Element {
    pub(super) fn read(body: &mut Cursor<'_>) -> Parsed<Element> {
        let (class, bits) = (body.byte()?, body.number(3)?);
        let size = body.word()? as usize;
        let big = bits & 1 != 0;
        let class = match class & 15 {
            0 => Class::Integer { big, signed: bits & 8 != 0 },
            1 => float(body, big, size)?,
            3 => Class::Text,
            // Keras has no other elements that are bytes without a meaning.
            5 if size == 2 => Class::Brain { big: false },
            8 if size == 1 => Class::Truth,
            9 if bits & 15 == 1 => Class::LongText,
            other => return Broken::unknown(format!("elements of HDF5's class {other} are not read")),
        };
        match size {
            0 => Broken::damaged("elements have no bytes"),
            size => Ok(Element { class, size }),
        }
    }

    /// The type that elements have in the graph. Floats of other widths become those of 32 bits.
    pub(super) fn dtype(self) -> Parsed<DType> {
        Ok(match (self.class, self.size) {
            (Class::Float { .. }, 2 | 4 | 8) | (Class::Brain { .. }, 2) => DType::F32,
            (Class::Truth, 1) => DType::Bool,
            (Class::Integer { signed: true, .. }, 1) => DType::I8,
            (Class::Integer { signed: false, .. }, 1) => DType::U8,
            (Class::Integer { signed: true, .. }, 2) => DType::I16,
            (Class::Integer { .. }, 2 | 4) => DType::I32,
            (Class::Integer { .. }, 8) => DType::I64,
            _ => return Broken::unknown("an array has elements that are no numbers of up to 64 bits"),
        })
    }

    /// Numbers from their bytes.
    pub(super) fn numbers(self, bytes: &[u8]) -> Parsed<Data> {
        let dtype = self.dtype()?;
        let all = bytes.chunks_exact(self.size);
        Ok(match self.class {
            Class::Float { big: false } if self.size == 4 => Data::new(bytes),
            Class::Float { big } => {
                let float = |bytes: &[u8]| match self.size {
                    2 => half::widen(bits(bytes, big) as u16),
                    4 => f32::from_bits(bits(bytes, big) as u32),
                    _ => f64::from_bits(bits(bytes, big)) as f32,
                };
                Data::from_f32(&all.map(float).collect::<Vec<f32>>())
            }
            Class::Brain { big } => {
                let float = |bytes: &[u8]| f32::from_bits((bits(bytes, big) as u32) << 16);
                Data::from_f32(&all.map(float).collect::<Vec<f32>>())
            }
            Class::Truth => Data::new(bytes.iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<u8>>()),
            Class::Integer { big, signed } => {
                let unused = 64 - 8 * self.size.min(8) as u32;
                let number = |bytes: &[u8]| {
                    let bits = bits(bytes, big) << unused;
                    if signed {
                        bits as i64 >> unused
                    } else {
                        (bits >> unused) as i64
                    }
                };
                Data::from_ints(dtype, all.map(number))
            }
            Class::Text | Class::LongText => return Broken::unknown("an array is one of texts"),
        })
    }
}

fn float(body: &mut Cursor<'_>, big: bool, size: usize) -> Parsed<Class> {
    // The first bit and their number, then the exponent's and the mantissa's.
    let (first, count) = (body.short()?, body.short()?);
    let (exponent, exponent_bits, mantissa, mantissa_bits) =
        (body.byte()?, body.byte()?, body.byte()?, body.byte()?);
    let bias = body.word()?;
    let parts = (first, count, exponent, exponent_bits, mantissa, mantissa_bits, bias);
    match (size, parts) {
        (2, (0, 16, 10, 5, 0, 10, 15))
        | (4, (0, 32, 23, 8, 0, 23, 127))
        | (8, (0, 64, 52, 11, 0, 52, 1023)) => Ok(Class::Float { big }),
        (2, (0, 16, 7, 8, 0, 7, 127)) => Ok(Class::Brain { big }),
        _ => Broken::unknown("an array has floats of an unusual form"),
    }
}

fn bits(bytes: &[u8], big: bool) -> u64 {
    let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match big {
        true => bytes.iter().fold(0, join),
        false => bytes.iter().rev().fold(0, join),
    }
}
