use core::cell::Cell;
/// Stub.
pub fn quantize_f32_i8(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i8>]) {
    let _ = (scale, zero_point, x, y);
}

/// Stub.
pub fn quantize_f32_u8(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<u8>]) {
    let _ = (scale, zero_point, x, y);
}

/// Stub.
pub fn dequantize_i8_f32(scale: f32, zero_point: i32, x: &[Cell<i8>], y: &[Cell<f32>]) {
    let _ = (scale, zero_point, x, y);
}

/// Stub.
pub fn dequantize_u8_f32(scale: f32, zero_point: i32, x: &[Cell<u8>], y: &[Cell<f32>]) {
    let _ = (scale, zero_point, x, y);
}
