//! The inner block for single pixels with many filters: eight at a time, with the operand as it is.
//!
//! An element's share of the work is half of that in [`pixel`](super::pixel), since twice as many filters have it in common. Four taps of eight filters take
//! 38.5 cycles: 16 `SMLAD`, 8 `SXTB16` of weights and 2 of elements are 26, nine words in groups of loads the rest. Eight sums and two addresses leave four
//! registers, so that is how many words are loaded at once.
#![allow(unsafe_code)]

use super::pixel::Taps;
#[cfg(kiln_dsp)]
use super::tile_asm::shifts;
use core::cell::Cell;

/// Words of weights per eight filters, for so many pairs of taps: first values, taps, and what requantises them.
const fn words(pairs: usize, signed: bool) -> usize {
    8 + 4 * pairs + if signed { 24 } else { 16 }
}

/// How many times eight filters are taken of so many: the last ones too if five to seven make no full eight.
pub(super) const fn eights(filters: usize) -> usize {
    filters.saturating_add(3) / 8
}

/// Results of the first filters, requantised, as many as [`eights`] says. Gives back weights and cells of the others; nothing of either where there are fewer weights.
#[inline(always)]
pub(super) fn results<'a, const SHIFT: u32, const SIGNED: bool>(
    taps: &Taps<'_>,
    w: &'a [i32],
    y: &'a [Cell<i8>],
) -> (&'a [i32], &'a [Cell<i8>]) {
    let (eight, eights) = (words(taps.pairs(), SIGNED), eights(y.len()));
    let Some((w, w_behind)) = w.split_at_checked(eights.saturating_mul(eight)) else { return (&[], &[]) };
    if taps.is_empty() {
        return (&[], &[]);
    }
    let whole = y.len() / 8;
    let (y, rest) = y.split_at_checked(whole * 8).unwrap_or_default();
    if whole > 0 {
        whole_eights::<SHIFT, SIGNED>(taps, w, y);
    }
    if whole == eights {
        return (w_behind, rest);
    }
    let last = [const { Cell::new(0) }; 8];
    whole_eights::<SHIFT, SIGNED>(taps, w.get(whole * eight..).unwrap_or(&[]), &last);
    rest.iter().zip(&last).for_each(|(y, last)| y.set(last.get()));
    (&[], &[])
}

/// As many as `y` has cells: at least one eight, and there are weights of all.
#[inline(always)]
fn whole_eights<const SHIFT: u32, const SIGNED: bool>(taps: &Taps<'_>, w: &[i32], y: &[Cell<i8>]) {
    #[cfg(kiln_dsp)]
    // SAFETY: `results` has split off so many weights, of which there are as many as `y` has eights, and hands over whole eights of cells; `words` does not wrap: see `Taps::push`.
    unsafe {
        let (y, y_end) = (y.as_ptr() as usize, y.as_ptr() as usize + y.len());
        let [first, end, rest] = taps.registers();
        block::<SHIFT, SIGNED>(&[y, y_end, first, end, rest, w.as_ptr() as usize]);
    }
    #[cfg(not(kiln_dsp))]
    for (y, w) in y.chunks_exact(8).zip(w.chunks_exact(words(taps.pairs(), SIGNED))) {
        let (sums, tail) = (super::pixel::plain_sums::<4>(taps, w), w.get(8 + 4 * taps.pairs()..));
        let tail = tail.unwrap_or(&[]);
        let (corrections, factors) = tail.split_at(tail.len().saturating_sub(16));
        for (half, (y, sums)) in y.chunks_exact(4).zip(sums.chunks_exact(2)).enumerate() {
            let &[[a, b], [c, d]] = sums else { break };
            // As at the end of a quad.
            let (mut end, from) = ([0; 12], if SIGNED { 0 } else { 4 });
            let quad = corrections.iter().skip(4 * half).take(4).chain(factors.iter().skip(8 * half).take(8));
            end.iter_mut().skip(from).zip(quad).for_each(|(to, word)| *to = *word);
            let results = super::tile::requantised::<SHIFT, SIGNED>(0, [a, b, c, d], &end);
            y.iter().zip(results).for_each(|(y, result)| y.set(result));
        }
    }
}

/// Pairs of words of four elements in a turn of the loop, and the bytes of code of each.
#[cfg(kiln_dsp)]
const UNROLL: usize = 8;
#[cfg(kiln_dsp)]
const STEP: usize = 242;

/// Bytes of code of the step for a single word, with what leads on to the loop.
#[cfg(kiln_dsp)]
const SINGLE: usize = 156;

/// Assembly: of the length of a run of words in r0 makes how many bytes of the loop it skips, in r1.
#[cfg(kiln_dsp)]
macro_rules! skipped {
    () => {
        "lsrs r1, r0, #3
        rsb r1, r1, #0
        ite ne
        andne r1, r1, #({unroll} - 1)
        moveq r1, #{unroll}
        mov r2, #{step}
        mul r1, r1, r2"
    };
}

