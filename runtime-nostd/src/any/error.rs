//! What can be wrong with a call of a model that is known at run time only.

use crate::DType;
use core::fmt;

/// An input or output of a model, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Which {
    /// An input.
    Input(usize),
    /// An output.
    Output(usize),
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Input(index) => write!(f, "input {index}"),
            Which::Output(index) => write!(f, "output {index}"),
        }
    }
}

/// Why a model was not run, or a tensor not given. Nothing was computed then, but for [`AnyError::Begun`] and [`AnyError::NoThread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AnyError {
    /// The model has no such input or output.
    Missing(Which),
    /// Not as many inputs were given as the model has.
    Inputs {
        /// As many it has.
        expected: usize,
        /// As many were given.
        given: usize,
    },
    /// There is not room for as many outputs as the model has.
    Outputs {
        /// As many it has.
        expected: usize,
        /// For as many there is room.
        given: usize,
    },
    /// So many bytes are not the tensor, or not as many of it as the batch has.
    Bytes {
        /// Which tensor.
        which: Which,
        /// Bytes of the tensor, or of all in the batch.
        expected: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// The bytes of a batch are no whole number of tensors.
    Uneven {
        /// Which tensor.
        which: Which,
        /// Bytes of one.
        each: usize,
        /// Bytes that were given.
        given: usize,
    },
    /// So many elements are not the tensor.
    Elements {
        /// Which tensor.
        which: Which,
        /// Elements of the tensor.
        expected: usize,
        /// Elements that were given.
        given: usize,
    },
    /// The tensor's elements are of another type.
    Type {
        /// Which tensor.
        which: Which,
        /// Its type.
        expected: DType,
        /// The type that was asked for.
        given: DType,
    },
    /// The tensor's bytes are not aligned for its elements. Never with a compiled model.
    Misaligned(Which),
    /// The rows of the input do not complete an inference: some of another input had been given before. [`reset`](super::AnyModel::reset)
    /// forgets them.
    Begun,
    /// A batch was given to no model.
    NoModel,
    /// The models that are to share a batch are not all the same.
    DifferentModels,
    /// The system gives no further thread.
    NoThread,
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyError::Missing(which) => write!(f, "the model has no {which}"),
            AnyError::Inputs { expected, given } => {
                write!(f, "the model has {expected} inputs; given: {given}")
            }
            AnyError::Outputs { expected, given } => {
                write!(f, "the model has {expected} outputs; given: {given}")
            }
            AnyError::Bytes { which, expected, given } => {
                write!(f, "{which} takes {expected} bytes; given: {given}")
            }
            AnyError::Uneven { which, each, given } => {
                write!(
                    f,
                    "{which} takes {each} bytes for each of a batch; given, no whole number of that: {given}"
                )
            }
            AnyError::Elements { which, expected, given } => {
                write!(f, "{which} takes {expected} elements; given: {given}")
            }
            AnyError::Type { which, expected, given } => {
                write!(f, "{which} has elements of type {expected:?}, not {given:?}")
            }
            AnyError::Misaligned(which) => write!(f, "{which} is not aligned for its elements"),
            AnyError::Begun => f.write_str("rows of another input had been given before"),
            AnyError::NoModel => f.write_str("there is no model to run the batch"),
            AnyError::DifferentModels => f.write_str("the models of a batch are not all the same"),
            AnyError::NoThread => f.write_str("the system gives no further thread"),
        }
    }
}

impl core::error::Error for AnyError {}
