//! Largest elements of windows, four channels at a time: a comparison of four bytes and a choice between them.
#![allow(unsafe_code)]

use crate::arch::extent::{product, reach};
use crate::arch::portable::pool::inside;
use crate::params::Pool;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`max_pool2d_i8`](crate::kernels::max_pool2d_i8), with a window of `K_H` rows and `K_W` columns, 1 to 3 of each, which `p` has too.
///
/// About ½ + `K_H · K_W` cycles an element, if channels are a multiple of four.
#[inline(always)]
pub fn max_pool2d_i8_dsp<const K_H: usize, const K_W: usize>(
    p: &Pool,
    x: Rows<'_, i8>,
    lo: i32,
    hi: i32,
    y: Rows<'_, i8>,
    band: Band,
) {
    // The assembly is written for these: others do not compile.
    const { assert!(K_H >= 1 && K_H <= 3 && K_W >= 1 && K_W <= 3) };
    max_pool::<K_H, K_W>(p, x, y, band);
    if lo > i32::from(i8::MIN) || hi < i32::from(i8::MAX) {
        clamp(lo, hi, y, band);
    }
}

#[inline(never)]
fn clamp(lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    for (_, y) in y.of_band(band) {
        y.iter().for_each(|y| y.set(i32::from(y.get()).max(lo).min(hi) as i8));
    }
}

#[inline(never)]
fn max_pool<const K_H: usize, const K_W: usize>(p: &Pool, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    let (c, stride) = (p.c.max(1), p.stride_w.max(1));
    if product(p.out_w, c) > y.row_len() {
        return;
    }
    // The columns whose windows are inside of the image: the rest of them is narrower.
    let first = p.pad_left.div_ceil(stride).min(p.out_w);
    let behind = p.in_w.saturating_add(p.pad_left).checked_sub(K_W).map_or(0, |last| last / stride + 1);
    let behind = behind.min(p.out_w).max(first);
    for (row, out) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, K_H, p.in_h);
        // A row more than once is no larger than once.
        let rows: [&[Cell<i8>]; K_H] =
            core::array::from_fn(|tap| x.row(top.wrapping_add(tap).min(bottom.wrapping_sub(1))));
        for column in (0..first).chain(behind..p.out_w) {
            let (left, right) = inside(column.wrapping_mul(stride), p.pad_left, K_W, p.in_w);
            let taps = rows.map(|row| row.get(product(left, c)..product(right, c)).unwrap_or(&[]));
            narrow(&taps, c, out.get(column * c..column * c + c).unwrap_or(&[]));
        }
        let left = product(product(first, stride).saturating_sub(p.pad_left), c);
        let taps = rows.map(|row| row.get(left..).unwrap_or(&[]));
        columns::<K_H, K_W>(&taps, c, product(stride, c), out.get(first * c..behind * c).unwrap_or(&[]));
    }
}

/// One window of pixels of `c` channels.
fn narrow(rows: &[&[Cell<i8>]], c: usize, out: &[Cell<i8>]) {
    for (channel, out) in out.iter().enumerate() {
        let taps = rows.iter().flat_map(|row| row.iter().skip(channel).step_by(c.max(1)));
        out.set(taps.map(Cell::get).fold(i8::MIN, i8::max));
    }
}

/// Windows that are complete, `step` elements from one to the next; `out` has `c` elements of each.
fn columns<const K_H: usize, const K_W: usize>(
    rows: &[&[Cell<i8>]; K_H],
    c: usize,
    step: usize,
    out: &[Cell<i8>],
) {
    let windows = out.len().checked_div(c).unwrap_or(0);
    let taps = reach(windows, step, product(K_W, c));
    if windows == 0 || rows.iter().any(|row| row.len() < taps) {
        return;
    }
    if c % 4 == 0 {
        // SAFETY: the last window ends inside of each row, which is no shorter than `taps`, and `out` has `windows` times `c` results.
        return unsafe {
            words::<K_H, K_W>(rows.map(|row| row.as_ptr().cast()), c, step, windows, c / 4, out)
        };
    }
    for (window, out) in out.chunks_exact(c.max(1)).enumerate() {
        let taps = rows.map(|row| row.get(window * step..window * step + K_W * c).unwrap_or(&[]));
        // The last four channels: some of them twice, which changes nothing.
        for (first, fours) in [(0, c / 4), (c.saturating_sub(4), usize::from(c >= 4))] {
            let out = out.get(first..).unwrap_or(&[]);
            // SAFETY: `fours` times four channels behind `first` are no more than the `c` that there are of each of `K_W` taps, which the rows are long enough for (compared with `taps`
            // above, so that no slice of a window is empty), and in `out`.
            unsafe {
                words::<K_H, K_W>(
                    taps.map(|row| row.as_ptr().cast::<i8>().wrapping_add(first)),
                    c,
                    step,
                    1,
                    fours,
                    out,
                )
            };
        }
        if c < 4 {
            narrow(&taps, c, out);
        }
    }
}

