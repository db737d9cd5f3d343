//! Sizes of convolutions that kernels are compiled for.

use crate::params::Conv;

/// A convolution's sizes.
pub trait Shape {
    /// The sizes; no columns where they are known to the call only.
    const CONV: Conv;
}

/// Defines [`Sizes`] of constants, each with the field of [`Conv`] that it is.
macro_rules! sizes {
    ($($name:ident $field:ident),+ $(,)?) => {
        /// Sizes as they are in [`Conv`], in the same order, as a type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct Sizes<$(const $name: usize),+>;

        impl<$(const $name: usize),+> Shape for Sizes<$($name),+> {
            const CONV: Conv = Conv { $($field: $name),+ };
        }
    };
}

sizes! {
    IN_H in_h,
    IN_W in_w,
    IN_C in_c,
    OUT_W out_w,
    OUT_C out_c,
    K_H k_h,
    K_W k_w,
    STRIDE_H stride_h,
    STRIDE_W stride_w,
    DILATION_H dilation_h,
    DILATION_W dilation_w,
    PAD_TOP pad_top,
    PAD_LEFT pad_left,
    GROUPS groups,
}

/// Sizes that the call knows.
pub(crate) type Any = Sizes<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>;
