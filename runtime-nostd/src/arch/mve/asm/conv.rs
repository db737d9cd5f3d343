//! Tiles of two pixels and four filters in assembly.
//!
//! A vector of taps takes fourteen instructions for 128 products: two loads of pixels, four of filters, eight multiplications.

use super::{last_shift, multiplied, narrowed, one, turns};
use crate::arch::mve::affine::End;
use crate::arch::mve::conv::{holds, quad_words, Tiles};
use crate::arch::mve::LANES;

/// What the block reads, in its order: addresses, bytes and counts.
#[repr(C)]
struct Registers {
    /// The taps of the first pixel of a pair.
    x: usize,
    /// The result of its first filter.
    y: usize,
    pairs: usize,
    w: usize,
    w_end: usize,
    /// From one pixel to the next.
    x_second: usize,
    y_second: usize,
    /// To the next pair.
    x_step: usize,
    y_step: usize,
    /// Taps of the first vector, and full vectors behind it.
    first: usize,
    others: usize,
    /// Keeps the stack aligned.
    _unused: usize,
}

impl Registers {
    /// Of tiles that fit.
    fn of(t: &Tiles<'_>, quad: usize, taps: usize) -> Self {
        let (x, y, w) = (t.x.as_ptr() as usize, t.y.as_ptr() as usize, t.w.as_ptr() as usize);
        let first = (taps - 1) % LANES + 1;
        Registers {
            x,
            y,
            pairs: t.pairs,
            w,
            w_end: w + 4 * t.quads * quad,
            x_second: t.x_step,
            y_second: t.y_step,
            x_step: 2 * t.x_step,
            y_step: 2 * t.y_step,
            first,
            others: (taps - first) / LANES,
            _unused: 0,
        }
    }
}

/// All quads for pairs of pixels with so many taps. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn pairs_of_pixels<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Tiles<'_>,
) {
    let quad = quad_words(TAPS, End::of(SHIFT, EXACT, CLAMPED));
    if t.fit(TAPS, quad) {
        let registers = Registers::of(&t, quad, TAPS);
        // SAFETY: `fit` has compared what the blocks read and write with the slices, in sums that do not wrap.
        unsafe {
            match const { holds(TAPS) } {
                true => held::<TAPS, SHIFT, EXACT, CLAMPED>(&registers),
                false => block::<TAPS, SHIFT, EXACT, CLAMPED>(&registers),
            }
        }
    }
}

/// As [`pairs_of_pixels`], for any number of taps.
#[inline(never)]
pub(crate) fn pairs_of_any<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Tiles<'_>,
    taps: usize,
) {
    let quad = quad_words(taps, End::of(SHIFT, EXACT, CLAMPED));
    if t.fit(taps, quad) {
        // SAFETY: as above.
        unsafe { block::<0, SHIFT, EXACT, CLAMPED>(&Registers::of(&t, quad, taps)) }
    }
}

/// Vectors of taps up to which there is no loop.
const MOST: usize = 12;
/// Vectors in a turn of the loop.
const UNROLL: usize = 4;

/// Assembly: the next vectors of two pixels in q0 and q1 times the next vectors of four filters. `$mac` sums or, for the first ones, begins to.
#[rustfmt::skip]
macro_rules! vectors {
    ($mac:literal) => {
        concat!(
            "vldrb.8 q2, [r5], #16\n",
            $mac, " r0, q0, q2\n",
            $mac, " r8, q1, q2\n",
            "vldrb.8 q3, [r5], #16\n",
            $mac, " r2, q0, q3\n",
            $mac, " r10, q1, q3\n",
            "vldrb.8 q4, [r5], #16\n",
            $mac, " r4, q0, q4\n",
            $mac, " r12, q1, q4\n",
            "vldrb.8 q5, [r5], #16\n",
            $mac, " r6, q0, q5\n",
            $mac, " lr, q1, q5\n",
        )
    };
}

