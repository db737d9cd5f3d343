//! Sizes of convolutions that kernels are compiled for.

use crate::params::Conv;

/// A convolution's sizes.
pub trait Shape {
    /// The sizes; no columns where they are known to the call only.
    const CONV: Conv;
}

/// Sizes as they are in [`Conv`], in the same order, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sizes<
    const IN_H: usize,
    const IN_W: usize,
    const IN_C: usize,
    const OUT_W: usize,
    const OUT_C: usize,
    const K_H: usize,
    const K_W: usize,
    const STRIDE_H: usize,
    const STRIDE_W: usize,
    const DILATION_H: usize,
    const DILATION_W: usize,
    const PAD_TOP: usize,
    const PAD_LEFT: usize,
    const GROUPS: usize,
>;

impl<
        const IN_H: usize,
        const IN_W: usize,
        const IN_C: usize,
        const OUT_W: usize,
        const OUT_C: usize,
        const K_H: usize,
        const K_W: usize,
        const STRIDE_H: usize,
        const STRIDE_W: usize,
        const DILATION_H: usize,
        const DILATION_W: usize,
        const PAD_TOP: usize,
        const PAD_LEFT: usize,
        const GROUPS: usize,
    > Shape
    for Sizes<
        IN_H,
        IN_W,
        IN_C,
        OUT_W,
        OUT_C,
        K_H,
        K_W,
        STRIDE_H,
        STRIDE_W,
        DILATION_H,
        DILATION_W,
        PAD_TOP,
        PAD_LEFT,
        GROUPS,
    >
{
    const CONV: Conv = Conv {
        in_h: IN_H,
        in_w: IN_W,
        in_c: IN_C,
        out_w: OUT_W,
        out_c: OUT_C,
        k_h: K_H,
        k_w: K_W,
        stride_h: STRIDE_H,
        stride_w: STRIDE_W,
        dilation_h: DILATION_H,
        dilation_w: DILATION_W,
        pad_top: PAD_TOP,
        pad_left: PAD_LEFT,
        groups: GROUPS,
    };
}

/// Sizes that the call knows.
pub(crate) type Any = Sizes<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>;
