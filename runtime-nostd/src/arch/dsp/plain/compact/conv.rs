//! Convolution in tiles in plain Rust.

use crate::arch::dsp::affine::{self, requant_words};
use crate::arch::dsp::compact::Pixels;
use crate::arch::dsp::tile::{sums, FIRST_WORDS};
use crate::params::CompactConv;
use core::cell::Cell;

/// All filters for some pixels, requantised, channel after channel and pixel after pixel to `out`. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn tiles(p: &CompactConv<'_>, pairs: usize, pixels: Pixels<'_>, out: &[Cell<i8>]) {
    let filters = p.conv.out_c;
    let Some(last) = pixels.count.checked_sub(1) else { return };
    // Pairs of taps are no more than there are words for, so that what is counted in them does not wrap.
    if pairs > pixels.taps.len() {
        return;
    }
    let quad = FIRST_WORDS + 2 * pairs + requant_words(p.signed);
    let fits = p.weights.len() >= filters.div_ceil(4).saturating_mul(quad)
        && 4 * pixels.taps.len()
            >= last.saturating_mul(pixels.step).saturating_add(pixels.from).saturating_add(4 * pairs)
        && out.len() >= pixels.count.saturating_mul(filters)
        && (last == 0 || last % 2 == 1);
    if !fits || pairs == 0 || filters == 0 {
        return;
    }
    for (pixel, out) in out.chunks_exact(filters).take(pixels.count).enumerate() {
        for (out, w) in out.chunks(4).zip(p.weights.chunks_exact(quad)) {
            let sums = sums(w, pixels.taps, pixels.from + pixel * pixels.step, pairs);
            let results = affine::quad(sums, 8, w, p.shift, p.signed);
            out.iter().zip(results).for_each(|(out, result)| out.set(result));
        }
    }
}

/// Widens `channels` elements of each of `columns` columns, between which `skip` elements of the result lie; gives where the next column's are.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
pub(crate) unsafe fn widen(
    from: *const u8,
    moving: bool,
    to: *mut i16,
    columns: usize,
    channels: usize,
    skip: usize,
) -> *mut i16 {
    let fours = channels % 4 == 0;
    for (column, channel) in (0..columns).flat_map(|column| (0..channels).map(move |c| (column, c))) {
        let crossed = match channel % 4 {
            1 if fours => channel + 1,
            2 if fours => channel - 1,
            _ => channel,
        };
        let at = if moving { column * channels + crossed } else { 0 };
        // SAFETY: the caller allows it.
        unsafe { to.add(column * (channels + skip) + channel).write((*from.add(at) as i8).into()) };
    }
    to.wrapping_add(columns * (channels + skip))
}