/// The assembly. `TAPS` is their number, or 0 where `registers` tell.
///
/// r0, r2, r4, r6 are the sums of the first pixel, r8, r10, r12, lr those of the second; r9 and r11 point to their taps, r5 to the weights, r1 and r3 to the results.
///
/// # Safety
///
/// The addresses in `registers` are those of memory as large as [`Tiles::fit`] compares.
#[inline(always)]
unsafe fn block<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    registers: &Registers,
) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which repetitions make more of.
            ".if 0",
            ".space {repeated}",
            ".endif",
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11}}",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11}}",
            // Lanes of the first vector.
            "vctp.8 r9",
            // Where there is no loop, the end of the weights stays in its register.
            "ldr r7, [sp, #16]",
            // Each pair of pixels.
            "2:",
            "ldrd r9, r1, [sp]",
            "ldrd r0, r2, [sp, #20]",
            "ldr r5, [sp, #12]",
            "add r11, r9, r0",
            "add r3, r1, r2",
            // Each quad: the first vector of taps, which may not be full.
            "3:",
            ".if {taps} == 0",
            "vpstt",
            "vldrbt.8 q0, [r9]",
            "vldrbt.8 q1, [r11]",
            "ldrd r0, r7, [sp, #36]",
            "add r9, r9, r0",
            "add r11, r11, r0",
            ".elseif {taps} % 16 != 0 && {near}",
            "vpstt",
            "vldrbt.8 q0, [r9]",
            "vldrbt.8 q1, [r11]",
            ".elseif {taps} % 16 != 0",
            "vpstt",
            "vldrbt.8 q0, [r9], #({taps} % 16)",
            "vldrbt.8 q1, [r11], #({taps} % 16)",
            ".elseif {near}",
            "vldrb.8 q0, [r9]",
            "vldrb.8 q1, [r11]",
            ".else",
            "vldrb.8 q0, [r9], #16",
            "vldrb.8 q1, [r11], #16",
            ".endif",
            vectors!("vmladav.s8"),
            // The others.
            ".set kiln_k, ({taps} - 1) % 16 + 1",
            ".rept {first} - 1",
            ".if {near}",
            "vldrb.8 q0, [r9, #kiln_k]",
            "vldrb.8 q1, [r11, #kiln_k]",
            ".set kiln_k, kiln_k + 16",
            ".else",
            "vldrb.8 q0, [r9], #16",
            "vldrb.8 q1, [r11], #16",
            ".endif",
            vectors!("vmladava.s8"),
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
            "vldrb.8 q1, [r11], #16",
            vectors!("vmladava.s8"),
            ".endr",
            "subs r7, r7, #1",
            "bne 4b",
            "5:",
            ".endif",
            // Results.
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vmov q1[2], q1[0], r8, r12",
            "vmov q1[3], q1[1], r10, lr",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vldrw.32 q4, [r5], #16",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q2",
            one!("r0"),
            multiplied!("q0", "q3", "q4", "r0"),
            multiplied!("q1", "q3", "q4", "r0"),
            ".if {exact}",
            "vldrw.32 q2, [r5], #16",
            "vshl.s32 q0, q0, q2",
            "vshl.s32 q1, q1, q2",
            ".if {clamped}",
            "vldrw.32 q2, [r5], #16",
            "vldrw.32 q3, [r5], #16",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q2",
            "vmin.s32 q0, q0, q3",
            "vmin.s32 q1, q1, q3",
            ".endif",
            ".endif",
            narrowed!("b", "q0", "q0"),
            narrowed!("b", "q1", "q1"),
            "vqmovnb.s16 q0, q0",
            "vqmovnb.s16 q1, q1",
            "vstrb.32 q0, [r1], #4",
            "vstrb.32 q1, [r3], #4",
            // Back to the first taps.
            ".if {taps} == 0 || {taps} > 4095",
            "ldr r9, [sp]",
            "ldr r0, [sp, #20]",
            "add r11, r9, r0",
            ".elseif !{near}",
            "subw r9, r9, #{taps}",
            "subw r11, r11, #{taps}",
            ".endif",
            ".if {turns}",
            "ldr r7, [sp, #16]",
            ".endif",
            "cmp r5, r7",
            "bne 3b",
            // The next pair.
            "ldrd r9, r1, [sp]",
            "ldrd r0, r2, [sp, #28]",
            "ldr r4, [sp, #8]",
            "add r9, r9, r0",
            "add r1, r1, r2",
            "subs r4, r4, #1",
            "strd r9, r1, [sp]",
            "str r4, [sp, #8]",
            "bne 2b",
            "add sp, sp, #48",
            "pop {{r6, r7}}",
            repeated = const 4 * 14 * (turns(TAPS.div_ceil(LANES), MOST, UNROLL).0 + if TAPS.div_ceil(LANES) > MOST { UNROLL } else { 1 }),
            taps = const TAPS,
            near = const (TAPS > 0 && TAPS <= 8 * LANES) as usize,
            first = const if TAPS == 0 { 1 } else { turns(TAPS.div_ceil(LANES), MOST, UNROLL).0 },
            turns = const if TAPS == 0 { 1 } else { turns(TAPS.div_ceil(LANES), MOST, UNROLL).1 },
            unroll = const if TAPS == 0 { 1 } else { UNROLL },
            exact = const EXACT as usize,
            left = const 0,
            clamped = const CLAMPED as usize,
            shift = const last_shift(SHIFT),
            inout("r0") registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        )
    }
}

