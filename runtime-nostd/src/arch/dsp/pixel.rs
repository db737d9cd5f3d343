//! The inner block for single pixels: four filters at a time, with the operand as it is.
//!
//! Weights are packed as for [`tile`](super::tile). Of a word of four elements `SXTB16` makes the pairs (0, 2) and (1, 3), so the taps are in that order;
//! one to three elements behind the words are pairs of neighbours. Four taps of four filters take 20 cycles.
#![allow(unsafe_code)]

use super::affine::requant_words;
use super::tile::FIRST_WORDS;
#[cfg(kiln_dsp)]
use super::tile_asm::{corrected_single, four_elements, shifts};
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Most runs of elements that a pixel's taps may consist of.
const RUNS: usize = 12;

/// Most elements of a run: far more than any processor with these kernels has memory for.
const LONGEST: usize = usize::MAX >> 8;

/// A run of elements, as the assembly reads it.
#[repr(C)]
struct Run<'a> {
    /// Where the code for it begins, in bytes from a first step: the assembly's own.
    entry: Cell<usize>,
    /// Where its whole words end.
    end: *const Cell<i8>,
    /// Where it begins.
    x: *const Cell<i8>,
    elements: PhantomData<&'a [Cell<i8>]>,
}

/// A pixel's taps: runs of elements, all of them whole words or all of the same length.
pub(super) struct Taps<'a> {
    runs: [MaybeUninit<Run<'a>>; RUNS],
    /// How many of the runs there are.
    len: usize,
    /// Pairs of taps.
    pairs: usize,
    /// Elements behind the words of a run.
    rest: usize,
}

impl<'a> Taps<'a> {
    /// No taps.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Taps { runs: [const { MaybeUninit::uninit() }; RUNS], len: 0, pairs: 0, rest: 0 }
    }

    /// Adds a run, if there is place.
    ///
    /// All words of weights of all runs are counted in numbers that do not wrap, since a run has no more elements than that.
    #[inline(always)]
    pub(super) fn push(&mut self, run: &'a [Cell<i8>]) -> Option<()> {
        if run.len() > LONGEST {
            return None;
        }
        let end = run.get(run.len() & !3..)?.as_ptr();
        let run_of = Run { entry: Cell::new(0), end, x: run.as_ptr(), elements: PhantomData };
        self.runs.get_mut(self.len)?.write(run_of);
        self.len += 1;
        self.pairs += run.len().div_ceil(2);
        self.rest = run.len() % 4;
        Some(())
    }

    /// How many pairs of taps there are.
    #[inline(always)]
    pub(super) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Whether there are none.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Words of weights per four filters, without those for requantisation.
    pub(super) fn quad_words(&self) -> usize {
        FIRST_WORDS + 2 * self.pairs
    }

    /// What the assembly is told of them: the first run, where the runs end, and how many elements are behind the words of each. That end is odd if there are any.
    #[cfg(kiln_dsp)]
    #[inline(always)]
    pub(super) fn registers(&self) -> [usize; 3] {
        let first = self.runs.as_ptr() as usize;
        [first, first + self.len * size_of::<Run<'_>>() + usize::from(self.rest > 0), self.rest]
    }

    /// The runs, in the order in which they were added.
    #[cfg(not(kiln_dsp))]
    fn runs(&self) -> impl Iterator<Item = &'a [Cell<i8>]> + '_ {
        self.runs.iter().take(self.len).map(|run| {
            // SAFETY: as many have been written, one after the other: each of them is what a slice holds.
            unsafe {
                let Run { x, end, .. } = run.assume_init_ref();
                core::slice::from_raw_parts(*x, end.offset_from(*x) as usize + self.rest)
            }
        })
    }
}

/// Results of all filters, requantised: one for each cell of `y`. Nothing happens where there are fewer weights.
#[inline(always)]
pub(super) fn results<const SHIFT: u32, const SIGNED: bool>(taps: &Taps<'_>, w: &[i32], y: &[Cell<i8>]) {
    let quad = taps.quad_words() + requant_words(SIGNED);
    if w.len() < y.len().div_ceil(4).saturating_mul(quad) || y.is_empty() || taps.is_empty() {
        return;
    }
    #[cfg(kiln_dsp)]
    // SAFETY: there are weights of all quads (`w.len()` has been compared with them, in numbers that do not wrap: see `Taps::push`), and one cell for each result.
    unsafe {
        let [first, end, rest] = taps.registers();
        let registers = [y.as_ptr() as usize, y.len(), first, end, rest, w.as_ptr() as usize];
        block::<SHIFT, SIGNED, false>(&registers);
    }
    #[cfg(not(kiln_dsp))]
    for (y, w) in y.chunks(4).zip(w.chunks_exact(quad)) {
        let results = super::tile::requantised::<SHIFT, SIGNED>(0, plain_quad(taps, w), w);
        y.iter().zip(results).for_each(|(y, result)| y.set(result));
    }
}

