use core::cell::Cell;
/// Stub.
pub fn softmax_i8(depth: usize, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i8>]) {
    let _ = (depth, exps, x, y);
}

/// Stub.
pub fn softmax_f32(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let _ = (depth, beta, x, y);
}
