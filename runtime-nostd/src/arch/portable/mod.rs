//! Kernels for every machine. They stay simple: faster ones stand in the other folders of [`arch`](crate::arch) and equal these bit for bit.

pub(crate) mod absorb;
pub(crate) mod banded;
pub(crate) mod block;
pub(crate) mod classical;
pub(crate) mod compare;
pub(crate) mod computed;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod dynamic;
pub(crate) mod elementwise;
pub(crate) mod fft;
pub(crate) mod gather;
pub(crate) mod int16;
pub(crate) mod matmul;
pub(crate) mod mixed;
pub(crate) mod movement;
pub(crate) mod normalise;
pub(crate) mod packed;
pub(crate) mod pool;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod resize;
pub(crate) mod scaled;
pub(crate) mod signal;
pub(crate) mod softmax;
pub(crate) mod spectrum;
pub(crate) mod trees;
pub(crate) mod unary;

pub(crate) mod math;
mod number;
pub(crate) mod sigmoid;
pub(crate) mod sum;
pub(crate) mod walk;
mod weights;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::{
        absorb::*, banded::*, block::*, classical::*, compare::*, computed::*, conv::*, convert::*, dense::*,
        depthwise::*, dynamic::*, elementwise::*, fft::*, gather::*, int16::*, matmul::*, movement::*,
        normalise::*, packed::*, pool::*, recurrent::*, reduce::*, resize::*, scaled::*, sigmoid::*,
        signal::*, softmax::*, spectrum::*, trees::*, unary::*,
    };
}