/// Assembly: the first word of four elements, but for the weights of the last pair of filters for its second pair of taps, which are the next to be loaded.
/// Leaves that pair of taps in r3.
#[cfg(kiln_dsp)]
macro_rules! seven_of_eight {
    () => {
        "ldr r3, [r5], #4
        ldr r0, [r4], #4
        ldr r1, [r4], #4
        sxtb16 r2, r3
        smlad r7, r2, r0, r7
        sxtb16 r0, r0
        smlad r9, r2, r1, r9
        sxtb16 r1, r1
        smlad r6, r2, r0, r6
        smlad r8, r2, r1, r8
        ldm r4!, {{r0, r1}}
        smlad r11, r2, r0, r11
        sxtb16 r0, r0
        smlad lr, r2, r1, lr
        sxtb16 r1, r1
        smlad r10, r2, r0, r10
        smlad r12, r2, r1, r12
        sxtb16 r3, r3, ror #8
        ldm r4!, {{r0, r1, r2}}
        smlad r7, r3, r0, r7
        sxtb16 r0, r0
        smlad r9, r3, r1, r9
        sxtb16 r1, r1
        smlad r11, r3, r2, r11
        sxtb16 r2, r2
        smlad r6, r3, r0, r6
        smlad r8, r3, r1, r8
        smlad r10, r3, r2, r10"
    };
}

/// Assembly: what is left of the first word, and all of a second one.
#[cfg(kiln_dsp)]
macro_rules! nine_of_eight {
    () => {
        "ldr r0, [r4], #4
        ldr r2, [r5], #4
        ldr r1, [r4], #4
        smlad lr, r3, r0, lr
        sxtb16 r0, r0
        smlad r12, r3, r0, r12
        sxtb16 r3, r2
        smlad r7, r3, r1, r7
        sxtb16 r1, r1
        smlad r6, r3, r1, r6
        ldm r4!, {{r0, r1}}
        smlad r9, r3, r0, r9
        sxtb16 r0, r0
        smlad r11, r3, r1, r11
        sxtb16 r1, r1
        smlad r8, r3, r0, r8
        smlad r10, r3, r1, r10
        ldm r4!, {{r0, r1}}
        smlad lr, r3, r0, lr
        sxtb16 r0, r0
        smlad r12, r3, r0, r12
        sxtb16 r3, r2, ror #8
        smlad r7, r3, r1, r7
        sxtb16 r1, r1
        smlad r6, r3, r1, r6
        ldm r4!, {{r0, r1, r2}}
        smlad r9, r3, r0, r9
        sxtb16 r0, r0
        smlad r11, r3, r1, r11
        sxtb16 r1, r1
        smlad lr, r3, r2, lr
        sxtb16 r2, r2
        smlad r8, r3, r0, r8
        smlad r10, r3, r1, r10
        smlad r12, r3, r2, r12"
    };
}

