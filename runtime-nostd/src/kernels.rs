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

// Of each family, all that is public: its kernels.
pub use crate::arch::dsp::compact::{conv::*, dense::*, depthwise::*, elementwise::*, pool::*};
pub use crate::arch::dsp::{
    conv::*, convert::*, dense::*, depthwise::*, elementwise::*, movement::*, pool::*, recurrent::*,
};
pub use crate::arch::portable::{
    absorb::*, classical::*, compare::*, computed::*, conv::*, convert::*, dense::*, depthwise::*,
    dynamic::*, elementwise::*, fft::*, gather::*, int16::*, matmul::*, movement::*, normalise::*, packed::*,
    pool::*, recurrent::*, reduce::*, resize::*, sigmoid::*, signal::*, softmax::*, trees::*, unary::*,
};
pub use crate::arch::simd::float::{
    conv::*, dense::*, depthwise::*, elementwise::*, matmul::*, pool::*, reduce::*, reproducible::*,
    softmax::*, unary::*,
};
#[cfg(target_has_atomic = "ptr")]
pub use crate::arch::simd::parts::*;
pub use crate::arch::simd::shape::{Shape, Sizes};
pub use crate::arch::simd::{conv::*, dense::*, depthwise::*, elementwise::*, movement::*, pool::*};
pub use crate::arch::v6m::steps::HalfRequant;
pub use crate::arch::v6m::{conv::*, dense::*, depthwise::*, elementwise::*};
pub use crate::params::{
    AddFloat, AddLinear, AddParams, Along, Broadcast, Choice, CompactConv, CompactDense, CompareParams,
    ComputedConv, Conv, Copy, DynamicLayer, FilterBlocks, FloatRequant, Gather, LogSoftmax, Lstm, MatMul,
    MeanLinear, MeanRows, MulFloat, MulParams, Noise, NoiseFloor, Pad, Pool, QuantizeLinear, Reduce, Requant,
    Rescale, Resize, Rounding, Scale, Stride,
};
pub use crate::rows::{Band, Read, ReadSlice, Rows};
