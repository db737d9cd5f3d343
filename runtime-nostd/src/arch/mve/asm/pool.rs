//! Means of windows in assembly.

use crate::arch::mve::pool::Sums;
use crate::params::MeanLinear;
use core::cell::Cell;

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