/// The assembly of [`results`].
///
/// r6–r12 and lr accumulate A, A + 256 · B, C, C + 256 · D and so on; r4 is the next weight, r5 the next element; r0–r3 hold elements and their weights.
///
/// # Safety
///
/// `registers` are the addresses of results and of their end, which are eights and at least one, [`Taps::registers`], and the address of their weights.
#[cfg(kiln_dsp)]
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller promises; the runs are what slices hold. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which repetitions make more of.
            ".if 0",
            ".space {repeated}",
            ".endif",
            "push {{r6, r7}}",
            "ldm r0, {{r6, r7, r8, r9, r10}}",
            "ldr r4, [r0, #20]",
            // Where each run enters the steps.
            "mov r3, r8",
            "bic r12, r9, #1",
            "8:",
            "ldr r0, [r3, #4]",
            "ldr r5, [r3, #8]",
            "sub r0, r0, r5",
            skipped!(),
            "addw r1, r1, #{single}",
            "tst r0, #4",
            "it ne",
            "movne r1, #0",
            "str r1, [r3], #12",
            "cmp r3, r12",
            "bne 8b",
            // On the stack: y, its end, the first run, the end of the runs, how much is behind their words; the next run, the end of this one.
            "sub sp, sp, #8",
            "push {{r6, r7, r8, r9, r10}}",
            // Each eight.
            "2:",
            "ldm r4!, {{r6, r7, r8, r9, r10, r11, r12, lr}}",
            "ldr r3, [sp, #8]",
            // Each run.
            "3:",
            "ldm r3!, {{r0, r2, r5}}",
            "str r3, [sp, #20]",
            "str r2, [sp, #24]",
            // The program counter reads as the address behind the next instruction.
            "add pc, r0",
            "nop",
            // A single word, where their number is odd.
            "4:",
            seven_of_eight!(),
            "ldr r0, [r4], #4",
            "smlad lr, r3, r0, lr",
            "sxtb16 r0, r0",
            "smlad r12, r3, r0, r12",
            "ldr r0, [sp, #24]",
            "sub r0, r0, r5",
            skipped!(),
            "add pc, r1",
            "nop",
            // Two words.
            "5:",
            ".rept {unroll}",
            seven_of_eight!(),
            nine_of_eight!(),
            ".endr",
            "6:",
            ".if (6b - 5b) != ({unroll} * {step}) || (5b - 4b) != {single}",
            ".error \"the steps are not as long as their entries assume\"",
            ".endif",
            "ldr r0, [sp, #24]",
            "cmp r5, r0",
            "bne 5b",
            "ldr r3, [sp, #20]",
            "ldr r0, [sp, #12]",
            "cmp r3, r0",
            "bne 9f",
            // Sums and results.
            "7:",
            "sub r7, r7, r6",
            "sub r9, r9, r8",
            "sub r11, r11, r10",
            "sub lr, lr, r12",
            ".if {signed}",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "and r0, r0, r6, asr #31",
            "add r6, r0, r6, lsl #8",
            "and r1, r1, r7, asr #31",
            "add r7, r7, r1",
            "and r2, r2, r8, asr #31",
            "add r8, r2, r8, lsl #8",
            "and r3, r3, r9, asr #31",
            "add r9, r9, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "and r0, r0, r10, asr #31",
            "add r10, r0, r10, lsl #8",
            "and r1, r1, r11, asr #31",
            "add r11, r11, r1",
            "and r2, r2, r12, asr #31",
            "add r12, r2, r12, lsl #8",
            "and r3, r3, lr, asr #31",
            "add lr, lr, r3",
            ".endif",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r6, r6, r0, r1",
            "smmlar r7, r7, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r8, r8, r0, r1",
            "smmlar r9, r9, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r10, r10, r0, r1",
            "smmlar r11, r11, r2, r3",
            "ldm r4!, {{r0, r1, r2, r3}}",
            "smmlar r12, r12, r0, r1",
            "smmlar lr, lr, r2, r3",
            "ldr r5, [sp]",
            "ldr r0, [sp, #4]",
            ".if {even_shift}",
            "ssat r6, #8, r6, asr #{even_shift}",
            "ssat r8, #8, r8, asr #{even_shift}",
            "ssat r10, #8, r10, asr #{even_shift}",
            "ssat r12, #8, r12, asr #{even_shift}",
            ".else",
            "ssat r6, #8, r6",
            "ssat r8, #8, r8",
            "ssat r10, #8, r10",
            "ssat r12, #8, r12",
            ".endif",
            "ssat r7, #8, r7, asr #{odd_shift}",
            "ssat r9, #8, r9, asr #{odd_shift}",
            "ssat r11, #8, r11, asr #{odd_shift}",
            "ssat lr, #8, lr, asr #{odd_shift}",
            "strb r6, [r5], #8",
            "strb r7, [r5, #-7]",
            "strb r8, [r5, #-6]",
            "strb r9, [r5, #-5]",
            "strb r10, [r5, #-4]",
            "strb r11, [r5, #-3]",
            "strb r12, [r5, #-2]",
            "strb lr, [r5, #-1]",
            "str r5, [sp]",
            "cmp r5, r0",
            "bne 2b",
            "b 14f",
            // Another run, if none has elements behind its words.
            "9:",
            "ldr r2, [sp, #16]",
            "cmp r2, #0",
            "beq 3b",
            // One to three elements; the end of the runs is odd then.
            "11:",
            "ldrsb r3, [r5], #1",
            "cmp r2, #1",
            "beq 12f",
            "ldrsb r0, [r5], #1",
            "pkhbt r3, r3, r0, lsl #16",
            "12:",
            "ldm r4!, {{r0, r1}}",
            "smlad r7, r3, r0, r7",
            "sxtb16 r0, r0",
            "smlad r9, r3, r1, r9",
            "sxtb16 r1, r1",
            "smlad r6, r3, r0, r6",
            "smlad r8, r3, r1, r8",
            "ldm r4!, {{r0, r1}}",
            "smlad r11, r3, r0, r11",
            "sxtb16 r0, r0",
            "smlad lr, r3, r1, lr",
            "sxtb16 r1, r1",
            "smlad r10, r3, r0, r10",
            "smlad r12, r3, r1, r12",
            "subs r2, r2, #2",
            "bgt 11b",
            "ldr r3, [sp, #20]",
            "ldr r0, [sp, #12]",
            "bic r0, r0, #1",
            "cmp r3, r0",
            "bne 3b",
            "b 7b",
            "14:",
            "add sp, sp, #28",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            single = const SINGLE,
            repeated = const SINGLE + UNROLL * STEP,
            signed = const { SIGNED as usize },
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
