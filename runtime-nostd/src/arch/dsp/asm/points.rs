//! Tiles of two pixels and four filters 1 × 1 in assembly.
//!
//! A pair of taps of the first pixel and the same of the second one are neighbours in the work space, so that no distance has to be known: the function that
//! all layers share takes 15 cycles for 16 products, too.

use super::pieces::shifts;
use crate::arch::dsp::points::{Pair, Results};
use core::cell::Cell;

/// What the block reads, in its order: addresses, counts and distances. It keeps what changes in the same places.
#[repr(C)]
struct Registers {
    /// 0: the result of the first filter of a quad for the first pixel.
    y: usize,
    /// 4: the taps of a pair of pixels.
    x: usize,
    /// 8: the last word of the last quad.
    w_end: usize,
    /// 12: the last pair of these taps.
    x_end: usize,
    /// 16: pairs of pixels.
    count: usize,
    /// 20: where the results of the next pair are.
    pairs: *const Pair,
    /// 24: the word before the weights.
    w: usize,
    /// 28: from a result of the first pixel to that of the second.
    second: usize,
    /// 32: where the loop is entered, in bytes from its beginning.
    entry: usize,
    /// 36: bytes of a pair of pixels.
    step: usize,
    /// 40: from one channel's result to the next.
    channel: usize,
}

/// Bytes of code of a pair of taps.
const STEP: usize = 56;

/// Pairs of taps in a turn of the loop, and those that stand before it. A shape that is not known is computed in turns that are entered where as many pairs
/// are left.
const fn turns(pairs: usize) -> (usize, usize) {
    match pairs.saturating_sub(1) {
        others if pairs > 0 && others <= MOST => (0, others),
        others if pairs > 0 => (PER_TURN, others % PER_TURN),
        _ => (ENTERED, 0),
    }
}

/// Pairs of taps that need no loop.
const MOST: usize = 31;
/// Pairs in a turn of the loop for more of them.
const PER_TURN: usize = 16;
/// Pairs in a turn of the loop for any number of them.
const ENTERED: usize = 32;

/// All quads of filters for pairs of pixels, requantised.
///
/// `x` holds for each pair of pixels and each of `pairs` pairs of taps a word of either pixel. `PAIRS`, of taps, and `CHANNEL` are those of the layer, or both 0. Nothing happens where the
/// slices are too short.
#[inline(never)]
pub(crate) fn tiles<const PAIRS: usize, const CHANNEL: usize, const SHIFT: u32, const SIGNED: bool>(
    w: &[i32],
    x: &[Cell<i32>],
    (pairs, quads): (usize, usize),
    channel: usize,
    results: &Results<'_>,
) {
    let layer = (PAIRS == 0 || PAIRS == pairs) && (CHANNEL == 0 || CHANNEL == channel);
    let Some(quad) = results.quad::<SIGNED>(w, x, (pairs, quads), channel).filter(|_| layer) else { return };
    let (x, w) = (x.as_ptr() as usize, (w.as_ptr() as usize).wrapping_sub(4));
    let registers = Registers {
        y: 0,
        x,
        w_end: w.wrapping_add(4 * quads * quad),
        x_end: x.wrapping_add(8 * (pairs - 1)),
        count: results.len(),
        pairs: results.start(),
        w,
        second: 0,
        entry: (pairs - 1).wrapping_neg() % ENTERED * STEP,
        step: 8 * pairs,
        channel,
    };
    // SAFETY: `quad` has compared the weights of all quads and the taps of all pairs with what is there, and the results of all channels with `reach`, so many elements of which are behind each
    // place. Results are in cells.
    unsafe { block::<PAIRS, CHANNEL, SHIFT, SIGNED>(&registers) }
}

