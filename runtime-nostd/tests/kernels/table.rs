//! The shapes that tests and benchmarks run kernels on.

use super::support::{cells, rounds, Rng};
use kiln::kernels::{Band, Conv, Rows};

/// A convolution with the sizes that its kernel does not need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) conv: Conv,
    pub(crate) out_h: usize,
}

impl Shape {
    pub(crate) fn in_row(&self) -> usize {
        self.conv.in_w * self.conv.in_c
    }

    pub(crate) fn out_row(&self) -> usize {
        self.conv.out_w * self.conv.out_c
    }

    /// Whether a test runs it: under Miri only what has few multiplications.
    pub(crate) fn is_tried(&self) -> bool {
        let conv = &self.conv;
        let taps = conv.k_h * conv.k_w * conv.in_c / conv.groups;
        !cfg!(miri) || self.out_h * self.out_row() * taps < 500
    }

    /// Rows of the operand that a row of the result reads.
    pub(crate) fn reach(&self) -> usize {
        (self.conv.k_h - 1) * self.conv.dilation_h + 1
    }
}

/// Same padding as TFLite computes it.
const fn same(
    name: &'static str,
    input: [usize; 3],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    out_c: usize,
    groups: usize,
) -> Shape {
    let [in_h, in_w, in_c] = input;
    let [k_h, k_w] = kernel;
    let (out_h, out_w) = (in_h.div_ceil(stride[0]), in_w.div_ceil(stride[1]));
    let pad_h = ((out_h - 1) * stride[0] + (k_h - 1) * dilation[0] + 1).saturating_sub(in_h);
    let pad_w = ((out_w - 1) * stride[1] + (k_w - 1) * dilation[1] + 1).saturating_sub(in_w);
    let conv = Conv {
        in_h,
        in_w,
        in_c,
        out_w,
        out_c,
        k_h,
        k_w,
        stride_h: stride[0],
        stride_w: stride[1],
        dilation_h: dilation[0],
        dilation_w: dilation[1],
        pad_top: pad_h / 2,
        pad_left: pad_w / 2,
        groups,
    };
    Shape { name, conv, out_h }
}

/// Convolutions: layers of the MLPerf Tiny models, and corners.
pub(crate) const CONVOLUTIONS: &[Shape] = &[
    same("kws first", [49, 10, 1], [10, 4], [2, 2], [1, 1], 64, 1),
    same("kws pointwise", [25, 5, 64], [1, 1], [1, 1], [1, 1], 64, 1),
    same("ic residual", [32, 32, 16], [3, 3], [1, 1], [1, 1], 16, 1),
    same("ic shortcut", [16, 16, 32], [1, 1], [2, 2], [1, 1], 64, 1),
    same("vww first", [24, 24, 3], [3, 3], [2, 2], [1, 1], 8, 1),
    same("strww", [30, 1, 40], [3, 1], [1, 1], [1, 1], 32, 1),
    same("one pixel", [1, 1, 7], [1, 1], [1, 1], [1, 1], 5, 1),
    same("one column", [9, 1, 3], [3, 3], [1, 1], [1, 1], 6, 1),
    same("one row", [1, 9, 3], [3, 3], [1, 1], [1, 1], 6, 1),
    same("filter larger than image", [2, 3, 2], [5, 7], [1, 1], [1, 1], 3, 1),
    same("dilated", [11, 12, 5], [3, 3], [1, 1], [2, 3], 7, 1),
    same("stride over taps", [13, 13, 2], [2, 2], [4, 3], [1, 1], 4, 1),
    same("groups", [7, 6, 12], [3, 2], [1, 2], [1, 1], 15, 3),
    same("dilated groups", [9, 9, 8], [3, 3], [1, 1], [3, 2], 8, 4),
];

/// Depthwise convolutions.
pub(crate) const DEPTHWISE: &[Shape] = &[
    same("kws", [25, 5, 64], [3, 3], [1, 1], [1, 1], 64, 64),
    same("vww", [24, 24, 16], [3, 3], [2, 2], [1, 1], 16, 16),
    same("micro_speech", [49, 40, 1], [10, 8], [2, 2], [1, 1], 8, 1),
    same("one pixel", [1, 1, 9], [1, 1], [1, 1], [1, 1], 9, 9),
    same("one column", [12, 1, 30], [5, 1], [1, 1], [1, 1], 30, 30),
    same("multiplier with tails", [6, 5, 3], [3, 3], [1, 1], [1, 1], 21, 3),
    same("dilated", [9, 8, 6], [3, 3], [1, 1], [2, 3], 6, 6),
    same("filter larger than image", [2, 3, 5], [4, 6], [1, 1], [1, 1], 5, 5),
];

/// A random convolution, with any padding up to the filter's reach and rows and columns that need not all be read.
pub(crate) fn random_convolution(rng: &mut Rng, depthwise: bool) -> Shape {
    let groups = if depthwise { rng.size(1, 9) } else { rng.size(1, 3) };
    let in_c = if depthwise { groups } else { groups * rng.size(1, 6) };
    let out_c = groups * rng.size(1, 6);
    let [k_h, k_w, stride_h, stride_w, dilation_h, dilation_w] =
        [4, 4, 3, 3, 2, 2].map(|largest| rng.size(1, largest));
    let (reach_h, reach_w) = ((k_h - 1) * dilation_h + 1, (k_w - 1) * dilation_w + 1);
    let (in_h, in_w) = (rng.size(1, 9), rng.size(1, 9));
    let (pad_top, pad_left) = (rng.size(0, reach_h - 1), rng.size(0, reach_w - 1));
    let out_h = rng.size(1, in_h.div_ceil(stride_h) + 1);
    let out_w = rng.size(1, in_w.div_ceil(stride_w) + 1);
    let conv = Conv {
        in_h,
        in_w,
        in_c,
        out_w,
        out_c,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w,
        pad_top,
        pad_left,
        groups,
    };
    Shape { name: "random", conv, out_h }
}

/// Calls kernels with so many convolutions whose sizes have nothing to do with each other nor with what they are given: 40 elements of an operand, and room for 40 results.
pub(crate) fn impossible_convolutions(
    rng: &mut Rng,
    count: usize,
    kernels: impl Fn(&Conv, Rows<'_, i8>, Rows<'_, i8>, Band),
) {
    let (mut x, mut y) = (rng.i8s(40), vec![7i8; 40]);
    let (x, y) = (cells(&mut x), cells(&mut y));
    for _ in 0..rounds(count) {
        let mut size = || [0, 1, 2, 3, 5, 100][rng.size(0, 5)];
        let p = Conv {
            in_h: size(),
            in_w: size(),
            in_c: size(),
            out_w: size(),
            out_c: size(),
            k_h: size(),
            k_w: size(),
            stride_h: size(),
            stride_w: size(),
            dilation_h: size(),
            dilation_w: size(),
            pad_top: size(),
            pad_left: size(),
            groups: size(),
        };
        let band = Band { first: size(), rows: size().min(3) };
        let (rows_x, rows_y) = (Rows::ring(x, size(), size()), Rows::ring(y, size(), size()));
        if p.out_w * p.out_c * p.k_h * p.k_w < 10_000 {
            kernels(&p, rows_x, rows_y, band);
        }
    }
}
