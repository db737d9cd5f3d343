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

pub use crate::arch::dsp::avg_pool::mean_pool2d_i8_dsp;
pub use crate::arch::dsp::compact::add::add_i8_dsp_compact;
pub use crate::arch::dsp::compact::conv::conv2d_i8_dsp_compact;
pub use crate::arch::dsp::compact::dense::dense_i8_dsp_compact;
pub use crate::arch::dsp::compact::depthwise::depthwise2d_i8_dsp_compact;
pub use crate::arch::dsp::compact::mean::mean_pool2d_i8_dsp_compact;
pub use crate::arch::dsp::conv::{conv2d_i8_dsp, conv2d_i8_dsp_exact, conv2d_i8_dsp_small};
pub use crate::arch::dsp::convert::quantize_f32_i8_dsp;
pub use crate::arch::dsp::dense::{
    conv1_i8_dsp, conv1_i8_dsp_eights, conv1_i8_dsp_exact, dense_i8_dsp, dense_i8_dsp_eights,
    dense_i8_dsp_exact,
};
pub use crate::arch::dsp::depthwise::{depthwise2d_i8_dsp, depthwise2d_i8_dsp_exact};
pub use crate::arch::dsp::depthwise_planar::{depthwise2d_i8_dsp_planar, depthwise2d_i8_dsp_planar_exact};
pub use crate::arch::dsp::dot::dense_i8_dsp_dot;
pub use crate::arch::dsp::elementwise::add_i8_dsp;
pub use crate::arch::dsp::lstm::lstm_i8_dsp;
pub use crate::arch::dsp::max_pool::max_pool2d_i8_dsp;
pub use crate::arch::dsp::movement::copy_dsp;
pub use crate::arch::dsp::temporal::depthwise1d_i8_dsp;
pub use crate::arch::dsp::wide::{conv1_i16_i8_dsp, dense_i8_i16_dsp};
pub use crate::arch::dsp::window::conv2d_work_words;
pub use crate::arch::portable::absorb::{
    avg_pool_rows_f32, avg_pool_rows_i8, avg_pool_rows_u8, mean_rows_f32, mean_rows_i8,
};
pub use crate::arch::portable::classical::{couple_f32, squared_distances_f32};
pub use crate::arch::portable::compare::{
    cast, cast_to_bool, equal_f32, equal_i16, equal_i32, equal_i64, equal_i8, equal_i8_scaled, equal_u8,
    greater_equal_f32, greater_equal_i16, greater_equal_i32, greater_equal_i64, greater_equal_i8,
    greater_equal_i8_scaled, greater_equal_u8, greater_f32, greater_i16, greater_i32, greater_i64,
    greater_i8, greater_i8_scaled, greater_u8, less_equal_f32, less_equal_i16, less_equal_i32,
    less_equal_i64, less_equal_i8, less_equal_i8_scaled, less_equal_u8, less_f32, less_i16, less_i32,
    less_i64, less_i8, less_i8_scaled, less_u8, not_equal_f32, not_equal_i16, not_equal_i32, not_equal_i64,
    not_equal_i8, not_equal_i8_scaled, not_equal_u8, select,
};
pub use crate::arch::portable::computed::{
    computed_conv2d_f32, computed_conv2d_i16, computed_conv2d_i16_narrow, computed_conv2d_i8,
    computed_conv2d_i8_float, computed_conv2d_i8_once,
};
pub use crate::arch::portable::conv::{
    conv2d_f32, conv2d_i8, conv2d_i8_float, conv2d_i8xi16, conv2d_i8xi16_float, dense_f32, dense_i8,
    dense_i8_float, dense_i8_once, dense_i8xi16, dense_i8xi16_float, dense_i8xi16_once,
};
pub use crate::arch::portable::convert::{
    dequantize_i8_f32, dequantize_u8_f32, quantize_f32_i16_even, quantize_f32_i8, quantize_f32_i8_even,
    quantize_f32_i8_even_sum, quantize_f32_u8,
};
pub use crate::arch::portable::depthwise::{
    depthwise2d_f32, depthwise2d_i8, depthwise2d_i8_float, depthwise2d_i8xi16, depthwise2d_i8xi16_float,
};
pub use crate::arch::portable::dynamic::{
    conv2d_i8_f32_dynamic, dense_i8_f32_dynamic, depthwise2d_i8_f32_dynamic, dynamic_scale_f32_asymmetric,
    dynamic_scale_f32_symmetric, quantize_f32_i8_dynamic,
};
pub use crate::arch::portable::elementwise::{
    add_f32, add_i32, add_i64, add_i8, add_i8_float, atan2_f32, div_f32, div_i32, div_i64, div_i8,
    floor_div_f32, floor_div_i32, floor_div_i64, floor_mod_f32, floor_mod_i32, floor_mod_i64, max_f32,
    max_i32, max_i64, max_i8, min_f32, min_i32, min_i64, min_i8, mul_f32, mul_i32, mul_i64, mul_i8,
    mul_i8_float, pow_f32, pow_i32, pow_i64, prelu_f32, prelu_i8, squared_difference_f32,
    squared_difference_i32, squared_difference_i64, squared_difference_i8, sub_f32, sub_i32, sub_i64, sub_i8,
};
pub use crate::arch::portable::fft::{irfft_f32, irfft_i16, irfft_i32, rfft_f32, rfft_i16, rfft_i32};
pub use crate::arch::portable::gather::{gather_i32, gather_i64};
pub use crate::arch::portable::int16::{
    add_i16, avg_pool2d_i16, clip_i16, conv2d_i16, conv2d_i16_narrow, dense_i16, dense_i16_narrow,
    depthwise2d_i16, dequantize_i16_f32, interpolate_i16, leaky_relu_i16, max_i16, max_pool2d_i16, mean_i16,
    min_i16, mul_i16, quantize_f32_i16, softmax_i16, squared_difference_i16, sub_i16,
};
pub use crate::arch::portable::lstm::{lstm_f32, lstm_i8};
pub use crate::arch::portable::matmul::{matmul_f32, matmul_i16, matmul_i8, matmul_i8_float};
pub use crate::arch::portable::movement::{copy, fill, pad_rows};
pub use crate::arch::portable::normalise::{
    inverse_root_i16, l2_normalize_f32, l2_normalize_i8, l2_normalize_u8, local_normalize_f32,
    log_softmax_f32, log_softmax_i8,
};
pub use crate::arch::portable::packed::{
    conv2d_f32xf16, conv2d_i8xi4, conv2d_i8xi4_f32_dynamic, dense_f32xf16, dense_i8xi4,
    dense_i8xi4_f32_dynamic, dense_i8xi4_once, depthwise2d_f32xf16, depthwise2d_i8xi4,
    depthwise2d_i8xi4_f32_dynamic,
};
pub use crate::arch::portable::pool::{
    avg_pool2d_f32, avg_pool2d_i8, avg_pool2d_u8, max_pool2d_f32, max_pool2d_i8,
};
pub use crate::arch::portable::reduce::{
    arg_max, arg_min, cumsum_f32, cumsum_i32, cumsum_i64, mean_f32, mean_i8, mean_i8_float, reduce_max,
    reduce_min, reduce_product, reduce_product_i8, reduce_sum, top_k,
};
pub use crate::arch::portable::resize::{
    resize_bilinear_f32, resize_bilinear_i16, resize_bilinear_i8, resize_bilinear_u8,
};
pub use crate::arch::portable::sigmoid::{logistic_i16, tanh_i16};
pub use crate::arch::portable::signal::{
    energy_i16, filter_bank_i32, headroom_i16, log_i32_i16, noise_estimate_i32, overlap_add_f32,
    overlap_add_i16, pcan_i32, shift_left_i16, square_root_i64, subtract_noise_i32, window_i16,
};
pub use crate::arch::portable::softmax::{softmax_f32, softmax_i8, softmax_i8_i16};
pub use crate::arch::portable::trees::{trees_f32, trees_least_f32};
pub use crate::arch::portable::unary::{
    abs_f32, ceil_f32, clip_f32, cos_f32, elu_f32, erf_f32, exp_f32, floor_f32, gelu_f32, gelu_tanh_f32,
    hard_swish_f32, leaky_relu_f32, log_f32, logistic_f32, lookup_8, neg_f32, round_f32, rsqrt_f32, sign_f32,
    sin_f32, softplus_f32, sqrt_f32, square_f32, tanh_f32,
};
pub use crate::arch::portable::wide::{
    conv1_i16_i8, dense_i8_i16, requantize_i16, requantize_i16_i32, requantize_i16_i8, requantize_i32_i16,
    requantize_i32_i8, requantize_i8_i16, requantize_i8_i32,
};
pub use crate::arch::simd::conv::{conv2d_i8_simd, conv2d_i8_simd_sized};
pub use crate::arch::simd::dense::{dense_i8_simd, dense_i8_simd_sized};
pub use crate::arch::simd::depthwise::{depthwise2d_i8_simd, depthwise2d_i8_simd_sized};
pub use crate::arch::simd::elementwise::{add_i8_simd, mul_i8_simd};
pub use crate::arch::simd::float::conv::conv2d_f32_simd;
pub use crate::arch::simd::float::dense::dense_f32_simd;
pub use crate::arch::simd::float::depthwise::depthwise2d_f32_simd;
pub use crate::arch::simd::float::elementwise::{add_f32_simd, div_f32_simd, mul_f32_simd, sub_f32_simd};
pub use crate::arch::simd::float::matmul::matmul_f32_simd;
pub use crate::arch::simd::float::pool::{avg_pool2d_f32_simd, max_pool2d_f32_simd};
pub use crate::arch::simd::float::reproducible::{
    conv2d_f32_simd_reproducible, dense_f32_simd_reproducible, depthwise2d_f32_simd_reproducible,
    exp_f32_simd_reproducible, gelu_f32_simd_reproducible, logistic_f32_simd_reproducible,
    matmul_f32_simd_reproducible, mean_f32_simd_reproducible, softmax_f32_simd_reproducible,
};
pub use crate::arch::simd::float::unary::{
    exp_f32_simd, gelu_f32_simd, logistic_f32_simd, rsqrt_f32_simd, sqrt_f32_simd,
};
pub use crate::arch::simd::float::{reduce::mean_f32_simd, softmax::softmax_f32_simd};
pub use crate::arch::simd::movement::copy_simd;
#[cfg(target_has_atomic = "ptr")]
pub use crate::arch::simd::parts::{
    conv2d_f32_simd_crew, conv2d_f32_simd_reproducible_crew, conv2d_i8_simd_crew, dense_f32_simd_crew,
    dense_f32_simd_reproducible_crew, dense_i8_simd_crew, depthwise2d_f32_simd_crew,
    depthwise2d_f32_simd_reproducible_crew, depthwise2d_i8_simd_crew,
};
pub use crate::arch::simd::pool::mean_pool2d_i8_simd;
pub use crate::arch::simd::shape::{Shape, Sizes};
pub use crate::arch::v6m::conv::{
    conv2d_i8_v6m_pairs, conv2d_i8_v6m_singles, dense_i8_v6m_pairs, dense_i8_v6m_singles,
};
pub use crate::arch::v6m::depthwise::depthwise2d_i8_v6m;
pub use crate::arch::v6m::elementwise::add_i8_v6m;
pub use crate::arch::v6m::steps::HalfRequant;
pub use crate::params::{
    AddFloat, AddLinear, AddParams, Along, Broadcast, Choice, CompactConv, CompactDense, CompareParams,
    ComputedConv, Conv, Copy, DynamicLayer, FilterBlocks, FloatRequant, Gather, LogSoftmax, Lstm, MatMul,
    MeanLinear, MeanRows, MulFloat, MulParams, Noise, NoiseFloor, Pad, Pool, QuantizeLinear, Reduce, Requant,
    Rescale, Resize, Rounding, Scale, Stride,
};
pub use crate::rows::{Band, Read, ReadSlice, Rows};