/// Assembly: as many pairs of taps as the assembler's symbol `kiln_n` says. The loads of the last one move the pointers.
macro_rules! pairs_of_taps {
    () => {
        concat!(
            ".set kiln_k, 0
            .rept kiln_n
            .set kiln_k, kiln_k + 1
            ldr r10, [r8, #(8 * kiln_k - 4)]
            .if kiln_k == kiln_n
            ldr r11, [r8, #(8 * kiln_k)]!
            ldr lr, [r9, #(8 * kiln_k + 4)]
            ldr r12, [r9, #(8 * kiln_k)]!
            .else
            ldr r11, [r8, #(8 * kiln_k)]
            ldr lr, [r9, #(8 * kiln_k + 4)]
            ldr r12, [r9, #(8 * kiln_k)]
            .endif
            ",
            pair_of_taps!(),
            ".endr"
        )
    };
}

/// Assembly: the same, each pair with loads that move the pointers, so that any of them may be the first one.
macro_rules! pairs_to_enter {
    () => {
        concat!(
            ".rept kiln_n
            ldr r10, [r8, #4]
            ldr r11, [r8, #8]!
            ldr lr, [r9, #12]
            ldr r12, [r9, #8]!
            ",
            pair_of_taps!(),
            ".endr"
        )
    };
}

/// The assembly of [`tiles`].
///
/// r0–r7 accumulate A and A' (the second pixel's), A + 256 · B and its like, and the same of C and D; r8 is the word before the next weights, r9 the last pair of
/// taps; r10, r11, r12 and lr hold a pair of taps: weights, and both pixels' activations.
///
/// # Safety
///
/// The addresses in `registers` are those of memory as large as [`tiles`] checks.
#[inline(always)]
unsafe fn block<const PAIRS: usize, const CHANNEL: usize, const SHIFT: u32, const SIGNED: bool>(
    registers: &Registers,
) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            size!("{repeated}"),
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10}}",
            ".if {pairs} == 0",
            // The entry as an address. (Where code is not aligned to four bytes, the assembler miscalculates it.)
            ".p2align 2",
            "adr.w r11, 4f",
            "add r8, r8, r11",
            "add r8, r8, #1",
            ".endif",
            "push {{r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10}}",
            // Each pair of pixels.
            "2:",
            "ldr r10, [sp, #20]",
            "ldr r8, [sp, #24]",
            "ldr r9, [sp, #4]",
            "ldr r11, [r10], #8",
            "ldr r12, [r10, #-4]",
            "str r10, [sp, #20]",
            "str r11, [sp]",
            "sub r12, r12, r11",
            "str r12, [sp, #28]",
            // Each quad: first values, and the first pair of taps, which takes them to the second pixel as well.
            "3:",
            "ldr r0, [r8, #4]",
            "ldr r2, [r8, #8]",
            "ldr r4, [r8, #12]",
            "ldr r6, [r8, #16]",
            "ldr r10, [r8, #20]",
            "ldr r11, [r8, #24]!",
            "ldr lr, [r9, #4]",
            "ldr r12, [r9]",
            first_pair_of_taps!(),
            // The others.
            ".if {pairs} == 0",
            "ldr pc, [sp, #32]",
            "4:",
            ".set kiln_n, {turn}",
            pairs_to_enter!(),
            ".if (. - 4b) != ({turn} * {step})",
            ".error \"the steps of the loop are not as long as their entry assumes\"",
            ".endif",
            ".else",
            ".set kiln_n, {rest}",
            pairs_of_taps!(),
            "4:",
            ".set kiln_n, {turn}",
            pairs_of_taps!(),
            ".endif",
            ".if {turn}",
            "ldr r10, [sp, #12]",
            "cmp r9, r10",
            "bne 4b",
            ".endif",
            // Sums, factors, results.
            results_of_tile!(),
            "strb r0, [r9]",
            ".if {channel} == 0",
            "ldr r11, [sp, #40]",
            "ldr r10, [sp, #28]",
            "add r12, r11, r11, lsl #1",
            "add r10, r10, r9",
            "strb r2, [r9, r11]",
            "strb r4, [r9, r11, lsl #1]",
            "strb r6, [r9, r12]",
            "strb r1, [r10]",
            "strb r3, [r10, r11]",
            "strb r5, [r10, r11, lsl #1]",
            "strb r7, [r10, r12]",
            "ldr r10, [sp, #8]",
            "add r9, r9, r11, lsl #2",
            ".else",
            "strb r2, [r9, #{channel}]",
            "strb r4, [r9, #(2 * {channel})]",
            "ldr r10, [sp, #28]",
            "strb r6, [r9, #(3 * {channel})]",
            "add r10, r10, r9",
            "strb r1, [r10]",
            "strb r3, [r10, #{channel}]",
            "strb r5, [r10, #(2 * {channel})]",
            "strb r7, [r10, #(3 * {channel})]",
            "ldr r10, [sp, #8]",
            "addw r9, r9, #(4 * {channel})",
            ".endif",
            "str r9, [sp]",
            "ldr r9, [sp, #4]",
            "cmp r8, r10",
            "bne 3b",
            // The next pair of pixels.
            "ldr r10, [sp, #16]",
            "ldr r11, [sp, #36]",
            "ldr r12, [sp, #12]",
            "add r9, r9, r11",
            "add r12, r12, r11",
            "str r9, [sp, #4]",
            "str r12, [sp, #12]",
            "subs r10, r10, #1",
            "str r10, [sp, #16]",
            "bne 2b",
            "add sp, sp, #44",
            "pop {{r6, r7}}",
            repeated = const STEP * (turns(PAIRS).0 + turns(PAIRS).1),
            pairs = const PAIRS,
            turn = const { turns(PAIRS).0 },
            rest = const { turns(PAIRS).1 },
            step = const STEP,
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

/// Widens `runs` runs of `fours` times four elements of two pixels, at least one of each. The first runs are at `from` and `other`, and the others `next` and `other_next` bytes
/// from each other. Of each four elements the words are (0, 2) of either pixel, then (1, 3).
///
/// # Safety
///
/// The runs are readable, and 16 bytes for each four elements of two pixels writable.
#[inline(never)]
pub(crate) unsafe fn interleave(
    [from, other]: [*const i8; 2],
    to: *mut u8,
    fours: usize,
    runs: usize,
    [next, other_next]: [usize; 2],
) {
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "lsrs {n}, {fours}, #1",
            "bcc 3f",
            "ldr {a}, [{from}], #4",
            "ldr {b}, [{other}], #4",
            "sxtb16 {c}, {a}",
            "sxtb16 {d}, {b}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {b}, {b}, ror #8",
            "str {c}, [{to}], #16",
            "str {d}, [{to}, #-12]",
            "str {a}, [{to}, #-8]",
            "str {b}, [{to}, #-4]",
            "cmp {n}, #0",
            "beq 5f",
            "3:",
            "ldr {a}, [{from}], #8",
            "ldr {b}, [{from}, #-4]",
            "ldr {c}, [{other}], #8",
            "ldr {d}, [{other}, #-4]",
            "sxtb16 {e}, {a}",
            "str {e}, [{to}], #32",
            "sxtb16 {e}, {c}",
            "str {e}, [{to}, #-28]",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {c}, {c}, ror #8",
            "str {a}, [{to}, #-24]",
            "str {c}, [{to}, #-20]",
            "sxtb16 {a}, {b}",
            "sxtb16 {c}, {d}",
            "str {a}, [{to}, #-16]",
            "str {c}, [{to}, #-12]",
            "sxtb16 {b}, {b}, ror #8",
            "sxtb16 {d}, {d}, ror #8",
            "str {b}, [{to}, #-8]",
            "str {d}, [{to}, #-4]",
            "subs {n}, {n}, #1",
            "bne 3b",
            "5:",
            "add {from}, {from}, {skip}",
            "add {other}, {other}, {other_skip}",
            "subs {runs}, {runs}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            other = inout(reg) other => _,
            to = inout(reg) to => _,
            fours = in(reg) fours,
            runs = inout(reg) runs => _,
            skip = in(reg) next.wrapping_sub(4 * fours),
            other_skip = in(reg) other_next.wrapping_sub(4 * fours),
            n = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _,
            options(nostack),
        )
    }
}
