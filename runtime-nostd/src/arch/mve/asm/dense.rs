//! One pixel and eight filters in assembly.
//!
//! A vector of taps takes seventeen instructions for 128 products: a load of the pixel, eight of filters, eight multiplications.

use super::{eight_vectors, last_shift, multiplied, narrowed, one, turns};
use crate::arch::extent::product;
use crate::arch::mve::affine::{End, Stored};
use crate::arch::mve::dense::{eight_words, Eights};
use crate::arch::mve::{LANES, VECTOR_WORDS};
use core::cell::Cell;

/// All eights for a pixel with so many taps. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn eights_of<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Eights<'_, i8>,
) {
    let eight = eight_words(TAPS, End::of(SHIFT, EXACT, CLAMPED));
    if t.x.len() == TAPS && t.fit(eight) {
        // SAFETY: `fit` has compared what the block reads and writes with the slices, in sums that do not wrap.
        unsafe { block::<i8, TAPS, SHIFT, EXACT, CLAMPED, false>(&t, eight) }
    }
}

/// As [`eights_of`], for any number of taps.
#[inline(never)]
pub(crate) fn eights_of_any<
    T: Stored,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const LEFT: bool,
>(
    t: Eights<'_, T>,
) {
    let eight = eight_words(t.x.len(), End::of(SHIFT, EXACT, CLAMPED));
    if t.fit(eight) {
        // SAFETY: as above.
        unsafe { block::<T, 0, SHIFT, EXACT, CLAMPED, LEFT>(&t, eight) }
    }
}

/// Vectors of taps up to which there is no loop.
const MOST: usize = 10;
/// Vectors in a turn of the loop.
const UNROLL: usize = 8;

/// The assembly. `TAPS` is their number, or 0 where `t` tells.
///
/// r0, r2, r4, r6, r8, r10, r12, lr are the sums of the filters; r9 points to the taps, r5 to the weights, r1 to the results.
///
/// # Safety
///
/// Weights and results are as many as [`Eights::fit`] compares, and there are `TAPS` elements.
#[inline(always)]
unsafe fn block<
    T: Stored,
    const TAPS: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const LEFT: bool,
