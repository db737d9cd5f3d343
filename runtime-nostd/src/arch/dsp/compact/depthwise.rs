//! Depthwise convolution of channel-last images, four channels at a time.
//!
//! `SXTAB16` makes two pairs of 16-bit numbers of the bytes of four channels and subtracts the padding, `SXTB16` two pairs of their weights, and `SMLABB` and `SMLATT`
//! add the products of halves to four sums: 16 cycles a tap.
#![allow(unsafe_code)]

use crate::arch::dsp::affine::requant_words;
#[cfg(kiln_dsp)]
use crate::arch::dsp::tile_asm::shifts;
use crate::arch::extent::{product, reach};
use crate::params::{CompactConv, Conv};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Depthwise convolution with as many channels in the result as in the operand, at least four, for cores with the DSP extension.
///
/// The weights of `p` are, for each four channels, the last four of which may begin before the others end:
/// - the first values of the sums: bias and what exactness asks for;
/// - the weights of the taps \[k_h\]\[k_w\], one byte for each of the four channels, the first one low;
/// - if it is signed, their corrections;
/// - M and C of each channel.
///
/// The padding `p.pad` is subtracted from elements. So taps in the padding do not count, and are not computed. Results are those of
/// [`depthwise2d_i8_dsp`](crate::kernels::depthwise2d_i8_dsp); nothing is written where the arguments do not fit each other.
#[inline(never)]
pub fn depthwise2d_i8_dsp_compact(p: &CompactConv<'_>, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    let Conv { in_c, in_w, in_h, out_w, k_h, k_w, .. } = p.conv;
    // An empty filter counts as one tap, so that neither side of it is longer than the weights.
    let words = product(k_h.max(1), k_w.max(1)).saturating_add(4 + requant_words(p.signed));
    let fits = in_c >= 4
        && p.weights.len() >= in_c.div_ceil(4).saturating_mul(words)
        && in_w.checked_mul(in_c) == Some(x.row_len())
        // From a tap to the one below it is not more than a lap.
        && x.held().is_some_and(|held| held > 0 && (k_h == 1 || held >= p.conv.dilation_h.min(in_h)));
    if !fits {
        return;
    }
    for (oy, y) in y.of_band(band) {
        let rows =
            Taps::inside(oy.wrapping_mul(p.conv.stride_h), p.conv.pad_top, k_h, p.conv.dilation_h, in_h);
        let row = x.row(rows.at);
        // Taps in one column at equal distances are as good as a row of them.
        let upright = k_w == 1 && x.run(rows.at, reach(rows.count, p.conv.dilation_h, 1)).is_some();
        for (ox, out) in y.chunks_exact(in_c).take(out_w).enumerate() {
            let columns =
                Taps::inside(ox.wrapping_mul(p.conv.stride_w), p.conv.pad_left, k_w, p.conv.dilation_w, in_w);
            pixel(p, x, row, &rows, &columns, upright, out);
        }
    }
}

/// Taps of a filter's row or column that are inside of the image.
struct Taps {
    /// The first one.
    first: usize,
    /// Where it is in the image.
    at: usize,
    /// How many there are.
    count: usize,
}

impl Taps {
    /// Of `taps` taps, the first of which is `pad` before `start`.
    #[inline(never)]
    fn inside(start: usize, pad: usize, taps: usize, dilation: usize, size: usize) -> Taps {
        let mut inside = Taps { first: 0, at: 0, count: 0 };
        let mut at = start.wrapping_sub(pad);
        for tap in 0..taps {
            if at < size {
                if inside.count == 0 {
                    inside = Taps { first: tap, at, count: 0 };
                }
                inside.count += 1;
            } else if inside.count > 0 {
                break;
            }
            at = at.wrapping_add(dilation);
        }
        inside
    }
}

/// What the block reads, in its order.
#[repr(C)]
#[cfg(kiln_dsp)]
struct Frame {
    /// 0: the first tap inside of the image.
    x: *const Cell<i8>,
    /// 4: the result.
    y: *const Cell<i8>,
    /// 8, 12, 16: bytes of weights that are left out before the first row of taps, behind each, and behind the last one.
    before: usize,
    between: usize,
    behind: usize,
    /// 20: rows of taps.
    rows: usize,
    /// 24: taps of a row, not 0 if there are rows.
    columns: usize,
    /// 28: bytes from behind a row of taps to the next one.
    down: usize,
    /// 32: behind the ring of rows, and 36: its bytes.
    end: *const Cell<i8>,
    lap: usize,
    /// 40: the channel with which the last four begin.
    last: usize,
    /// 44: the last shift.
    shift: u32,
    /// 48: whether negative sums are corrected.
    signed: usize,
    /// The weights, in r9.
    w: *const i32,
    /// The padding, negative, twice, in r10.
    zero: u32,
    /// Bytes from one tap to the next, in r11.
    step: usize,
}