/// The assembly for filters of one vector, four of which stay in registers while pixels go by.
///
/// q4 to q7 are the filters, q3 is their multiplier; r0, r2, r4, r6 are the sums of the first pixel, r8, r10, r0, r2 those of the second; r9 points to taps, r1 to results, r12 to those of the
/// first pixel, r5 to what requantises; r3 and r7 lead to the next pixel.
///
/// # Safety
///
/// As [`block`], with `TAPS` from 1 to 16.
#[inline(always)]
unsafe fn held<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    registers: &Registers,
) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "mov r11, r0",
            "ldr r0, [r11, #36]",
            "vctp.8 r0",
            "ldr r5, [r11, #12]",
            "ldr r12, [r11, #4]",
            "ldrd r3, r7, [r11, #20]",
            // Each quad.
            "2:",
            "vldrb.8 q4, [r5], #16",
            "vldrb.8 q5, [r5], #16",
            "vldrb.8 q6, [r5], #16",
            "vldrb.8 q7, [r5], #16",
            "vldrw.32 q3, [r5, #16]",
            "ldr r9, [r11]",
            "ldr lr, [r11, #8]",
            "mov r1, r12",
            // Each pair of pixels.
            "3:",
            "add r2, r9, r3",
            ".if {taps} % 16 != 0",
            "vpstt",
            "vldrbt.8 q0, [r9]",
            "vldrbt.8 q1, [r2]",
            ".else",
            "vldrb.8 q0, [r9]",
            "vldrb.8 q1, [r2]",
            ".endif",
            "vmladav.s8 r0, q0, q4",
            "add r9, r2, r3",
            "vmladav.s8 r2, q0, q5",
            "vmladav.s8 r4, q0, q6",
            "vmladav.s8 r6, q0, q7",
            "vldrw.32 q2, [r5]",
            "vmladav.s8 r8, q1, q4",
            "vmladav.s8 r10, q1, q5",
            "vmov q0[2], q0[0], r0, r4",
            "vmladav.s8 r0, q1, q6",
            "vmov q0[3], q0[1], r2, r6",
            "vmladav.s8 r2, q1, q7",
            "vadd.i32 q0, q0, q2",
            "vmov q1[2], q1[0], r8, r0",
            "vmov q1[3], q1[1], r10, r2",
            "vadd.i32 q1, q1, q2",
            "vldrw.32 q2, [r5, #32]",
            one!("r0"),
            multiplied!("q0", "q3", "q2", "r0"),
            multiplied!("q1", "q3", "q2", "r0"),
            ".if {exact}",
            "vldrw.32 q2, [r5, #48]",
            "vshl.s32 q0, q0, q2",
            "vshl.s32 q1, q1, q2",
            ".if {clamped}",
            "vldrw.32 q2, [r5, #64]",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q2",
            "vldrw.32 q2, [r5, #80]",
            "vmin.s32 q0, q0, q2",
            "vmin.s32 q1, q1, q2",
            ".endif",
            ".endif",
            narrowed!("b", "q0", "q0"),
            narrowed!("b", "q1", "q1"),
            "vqmovnb.s16 q0, q0",
            "vqmovnb.s16 q1, q1",
            "vstrb.32 q0, [r1]",
            "add r1, r1, r7",
            "vstrb.32 q1, [r1]",
            "add r1, r1, r7",
            "le lr, 3b",
            // The next quad.
            "add r5, r5, #(16 * {words})",
            "add r12, r12, #4",
            "ldr r0, [r11, #16]",
            "cmp r5, r0",
            "bne 2b",
            "pop {{r6, r7}}",
            taps = const TAPS,
            words = const End::of(SHIFT, EXACT, CLAMPED).words(),
            exact = const EXACT as usize,
            left = const 0,
            clamped = const CLAMPED as usize,
            shift = const last_shift(SHIFT),
            inout("r0") registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    }
}
