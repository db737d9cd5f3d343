//! Kernels of kinds of processors: with the DSP extension, without long products, in vectors.

use super::{fuzzed, Fuzzed};
use crate::args::Kernel;
use kiln::kernels::*;

/// Sizes of a layer with vectors of all its channels: 3 × 3 from 16 channels to 16.
type Vectors = Sizes<5, 6, 16, 6, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1>;

/// The same depthwise.
type Depthwise = Sizes<5, 6, 16, 6, 16, 3, 3, 1, 1, 1, 1, 1, 1, 16>;

/// A product of 24 elements with 20 filters.
type Product = Sizes<1, 1, 24, 1, 20, 1, 1, 1, 1, 1, 1, 0, 0, 1>;

pub(super) const KERNELS: &[Fuzzed] = fuzzed! {
    conv2d_work_words,
    mean_pool2d_i8_dsp_compact,
    mean_pool2d_i8_dsp,
    mean_pool2d_i8_dsp [k_w = 3, in_w = 3, pad_left = 0],
    mean_pool2d_i8_simd,
    max_pool2d_i8_dsp::<1, 1>,
    max_pool2d_i8_dsp::<2, 2> [k_h = 2, k_w = 2],
    max_pool2d_i8_dsp::<3, 3> [k_h = 3, k_w = 3],
    max_pool2d_i8_dsp::<1, 3> [k_h = 1, k_w = 3],
    avg_pool2d_f32_simd,
    max_pool2d_f32_simd,
    // Layers of the types that they are compiled for.
    conv2d_i8_dsp::<8, 2, 2, 8, 1, 7, false> [k_h = 1, k_w = 1, in_c = 4, out_c = 8, stride_w = 1],
    conv2d_i8_dsp::<8, 2, 2, 1, 5, 7, true> [k_h = 1, k_w = 1, in_c = 4, out_c = 8, stride_w = 1, in_w = 5],
    conv2d_i8_dsp::<18, 14, 13, 6, 1, 6, true> [k_h = 3, k_w = 3, in_c = 3, out_c = 6, stride_w = 1, dilation_w = 1],
    conv2d_i8_dsp::<36, 14, 13, 1, 3, 6, false> [k_h = 3, k_w = 3, in_c = 3, out_c = 8, stride_w = 2, dilation_w = 1],
    conv2d_i8_dsp_exact [dilation_w = 1],
    conv2d_i8_dsp_small::<7, false> [dilation_w = 1],
    conv2d_i8_dsp_small::<3, true> [dilation_w = 1],
    conv2d_i8_dsp_compact [dilation_w = 1],
    conv1_i8_dsp::<7, false> [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    conv1_i8_dsp::<7, true> [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    conv1_i8_dsp_eights::<7, false, true> [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    conv1_i8_dsp_eights::<7, true, false> [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    conv1_i8_dsp_exact [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    conv1_i16_i8_dsp [in_w = 1, k_w = 1, stride_w = 1, pad_left = 0],
    dense_i8_i16_dsp,
    dense_i8_dsp::<7, false>,
    dense_i8_dsp::<7, true>,
    dense_i8_dsp_eights::<7, false, true>,
    dense_i8_dsp_eights::<7, true, false>,
    dense_i8_dsp_exact,
    dense_i8_dsp_dot::<7, false>,
    dense_i8_dsp_dot::<7, true>,
    dense_i8_dsp_compact,
    depthwise2d_i8_dsp::<8, 3, 7, false> [in_c = 8, out_c = 8, groups = 8, dilation_w = 1],
    depthwise2d_i8_dsp::<10, 9, 7, true> [in_c = 5, out_c = 5, groups = 5, dilation_w = 2],
    depthwise2d_i8_dsp_exact [in_c = 8, out_c = 8, groups = 8],
    depthwise2d_i8_dsp_compact [in_c = 12, out_c = 12, groups = 12],
    depthwise2d_i8_dsp_planar::<0, 1, 1, 7, false> [k_h = 3, k_w = 3, stride_w = 1, pad_left = 1, dilation_w = 1],
    depthwise2d_i8_dsp_planar::<0, 2, 1, 7, true> [k_h = 3, k_w = 3, stride_w = 2, pad_left = 0, dilation_w = 1],
    depthwise2d_i8_dsp_planar::<5, 1, 1, 7, true> [k_h = 3, k_w = 3, in_w = 5, stride_w = 1, pad_left = 1, dilation_w = 1],
    depthwise2d_i8_dsp_planar_exact [k_h = 3, k_w = 3, dilation_w = 1],
    depthwise1d_i8_dsp::<8, 3, 1, 1, 7, false>,
    depthwise1d_i8_dsp::<10, 4, 2, 2, 7, true>,
    conv2d_i8_v6m_pairs,
    conv2d_i8_v6m_pairs [k_h = 4, k_w = 4, in_c = 40],
    conv2d_i8_v6m_singles,
    conv2d_i8_v6m_singles [k_h = 4, k_w = 4, in_c = 40],
    dense_i8_v6m_pairs,
    dense_i8_v6m_singles,
    depthwise2d_i8_v6m [in_c = 8, out_c = 8, groups = 8],
    depthwise2d_i8_v6m [in_c = 70, out_c = 70, groups = 70],
    conv2d_i8_simd::<false>,
    conv2d_i8_simd::<true>,
    conv2d_i8_simd_sized::<Vectors, false> [in_h = 5, in_w = 6, in_c = 16, out_c = 16, k_h = 3, k_w = 3, stride_w = 1, pad_left = 1],
    conv2d_i8_simd_sized::<Any, true>,
    dense_i8_simd::<false>,
    dense_i8_simd::<true>,
    dense_i8_simd_sized::<Product, false> [in_w = 1, k_w = 1, in_c = 24, out_c = 20, pad_left = 0],
    depthwise2d_i8_simd::<false> [in_c = 20, out_c = 20, groups = 20],
    depthwise2d_i8_simd::<true> [in_c = 16, out_c = 16, groups = 16],
    depthwise2d_i8_simd_sized::<Depthwise, true> [in_h = 5, in_w = 6, in_c = 16, out_c = 16, k_h = 3, k_w = 3, stride_w = 1, pad_left = 1],
    conv2d_f32_simd,
    dense_f32_simd,
    depthwise2d_f32_simd [in_c = 20, out_c = 20, groups = 20],
    depthwise2d_f32_simd [in_c = 3, out_c = 3, groups = 3],
    conv2d_f32_simd_reproducible,
    dense_f32_simd_reproducible,
    depthwise2d_f32_simd_reproducible [in_c = 20, out_c = 20, groups = 20],
    conv2d_f32_simd_crew,
    conv2d_i8_simd_crew::<true>,
    dense_f32_simd_crew,
    dense_i8_simd_crew::<false>,
    conv2d_f32_simd_reproducible_crew,
    dense_f32_simd_reproducible_crew,
    depthwise2d_f32_simd_reproducible_crew [in_c = 20, out_c = 20, groups = 20],
    depthwise2d_f32_simd_crew [in_c = 20, out_c = 20, groups = 20],
    depthwise2d_i8_simd_crew::<true> [in_c = 20, out_c = 20, groups = 20],
};

/// Sizes that no layer has.
type Any = Sizes<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>;