/// Sums of the filters of one quad: A, 256 · B, C, 256 · D. Zeros where `w` is too short.
#[inline(never)]
pub(super) fn sums(taps: &Taps<'_>, w: &[i32]) -> [i32; 4] {
    let mut sums = [0; 4];
    if w.len() < taps.quad_words() || taps.is_empty() {
        return sums;
    }
    #[cfg(kiln_dsp)]
    // SAFETY: there are weights of one quad (`w.len()` has been compared with them), and room for four sums.
    unsafe {
        let [first, end, rest] = taps.registers();
        let registers = [sums.as_mut_ptr() as usize, 4, first, end, rest, w.as_ptr() as usize];
        block::<0, false, true>(&registers);
    }
    #[cfg(not(kiln_dsp))]
    {
        sums = plain_quad(taps, w);
    }
    sums
}

#[cfg(not(kiln_dsp))]
fn plain_quad(taps: &Taps<'_>, w: &[i32]) -> [i32; 4] {
    let [[a, b], [c, d]] = plain_sums::<2>(taps, w);
    [a, b, c, d]
}

/// Sums of as many pairs of filters as there are words for a pair of taps: A and 256 · B of each.
#[cfg(not(kiln_dsp))]
pub(super) fn plain_sums<const WORDS: usize>(taps: &Taps<'_>, w: &[i32]) -> [[i32; 2]; WORDS] {
    use super::tile::{smlad, sxtb16};
    let (first, w) = w.split_at_checked(2 * WORDS).unwrap_or_default();
    let mut sums = [[0; 2]; WORDS];
    sums.iter_mut().flatten().zip(first).for_each(|(sum, first)| *sum = *first);
    let mut w = w.chunks_exact(WORDS);
    let mut add = |i: i8, j: i8| {
        let x = (i16::from(i) as u16 as u32 | (i16::from(j) as u16 as u32) << 16) as i32;
        for ([a, ab], h) in sums.iter_mut().zip(w.next().unwrap_or(&[])) {
            (*a, *ab) = (smlad(x, sxtb16(*h), *a), smlad(x, *h, *ab));
        }
    };
    for run in taps.runs() {
        let words = run.chunks_exact(4);
        let rest = words.remainder();
        for word in words {
            let [x0, x1, x2, x3] = word else { break };
            add(x0.get(), x2.get());
            add(x1.get(), x3.get());
        }
        for pair in rest.chunks(2) {
            if let [x0, behind @ ..] = pair {
                add(x0.get(), behind.first().map_or(0, Cell::get));
            }
        }
    }
    sums.map(|[a, ab]| [a, ab.wrapping_sub(a)])
}

/// Words of four elements in a turn of the loop, and the bytes of code of each.
#[cfg(kiln_dsp)]
const UNROLL: usize = 16;
#[cfg(kiln_dsp)]
const STEP: usize = 76;

