use crate::params::*;
use crate::rows::*;

/// Stub.
pub fn conv2d_i8(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let _ = (p, x, w, bias, pad, q, y, band);
}

/// Stub.
pub fn conv2d_f32(
    p: &Conv,
    x: Rows<'_, f32>,
    w: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    let _ = (p, x, w, bias, lo, hi, y, band);
}

/// Stub.
pub fn dense_i8(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    let _ = (x, w, bias, q, y, band);
}

/// Stub.
pub fn dense_f32(x: Rows<'_, f32>, w: &[f32], bias: &[f32], lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    let _ = (x, w, bias, lo, hi, y, band);
}
