//! What every compiled model is: its description, and one interface to run it.

use crate::Crew;
use crate::Feed;

/// How one element of a tensor is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::I16 => 2,
            DType::F32 | DType::I32 => 4,
            DType::I64 => 8,
        }
    }
}

/// An input or output of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TensorInfo {
    /// Its name in the model file.
    pub name: &'static str,
    /// Its element type.
    pub dtype: DType,
    /// Its dimensions, outermost first; empty for a scalar.
    pub shape: &'static [usize],
    /// Real value of one step of the stored value: real = scale · (stored − zero point). 1 where the tensor is not quantised.
    pub scale: f32,
    /// Stored value that means zero. 0 where the tensor is not quantised.
    pub zero_point: i32,
}

impl TensorInfo {
    /// Number of elements.
    pub const fn len(&self) -> usize {
        let (mut shape, mut len) = (self.shape, 1usize);
        while let [first, rest @ ..] = shape {
            len = len.saturating_mul(*first);
            shape = rest;
        }
        len
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all elements.
    pub const fn bytes(&self) -> usize {
        self.len().saturating_mul(self.dtype.size())
    }
}

/// A compiled model, described.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelInfo {
    /// Its name.
    pub name: &'static str,
    /// Bytes of the arena that activations share.
    pub arena_bytes: usize,
    /// Bytes retained from one invocation to the next.
    pub state_bytes: usize,
    /// How it is given its input.
    pub feed: Feed,
    /// Its inputs: of a sliding model, the window.
    pub inputs: &'static [TensorInfo],
    /// Its outputs.
    pub outputs: &'static [TensorInfo],
}

/// A compiled model. Generated types also have typed accessors; this is for code that runs any model:
///
/// ```
/// # use kiln::{Feed, Model, ModelInfo};
/// /// Runs a model of one input, however it is fed.
/// fn run<'m, M: Model>(model: &'m mut M, input: &[u8]) -> &'m [u8] {
///     let piece = model.input_bytes_mut(0).len();
///     for piece in input.chunks(piece.max(1)) {
///         for (to, from) in model.input_bytes_mut(0).iter_mut().zip(piece) {
///             *to = *from;
///         }
///         model.invoke();
///     }
///     model.output_bytes(0)
/// }
/// ```
pub trait Model {
    /// What the model is.
    const INFO: ModelInfo;

    /// The bytes (little-endian elements, row-major) that are to be written before the next [`invoke`](Model::invoke): those of an
    /// input or, unless [`ModelInfo::feed`] is [`Feed::Whole`], of its next row. Empty where there is no such input.
    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8];

    /// The bytes of an output; empty where there is no such output. Valid once `invoke` says so, until an input is written or the
    /// model is invoked.
    fn output_bytes(&self, index: usize) -> &[u8];

    /// Takes what was written to the inputs, and says whether the outputs are complete: always with [`Feed::Whole`], after the last
    /// row of an input with [`Feed::Rows`], after the last row of a window with [`Feed::Sliding`].
    ///
    /// Inputs have to be written before every invocation: their memory is reused.
    fn invoke(&mut self) -> bool;

    /// As [`invoke`](Model::invoke), with the help of a crew where the model was compiled for several `cores`.
    fn invoke_on(&mut self, crew: &Crew) -> bool {
        let _ = crew;
        self.invoke()
    }

    /// Puts the state back to what it is in a new model, and forgets the rows of an input that is not complete.
    fn reset(&mut self);
}

/// Marks the beginning of a step of a model that was compiled with tracing.
///
/// Does nothing, but is never inlined or removed: a debugger or an emulator finds the calls and reads its counters there.
#[inline(never)]
pub fn trace(step: u32) {
    core::hint::black_box(step);
}
