//! One pixel and filters of which four lie together.

use super::conv::quads;
use crate::arch::mve::affine::End;
use crate::arch::mve::conv::Tiles;

/// All quads for the first pixel of a pair with any number of taps.
pub(crate) fn single_pixel<const EXACT: bool, const CLAMPED: bool>(t: Tiles<'_>, taps: usize, shift: u32) {
    quads(t, taps, End::of(shift, EXACT, CLAMPED), 1);
}
