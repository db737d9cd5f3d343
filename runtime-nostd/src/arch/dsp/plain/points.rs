//! Tiles of two pixels and four filters 1 × 1 in plain Rust.

use super::conv::{smlad, sxtb16};
use crate::arch::dsp::points::Results;
use crate::arch::dsp::tile::requantised;
use core::cell::Cell;

/// All quads of filters for pairs of pixels, requantised.
///
/// `x` holds for each pair of pixels and each of `pairs` pairs of taps a word of either pixel. `PAIRS`, of taps, and `CHANNEL` are those of the layer, or both 0. Nothing happens where the
/// slices are too short.
pub(crate) fn tiles<const PAIRS: usize, const CHANNEL: usize, const SHIFT: u32, const SIGNED: bool>(
    w: &[i32],
    x: &[Cell<i32>],
    (pairs, quads): (usize, usize),
    channel: usize,
    results: &Results<'_>,
) {
    let layer = (PAIRS == 0 || PAIRS == pairs) && (CHANNEL == 0 || CHANNEL == channel);
    let Some(quad) = results.quad::<SIGNED>(w, x, (pairs, quads), channel).filter(|_| layer) else { return };
    for (at, x) in x.chunks_exact(2 * pairs).take(results.len()).enumerate() {
        // SAFETY: there are as many pairs.
        let pair = unsafe { *results.start().add(at) };
        for (second, y) in [pair.first, pair.second].into_iter().enumerate() {
            for (q, w) in w.chunks_exact(quad).take(quads).enumerate() {
                let sums = sums(w, x.iter().skip(second).step_by(2).take(pairs));
                for (f, result) in requantised::<SHIFT, SIGNED>(4 * q, sums, w).into_iter().enumerate() {
                    // SAFETY: as many elements are behind the place as `quad` has compared; they are cells.
                    unsafe { (*y.add((4 * q + f) * channel)).set(result) };
                }
            }
        }
    }
}

/// Sums of a quad's filters: A, 256 · B, C, 256 · D.
fn sums<'a>(w: &[i32], x: impl Iterator<Item = &'a Cell<i32>>) -> [i32; 4] {
    let &[mut a, mut ab, mut c, mut cd, ref taps @ ..] = w else { return [0; 4] };
    for (x, h) in x.zip(taps.chunks_exact(2)) {
        let (x, &[h_ab, h_cd]) = (x.get(), h) else { break };
        (a, ab) = (smlad(x, sxtb16(h_ab), a), smlad(x, h_ab, ab));
        (c, cd) = (smlad(x, sxtb16(h_cd), c), smlad(x, h_cd, cd));
    }
    [a, ab.wrapping_sub(a), c, cd.wrapping_sub(c)]
}

/// Widens `runs` runs of `fours` times four elements of two pixels. The first runs are at `from`, and the others `next` bytes
/// from each other. Of each four elements the words are (0, 2) of either pixel, then (1, 3).
///
/// # Safety
///
/// The runs are readable, and 16 bytes for each four elements of two pixels writable.
pub(crate) unsafe fn interleave(
    from: [*const i8; 2],
    to: *mut i16,
    fours: usize,
    runs: usize,
    next: [usize; 2],
) {
    let mut to = to;
    for run in 0..runs {
        for four in 0..fours {
            for (pixel, element) in [(0, 0), (0, 2), (1, 0), (1, 2), (0, 1), (0, 3), (1, 1), (1, 3)] {
                let (start, next) = if pixel == 0 { (from[0], next[0]) } else { (from[1], next[1]) };
                let at = start.wrapping_add(run * next + 4 * four + element);
                // SAFETY: the caller allows it.
                unsafe {
                    to.write((*at).into());
                    to = to.add(1);
                }
            }
        }
    }
}