/// `words` times four channels of each of some windows, from the first channel in `rows` and `out` on; the next window's results lie behind.
///
/// # Safety
/// `rows` may be read as far as the last window's last tap, and `out` holds the results.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn words<const K_H: usize, const K_W: usize>(
    rows: [*const i8; K_H],
    c: usize,
    step: usize,
    windows: usize,
    words: usize,
    out: &[Cell<i8>],
) {
    if words == 0 {
        return;
    }
    let row = |index: usize| rows.get(index).copied().unwrap_or(core::ptr::null());
    // SAFETY: it reads and writes what the caller allows; r6, which operands never are in, is as before at the end.
    unsafe {
        core::arch::asm!(
            // r0 to r2: taps; r3: result; r4: windows left; r5: channels; r8: to the next window; r9, r10: words, left; r11: the largest so far.
            "push {{r6, r7}}",
            ".macro kiln_larger x",
            "ssub8 r6, r11, \\x",
            "sel r11, r11, \\x",
            ".endm",
            // Taps of one row; the first one is the last to be read, as it moves the pointer.
            ".macro kiln_row p, first",
            ".if {k_w} > 1",
            "ldr r12, [\\p, r5]",
            ".endif",
            ".if {k_w} > 2",
            "ldr lr, [\\p, r5, lsl #1]",
            ".endif",
            ".if \\first",
            "ldr r11, [\\p], #4",
            ".else",
            "ldr r6, [\\p], #4",
            "ssub8 r7, r11, r6",
            "sel r11, r11, r6",
            ".endif",
            ".if {k_w} > 1",
            "kiln_larger r12",
            ".endif",
            ".if {k_w} > 2",
            "kiln_larger lr",
            ".endif",
            ".endm",
            "2:",
            "mov r10, r9",
            "3:",
            "kiln_row r0, 1",
            ".if {k_h} > 1",
            "kiln_row r1, 0",
            ".endif",
            ".if {k_h} > 2",
            "kiln_row r2, 0",
            ".endif",
            "str r11, [r3], #4",
            "subs r10, #1",
            "bne 3b",
            "add r0, r8",
            "add r1, r8",
            "add r2, r8",
            "subs r4, #1",
            "bne 2b",
            "pop {{r6, r7}}",
            ".purgem kiln_larger",
            ".purgem kiln_row",
            inout("r0") row(0) => _,
            inout("r1") row(1) => _,
            inout("r2") row(2) => _,
            inout("r3") out.as_ptr() => _,
            inout("r4") windows => _,
            in("r5") c,
            in("r8") step.wrapping_sub(4 * words),
            in("r9") words,
            out("r10") _,
            out("r11") _,
            out("r12") _,
            out("lr") _,
            k_h = const K_H,
            k_w = const K_W,
        );
    }
}

/// The same in plain Rust.
///
/// # Safety
/// `rows` may be read as far as the last window's last tap, and `out` holds the results.
#[cfg(not(kiln_dsp))]
#[inline(always)]
unsafe fn words<const K_H: usize, const K_W: usize>(
    rows: [*const i8; K_H],
    c: usize,
    step: usize,
    windows: usize,
    words: usize,
    out: &[Cell<i8>],
) {
    for (index, out) in out.iter().take(windows * 4 * words).enumerate() {
        let (window, channel) = (index / (4 * words), index % (4 * words));
        let taps = rows
            .iter()
            .flat_map(|&row| (0..K_W).map(move |tap| row.wrapping_add(window * step + tap * c + channel)));
        // SAFETY: the caller allows it.
        out.set(taps.map(|tap| unsafe { *tap }).fold(i8::MIN, i8::max));
    }
}
