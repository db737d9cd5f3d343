//! The work space of convolution: a part of the operand, widened to `i16`, column by column.
#![allow(unsafe_code)]

use crate::arch::extent::product;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Words that [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp) needs to hold the taps of `pixels` consecutive pixels of a row at once.
///
/// It wants two pixels at least, and reads less often what neighbours share when there are more, up to `out_w` rounded up to an even number.
pub const fn conv2d_work_words(p: &Conv, pixels: usize) -> usize {
    let column = p.k_h.saturating_mul(p.in_c);
    let taps = p.k_w.saturating_mul(column);
    let others = pixels.saturating_sub(1).saturating_mul(p.stride_w).saturating_mul(column);
    others.saturating_add(taps.div_ceil(2).saturating_mul(2)).div_ceil(2)
}

/// How many pixels fit `words`: an even number, or 0.
pub(super) fn pixels_that_fit(p: &Conv, words: usize) -> usize {
    let taps = p.k_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let Some(others) = words.saturating_mul(2).checked_sub(taps.div_ceil(2).saturating_mul(2)) else {
        return 0;
    };
    let pixel = p.stride_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let pixels = others.checked_div(pixel).unwrap_or(0).saturating_add(1);
    pixels & !1
}

/// How many rows of the operand stay in the work space from one row of the result to the next, if moving them costs less than widening them again.
pub(super) fn rows_kept(p: &Conv) -> usize {
    let kept = p.k_h.saturating_sub(p.stride_h);
    if p.dilation_h == 1 && 2 * kept >= p.k_h {
        kept
    } else {
        0
    }
}

/// Moves what the work space holds for `pixels` pixels up to the place of a row of the result further down.
pub(super) fn move_rows(p: &Conv, work: &[Cell<i32>], pixels: usize) {
    let work = halves(work);
    let all = (pixels.saturating_sub(1) * p.stride_w + p.k_w) * p.k_h * p.in_c;
    let by = p.stride_h * p.in_c;
    let Some(moved) = work.get(by..all) else { return };
    // SAFETY: `moved` is a part of the work space, which is no shorter, and whose cells may be written; the second place begins before the first.
    #[cfg(kiln_dsp)]
    let moved = unsafe {
        let done = moved.len() & !7;
        copy_down(moved.as_ptr().cast(), work.as_ptr().cast_mut().cast(), done / 8);
        moved.get(done..).unwrap_or(&[])
    };
    let done = all.saturating_sub(by).saturating_sub(moved.len());
    for (to, from) in work.iter().skip(done).zip(moved) {
        to.set(from.get());
    }
}

/// Copies `fours` times four words, in ascending order.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn copy_down(from: *const u8, to: *mut u8, fours: usize) {
    if fours == 0 {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "ldr {a}, [{from}], #16",
            "ldr {b}, [{from}, #-12]",
            "ldr {c}, [{from}, #-8]",
            "ldr {d}, [{from}, #-4]",
            "str {a}, [{to}], #16",
            "str {b}, [{to}, #-12]",
            "str {c}, [{to}, #-8]",
            "str {d}, [{to}, #-4]",
            "subs {fours}, {fours}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            fours = inout(reg) fours => _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            options(nostack),
        )
    }
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, but for the first `kept` rows of the operand; what is
/// outside of the image reads as `pad`.
#[inline(never)]
pub(super) fn fill(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    work: &[Cell<i32>],
    oy: usize,
    ox: usize,
    pixels: usize,
    kept: usize,
) {
    let work = halves(work);
    // No more than the work space has: the caller knows that it holds the pixels.
    let columns = pixels.saturating_sub(1) * p.stride_w + p.k_w;
    // Columns of the work space that are inside of the image.
    let first = ox.wrapping_mul(p.stride_w);
    let from = p.pad_left.saturating_sub(first).min(columns);
    let to = p.in_w.wrapping_add(p.pad_left).saturating_sub(first).clamp(from, columns);
    let at = first.wrapping_add(from).wrapping_sub(p.pad_left).wrapping_mul(p.in_c);
    let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
    for ky in kept..p.k_h {
        let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let row = if iy < p.in_h { x.row(iy) } else { &[] };
        let image = row.get(at..at.wrapping_add((to - from).wrapping_mul(p.in_c))).unwrap_or(&[]);
        let (from, to) = if image.is_empty() { (columns, columns) } else { (from, to) };
        let padding = |columns: core::ops::Range<usize>| {
            for column in columns {
                let at = (column * p.k_h + ky) * p.in_c;
                let cells = work.get(at..at + p.in_c).unwrap_or(&[]);
                cells.iter().for_each(|cell| cell.set(pad.into()));
            }
        };
        padding(0..from);
        padding(to..columns);
        let image_at = (from * p.k_h + ky) * p.in_c;
        let columns = work.get(image_at..).unwrap_or(&[]);
        if p.k_h == 1 && p.in_c % 4 == 0 {
            // One run.
            spread(image, image.len(), columns, image.len());
        } else {
            spread(image, p.in_c, columns, p.k_h * p.in_c);
        }
    }
}

