//! Tensors as views of the crate `ndarray`.

extern crate alloc;

use super::{AnyError, AnyModel, Typed, Which};
use crate::{Feed, TensorInfo};
use alloc::vec::Vec;
use ndarray::{ArrayViewD, ArrayViewMutD, IxDyn};

impl<'m> dyn AnyModel + 'm {
    /// As `input_mut`, in the shape of the input, or of its row: one index of the second axis.
    ///
    #[cfg_attr(feature = "macros", doc = "```")]
    #[cfg_attr(not(feature = "macros"), doc = "```ignore")]
    /// # use kiln::any::{AnyError, AnyModel};
    /// kiln::include_model!(Digits = "../examples/digits/models/digits_f32.tflite");
    ///
    /// # fn main() -> Result<(), AnyError> {
    /// let digits: &mut dyn AnyModel = &mut Digits::new();
    /// let mut image = digits.input_view_mut::<f32>(0)?;
    /// assert_eq!(image.shape(), [1, 8, 8, 1]);
    /// image.fill(0.0);
    /// image[[0, 3, 4, 0]] = 1.0;
    /// digits.invoke();
    /// assert_eq!(digits.output_view::<f32>(0)?.shape(), [1, 10]);
    /// assert!(digits.output_view::<i8>(0).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Where there is no such input, or its elements are of another type.
    pub fn input_view_mut<T: Typed>(&mut self, index: usize) -> Result<ArrayViewMutD<'_, T>, AnyError> {
        let tensor = self.input_info(index)?;
        let mut shape: Vec<usize> = tensor.shape.to_vec();
        if let (Feed::Rows | Feed::Sliding, Some(rows)) = (self.info().feed, shape.get_mut(1)) {
            *rows = 1;
        }
        let elements = self.input_mut(index)?;
        let given = elements.len();
        ArrayViewMutD::from_shape(IxDyn(&shape), elements)
            .map_err(|_| mismatch(Which::Input(index), tensor, given))
    }

    /// As `output`, in the shape of the output.
    ///
    /// # Errors
    /// Where there is no such output, or its elements are of another type.
    pub fn output_view<T: Typed>(&self, index: usize) -> Result<ArrayViewD<'_, T>, AnyError> {
        let tensor = self.output_info(index)?;
        let elements = self.output(index)?;
        ArrayViewD::from_shape(IxDyn(tensor.shape), elements)
            .map_err(|_| mismatch(Which::Output(index), tensor, elements.len()))
    }
}

/// Elements that are not as many as the shape says: never those of a compiled model.
fn mismatch(which: Which, tensor: &TensorInfo, given: usize) -> AnyError {
    AnyError::Elements { which, expected: tensor.len(), given }
}
