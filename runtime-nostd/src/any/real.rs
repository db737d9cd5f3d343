//! Real numbers, whatever a model stores them as.

use super::{check_count, copy, AnyError, AnyModel, Which};
use crate::{dequantize, quantize, DType, TensorInfo};

impl<'m> dyn AnyModel + 'm {
    /// As `infer`, with real numbers: they are quantised as the input is, rounded and saturated where its elements are
    /// integers, and true where they are not zero.
    ///
    /// # Errors
    /// Where there are not as many inputs as the model has, or one has not as many elements. Nothing is computed then.
    pub fn infer_real(&mut self, inputs: &[&[f32]]) -> Result<&Self, AnyError> {
        let info = self.info();
        check_count(info, inputs.len())?;
        for (index, (tensor, given)) in info.inputs.iter().zip(inputs).enumerate() {
            if given.len() != tensor.len() {
                let (expected, given) = (tensor.len(), given.len());
                return Err(AnyError::Elements { which: Which::Input(index), expected, given });
            }
        }
        self.feed(|index, start, to| {
            let (Some(tensor), Some(reals)) = (info.inputs.get(index), inputs.get(index)) else { return };
            tensor.store_reals(reals.get(start / tensor.dtype.size()..).unwrap_or_default(), to);
        })?;
        Ok(self)
    }

    /// The real numbers that an output means, in row-major order: dequantised where it is quantised.
    ///
    /// # Errors
    /// [`AnyError::Missing`].
    pub fn reals(&self, index: usize) -> Result<impl ExactSizeIterator<Item = f32> + '_, AnyError> {
        let tensor = self.output_info(index)?;
        Ok(tensor.load_reals(self.output_bytes(index)))
    }
}

impl TensorInfo {
    /// Writes real numbers as the bytes that a tensor has for them, of one or of a whole batch: quantised as the tensor is, rounded and saturated where its elements are
    /// integers, true where not zero. As many as there are numbers, and room for them.
    ///
    /// ```
    /// # use kiln::{DType, TensorInfo};
    /// const TENSOR: TensorInfo = TensorInfo { name: "x", dtype: DType::I8, shape: &[2], scale: 0.5, zero_point: -1 };
    /// let mut bytes = [0; 4];
    /// TENSOR.store_reals(&[0.0, 0.5, 1.0, 1e9], &mut bytes);
    /// assert_eq!(bytes, [0xff, 0, 1, 0x7f]);
    /// assert!(TENSOR.load_reals(&bytes).eq([0.0, 0.5, 1.0, 64.0]));
    /// ```
    pub fn store_reals(&self, reals: &[f32], to: &mut [u8]) {
        for (to, &real) in to.chunks_exact_mut(self.dtype.size()).zip(reals) {
            store(self, real, to);
        }
    }

    /// The real numbers that the bytes of a tensor mean, of one or of a whole batch.
    pub fn load_reals<'a>(&self, bytes: &'a [u8]) -> impl ExactSizeIterator<Item = f32> + 'a {
        let tensor = *self;
        bytes.chunks_exact(self.dtype.size()).map(move |stored| load(&tensor, stored))
    }
}

/// Writes the stored value of a real one.
fn store(tensor: &TensorInfo, real: f32, to: &mut [u8]) {
    let TensorInfo { dtype, scale, zero_point, .. } = *tensor;
    match dtype {
        DType::F32 => copy(&real.to_le_bytes(), to),
        DType::I8 => copy(&quantize::<i8>(real, scale, zero_point).to_le_bytes(), to),
        DType::U8 => copy(&quantize::<u8>(real, scale, zero_point).to_le_bytes(), to),
        DType::I16 => copy(&quantize::<i16>(real, scale, zero_point).to_le_bytes(), to),
        // `as` saturates.
        DType::I32 => {
            copy(&(libm::roundf(real / scale) as i32).saturating_add(zero_point).to_le_bytes(), to);
        }
        DType::I64 => {
            copy(&(libm::roundf(real / scale) as i64).saturating_add(zero_point.into()).to_le_bytes(), to);
        }
        DType::Bool => copy(&[u8::from(real != 0.0)], to),
    }
}

/// The real value of a stored one, whose bytes are as many as its type has.
fn load(tensor: &TensorInfo, from: &[u8]) -> f32 {
    let TensorInfo { dtype, scale, zero_point, .. } = *tensor;
    match dtype {
        DType::F32 => f32::from_le_bytes(array(from)),
        DType::I8 => dequantize(i8::from_le_bytes(array(from)), scale, zero_point),
        DType::U8 => dequantize(u8::from_le_bytes(array(from)), scale, zero_point),
        DType::I16 => dequantize(i16::from_le_bytes(array(from)), scale, zero_point),
        DType::I32 => scale * i32::from_le_bytes(array(from)).wrapping_sub(zero_point) as f32,
        DType::I64 => scale * i64::from_le_bytes(array(from)).wrapping_sub(zero_point.into()) as f32,
        DType::Bool => f32::from(u8::from_le_bytes(array(from))),
    }
}

/// The first `N` bytes; zeros behind the last.
fn array<const N: usize>(from: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    copy(from, &mut array);
    array
}
