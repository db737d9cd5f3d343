//! Products of bytes with four filters whose elements alternate, and of channels with a filter each, and what becomes of their sums, in vectors.
#![allow(unsafe_code)]

use crate::arch::extent::sum;
use crate::arch::portable::depthwise::Taps;
use crate::arch::portable::sum::Results;
use core::cell::Cell;

/// Adds the products of bytes with weights of which `$load` makes a vector of four: thirteen instructions for sixteen.
macro_rules! four {
    ($x:ident, $w:ident, $acc:ident, $load:literal) => {{
        let n = $x.len().min($w.len() / 4);
        // SAFETY: there are `n` elements, and four weights for each. Every register is declared.
        unsafe {
            core::arch::asm!(
                "vldrw.32 q0, [{acc}]",
                "wls lr, {fours}, 3f",
                "2:",
                ".rept 4",
                "ldrsb r2, [r0], #1",
                $load,
                "vmla.s32 q0, q1, r2",
                ".endr",
                "le lr, 2b",
                "3:",
                "wls lr, {rest}, 5f",
                "4:",
                "ldrsb r2, [r0], #1",
                $load,
                "vmla.s32 q0, q1, r2",
                "le lr, 4b",
                "5:",
                "vstrw.32 q0, [{acc}]",
                acc = in(reg) $acc.as_mut_ptr(), fours = in(reg) n / 4, rest = in(reg) n % 4,
                inout("r0") $x.as_ptr() => _, inout("r1") $w.as_ptr() => _,
                out("r2") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                options(nostack),
            )
        }
        true
    }};
}

/// Adds the products of bytes, modulo 2³².
#[inline(always)]
pub(crate) fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "vldrb.s32 q1, [r1], #4")
}

/// As [`four`] with weights of 16 bits.
#[inline(always)]
pub(crate) fn four_wide(x: &[Cell<i8>], w: &[i16], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "vldrh.s32 q1, [r1], #8")
}

/// Adds the products of the taps of a window to the sums of the channels from `first` on, modulo 2³². `$load` makes a vector of the four weights at `r1`.
macro_rules! window {
    ($taps:ident, $w:ident of $bytes:literal bytes, $first:ident, $acc:ident, $load:literal) => {{
        let Taps { rows, len, step, w_first, w_step, w_skip, .. } = *$taps;
        let channels = $acc.len() / 4 * 4;
        let Some(starts) = $taps.starts(sum($first, channels), $w.len()) else { return 0 };
        for (four, acc) in $acc.chunks_exact_mut(4).enumerate() {
            let first = $first + 4 * four;
            // SAFETY: from `first` on, there are four elements of each tap in each row, four weights of each, and four sums. Every register is declared.
            unsafe {
                core::arch::asm!(
                    "vldrw.32 q0, [{acc}]",
                    "2:",
                    "ldr r2, [r0], #4",
                    "dls lr, {taps}",
                    "add r2, r2, {first}",
                    "3:",
                    "vldrb.s32 q1, [r2]",
                    $load,
                    "add r2, r2, {x_step}",
                    "vmul.i32 q1, q1, q2",
                    "add r1, r1, {w_step}",
                    "vadd.i32 q0, q0, q1",
                    "le lr, 3b",
                    "add r1, r1, {w_skip}",
                    "subs r3, r3, #1",
                    "bne 2b",
                    "vstrw.32 q0, [{acc}]",
                    acc = in(reg) acc.as_mut_ptr(),
                    taps = in(reg) len,
                    first = in(reg) first,
                    x_step = in(reg) step,
                    w_step = in(reg) w_step.wrapping_mul($bytes),
                    w_skip = in(reg) w_skip.wrapping_mul($bytes),
                    inout("r0") starts.as_ptr() => _,
                    inout("r1") $w.as_ptr().wrapping_add(w_first + first) => _,
                    inout("r3") rows.len() => _,
                    out("r2") _, out("lr") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                    options(nostack),
                )
            }
        }
        channels
    }};
}

/// Adds the products of the taps of a window, of the channels from `first` on, to their sums. For how many: fours.
#[inline(never)]
pub(crate) fn window(taps: &Taps<'_, i8>, w: &[i8], first: usize, acc: &mut [i32]) -> usize {
    window!(taps, w of 1 bytes, first, acc, "vldrb.s32 q2, [r1]")
}

/// As [`window`] with weights of 16 bits.
#[inline(never)]
pub(crate) fn window_wide(taps: &Taps<'_, i8>, w: &[i16], first: usize, acc: &mut [i32]) -> usize {
    window!(taps, w of 2 bytes, first, acc, "vldrh.s32 q2, [r1]")
}

/// Adds biases to sums, and rescales them as [`Scale::apply`](crate::params::Scale), four at a time.
///
/// # Safety
/// There are as many results, sums and biases. Where `EACH` is 1 there are as many factors, otherwise one.
#[inline(never)]
pub(crate) unsafe fn rescale<const EACH: usize>(by: &Results<'_>) {
    let [lo, hi] = by.bounds();
    // SAFETY: as the caller says. `VRSHL` and the sign round half away from zero, as `round_shift` does. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vdup.32 q5, {lo}",
            "vdup.32 q6, {hi}",
            "vmov.i32 q7, #0",
            ".ifeq {each}",
            "ldr r2, [r2]",
            "ldrsb r3, [r3]",
            "vdup.32 q2, r2",
            "vdup.32 q3, r3",
            "vmax.s32 q4, q3, q7",
            "vmin.s32 q3, q3, q7",
            ".endif",
            "dlstp.32 lr, {count}",
            "2:",
            ".if {each}",
            "vldrw.u32 q2, [r2], #16",
            "vldrb.s32 q3, [r3], #4",
            "vmax.s32 q4, q3, q7",
            "vmin.s32 q3, q3, q7",
            ".endif",
            "vldrw.u32 q0, [r0], #16",
            "vldrw.u32 q1, [r1], #16",
            "vadd.i32 q0, q0, q1",
            "vshl.s32 q0, q0, q4",
            "vqrdmulh.s32 q0, q0, q2",
            "vand q1, q0, q3",
            "vshr.s32 q1, q1, #31",
            "vadd.i32 q0, q0, q1",
            "vrshl.s32 q0, q0, q3",
            "vmax.s32 q0, q0, q5",
            "vmin.s32 q0, q0, q6",
            "vadd.i32 q0, q0, {zero_point}",
            "vstrb.32 q0, [r4], #4",
            "letp lr, 2b",
            each = const EACH,
            lo = in(reg) lo,
            hi = in(reg) hi,
            zero_point = in(reg) by.q.zero_point,
            count = in(reg) by.out.len(),
            inout("r0") by.sums.as_ptr() => _,
            inout("r1") by.bias.as_ptr() => _,
            inout("r2") by.multipliers.as_ptr() => _,
            inout("r3") by.shifts.as_ptr() => _,
            inout("r4") by.out.as_ptr() => _,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
            options(nostack),
        )
    }
}

/// Whether [`rescale`] does it.
pub(crate) const RESCALES: bool = true;
