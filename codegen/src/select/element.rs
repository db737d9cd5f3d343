//! The elements of memory and constants.

use super::Packing;
use crate::ir::DType;

/// The Rust type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `i8`.
    I8,
    /// `u8`: booleans, too, and pairs of weights of 4 bits.
    U8,
    /// `i16`.
    I16,
    /// `u16`: words of 16 bits, and weights of half precision.
    U16,
    /// `i32`.
    I32,
    /// `u32`: words of 32 bits.
    U32,
    /// `i64`.
    I64,
    /// `f32`.
    F32,
}

impl Element {
    /// The type's name.
    pub fn name(self) -> &'static str {
        match self {
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I16 => "i16",
            Element::U16 => "u16",
            Element::I32 => "i32",
            Element::U32 => "u32",
            Element::I64 => "i64",
            Element::F32 => "f32",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 => 8,
        }
    }

    /// The word as which such an element is moved.
    pub(super) fn word(self) -> Element {
        match self.bytes() {
            1 => Element::U8,
            2 => Element::U16,
            4 => Element::U32,
            // Signed, so that a negative number is one of them.
            _ => Element::I64,
        }
    }
}

impl From<DType> for Element {
    fn from(dtype: DType) -> Element {
        match dtype {
            DType::F32 => Element::F32,
            DType::I8 => Element::I8,
            DType::U8 | DType::Bool => Element::U8,
            DType::I16 => Element::I16,
            DType::I32 => Element::I32,
            DType::I64 => Element::I64,
        }
    }
}

impl From<Packing> for Element {
    fn from(packing: Packing) -> Element {
        match packing {
            Packing::Nibbles => Element::U8,
            Packing::Halves => Element::U16,
            Packing::ScaledBytes | Packing::ScaledNibbles => Element::I8,
        }
    }
}
