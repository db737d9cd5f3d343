//! Tiles of a convolution: two pixels and four filters at a time.
//!
//! Two weights share a halfword `h = a + 256 · b`. `SMLAD` with such halves sums `A + 256 · B`, and with their low bytes, sign-extended by one `SXTB16`,
//! it sums `A`; the difference is `256 · B`. A pair of taps takes four loads in a row, two `SXTB16` and eight `SMLAD`: 15 cycles for 16 products.
#![allow(unsafe_code)]

use super::affine::quad;
use super::blocks;
use crate::params::Stride;
use core::cell::Cell;

/// Words of a quad before those of its pairs of taps: first values.
pub(crate) const FIRST_WORDS: usize = 4;

/// Pairs of pixels, and the quads of filters applied to them.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    /// Weights of the quads.
    pub w: &'a [i32],
    /// The taps of each pixel as pairs of `i16`.
    pub x: &'a [Cell<i32>],
    /// Where in it the taps of the first pixel are, in bytes.
    pub x_at: usize,
    /// The row of the result.
    pub y: &'a [Cell<i8>],
    /// Where in it the first channel of the first pixel is.
    pub at: usize,
    /// Number of pixels.
    pub pixels: usize,
    /// Number of quads.
    pub quads: usize,
}

/// What makes the tiles of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes from one pixel's taps to the next one's.
    pub xd: usize,
    /// Pairs of taps.
    pub pairs: usize,
    /// From one result to the next.
    pub out: Stride,
}

/// Sums of a quad's filters for the pixel whose taps begin at byte `from`: A, 256 · B, C, 256 · D. Zeros where the slices are too short.
#[inline(never)]
pub(crate) fn sums(w: &[i32], x: &[Cell<i32>], from: usize, pairs: usize) -> [i32; 4] {
    let pairs_fit = pairs <= x.len() && w.len() >= FIRST_WORDS + 2 * pairs;
    if !pairs_fit || (4 * (x.len() - pairs)) < from {
        return [0; 4];
    }
    // SAFETY: both slices are as long as what it reads, by the comparison above. No sum in it wraps: pairs of taps are no more than either slice has.
    let [a, ab, c, cd] = unsafe { blocks::conv::sums_of_one(w, x, from, pairs) };
    [a, ab.wrapping_sub(a), c, cd.wrapping_sub(c)]
}

/// Results of sums as [`sums`] gives them, with the corrections, factors and constants at the end of `w`.
pub(crate) fn requantised<const SHIFT: u32, const SIGNED: bool>(
    _: usize,
    sums: [i32; 4],
    w: &[i32],
) -> [i8; 4] {
    quad(sums, 8, w, SHIFT, SIGNED)
}
