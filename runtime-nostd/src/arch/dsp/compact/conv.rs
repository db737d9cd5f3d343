//! Convolution in tiles of two pixels and four filters.
#![allow(unsafe_code)]

use super::tile::{tiles, Pixels};
use crate::arch::extent::{product, span, sum};
use crate::params::{CompactConv, Conv};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of an `i8` image with `groups` and `dilation_w` of 1, for cores with the DSP extension: also of an image one pixel wide, and of one pixel, which is
/// a product of a matrix and a vector.
///
/// Weights and results are those of [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp), with the shift and the sign that `p` says; rows of `y` are channel-last. `work`
/// holds the taps of [`CompactConv::pixels`] pixels, as [`conv2d_work_words`](crate::kernels::conv2d_work_words) says. Nothing is written if these do not fit each other.
#[inline(never)]
pub fn conv2d_i8_dsp_compact(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let Conv { k_h, k_w, in_c, stride_w, out_w, out_c, .. } = p.conv;
    let (column, pixels) = (product(k_h, in_c), p.pixels.min(out_w).max(1));
    // What the work space holds of as many pixels: so large are all products below at most, but for those with a step that nothing takes.
    let cells = product(sum(span(pixels, stride_w), k_w), column);
    if cells == 0 || cells > 2 * work.len() || product(out_w, out_c.max(1)) > y.row_len() {
        return;
    }
    let (step, pairs) = (stride_w.wrapping_mul(2 * column), (k_w * column).div_ceil(2));
    for (oy, row) in y.of_band(band) {
        let mut out = row;
        let mut ox = 0;
        while ox < out_w {
            let count = (out_w - ox).min(pixels);
            fill(p, x, work, oy, ox, count);
            ox += count;
            // The last one of an odd number is computed alone.
            for (from, count) in [(0, count & !1), (count & !1, count & 1)] {
                tiles(p, pairs, Pixels { taps: work, from: from.wrapping_mul(step), step, count }, out);
                out = out.get(count * out_c..).unwrap_or(&[]);
            }
        }
    }
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, widened to `i16`: column by column, each from top to bottom.
/// What is outside of the image reads as padding. The work space is as large as that, and a column is not empty.
#[inline(never)]
fn fill(
    CompactConv { conv: p, pad, .. }: &CompactConv<'_>,
    x: Rows<'_, i8>,
    work: &[Cell<i32>],
    oy: usize,
    ox: usize,
    pixels: usize,
) {
    let columns = (pixels - 1) * p.stride_w + p.k_w;
    // Columns from the first to the one behind the last that are inside of the image.
    let left = ox.wrapping_mul(p.stride_w);
    let first = p.pad_left.saturating_sub(left).min(columns);
    let behind = p.in_w.wrapping_add(p.pad_left).saturating_sub(left).min(columns).max(first);
    let at = left.wrapping_add(first).wrapping_sub(p.pad_left).wrapping_mul(p.in_c);
    let padding = [const { Cell::new(0) }; 4];
    padding.iter().for_each(|cell| cell.set(*pad));
    for ky in 0..p.k_h {
        let down = ky.wrapping_mul(p.dilation_h).wrapping_sub(p.pad_top);
        let iy = oy.wrapping_mul(p.stride_h).wrapping_add(down);
        let row = if iy < p.in_h { x.row(iy).get(at..).unwrap_or(&[]) } else { &[] };
        let inside = row.len() / p.in_c >= behind - first;
        let mut to: *mut i16 = work.as_ptr().cast_mut().cast::<i16>().wrapping_add(ky * p.in_c);
        for (count, image) in [(first, false), (behind - first, inside), (columns - behind, false)] {
            let from = if image { row.as_ptr() } else { padding.as_ptr() };
            // SAFETY: the row has elements of as many columns (`inside`), or the same four elements of padding are read; the work space has cells for all columns
            // (the caller has compared `cells`, which does not wrap), of which these are some.
            to = unsafe { widen(from.cast(), image, to, count, p.in_c, (p.k_h - 1) * p.in_c) };
        }
    }
}

/// Widens `channels` elements, at least one, of each of `columns` columns, between which `skip` elements of the result lie; gives where the next column's are. Where
/// `channels` is a multiple of four, the middle two of each four change places. If not `moving`, the first four elements are read again and again.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(kiln_dsp)]
#[inline(never)]
unsafe fn widen(
    from: *const u8,
    moving: bool,
    to: *mut i16,
    columns: usize,
    channels: usize,
    skip: usize,
) -> *mut i16 {
    if columns == 0 {
        return to;
    }
    let fours = channels % 4 == 0;
    let (mut to, step) = (to, if fours { 4 } else { 1 });
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "mov {n}, {channels}",
            "cmp {step}, #4",
            "bne 4f",
            "3:",
            "ldr {a}, [{from}]",
            "add {from}, {from}, {by}",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "str {b}, [{to}], #4",
            "str {a}, [{to}], #4",
            "subs {n}, {n}, #4",
            "bne 3b",
            "b 5f",
            "4:",
            "ldrsb {a}, [{from}]",
            "add {from}, {from}, {by}",
            "strh {a}, [{to}], #2",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            "add {to}, {to}, {skip}",
            "subs {columns}, {columns}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to,
            columns = inout(reg) columns => _,
            channels = in(reg) channels,
            skip = in(reg) 2 * skip,
            step = in(reg) step,
            by = in(reg) if moving { step } else { 0 },
            n = out(reg) _, a = out(reg) _, b = out(reg) _,
            options(nostack),
        )
    }
    to
}

/// The same in plain Rust.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(not(kiln_dsp))]
unsafe fn widen(
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
