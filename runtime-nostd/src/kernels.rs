//! The kernels that generated code calls, and their parameters.
//!
//! A kernel takes activations as cells of an arena, so that operand and result may overlap; computes one [`Band`] of result
//! rows; and takes constants as plain slices in the order in which it reads them. It never panics, allocates or recurses: an
//! impossible index ends a loop early. Integer kernels give the bits of TensorFlow Lite Micro's reference kernels.
//!
//! Kernels go through the rows of a band in ascending order. When row `r` of the result is written, rows of the operands that only earlier rows read
//! are no longer needed, and the result may lie over them; what row `r` and later rows read has to be elsewhere. Elementwise kernels go through their
//! elements in ascending order, and read all operands of an element before they write it: their result may also lie in the place of an operand
//! whose elements have the same size, or below it. Kernels without a band are called for a whole tensor, or for one row of it after the other.

pub use crate::arch::kernels::*;
pub use crate::params::{
    AddFloat, AddLinear, AddParams, Along, Broadcast, Choice, CompactConv, CompactDense, CompareParams,
    ComputedConv, Conv, Copy, DynamicLayer, FilterBlocks, FloatRequant, Gather, LogSoftmax, Lstm, MatMul,
    MeanLinear, MeanRows, MulFloat, MulParams, Noise, NoiseFloor, Pad, Pool, QuantizeLinear, Reduce, Requant,
    Rescale, Resize, Rounding, Scale, ScaledWeights, Stride, Waves,
};
pub use crate::rows::{Band, Read, ReadSlice, Rows};