/// The assembly of [`results`], and with `SUMS` of [`sums`], which goes to `y` as words.
///
/// r0–r3 accumulate A, A + 256 · B, C and C + 256 · D; r8 is the next weight, r9 the next element, r6 where the run's words end, r7 the next run; r4 and
/// r5 hold four elements, r10, r11, r12 and lr their weights.
///
/// # Safety
///
/// `registers` are the address of results and how many they are, [`Taps::registers`], and the address of the weights of as many quads as they need.
#[cfg(kiln_dsp)]
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool, const SUMS: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller promises; the runs are what slices hold. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which repetitions make more of.
            ".if 0",
            ".space {repeated}",
            ".endif",
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r8}}",
            "push {{r0, r1, r2, r3, r4}}",
            // Where each run enters the loop.
            "bic r3, r3, #1",
            "mov r6, #{step}",
            "2:",
            "ldr r4, [r2, #4]",
            "ldr r5, [r2, #8]",
            "sub r4, r4, r5",
            "lsrs r4, r4, #2",
            "rsb r4, r4, #0",
            "ite ne",
            "andne r4, r4, #({unroll} - 1)",
            "moveq r4, #{unroll}",
            "mul r4, r4, r6",
            "str r4, [r2], #12",
            "cmp r2, r3",
            "bne 2b",
            // Each quad.
            "22:",
            "ldr r7, [sp, #8]",
            "ldr r0, [r8], #16",
            "ldr r1, [r8, #-12]",
            "ldr r2, [r8, #-8]",
            "ldr r3, [r8, #-4]",
            // Each run.
            "3:",
            "ldr r5, [r7], #12",
            "ldr r6, [r7, #-8]",
            "ldr r9, [r7, #-4]",
            // The program counter reads as the address behind the next instruction.
            "add pc, r5",
            "nop",
            "4:",
            ".rept {unroll}",
            "ldr r4, [r9], #4",
            "ldr r10, [r8], #16",
            "ldr r11, [r8, #-12]",
            "ldr r12, [r8, #-8]",
            "ldr lr, [r8, #-4]",
            four_elements!(),
            ".endr",
            ".if (. - 4b) != ({unroll} * {step})",
            ".error \"the steps of the loop are not as long as their entries assume\"",
            ".endif",
            "cmp r9, r6",
            "bne 4b",
            "ldr r4, [sp, #12]",
            "cmp r7, r4",
            "bne 8f",
            // Sums and results.
            "5:",
            "sub r1, r1, r0",
            "sub r3, r3, r2",
            ".if {sums}",
            "ldr r9, [sp]",
            "stm r9, {{r0, r1, r2, r3}}",
            "b 7f",
            ".endif",
            ".if {signed}",
            "ldr r4, [r8], #16",
            "ldr r5, [r8, #-12]",
            "ldr r6, [r8, #-8]",
            "ldr r7, [r8, #-4]",
            corrected_single!(),
            ".endif",
            "ldr r4, [r8], #32",
            "ldr r5, [r8, #-28]",
            "ldr r6, [r8, #-24]",
            "ldr r7, [r8, #-20]",
            "ldr r10, [r8, #-16]",
            "ldr r11, [r8, #-12]",
            "ldr r12, [r8, #-8]",
            "ldr lr, [r8, #-4]",
            "ldr r9, [sp]",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "smmlar r2, r2, r10, r11",
            "smmlar r3, r3, r12, lr",
            ".if {even_shift}",
            "ssat r0, #8, r0, asr #{even_shift}",
            "ssat r2, #8, r2, asr #{even_shift}",
            ".else",
            "ssat r0, #8, r0",
            "ssat r2, #8, r2",
            ".endif",
            "ssat r1, #8, r1, asr #{odd_shift}",
            "ssat r3, #8, r3, asr #{odd_shift}",
            "ldr r4, [sp, #4]",
            "subs r4, r4, #4",
            "blt 6f",
            "strb r0, [r9], #4",
            "strb r1, [r9, #-3]",
            "strb r2, [r9, #-2]",
            "strb r3, [r9, #-1]",
            "str r9, [sp]",
            "str r4, [sp, #4]",
            "bne 22b",
            "b 7f",
            // One to three results.
            "6:",
            "strb r0, [r9]",
            "cmp r4, #-3",
            "beq 7f",
            "strb r1, [r9, #1]",
            "cmp r4, #-2",
            "beq 7f",
            "strb r2, [r9, #2]",
            "b 7f",
            // Another run, if none has elements behind its words.
            "8:",
            "ldr r5, [sp, #16]",
            "cmp r5, #0",
            "beq 3b",
            // One to three elements; the end of the runs is odd then.
            "11:",
            "ldrsb r4, [r9], #1",
            "cmp r5, #1",
            "beq 9f",
            "ldrsb r12, [r9], #1",
            "pkhbt r4, r4, r12, lsl #16",
            "9:",
            "ldr r10, [r8], #8",
            "ldr r11, [r8, #-4]",
            "smlad r1, r4, r10, r1",
            "sxtb16 r10, r10",
            "smlad r3, r4, r11, r3",
            "sxtb16 r11, r11",
            "smlad r0, r4, r10, r0",
            "smlad r2, r4, r11, r2",
            "subs r5, r5, #2",
            "bgt 11b",
            "ldr r4, [sp, #12]",
            "sub r4, r4, #1",
            "cmp r7, r4",
            "bne 3b",
            "b 5b",
            "7:",
            "add sp, sp, #20",
            "pop {{r6, r7}}",
            unroll = const UNROLL,
            step = const STEP,
            repeated = const UNROLL * STEP,
            sums = const { SUMS as usize },
            signed = const { SIGNED as usize },
            even_shift = const { shifts(SHIFT, SIGNED)[0] },
            odd_shift = const { shifts(SHIFT, SIGNED)[1] },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
