use crate::params::*;
use crate::rows::*;

/// Stub.
pub fn avg_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let _ = (p, x, lo, hi, y, band);
}

/// Stub.
pub fn max_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let _ = (p, x, lo, hi, y, band);
}

/// Stub.
pub fn avg_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    let _ = (p, x, lo, hi, y, band);
}

/// Stub.
pub fn max_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    let _ = (p, x, lo, hi, y, band);
}