/// All channels of a pixel; `row` has its first row of taps.
#[cfg(kiln_dsp)]
#[inline(always)]
fn pixel(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    row: &[Cell<i8>],
    rows: &Taps,
    columns: &Taps,
    upright: bool,
    out: &[Cell<i8>],
) {
    let Conv { in_c, k_h, k_w, dilation_h, dilation_w, .. } = p.conv;
    let (Some(first), Some(lap)) = (row.get(columns.at * in_c..), x.lap()) else { return };
    let (across, down) = (dilation_w.wrapping_mul(in_c), dilation_h.wrapping_mul(x.row_len()));
    let none = rows.count == 0 || columns.count == 0;
    let (count, columns_count, step) = match upright {
        _ if none => (0, 0, 0),
        true => (1, rows.count, down),
        false => (rows.count, columns.count, across),
    };
    let before = rows.first * k_w + columns.first;
    let between = if upright { 0 } else { k_w - columns_count };
    let behind = (k_h * k_w).wrapping_sub(before).wrapping_sub(count * (columns_count + between));
    let frame = Frame {
        x: first.as_ptr(),
        y: out.as_ptr(),
        before: 4 * before,
        between: 4 * between,
        behind: behind.wrapping_mul(4),
        rows: count,
        columns: columns_count,
        down: down.wrapping_sub(columns_count.wrapping_mul(step)),
        end: lap.as_ptr_range().end,
        lap: lap.len(),
        last: in_c - 4,
        shift: shifts(p.shift, p.signed)[0],
        signed: p.signed.into(),
        w: p.weights.as_ptr(),
        zero: (-i32::from(p.pad) as u32 & 0xffff) * 0x1_0001,
        step,
    };
    // SAFETY: all taps are pixels of the image (`Taps::inside`), whose rows `fits` has found to be as long as it is wide and to lie in the ring, no more than a lap from each other, or behind
    // each other where they are `upright`; channels go up to `last` + 4 = `in_c`, which is the length of `out`, and so many weights there are (`fits`). Cells may be written through a shared reference.
    unsafe { block(&frame) }
}

/// The same in plain Rust.
#[cfg(not(kiln_dsp))]
fn pixel(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    _: &[Cell<i8>],
    rows: &Taps,
    columns: &Taps,
    _: bool,
    out: &[Cell<i8>],
) {
    let Conv { in_c, k_h, k_w, dilation_h, dilation_w, .. } = p.conv;
    let words = 4 + k_h * k_w + requant_words(p.signed);
    for (quad, w) in p.weights.chunks_exact(words).enumerate() {
        let c = (4 * quad).min(in_c - 4);
        let mut sums = [0; 4];
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = w.get(lane).copied().unwrap_or(0);
            for (ky, kx) in (0..rows.count).flat_map(|ky| (0..columns.count).map(move |kx| (ky, kx))) {
                let pixel = x.row(rows.at.wrapping_add(ky.wrapping_mul(dilation_h)));
                let column = columns.at.wrapping_add(kx.wrapping_mul(dilation_w));
                let x = pixel.get(column * in_c + c + lane).map_or(0, Cell::get);
                let w = w.get(4 + (rows.first + ky) * k_w + columns.first + kx).copied().unwrap_or(0);
                let w = i32::from((w >> (8 * lane)) as i8);
                *sum = sum.wrapping_add((i32::from(x) - i32::from(p.pad)).wrapping_mul(w));
            }
        }
        let results = crate::arch::dsp::affine::quad(sums, 0, w, p.shift, p.signed);
        out.iter().skip(c).zip(results).for_each(|(out, result)| out.set(result));
    }
}

