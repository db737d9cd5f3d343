//! Layers whose weights are packed: `i8` of 4 bits, and floats of half precision. Sums are those of the kernels for whole elements, in the same order.

use super::conv::conv2d;
use super::dense::matrix;
use super::depthwise::depthwise2d;
use super::dynamic::Dynamic;
use super::sum::{layers, Float, Int8, Once};
use super::weights::{halves, nibbles};
use crate::params::{Conv, DynamicLayer, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;

layers! { conv2d;
    /// [`conv2d_i8`](super::conv::conv2d_i8) with two filters' elements in a byte, the first in the low half.
    pub fn conv2d_i8xi4(&[u8], &Requant<'_>, nibbles);
    /// [`conv2d_f32`](super::conv::conv2d_f32) with weights of half precision.
    pub fn conv2d_f32xf16(&[u16], f32, halves);
    /// [`conv2d_i8_f32_dynamic`](super::dynamic::conv2d_i8_f32_dynamic) with two filters' elements in a byte, the first in the low half.
    pub fn conv2d_i8xi4_f32_dynamic(&[u8], dynamic, nibbles);
}

layers! { depthwise2d;
    /// [`depthwise2d_i8`](super::depthwise::depthwise2d_i8) with two weights in a byte, the first in the low half.
    pub fn depthwise2d_i8xi4(&[u8], &Requant<'_>, nibbles);
    /// [`depthwise2d_f32`](super::depthwise::depthwise2d_f32) with weights of half precision.
    pub fn depthwise2d_f32xf16(&[u16], f32, halves);
    /// [`depthwise2d_i8_f32_dynamic`](super::dynamic::depthwise2d_i8_f32_dynamic) with two weights in a byte, the first in the low half.
    pub fn depthwise2d_i8xi4_f32_dynamic(&[u8], dynamic, nibbles);
}

/// [`dense_i8`](super::dense::dense_i8) with two filters' elements in a byte, the first in the low half.
pub fn dense_i8xi4(x: Rows<'_, i8>, w: &[u8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    conv2d_i8xi4(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// [`dense_i8_once`](super::dense::dense_i8_once) with two filters' elements in a byte, the first in the low half.
pub fn dense_i8xi4_once(
    x: Rows<'_, i8>,
    w: &[u8],
    bias: &[i32],
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let matrix = matrix(x.row_len(), y.row_len());
    conv2d(&matrix, x, nibbles(w), Int8::new(bias, 0, Once(q)), y, band);
}

/// [`dense_f32`](super::dense::dense_f32) with weights of half precision.
pub fn dense_f32xf16(
    x: Rows<'_, f32>,
    w: &[u16],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    conv2d_f32xf16(&matrix(x.row_len(), y.row_len()), x, w, bias, lo, hi, y, band);
}

/// [`dense_i8_f32_dynamic`](super::dynamic::dense_i8_f32_dynamic) with two filters' elements in a byte, the first in the low half.
#[inline(never)]
pub fn dense_i8xi4_f32_dynamic(
    x: Rows<'_, i8>,
    w: &[u8],
    layer: &DynamicLayer<'_>,
    scales: &[Cell<f32>],
    y: Rows<'_, f32>,
) {
    let shape = matrix(x.row_len(), y.row_len());
    for (row, scale) in scales.chunks_exact(3).enumerate() {
        conv2d_i8xi4_f32_dynamic(&shape, x, w, layer, scale, y, Band { first: row, rows: 1 });
    }
}
