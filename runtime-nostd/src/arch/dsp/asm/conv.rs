//! Tiles of two pixels and four filters in assembly.

use super::pieces::shifts;
use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::tile::{Tiles, FIRST_WORDS};
use crate::arch::extent::product;
use core::cell::Cell;

/// What the block for pairs of pixels reads, in its order: addresses and counts.
#[repr(C)]
struct Registers {
    /// The result of the first filter of a quad for the first pixel.
    y: usize,
    /// The word before the first taps.
    x: usize,
    /// The last word of the last quad.
    w_end: usize,
    /// The last word of the first pixel's taps.
    x_end: usize,
    /// Pairs of pixels.
    count: usize,
    /// From the result behind the last filter to the next pair's first.
    y_step: usize,
    /// The word before the weights.
    w: usize,
}

/// All quads for an even number of pixels, requantised.
///
/// `XD`: bytes from one pixel's taps to the next one's; `PAIRS`: pairs of taps; `UNROLL`: pairs per turn of the loop; `PIXEL`, `CHANNEL`: elements from one
/// result to the next. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn pairs_of_pixels<
    const XD: usize,
    const PAIRS: usize,
    const UNROLL: usize,
    const PIXEL: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    t: Tiles<'_>,
) {
    let quad = FIRST_WORDS + 2 * PAIRS + requant_words(SIGNED);
    let (Some(last_pair), Some(last_channel)) =
        ((t.pixels / 2).checked_sub(1), t.quads.wrapping_mul(4).checked_sub(1))
    else {
        return;
    };
    // Where it wraps, there are fewer weights than `fits` asks for: four words at least of each quad.
    let last = product(2 * last_pair + 1, PIXEL).saturating_add(product(last_channel, CHANNEL));
    let x_end = (2 * last_pair + 1).saturating_mul(XD).saturating_add(t.x_at).saturating_add(4 * PAIRS);
    let fits = t.w.len() >= t.quads.saturating_mul(quad)
        && 4 * t.x.len() >= x_end
        && t.y.len() > t.at.saturating_add(last);
    if !fits || PAIRS == 0 {
        return;
    }
    let x = (t.x.as_ptr() as usize).wrapping_add(t.x_at).wrapping_sub(4);
    let w = (t.w.as_ptr() as usize).wrapping_sub(4);
    let y = t.y.as_ptr() as usize + t.at;
    let registers = Registers {
        y,
        x,
        w_end: w + 4 * t.quads * quad,
        x_end: x + 4 * PAIRS,
        count: t.pixels / 2,
        y_step: (2 * PIXEL).wrapping_sub(4 * t.quads * CHANNEL),
        w,
    };
    // SAFETY: the slices hold all that the block reads and writes, through cells or constants: `fits` has compared the ends of weights, taps and results, in sums that do not wrap;
    // that the taps of a pixel are no more than the work space has, the caller has.
    unsafe { block::<XD, PAIRS, UNROLL, PIXEL, CHANNEL, SHIFT, SIGNED>(&registers) }
}

/// Sums of the pixel whose taps begin at byte `from`: A, A + 256 · B, C, C + 256 · D. Two pairs of taps take 19 cycles.
///
/// # Safety
///
/// `w` has four words and two for each pair, and `x` one for each pair from there on, which need not be aligned.
#[inline(always)]
pub(crate) unsafe fn sums_of_one(w: &[i32], x: &[Cell<i32>], from: usize, pairs: usize) -> [i32; 4] {
    // SAFETY: it is there.
    let x = unsafe { x.as_ptr().byte_add(from) };
    let (mut a, mut ab, mut c, mut cd);
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            four_words!("r0" "r1" "r2" "r3" from "r8"),
            "lsrs r4, r4, #1",
            "bcc 2f",
            "ldr r10, [r8], #8",
            "ldr r11, [r8, #-4]",
            "ldr r12, [r9], #4",
            "smlad r1, r12, r10, r1",
            "sxtb16 r10, r10",
            "smlad r3, r12, r11, r3",
            "sxtb16 r11, r11",
            "smlad r0, r12, r10, r0",
            "smlad r2, r12, r11, r2",
            "2:",
            "cbz r4, 4f",
            "3:",
            "ldr r5, [r8], #16",
            "ldr r6, [r8, #-12]",
            "ldr r7, [r8, #-8]",
            "ldr r10, [r8, #-4]",
            "ldr r11, [r9], #8",
            "ldr r12, [r9, #-4]",
            "smlad r1, r11, r5, r1",
            "sxtb16 r5, r5",
            "smlad r3, r11, r6, r3",
            "sxtb16 r6, r6",
            "smlad r0, r11, r5, r0",
            "smlad r2, r11, r6, r2",
            "smlad r1, r12, r7, r1",
            "sxtb16 r7, r7",
            "smlad r3, r12, r10, r3",
            "sxtb16 r10, r10",
            "smlad r0, r12, r7, r0",
            "smlad r2, r12, r10, r2",
            "subs r4, r4, #1",
            "bne 3b",
            "4:",
            "pop {{r6, r7}}",
            inout("r8") w.as_ptr() => _,
            inout("r9") x => _,
            inout("r4") pairs => _,
            out("r0") a, out("r1") ab, out("r2") c, out("r3") cd,
            out("r5") _, out("r10") _, out("r11") _, out("r12") _,
        )
    }
    [a, ab, c, cd]
}

