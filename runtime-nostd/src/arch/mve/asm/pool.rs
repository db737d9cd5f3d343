//! Means and largest elements of windows in assembly.

use crate::arch::mve::pool::{Largest, Sums};
use crate::params::MeanLinear;
use core::cell::Cell;

/// Assembly: sixteen channels of a window. Loads alternate with maxima: each of them takes two cycles, but both together take no more.
#[rustfmt::skip]
macro_rules! largest_taps {
    () => {
        concat!(
            ".if {k_w} > 1\n",
            "add {t}, {a}, {second}\n",
            "vldrb.8 q1, [{t}]\n",
            ".if {k_w} > 2\n",
            "add {t}, {a}, {third}\n",
            ".endif\n",
            "vldrb.8 q0, [{a}], #16\n",
            ".if {k_w} > 2\n",
            "vldrb.8 q4, [{t}]\n",
            ".endif\n",
            "vmax.s8 q0, q0, q1\n",
            ".if {k_w} > 2\n",
            "vmax.s8 q0, q0, q4\n",
            ".endif\n",
            ".else\n",
            "vldrb.8 q0, [{a}], #16\n",
            ".endif\n",
            ".if {k_h} > 1\n",
            largest_taps!("{b}"),
            ".endif\n",
            ".if {k_h} > 2\n",
            largest_taps!("{d}"),
            ".endif\n",
            ".if {more}\n",
            "vldrb.8 q1, [{y}]\n",
            "vmax.s8 q0, q0, q1\n",
            ".endif\n",
            "vmax.s8 q0, q0, q2\n",
            "vmin.s8 q0, q0, q3\n",
            "vstrb.8 q0, [{y}], #16\n",
        )
    };
    ($row:literal) => {
        concat!(
            ".if {k_w} > 1\n",
            "add {t}, ", $row, ", {second}\n",
            "vldrb.8 q1, [{t}]\n",
            ".if {k_w} > 2\n",
            "add {t}, ", $row, ", {third}\n",
            "vmax.s8 q0, q0, q1\n",
            "vldrb.8 q1, [{t}]\n",
            ".endif\n",
            "vmax.s8 q0, q0, q1\n",
            ".endif\n",
            "vldrb.8 q4, [", $row, "], #16\n",
            "vmax.s8 q0, q0, q4\n",
        )
    };
}

/// Adds the taps of so many channels, `c` elements from one to the next: six instructions for sixteen.
///
/// # Safety
///
/// `x` has the channels of all taps; there is at least one tap, and one to sixteen channels.
#[inline(always)]
pub(crate) unsafe fn add_taps(x: &[Cell<i8>], c: usize, taps: usize, channels: usize, sums: &mut Sums) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        if channels == 16 {
            core::arch::asm!(
                "vldrh.u16 q0, [{sums}]",
                "vldrh.u16 q1, [{sums}, #16]",
                "2:",
                "vldrb.s16 q2, [r0]",
                "vldrb.s16 q3, [r0, #8]",
                "add r0, r0, {c}",
                "vadd.i16 q0, q0, q2",
                "vadd.i16 q1, q1, q3",
                "le lr, 2b",
                "vstrh.16 q0, [{sums}]",
                "vstrh.16 q1, [{sums}, #16]",
                sums = in(reg) sums.0.as_mut_ptr(), c = in(reg) c,
                inout("r0") x.as_ptr() => _, inout("lr") taps => _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            );
            return;
        }
        for first in (0..channels).step_by(8) {
            core::arch::asm!(
                "vldrh.u16 q0, [{sums}]",
                "vctp.16 {channels}",
                "2:",
                "vpst",
                "vldrbt.s16 q1, [r0]",
                "add r0, r0, {c}",
                "vadd.i16 q0, q0, q1",
                "le lr, 2b",
                "vstrh.16 q0, [{sums}]",
                sums = in(reg) sums.0.as_mut_ptr().wrapping_add(first), c = in(reg) c,
                channels = in(reg) channels - first,
                inout("r0") x.as_ptr().wrapping_add(first) => _, inout("lr") taps => _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            );
        }
    }
}

/// The means of as many channels as there are results.
///
/// # Safety
///
/// None: no more results than sums are written.
#[inline(always)]
pub(crate) unsafe fn rescale(mean: &MeanLinear, sums: &Sums, y: &[Cell<i8>]) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        for (y, sums) in y.chunks(8).zip(sums.0.chunks_exact(8)) {
            core::arch::asm!(
                "vdup.32 q3, {factor}",
                "vldrh.u16 q0, [{sums}]",
                // Sums of even and of odd channels in the upper halves of words.
                "vshl.i32 q1, q0, #16",
                "vmovlt.s16 q0, q0",
                "vshl.i32 q0, q0, #16",
                "vmulh.s32 q1, q1, q3",
                "vmulh.s32 q0, q0, q3",
                "vadd.i32 q1, q1, {start}",
                "vadd.i32 q0, q0, {start}",
                "vshr.s32 q1, q1, #{shift}",
                "vshr.s32 q0, q0, #{shift}",
                "vqmovnb.s32 q1, q1",
                "vqmovnt.s32 q1, q0",
                "vqmovnb.s16 q1, q1",
                "vctp.16 {n}",
                "vpst",
                "vstrbt.16 q1, [r1]",
                factor = in(reg) mean.factor, start = in(reg) mean.start, n = in(reg) y.len(),
                shift = const MeanLinear::SHIFT,
                sums = in(reg) sums.as_ptr(), in("r1") y.as_ptr(),
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d6") _, out("d7") _,
            );
        }
    }
}

/// The largest elements of `windows` windows, `p.step` elements from one to the next, with so many rows and columns, clamped; of each, what is in its place counts as well if `MORE`.
///
/// # Safety
///
/// Each row has the taps of all windows, which are `p.c` elements at each of `p.columns`, and `y` as many results. There is a window, and a channel.
#[inline(always)]
pub(crate) unsafe fn largest<const K_H: usize, const K_W: usize, const MORE: bool>(
    p: &Largest,
    rows: [*const i8; K_H],
    windows: usize,
    y: *mut i8,
) {
    let row = |tap: usize| rows.get(tap).copied().unwrap_or(y);
    let rounded = p.c.wrapping_add(15) & !15;
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "ldr lr, [{t}]",
            "vdup.8 q2, lr",
            "ldr lr, [{t}, #4]",
            "vdup.8 q3, lr",
            "2:",
            "dlstp.8 lr, {c}",
            "3:",
            largest_taps!(),
            "letp lr, 3b",
            "add {a}, {a}, {to_next}",
            "add {b}, {b}, {to_next}",
            "add {d}, {d}, {to_next}",
            "add {y}, {y}, {to_next_result}",
            "subs {windows}, {windows}, #1",
            "bne 2b",
            a = inout(reg) row(0) => _, b = inout(reg) row(1) => _, d = inout(reg) row(2) => _,
            t = inout(reg) p.clamp.as_ptr() => _,
            second = in(reg) p.columns[0], third = in(reg) p.columns[1], c = in(reg) p.c,
            to_next = in(reg) p.step.wrapping_sub(rounded), to_next_result = in(reg) p.c.wrapping_sub(rounded),
            windows = inout(reg) windows => _, y = inout(reg) y => _,
            k_h = const K_H, k_w = const K_W, more = const MORE as u32,
            out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _,
        );
    }
}
