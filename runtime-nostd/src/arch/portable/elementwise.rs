use crate::params::*;
use crate::rows::*;
use core::cell::Cell;

/// Stub.
pub fn add_i8(shape: &Broadcast, p: &AddParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let _ = (shape, p, a, b, y);
}

/// Stub.
pub fn sub_i8(shape: &Broadcast, p: &AddParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let _ = (shape, p, a, b, y);
}

/// Stub.
pub fn mul_i8(shape: &Broadcast, p: &MulParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let _ = (shape, p, a, b, y);
}

/// Stub.
pub fn add_f32(shape: &Broadcast, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]) {
    let _ = (shape, lo, hi, a, b, y);
}

/// Stub.
pub fn sub_f32(shape: &Broadcast, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]) {
    let _ = (shape, lo, hi, a, b, y);
}

/// Stub.
pub fn mul_f32(shape: &Broadcast, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]) {
    let _ = (shape, lo, hi, a, b, y);
}