/// Fills the work space from pixel `at` on with `pixels` pixels of `row`, of `channels` channels each, a multiple of four.
pub(super) fn widen_pixels(
    row: &[Cell<i8>],
    channels: usize,
    first: usize,
    pixels: usize,
    work: &[Cell<i32>],
    at: usize,
) {
    let x = row.get(product(first, channels)..product(first + pixels, channels)).unwrap_or(&[]);
    let y = halves(work).get(product(at, channels)..).unwrap_or(&[]);
    spread(x, x.len(), y, x.len());
}

/// Words as their halves, the low one first.
fn halves(words: &[Cell<i32>]) -> &[Cell<i16>] {
    // SAFETY: the halves cover exactly the words, are less aligned, and any bits are valid; all access is through cells of one thread.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}

/// Widens runs of `run` elements that follow each other in `x` and begin `step` elements from each other in `y`. Where `run` is a multiple of four, the
/// middle two of each four change places.
fn spread(x: &[Cell<i8>], run: usize, y: &[Cell<i16>], step: usize) {
    let runs = x.len().checked_div(run).unwrap_or(0);
    let Some(last) = runs.checked_sub(1) else { return };
    let fits = last.saturating_mul(step).saturating_add(run) <= y.len() && step >= run;
    if !fits {
        return;
    }
    // How many runs the assembly takes.
    #[cfg(kiln_dsp)]
    let done = {
        let (from, to) = (x.as_ptr().cast(), y.as_ptr().cast_mut().cast());
        // SAFETY: `x` holds `runs` runs, as many as were counted, and so does `y` (`fits`); what is written is in cells.
        unsafe {
            match run {
                1 => ones(from, to, runs, 2 * step),
                3 => threes(from, to, runs / 4, 2 * step),
                _ if run % 4 == 0 => fours(from, to, run / 4, runs, 2 * (step - run)),
                _ => {}
            }
        }
        match run {
            3 => runs & !3,
            _ if run == 1 || run % 4 == 0 => runs,
            _ => 0,
        }
    };
    #[cfg(not(kiln_dsp))]
    let done = 0;
    for (i, x) in x.chunks_exact(run.max(1)).enumerate().skip(done) {
        let Some(y) = y.get(i * step..i * step + run) else { return };
        if run % 4 != 0 {
            y.iter().zip(x).for_each(|(y, x)| y.set(x.get().into()));
            continue;
        }
        for (y, x) in y.chunks_exact(4).zip(x.chunks_exact(4)) {
            if let ([a, c, b, d], [xa, xb, xc, xd]) = (y, x) {
                a.set(xa.get().into());
                b.set(xb.get().into());
                c.set(xc.get().into());
                d.set(xd.get().into());
            }
        }
    }
}

/// Widens `runs` runs of `words` times four elements; `skip` bytes lie between their results. At least one of each.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn fours(from: *const u8, to: *mut u8, words: usize, runs: usize, skip: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "ands {n}, {words}, #3",
            "beq 4f",
            "3:",
            "ldr {a}, [{from}], #4",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "str {b}, [{to}], #4",
            "str {a}, [{to}], #4",
            "subs {n}, {n}, #1",
            "bne 3b",
            "4:",
            "lsrs {n}, {words}, #2",
            "beq 6f",
            "5:",
            "ldr {a}, [{from}], #16",
            "ldr {c}, [{from}, #-12]",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {d}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            "str {b}, [{to}], #32",
            "str {a}, [{to}, #-28]",
            "str {d}, [{to}, #-24]",
            "str {c}, [{to}, #-20]",
            "ldr {a}, [{from}, #-8]",
            "ldr {c}, [{from}, #-4]",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {d}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            "str {b}, [{to}, #-16]",
            "str {a}, [{to}, #-12]",
            "str {d}, [{to}, #-8]",
            "str {c}, [{to}, #-4]",
            "subs {n}, {n}, #1",
            "bne 5b",
            "6:",
            "add {to}, {to}, {skip}",
            "subs {runs}, {runs}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            words = in(reg) words,
            runs = inout(reg) runs => _,
            skip = in(reg) skip,
            n = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            options(nostack),
        )
    }
}

