//! What stands for a value of the module while it is lowered.

use super::super::module::{Element, Tensor as Declared, Type};
use crate::{Lowered, Refusal};
use kiln_ir::{DType, ValueId};

/// What a value of the module became.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Tensor(Tensor),
    /// Real and imaginary parts.
    Complex(Tensor, Tensor),
    Tuple(Vec<Slot>),
    Token,
    /// The result of an operator that was refused.
    Refused,
}

/// A tensor.
///
/// StableHLO repeats operands to a common shape before each operator; ops of the graph do that themselves. So a value may have a size of 1 where the tensor
/// has another one, and is repeated only for ops that need all elements. Its number of axes is that of the tensor.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) value: ValueId,
    /// The tensor's shape.
    pub(super) dims: Vec<usize>,
    pub(super) element: Element,
}

impl Tensor {
    pub(super) fn of(value: ValueId, dims: &[usize], element: &Element) -> Tensor {
        Tensor { value, dims: dims.to_vec(), element: element.clone() }
    }

    pub(super) fn numel(&self) -> usize {
        self.dims.iter().product()
    }
}

impl Slot {
    pub(super) fn tensor(&self) -> Lowered<&Tensor> {
        match self {
            Slot::Tensor(tensor) => Ok(tensor),
            Slot::Refused => Err(Refusal::Follows),
            Slot::Complex(..) => {
                let help = "keep real and imaginary parts as tensors of their own";
                Err(Refusal::unsupported("it cannot be compiled for complex numbers", help))
            }
            Slot::Tuple(_) | Slot::Token => Err(malformed!("an operand is no tensor")),
        }
    }
}

/// How elements are stored. Unsigned integers of 16 bits and more are signed ones of the same bits. Floats of other widths are computed in 32 bits.
pub(super) fn dtype(element: &Element) -> Lowered<DType> {
    let what = match element {
        Element::Bool => return Ok(DType::Bool),
        Element::Signed(2 | 4 | 8) => return Ok(DType::I8),
        Element::Unsigned(2 | 4 | 8) => return Ok(DType::U8),
        Element::Signed(16) | Element::Unsigned(16) => return Ok(DType::I16),
        Element::Signed(32) | Element::Unsigned(32) => return Ok(DType::I32),
        Element::Signed(64) | Element::Unsigned(64) | Element::Index => return Ok(DType::I64),
        Element::Float(16 | 32 | 64) | Element::BFloat16 => return Ok(DType::F32),
        Element::Quantised(of) => return dtype(&of.storage),
        Element::Complex(_) => "complex numbers".to_owned(),
        Element::Signed(bits) | Element::Unsigned(bits) => format!("integers of {bits} bits"),
        Element::Float(bits) => format!("floats of {bits} bits"),
        Element::Other(name) => name.chars().take(64).collect(),
    };
    let help = "export the model in float32, int32 or int64";
    Err(Refusal::unsupported(format!("tensors of {what} cannot be compiled"), help))
}

/// Whether a larger number may have a smaller signed integer for its bits.
pub(super) fn is_wide_unsigned(element: &Element) -> bool {
    matches!(element, Element::Unsigned(16 | 32 | 64))
}

/// Whether arithmetic on whole bytes may leave the range.
pub(super) fn is_part_of_byte(element: &Element) -> bool {
    matches!(element, Element::Signed(2 | 4) | Element::Unsigned(2 | 4))
}

/// Bits of an integer.
pub(super) fn bits(element: &Element) -> Option<u32> {
    match element {
        Element::Signed(bits) | Element::Unsigned(bits) => Some(u32::from(*bits)),
        Element::Index => Some(64),
        _ => None,
    }
}

pub(super) fn is_unsigned(element: &Element) -> bool {
    matches!(element, Element::Unsigned(_))
}

pub(super) fn is_float(element: &Element) -> bool {
    matches!(element, Element::Float(_) | Element::BFloat16)
}

/// Bits of a float's significand, with the one in front.
pub(super) fn precision(element: &Element) -> Option<u32> {
    match element {
        Element::BFloat16 => Some(8),
        Element::Float(16) => Some(11),
        Element::Float(32) => Some(24),
        Element::Float(64) => Some(53),
        _ => None,
    }
}

/// The sizes of a tensor, which have to be known.
pub(super) fn sizes(tensor: &Declared) -> Lowered<Vec<usize>> {
    let known: Option<Vec<usize>> = tensor.shape.iter().copied().collect();
    known.ok_or_else(|| {
        let help = "export the model with fixed shapes";
        Refusal::unsupported("the shape of a tensor is open", help)
    })
}

/// The tensor that a type is.
pub(super) fn declared(ty: &Type) -> Lowered<&Declared> {
    match ty {
        Type::Tensor(tensor) => Ok(tensor),
        _ => Err(malformed!("a value is no tensor")),
    }
}
