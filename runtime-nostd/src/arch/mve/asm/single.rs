//! One pixel and eight filters, of which four lie together, in assembly.

use super::{eight_vectors, last_shift, multiplied, one};
use crate::arch::mve::affine::End;
use crate::arch::mve::conv::{quad_words, Tiles};
use crate::arch::mve::LANES;

/// What the block for a single pixel reads, in its order.
#[repr(C)]
struct Single {
    x: usize,
    y: usize,
    w: usize,
    w_end: usize,
    /// Bytes of a quad.
    quad: usize,
    /// Taps of the first vector, and full vectors behind it.
    first: usize,
    others: usize,
    /// The last shift of affine forms, negated.
    shift: i32,
}

/// All quads for the first pixel of a pair with any number of taps, two quads at a time.
#[inline(never)]
pub(crate) fn single_pixel<const EXACT: bool, const CLAMPED: bool>(t: Tiles<'_>, taps: usize, shift: u32) {
    let quad = quad_words(taps, End::of(shift, EXACT, CLAMPED));
    if t.fit(taps, quad) {
        let first = (taps - 1) % LANES + 1;
        let w = t.w.as_ptr() as usize;
        let registers = Single {
            x: t.x.as_ptr() as usize,
            y: t.y.as_ptr() as usize,
            w,
            w_end: w + 4 * t.quads * quad,
            quad: 4 * quad,
            first,
            others: (taps - first) / LANES,
            shift: -(last_shift(shift) as i32),
        };
        // SAFETY: `fit` has compared what the block reads and writes with the slices, in sums that do not wrap.
        unsafe { block::<EXACT, CLAMPED>(&registers) }
    }
}

/// The assembly for a single pixel, and two quads at a time. The last one of an odd number is computed twice.
///
/// r0, r2, r4, r6 are the sums of the first quad, r8, r10, r12, lr those of the second; r9 points to taps, r5 and r3 to weights of the quads, r1 to results.
///
/// # Safety
///
/// The addresses in `registers` are those of memory as large as [`Tiles::fit`] compares.
#[inline(always)]
unsafe fn block<const EXACT: bool, const CLAMPED: bool>(registers: &Single) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r11, r0",
            "ldr r0, [r11, #20]",
            "vctp.8 r0",
            "ldr r5, [r11, #8]",
            "ldr r1, [r11, #4]",
            // Each two quads.
            "2:",
            "ldr r9, [r11]",
            "ldrd r7, r0, [r11, #12]",
            "add r3, r5, r0",
            "cmp r3, r7",
            "csel r3, r5, r3, hs",
            // The first vector of taps, which may not be full, and the others.
            "vpst",
            "vldrbt.8 q0, [r9]",
            "ldrd r0, r7, [r11, #20]",
            "add r9, r9, r0",
            eight_vectors!("vmladav.s8", "r3"),
            "cbz r7, 5f",
            "4:",
            "vldrb.8 q0, [r9], #16",
            eight_vectors!("vmladava.s8", "r3"),
            "subs r7, r7, #1",
            "bne 4b",
            "5:",
            // Results.
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vmov q1[2], q1[0], r8, r12",
            "vmov q1[3], q1[1], r10, lr",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r3], #16",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q3",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r3], #16",
            "vldrw.32 q4, [r5], #16",
            "vldrw.32 q5, [r3], #16",
            one!("r0"),
            multiplied!("q0", "q2", "q4", "r0"),
            multiplied!("q1", "q3", "q5", "r0"),
            ".if {exact}",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r3], #16",
            "vshl.s32 q0, q0, q2",
            "vshl.s32 q1, q1, q3",
            ".if {clamped}",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r3], #16",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q3",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r3], #16",
            "vmin.s32 q0, q0, q2",
            "vmin.s32 q1, q1, q3",
            ".endif",
            ".else",
            "ldr r0, [r11, #28]",
            "vshl.s32 q0, r0",
            "vshl.s32 q1, r0",
            ".endif",
            "vqmovnb.s32 q0, q0",
            "vqmovnb.s32 q1, q1",
            "vqmovnb.s16 q0, q0",
            "vqmovnb.s16 q1, q1",
            "vstrb.32 q0, [r1]",
            "cmp r3, r5",
            "it ne",
            "addne r1, r1, #4",
            "vstrb.32 q1, [r1], #4",
            // The next quads.
            "mov r5, r3",
            "ldr r0, [r11, #12]",
            "cmp r5, r0",
            "bne 2b",
            "pop {{r6, r7}}",
            exact = const EXACT as usize,
            left = const 0,
            clamped = const CLAMPED as usize,
            inout("r0") registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        )
    }
}
