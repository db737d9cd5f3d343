//! Floats in vectors.

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod matmul;
pub(crate) mod pool;
pub(crate) mod reduce;
pub(crate) mod reproducible;
pub(crate) mod softmax;
pub(crate) mod unary;

mod lanes;
mod math;
mod tile;
