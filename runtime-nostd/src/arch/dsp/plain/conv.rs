//! Tiles of two pixels and four filters in plain Rust.

use super::conv_small::pairs_of_any;
use crate::arch::dsp::tile::{Shape, Tiles};
use crate::params::Stride;
use core::cell::Cell;

/// All quads for an even number of pixels, requantised.
///
/// `XD`: bytes from one pixel's taps to the next one's; `PAIRS`: pairs of taps; `UNROLL`: pairs per turn of the loop; `PIXEL`, `CHANNEL`: elements from one
/// result to the next. Nothing happens where the slices are too short.
pub(crate) fn pairs_of_pixels<
    const XD: usize,
    const PAIRS: usize,
    const UNROLL: usize,
    const PIXEL: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    t: Tiles<'_>,
) {
    let shape = Shape { xd: XD, pairs: PAIRS, out: Stride { pixel: PIXEL, channel: CHANNEL } };
    if PAIRS > 0 {
        pairs_of_any::<SHIFT, SIGNED>(t, &shape);
    }
}

/// Sums of the pixel whose taps begin at byte `from`: A, A + 256 · B, C, C + 256 · D.
pub(crate) unsafe fn sums_of_one(w: &[i32], x: &[Cell<i32>], from: usize, pairs: usize) -> [i32; 4] {
    let &[a, ab, c, cd, ref taps @ ..] = w else { return [0; 4] };
    let mut acc = [a, ab, c, cd];
    for (i, h) in taps.chunks_exact(2).take(pairs).enumerate() {
        let &[h_ab, h_cd] = h else { return acc };
        let x = unaligned(x, from + 4 * i);
        let [a, ab, c, cd] = acc;
        acc = [smlad(x, sxtb16(h_ab), a), smlad(x, h_ab, ab), smlad(x, sxtb16(h_cd), c), smlad(x, h_cd, cd)];
    }
    acc
}

/// The word at byte `at`, which need only be even.
fn unaligned(x: &[Cell<i32>], at: usize) -> i32 {
    let word = |i: usize| x.get(i).map_or(0, Cell::get);
    if at % 4 == 0 {
        word(at / 4)
    } else {
        (word(at / 4) as u32 >> 16 | (word(at / 4 + 1) as u32) << 16) as i32
    }
}

/// Both products of halfwords, added to `acc`.
pub(crate) fn smlad(x: i32, y: i32, acc: i32) -> i32 {
    let low = i32::from(x as i16) * i32::from(y as i16);
    acc.wrapping_add(low).wrapping_add((x >> 16).wrapping_mul(y >> 16))
}

/// Bytes 0 and 2, sign-extended to halfwords.
pub(crate) fn sxtb16(x: i32) -> i32 {
    (x as i8 as u16 as u32 | ((x >> 16) as i8 as u16 as u32) << 16) as i32
}