>(
    t: &Eights<'_, T>,
    eight: usize,
) {
    let (x, w, taps) = (t.x.as_ptr() as usize, t.w.as_ptr() as usize, t.x.len());
    let first = (taps - 1) % LANES + 1;
    let registers = [x, w, t.y.as_ptr() as usize, w + 4 * t.eights * eight, first, (taps - first) / LANES];
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which repetitions make more of.
            ".if 0",
            ".space {repeated}",
            ".endif",
            "push {{r6, r7}}",
            "mov r11, r0",
            "ldrd r9, r5, [r11]",
            "ldr r1, [r11, #8]",
            "ldr r3, [r11, #12]",
            // Lanes of the first vector.
            "ldr r7, [r11, #16]",
            "vctp.8 r7",
            // Each eight: the first vector of taps, which may not be full.
            "3:",
            ".if {taps} == 0",
            "vpst",
            "vldrbt.8 q0, [r9]",
            "ldrd r0, r7, [r11, #16]",
            "add r9, r9, r0",
            ".elseif {taps} % 16 != 0",
            "vpst",
            "vldrbt.8 q0, [r9], #({taps} % 16)",
            ".else",
            "vldrb.8 q0, [r9], #16",
            ".endif",
            eight_vectors!("vmladav.s8", "r5"),
            // The others.
            ".rept {first} - 1",
            "vldrb.8 q0, [r9], #16",
            eight_vectors!("vmladava.s8", "r5"),
            ".endr",
            ".if {turns}",
            ".if {taps} == 0",
            "cbz r7, 5f",
            ".else",
            "mov r7, #{turns}",
            ".endif",
            "4:",
            ".rept {unroll}",
            "vldrb.8 q0, [r9], #16",
            eight_vectors!("vmladava.s8", "r5"),
            ".endr",
            "subs r7, r7, #1",
            "bne 4b",
            "5:",
            ".endif",
            // Results: even filters, then odd ones.
            "vmov q0[2], q0[0], r0, r8",
            "vmov q0[3], q0[1], r4, r12",
            "vmov q1[2], q1[0], r2, r10",
            "vmov q1[3], q1[1], r6, lr",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q3",
            // The shifts are behind multipliers and constants.
            ".if {left}",
            "vldrw.32 q2, [r5, #64]",
            "vldrw.32 q3, [r5, #80]",
            "vshl.s32 q0, q0, q2",
            "vshl.s32 q1, q1, q3",
            ".endif",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vldrw.32 q4, [r5], #16",
            "vldrw.32 q5, [r5], #16",
            one!("r0"),
            multiplied!("q0", "q2", "q4", "r0"),
            multiplied!("q1", "q3", "q5", "r0"),
            ".if {exact}",
            ".if {left}",
            "add r5, r5, #32",
            ".else",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vshl.s32 q0, q0, q2",
            "vshl.s32 q1, q1, q3",
            ".endif",
            ".if {clamped}",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vldrw.32 q4, [r5], #16",
            "vldrw.32 q5, [r5], #16",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q3",
            "vmin.s32 q0, q0, q4",
            "vmin.s32 q1, q1, q5",
            ".endif",
            ".endif",
            narrowed!("b", "q0", "q0"),
            narrowed!("t", "q0", "q1"),
            ".if {wide}",
            "vstrh.16 q0, [r1], #16",
            ".else",
            "vqmovnb.s16 q0, q0",
            "vstrb.16 q0, [r1], #8",
            ".endif",
            // Back to the first tap.
            ".if {taps} == 0 || {taps} > 4095",
            "ldr r9, [r11]",
            ".else",
            "subw r9, r9, #{taps}",
            ".endif",
            "cmp r5, r3",
            "bne 3b",
            "pop {{r6, r7}}",
            repeated = const 4 * 17 * (turns(TAPS.div_ceil(LANES), MOST, UNROLL).0 + if TAPS.div_ceil(LANES) > MOST { UNROLL } else { 1 }),
            taps = const TAPS,
            first = const if TAPS == 0 { 1 } else { turns(TAPS.div_ceil(LANES), MOST, UNROLL).0 },
            turns = const if TAPS == 0 { 1 } else { turns(TAPS.div_ceil(LANES), MOST, UNROLL).1 },
            unroll = const if TAPS == 0 { 1 } else { UNROLL },
            wide = const (size_of::<T>() == 2) as usize,
            exact = const EXACT as usize,
            left = const LEFT as usize,
            clamped = const CLAMPED as usize,
            shift = const last_shift(SHIFT),
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        )
    }
}

/// The sums of eight filters without first values; zeros where there are fewer weights.
#[inline(never)]
pub(crate) fn sums_of_eight(w: &[i32], x: &[Cell<i8>]) -> [i32; 8] {
    let mut sums = [0; 8];
    if x.is_empty() || w.len() < product(x.len().div_ceil(LANES), 8 * VECTOR_WORDS) {
        return sums;
    }
    let first = (x.len() - 1) % LANES + 1;
    // SAFETY: there are sixteen weights of each filter for each vector of elements, by the comparison above. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r7, r0",
            "vctp.8 r1",
            "vpst",
            "vldrbt.8 q0, [r9]",
            "add r9, r9, r1",
            eight_vectors!("vmladav.s8", "r5"),
            "cbz r7, 3f",
            "2:",
            "vldrb.8 q0, [r9], #16",
            eight_vectors!("vmladava.s8", "r5"),
            "subs r7, r7, #1",
            "bne 2b",
            "3:",
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vmov q1[2], q1[0], r8, r12",
            "vmov q1[3], q1[1], r10, lr",
            "vstrw.32 q0, [r3]",
            "vstrw.32 q1, [r3, #16]",
            "pop {{r6, r7}}",
            inout("r0") (x.len() - first) / LANES => _,
            in("r1") first,
            in("r3") sums.as_mut_ptr(),
            inout("r5") w.as_ptr() => _,
            inout("r9") x.as_ptr() => _,
            out("r2") _, out("r4") _, out("r8") _, out("r10") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _,
        )
    }
    sums
}
