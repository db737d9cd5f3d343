//! Models that are known at run time only: for hosts that hold several behind one interface.
//!
//! Every compiled model is an [`AnyModel`], and a `Box<dyn AnyModel>` is any of them. Its tensors are bytes, or slices whose type and
//! length are checked, or real numbers whatever they are stored as. Nothing here panics or, but for what the features below say, allocates.
//!
#![cfg_attr(all(feature = "macros", feature = "std"), doc = "```")]
#![cfg_attr(not(all(feature = "macros", feature = "std")), doc = "```ignore")]
//! use kiln::any::{AnyError, AnyModel};
//! use kiln::{Arena, DType};
//! use std::collections::BTreeMap;
//!
//! kiln::include_model!(Float = "../examples/digits/models/digits_f32.tflite");
//! kiln::include_model!(Int8 = "../examples/digits/models/digits_int8.tflite");
//!
//! fn models() -> BTreeMap<&'static str, Box<dyn AnyModel>> {
//!     let models: [Box<dyn AnyModel>; 2] =
//!         [Box::new(Float::with_arena(Arena::boxed())), Box::new(Int8::with_arena(Arena::boxed()))];
//!     models.into_iter().map(|model| (model.info().name, model)).collect()
//! }
//!
//! # fn main() -> Result<(), AnyError> {
//! let mut models = models();
//! for model in models.values_mut() {
//!     let output = model.infer_real(&[&[0.5; 64]])?.reals(0)?;
//!     assert!((output.sum::<f32>() - 1.0).abs() < 0.1, "probabilities, of floats as of integers");
//! }
//!
//! let int8 = models.get_mut("digits_int8").unwrap();
//! assert_eq!(int8.info().inputs[0].dtype, DType::I8);
//! let error = int8.infer(&[&[0; 60]]).err().unwrap();
//! assert_eq!(error.to_string(), "input 0 takes 64 bytes; given: 60");
//! # Ok(())
//! # }
//! ```
//!
//! - [`batch`] runs one model on many inputs. With the feature `std`, `batch_in_threads` has several instances of a model share them, one
//!   in each thread: the caller decides how many, and there is no pool of threads.
//! - With the feature `std`, `Arena::boxed` makes the arena of a large model on the heap.
//! - With the feature `ndarray`, tensors are views of that crate: `input_view_mut` and `output_view`.
//!
//! Methods of a compiled type itself cost less code and check everything while the program compiles: this is for programs that
//! cannot know which model comes next.

#[cfg(feature = "ndarray")]
mod array;
mod batch;
mod error;
mod real;
#[cfg(feature = "std")]
mod threads;

pub use batch::batch;
pub use error::{AnyError, Which};
#[cfg(feature = "std")]
pub use threads::batch_in_threads;

use crate::arch::elements;
use crate::Crew;
use crate::{DType, Element, Feed, Model, ModelInfo, TensorInfo};

/// A compiled model, whichever it is. Every [`Model`] that can be sent to another thread is one, and every compiled model can.
pub trait AnyModel: Send {
    /// What the model is: its name, inputs and outputs.
    fn info(&self) -> &'static ModelInfo;

    /// The bytes that are to be written before the next [`invoke`](AnyModel::invoke): see [`Model::input_bytes_mut`].
    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8];

    /// The bytes of an output: see [`Model::output_bytes`].
    fn output_bytes(&self, index: usize) -> &[u8];

    /// Takes what was written to the inputs, and says whether the outputs are complete: see [`Model::invoke`].
    fn invoke(&mut self) -> bool;

    /// As [`invoke`](AnyModel::invoke), with the help of a crew: see [`Model::invoke_on`].
    fn invoke_on(&mut self, crew: &Crew) -> bool;

    /// Puts the state back to what it is in a new model, and forgets the rows of an input that is not complete.
    fn reset(&mut self);
}

impl<M: Model + Send> AnyModel for M {
    fn info(&self) -> &'static ModelInfo {
        const { &M::INFO }
    }

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        Model::input_bytes_mut(self, index)
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        Model::output_bytes(self, index)
    }

    fn invoke(&mut self) -> bool {
        Model::invoke(self)
    }

    fn invoke_on(&mut self, crew: &Crew) -> bool {
        Model::invoke_on(self, crew)
    }

    fn reset(&mut self) {
        Model::reset(self);
    }
}

/// The element types that tensors of models have: `f32`, `i8`, `u8`, `i16`, `i32` and `i64`.
pub trait Typed: Element {
    /// How such an element is stored.
    const DTYPE: DType;

    /// Whether a tensor of that type can be seen as elements of this one: of the same, and booleans as `u8`, which are 0 or 1.
    fn fits(stored: DType) -> bool {
        stored == Self::DTYPE || (stored == DType::Bool && Self::DTYPE == DType::U8)
    }
}

