//! What stands for a result of a node while the model is lowered.

use crate::{Lowered, Refusal};
use kiln_ir::{DType, ValueId};
use std::rc::Rc;

/// What a result became.
#[derive(Clone, Debug)]
pub(super) enum Slot<'p> {
    Tensor(ValueId),
    /// Real and imaginary parts.
    Complex(ValueId, ValueId),
    /// A constant of texts.
    Texts(Rc<[&'p [u8]]>),
    /// A text that is known when the model runs, such as the name of a folder.
    Opaque,
    /// A variable, a table or an array, by its number.
    Resource(usize),
    /// A variable's value in the files, by its key.
    Stored(&'p [u8]),
    /// A list of tensors.
    List(Rc<List>),
    /// What is in a branch that is not taken.
    Dead,
    /// The result of an operator that was refused.
    Refused,
}

/// A list whose length is known.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) dtype: DType,
    /// The shape of elements, if it is known.
    pub(super) dims: Option<Vec<usize>>,
    /// Elements; `None` for those that were not written, which are zeros.
    pub(super) items: Vec<Option<ValueId>>,
}

impl Slot<'_> {
    pub(super) fn tensor(&self) -> Lowered<ValueId> {
        match self {
            Slot::Tensor(value) => Ok(*value),
            Slot::Refused => Err(Refusal::Follows),
            Slot::Complex(..) => {
                let help = "keep real and imaginary parts as tensors of their own";
                Err(Refusal::unsupported("it cannot be compiled for complex numbers", help))
            }
            Slot::Texts(_) | Slot::Opaque => {
                let help = "look up texts in your own code, and give the model their numbers";
                Err(Refusal::unsupported("it cannot be compiled for texts", help))
            }
            Slot::Resource(_) | Slot::Stored(_) | Slot::List(_) | Slot::Dead => {
                Err(malformed!("an operand is no tensor"))
            }
        }
    }
}
