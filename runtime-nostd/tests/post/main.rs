//! What comes after the output, each against a plain definition of it, on random data.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../kernels/support.rs"]
#[allow(dead_code)]
mod support;

mod boxes;
mod ranking;
mod streams;

use kiln::{DType, TensorInfo};
use support::Rng;

/// A tensor of bytes with a random scale and zero point.
fn tensor(rng: &mut Rng) -> TensorInfo {
    let scale = match rng.int(0, 2) {
        0 => 1.0 / 256.0,
        _ => rng.int(1, 1 << 20) as f32 / (1 << 24) as f32,
    };
    TensorInfo { name: "scores", dtype: DType::I8, shape: &[1], scale, zero_point: rng.int(-128, 127) as i32 }
}

/// A tensor of floats.
const FLOATS: TensorInfo =
    TensorInfo { name: "scores", dtype: DType::F32, shape: &[1], scale: 1.0, zero_point: 0 };