/// The assembly of [`pixel`].
///
/// | r0–r3 | r4, r6 | r5, r7 | r8 | r9 | r12 | lr |
/// |---|---|---|---|---|---|---|
/// | sums | pixels | weights | next tap | next weights | taps of the row that are left | rows that are left |
///
/// # Safety
/// The frame describes taps, weights and results that are there.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn block(frame: &Frame) {
    // SAFETY: as the caller promises. The stack pointer, r6 and r7 are as they were when the block ends.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            // 52: the channel.
            "movs r4, #0",
            "push {{r4}}",
            "ldm lr!, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            "ldm lr, {{r9, r10, r11}}",
            "movs r5, #0",
            // Four channels.
            "2:",
            "ldm r9!, {{r0, r1, r2, r3}}",
            "ldr r8, [sp, #0]",
            "ldr r6, [sp, #8]",
            "ldr lr, [sp, #20]",
            "add r8, r8, r5",
            "add r9, r9, r6",
            "b 5f",
            // A row of taps.
            "3:",
            "ldr r12, [sp, #24]",
            "4:",
            "ldr r4, [r8]",
            "ldr r5, [r9], #4",
            "add r8, r8, r11",
            "sxtab16 r6, r10, r4",
            "sxtab16 r4, r10, r4, ror #8",
            "sxtb16 r7, r5",
            "sxtb16 r5, r5, ror #8",
            "smlabb r0, r6, r7, r0",
            "smlatt r2, r6, r7, r2",
            "smlabb r1, r4, r5, r1",
            "smlatt r3, r4, r5, r3",
            "subs r12, r12, #1",
            "bne 4b",
            "ldr r6, [sp, #28]",
            "ldr r4, [sp, #32]",
            "ldr r5, [sp, #36]",
            "ldr r7, [sp, #12]",
            "add r8, r8, r6",
            "cmp r8, r4",
            "it hs",
            "subhs r8, r8, r5",
            "add r9, r9, r7",
            "5:",
            "subs lr, lr, #1",
            "bge 3b",
            "ldr r6, [sp, #16]",
            "add r9, r9, r6",
            // Results.
            "ldr r4, [sp, #48]",
            "cbz r4, 6f",
            "ldm r9!, {{r4, r5, r6, r7}}",
            "and r4, r4, r0, asr #31",
            "add r0, r4, r0, lsl #8",
            "and r5, r5, r1, asr #31",
            "add r1, r5, r1, lsl #8",
            "and r6, r6, r2, asr #31",
            "add r2, r6, r2, lsl #8",
            "and r7, r7, r3, asr #31",
            "add r3, r7, r3, lsl #8",
            "6:",
            "ldm r9!, {{r4, r5, r6, r7}}",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "ldm r9!, {{r4, r5, r6, r7}}",
            "smmlar r2, r2, r4, r5",
            "smmlar r3, r3, r6, r7",
            "ldr r7, [sp, #44]",
            "asrs r0, r7",
            "asrs r1, r7",
            "asrs r2, r7",
            "asrs r3, r7",
            "ssat r0, #8, r0",
            "ssat r1, #8, r1",
            "ssat r2, #8, r2",
            "ssat r3, #8, r3",
            "ldr r4, [sp, #4]",
            "ldr r5, [sp, #52]",
            "ldr r6, [sp, #40]",
            "add r4, r4, r5",
            "strb r0, [r4, #0]",
            "strb r1, [r4, #1]",
            "strb r2, [r4, #2]",
            "strb r3, [r4, #3]",
            "cmp r5, r6",
            "beq 7f",
            "adds r5, #4",
            "cmp r5, r6",
            "it hi",
            "movhi r5, r6",
            "str r5, [sp, #52]",
            "b 2b",
            "7:",
            "add sp, sp, #56",
            "pop {{r6, r7}}",
            inout("lr") frame => _,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::Taps;

    #[test]
    fn taps_inside_of_an_image() {
        let inside = |start, pad, taps, dilation, size| {
            let Taps { first, at, count } = Taps::inside(start, pad, taps, dilation, size);
            (first, at, count)
        };
        assert_eq!(inside(0, 1, 3, 1, 5), (1, 0, 2));
        assert_eq!(inside(2, 1, 3, 1, 5), (0, 1, 3));
        assert_eq!(inside(4, 1, 3, 1, 5), (0, 3, 2));
        assert_eq!(inside(1, 3, 4, 2, 3), (1, 0, 2));
        assert_eq!(inside(0, 5, 3, 1, 4).2, 0);
    }
}