macro_rules! typed {
    ($($t:ty: $dtype:ident),*) => { $(
        impl Typed for $t {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}
typed!(f32: F32, i8: I8, u8: U8, i16: I16, i32: I32, i64: I64);

impl<'m> dyn AnyModel + 'm {
    /// What is said of an input.
    ///
    /// # Errors
    /// [`AnyError::Missing`].
    pub fn input_info(&self, index: usize) -> Result<&'static TensorInfo, AnyError> {
        self.info().inputs.get(index).ok_or(AnyError::Missing(Which::Input(index)))
    }

    /// What is said of an output.
    ///
    /// # Errors
    /// [`AnyError::Missing`].
    pub fn output_info(&self, index: usize) -> Result<&'static TensorInfo, AnyError> {
        self.info().outputs.get(index).ok_or(AnyError::Missing(Which::Output(index)))
    }

    /// The elements that are to be written before the next [`invoke`](AnyModel::invoke): those of an input in row-major order or, unless
    /// [`ModelInfo::feed`] is [`Feed::Whole`], of its next row.
    ///
    /// # Errors
    /// Where there is no such input, or its elements are of another type.
    pub fn input_mut<T: Typed>(&mut self, index: usize) -> Result<&mut [T], AnyError> {
        let which = Which::Input(index);
        check_type::<T>(which, self.input_info(index)?)?;
        elements::elements_mut(self.input_bytes_mut(index)).ok_or(AnyError::Misaligned(which))
    }

    /// The elements of an output in row-major order. Valid after `infer`, or once [`invoke`](AnyModel::invoke) says so, until an
    /// input is written.
    ///
    /// # Errors
    /// Where there is no such output, or its elements are of another type.
    pub fn output<T: Typed>(&self, index: usize) -> Result<&[T], AnyError> {
        let which = Which::Output(index);
        check_type::<T>(which, self.output_info(index)?)?;
        elements::elements(self.output_bytes(index)).ok_or(AnyError::Misaligned(which))
    }

    /// Runs the model on whole inputs, little-endian elements in row-major order, also one that takes its input row by row; gives the model back, whose
    /// outputs are complete. ([`bytes_of`] makes bytes of elements.)
    ///
    /// State stays from one inference to the next. A model whose window slides forgets earlier frames first: the input is a whole window.
    ///
    /// # Errors
    /// Where there are not as many inputs as the model has, or one is not as long. Nothing is computed then.
    pub fn infer(&mut self, inputs: &[&[u8]]) -> Result<&Self, AnyError> {
        let info = self.info();
        check_count(info, inputs.len())?;
        for (index, (tensor, given)) in info.inputs.iter().zip(inputs).enumerate() {
            if given.len() != tensor.bytes() {
                let (expected, given) = (tensor.bytes(), given.len());
                return Err(AnyError::Bytes { which: Which::Input(index), expected, given });
            }
        }
        self.feed(|index, start, to| {
            copy(inputs.get(index).and_then(|bytes| bytes.get(start..)).unwrap_or_default(), to);
        })?;
        Ok(self)
    }

    /// Runs the model once. `write` is called with the index of an input, the byte that a piece of it starts at, and the place of that piece.
    fn feed(&mut self, mut write: impl FnMut(usize, usize, &mut [u8])) -> Result<(), AnyError> {
        let info = self.info();
        if info.feed == Feed::Whole {
            for index in 0..info.inputs.len() {
                write(index, 0, self.input_bytes_mut(index));
            }
            self.invoke();
            return Ok(());
        }
        // Without state, to reset is but to begin anew.
        if info.feed == Feed::Sliding || info.state_bytes == 0 {
            self.reset();
        }
        let len = info.inputs.first().map_or(0, TensorInfo::bytes);
        let mut start = 0;
        while start < len {
            let row = self.input_bytes_mut(0);
            let end = start.saturating_add(row.len().max(1));
            write(0, start, row);
            if self.invoke() != (end >= len) {
                return Err(AnyError::Begun);
            }
            start = end;
        }
        Ok(())
    }
}

/// The bytes of elements, which inputs and outputs of batches are given as.
pub fn bytes_of<T: Typed>(elements: &[T]) -> &[u8] {
    elements::bytes_of(elements)
}

/// As [`bytes_of`], to be written.
pub fn bytes_of_mut<T: Typed>(elements: &mut [T]) -> &mut [u8] {
    elements::bytes_of_mut(elements)
}

/// Copies as many bytes as there are in both.
fn copy(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

fn check_count(info: &ModelInfo, given: usize) -> Result<(), AnyError> {
    match info.inputs.len() {
        expected if expected != given => Err(AnyError::Inputs { expected, given }),
        _ => Ok(()),
    }
}

fn check_type<T: Typed>(which: Which, tensor: &TensorInfo) -> Result<(), AnyError> {
    match T::fits(tensor.dtype) {
        true => Ok(()),
        false => Err(AnyError::Type { which, expected: tensor.dtype, given: T::DTYPE }),
    }
}
