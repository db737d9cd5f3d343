//! Lines of an image to the windows of its channels, and results back to pixels in assembly.

use core::cell::Cell;

/// Assembly: sixteen channels of a column to their windows.
macro_rules! column {
    () => {
        "vldrb.u16 q0, [r0]
        vldrb.u16 q1, [r0, #8]
        add r0, r0, {step}
        vstrb.16 q0, [{to}, q2]
        vstrb.16 q1, [{second}, q2]
        vadd.i16 q2, q2, {lines}"
    };
}

/// Assembly: sixteen channels of a pixel from their results.
macro_rules! pixel {
    () => {
        "vldrb.u16 q0, [{from}, q2]
        vldrb.u16 q1, [{second}, q2]
        vadd.i16 q2, q2, {one}
        vstrb.16 q0, [r0]
        vstrb.16 q1, [r0, #8]
        add r0, r0, {step}"
    };
}

/// Copies so many channels of columns that are `step` elements from each other to the windows of the channels: each `window` elements from the next, with columns `lines` from each other.
///
/// # Safety
///
/// `x` has the channels of all columns, and the window of each channel a place for each column. There is at least one column, and one to sixteen channels; eight windows are shorter than 2¹⁶.
pub(crate) unsafe fn spread(
    x: &[Cell<i8>],
    step: usize,
    columns: usize,
    channels: usize,
    windows: &[Cell<i8>],
    lines: usize,
    window: usize,
) {
    let (x, to) = (x.as_ptr(), windows.as_ptr());
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if channels == 16 {
            core::arch::asm!(
                "vidup.u16 q2, r2, #1",
                "vmul.i16 q2, q2, {window}",
                "lsrs {pairs}, {pairs}, #1",
                "bcc 2f",
                column!(),
                "2:",
                "wls lr, {pairs}, 4f",
                "3:",
                column!(),
                column!(),
                "le lr, 3b",
                "4:",
                window = in(reg) window, step = in(reg) step, lines = in(reg) lines,
                to = in(reg) to, second = in(reg) to.wrapping_add(8 * window),
                inout("r0") x => _, inout("r2") 0 => _, pairs = inout(reg) columns => _,
                out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            );
            return;
        }
        spread_few(x, step, columns, channels, to, lines, window);
    }
}

/// As [`spread`], for fewer channels than a vector has.
///
/// # Safety
///
/// As there.
#[inline(never)]
unsafe fn spread_few(
    x: *const Cell<i8>,
    step: usize,
    columns: usize,
    channels: usize,
    to: *const Cell<i8>,
    lines: usize,
    window: usize,
) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        for first in (0..channels).step_by(8) {
            core::arch::asm!(
                "vidup.u16 q2, r2, #1",
                "vmul.i16 q2, q2, {window}",
                "vctp.16 {channels}",
                "2:",
                "vpstt",
                "vldrbt.u16 q0, [r0]",
                "vstrbt.16 q0, [{to}, q2]",
                "add r0, r0, {step}",
                "add {to}, {to}, {lines}",
                "le lr, 2b",
                channels = in(reg) channels - first,
                window = in(reg) window, step = in(reg) step, lines = in(reg) lines,
                to = inout(reg) to.wrapping_add(first * window) => _,
                inout("r0") x.wrapping_add(first) => _, inout("r2") 0 => _, inout("lr") columns => _,
                out("d0") _, out("d1") _, out("d4") _, out("d5") _,
            );
        }
    }
}

/// Copies results, of which each channel has `row`, to pixels that are `step` elements from each other.
///
/// # Safety
///
/// Each channel has `row` results, `pixels` at least, and each pixel of `y` an element for each channel. There is at least one pixel, and one to sixteen channels; eight rows are shorter than 2¹⁶.
pub(crate) unsafe fn collect(
    results: &[Cell<i8>],
    row: usize,
    pixels: usize,
    channels: usize,
    y: &[Cell<i8>],
    step: usize,
) {
    let (from, y) = (results.as_ptr(), y.as_ptr());
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if channels == 16 {
            core::arch::asm!(
                "vidup.u16 q2, r2, #1",
                "vmul.i16 q2, q2, {row}",
                "lsrs {pairs}, {pairs}, #1",
                "bcc 2f",
                pixel!(),
                "2:",
                "wls lr, {pairs}, 4f",
                "3:",
                pixel!(),
                pixel!(),
                "le lr, 3b",
                "4:",
                row = in(reg) row, step = in(reg) step,
                from = in(reg) from, second = in(reg) from.wrapping_add(8 * row), one = in(reg) 1,
                inout("r0") y => _, inout("r2") 0 => _, pairs = inout(reg) pixels => _,
                out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            );
            return;
        }
        collect_few(from, row, pixels, channels, y, step);
    }
}

/// As [`collect`], for fewer channels than a vector has.
///
/// # Safety
///
/// As there.
#[inline(never)]
unsafe fn collect_few(
    from: *const Cell<i8>,
    row: usize,
    pixels: usize,
    channels: usize,
    y: *const Cell<i8>,
    step: usize,
) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        for first in (0..channels).step_by(8) {
            core::arch::asm!(
                "vidup.u16 q2, r2, #1",
                "vmul.i16 q2, q2, {row}",
                "vctp.16 {channels}",
                "2:",
                "vpstt",
                "vldrbt.u16 q0, [{from}, q2]",
                "vstrbt.16 q0, [r0]",
                "add {from}, {from}, #1",
                "add r0, r0, {step}",
                "le lr, 2b",
                row = in(reg) row, step = in(reg) step, channels = in(reg) channels - first,
                from = inout(reg) from.wrapping_add(first * row) => _,
                inout("r0") y.wrapping_add(first) => _, inout("r2") 0 => _, inout("lr") pixels => _,
                out("d0") _, out("d1") _, out("d4") _, out("d5") _,
            );
        }
    }
}