/// Assembly: as many pairs of taps as the assembler's symbol `kiln_n` says. The loads of the last one move the pointers behind all of them.
macro_rules! pairs_of_taps {
    () => {
        concat!(
            ".set kiln_k, 0
            .rept kiln_n
            .set kiln_k, kiln_k + 1
            ldr r10, [r8, #(8 * kiln_k - 4)]
            .if kiln_k == kiln_n
            ldr r11, [r8, #(8 * kiln_k)]!
            ldr lr, [r9, #(4 * kiln_k + {xd})]
            ldr r12, [r9, #(4 * kiln_k)]!
            .else
            ldr r11, [r8, #(8 * kiln_k)]
            ldr lr, [r9, #(4 * kiln_k + {xd})]
            ldr r12, [r9, #(4 * kiln_k)]
            .endif
            ",
            pair_of_taps!(),
            ".endr"
        )
    };
}

/// Pairs of taps behind the first that make no full turn of the loop, and whether there is one.
const fn turns(pairs: usize, unroll: usize) -> (usize, usize) {
    let others = pairs - 1;
    if others <= unroll {
        (others, 0)
    } else {
        (others % unroll, 1)
    }
}

/// The assembly of [`pairs_of_pixels`].
///
/// r0–r7 accumulate A and A' (the second pixel's), A + 256 · B and its like, and the same of C and D; r8 is the word before the next weights, r9 the one before
/// the next taps; r10, r11, r12 and lr hold a pair of taps: weights, and both pixels' activations.
///
/// # Safety
///
/// The addresses in `registers` are those of memory as large as [`pairs_of_pixels`] checks.
#[inline(always)]
unsafe fn block<
    const XD: usize,
    const PAIRS: usize,
    const UNROLL: usize,
    const PIXEL: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    registers: &Registers,
) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            // Twelve instructions for each pair of taps.
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6}}",
            "push {{r0, r1, r2, r3, r4, r5, r6}}",
            // Each pair of pixels.
            "2:",
            "ldr r8, [sp, #24]",
            "ldr r9, [sp, #4]",
            // Each quad: first values, and the first pair of taps, which takes them to the second pixel as well.
            "3:",
            "ldr r0, [r8, #4]",
            "ldr r2, [r8, #8]",
            "ldr r4, [r8, #12]",
            "ldr r6, [r8, #16]",
            "ldr r10, [r8, #20]",
            "ldr r11, [r8, #24]!",
            "ldr lr, [r9, #({xd} + 4)]",
            "ldr r12, [r9, #4]!",
            first_pair_of_taps!(),
            // The others.
            ".set kiln_n, {rest}",
            pairs_of_taps!(),
            ".if {looped}",
            "4:",
            ".set kiln_n, {unroll}",
            pairs_of_taps!(),
            "ldr r10, [sp, #12]",
            "cmp r9, r10",
            "bne 4b",
            ".endif",
            // Sums, factors, results.
            results_of_tile!(),
            "strb r1, [r9, #{pixel}]",
            "strb r3, [r9, #({pixel} + {channel})]",
            "strb r5, [r9, #({pixel} + 2 * {channel})]",
            "strb r7, [r9, #({pixel} + 3 * {channel})]",
            "strb r2, [r9, #{channel}]",
            "strb r4, [r9, #(2 * {channel})]",
            "strb r6, [r9, #(3 * {channel})]",
            ".if {channel} < 64",
            "strb r0, [r9], #(4 * {channel})",
            "ldr r10, [sp, #8]",
            ".else",
            "strb r0, [r9]",
            "ldr r10, [sp, #8]",
            "addw r9, r9, #(4 * {channel})",
            ".endif",
            "str r9, [sp]",
            "ldr r9, [sp, #4]",
            "cmp r8, r10",
            "bne 3b",
            // The next pair of pixels.
            "ldr r10, [sp, #16]",
            "ldr r11, [sp, #20]",
            "ldr r12, [sp]",
            ".if {looped}",
            "ldr lr, [sp, #12]",
            "addw lr, lr, #{xd}",
            "addw lr, lr, #{xd}",
            "str lr, [sp, #12]",
            ".endif",
            "addw r9, r9, #{xd}",
            "addw r9, r9, #{xd}",
            "add r12, r12, r11",
            "str r9, [sp, #4]",
            "str r12, [sp]",
            "subs r10, r10, #1",
            "str r10, [sp, #16]",
            "bne 2b",
            "add sp, sp, #28",
            "pop {{r6, r7}}",
            repeated = const 48 * 2 * UNROLL,
            xd = const XD,
            rest = const { turns(PAIRS, UNROLL).0 },
            looped = const { turns(PAIRS, UNROLL).1 },
            unroll = const UNROLL,
            pixel = const PIXEL,
            channel = const CHANNEL,
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            signed = const { SIGNED as usize },
            inout("r0") registers => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