/// Widens `fours` times four runs of three elements, `step` bytes from each other.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn threes(from: *const u8, to: *mut u8, fours: usize, step: usize) {
    if fours == 0 {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "ldr {a}, [{from}], #12",
            "ldr {b}, [{from}, #-8]",
            "ldr {c}, [{from}, #-4]",
            // Elements 0 and 2, 4 and 6, 8 and 10 in d, e and f; 1 and 3, 5 and 7, 9 and 11 in a, b and c.
            "sxtb16 {d}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {e}, {b}",
            "sxtb16 {b}, {b}, ror #8",
            "sxtb16 {f}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            // 0; 1, 2
            "pkhbt {t}, {a}, {d}",
            "strh {d}, [{to}]",
            "str {t}, [{to}, #2]",
            "add {to}, {to}, {step}",
            // 3; 4, 5
            "lsr {a}, {a}, #16",
            "pkhbt {t}, {e}, {b}, lsl #16",
            "strh {a}, [{to}]",
            "str {t}, [{to}, #2]",
            "add {to}, {to}, {step}",
            // 6, 7; 8
            "pkhtb {t}, {b}, {e}, asr #16",
            "str {t}, [{to}]",
            "strh {f}, [{to}, #4]",
            "add {to}, {to}, {step}",
            // 9, 10; 11: the first one and the last one are the halves of c
            "pkhbt {t}, {c}, {f}",
            "lsr {c}, {c}, #16",
            "str {t}, [{to}]",
            "strh {c}, [{to}, #4]",
            "add {to}, {to}, {step}",
            "subs {fours}, {fours}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            fours = inout(reg) fours => _,
            step = in(reg) step,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
            t = out(reg) _,
            options(nostack),
        )
    }
}

/// Widens `runs` elements to places `step` bytes from each other; at least one.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn ones(from: *const u8, to: *mut u8, runs: usize, step: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "ands {n}, {runs}, #3",
            "beq 3f",
            "2:",
            "ldrsb {a}, [{from}], #1",
            "strh {a}, [{to}]",
            "add {to}, {to}, {step}",
            "subs {n}, {n}, #1",
            "bne 2b",
            "3:",
            "lsrs {n}, {runs}, #2",
            "beq 5f",
            "4:",
            "ldr {a}, [{from}], #4",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "strh {b}, [{to}]",
            "strh {a}, [{to}, {step}]",
            "add {to}, {to}, {step}, lsl #1",
            "lsr {b}, {b}, #16",
            "lsr {a}, {a}, #16",
            "strh {b}, [{to}]",
            "strh {a}, [{to}, {step}]",
            "add {to}, {to}, {step}, lsl #1",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            runs = in(reg) runs,
            step = in(reg) step,
            n = out(reg) _, a = out(reg) _, b = out(reg) _,
            options(nostack),
        )
    }
}
