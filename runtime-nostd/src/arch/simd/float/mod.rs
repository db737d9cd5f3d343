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

/// A [`kernel!`](super::dispatch::kernel) that is a layer of floats.
macro_rules! layer {
    ($(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $($body:ident)+) => {
        kernel! {
            $(#[doc = $doc])+
            $vis fn $name(
                p: &Conv,
                x: Rows<'_, f32>,
                w: &[f32],
                lo: f32,
                hi: f32,
                work: &[Cell<f32>],
                y: Rows<'_, f32>,
                band: Band,
            ) = $($body)+
        }
    };
}
use layer;
