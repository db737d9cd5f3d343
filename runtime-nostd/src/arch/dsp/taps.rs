//! Single pixels: the taps of one, and filters applied to them, four or eight at a time, with the operand as it is.
//!
//! Weights are packed as for [`tile`](super::tile). Of a word of four elements `SXTB16` makes the pairs (0, 2) and (1, 3), so the taps are in that order;
//! one to three elements behind the words are pairs of neighbours. Four taps of four filters take 20 cycles.
//!
//! With eight filters an element's share of the work is half of that, since twice as many filters have it in common. Four taps of eight filters take
//! 38.5 cycles: 16 `SMLAD`, 8 `SXTB16` of weights and 2 of elements are 26, nine words in groups of loads the rest. Eight sums and two addresses leave four
//! registers, so that is how many words are loaded at once.
#![allow(unsafe_code)]

use super::affine::{exact, requant_words};
use super::blocks;
use super::tile::FIRST_WORDS;
use crate::params::Requant;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Most runs of elements that a pixel's taps may consist of.
const RUNS: usize = 12;

/// Most elements of a run: far more than any processor with these kernels has memory for.
const LONGEST: usize = usize::MAX >> 8;

/// A run of elements, as the assembly reads it.
#[repr(C)]
pub(crate) struct Run<'a> {
    /// Where the code for it begins, in bytes from a first step: the assembly's own.
    pub(crate) entry: Cell<usize>,
    /// Where its whole words end.
    pub(crate) end: *const Cell<i8>,
    /// Where it begins.
    pub(crate) x: *const Cell<i8>,
    pub(crate) elements: PhantomData<&'a [Cell<i8>]>,
}

/// A pixel's taps: runs of elements, all of them whole words or all of the same length.
pub(crate) struct Taps<'a> {
    pub(crate) runs: [MaybeUninit<Run<'a>>; RUNS],
    /// How many of the runs there are.
    pub(crate) len: usize,
    /// Pairs of taps.
    pub(crate) pairs: usize,
    /// Elements behind the words of a run.
    pub(crate) rest: usize,
}

impl<'a> Taps<'a> {
    /// No taps.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Taps { runs: [const { MaybeUninit::uninit() }; RUNS], len: 0, pairs: 0, rest: 0 }
    }

    /// Adds a run, if there is place.
    ///
    /// All words of weights of all runs are counted in numbers that do not wrap, since a run has no more elements than that.
    #[inline(always)]
    pub(crate) fn push(&mut self, run: &'a [Cell<i8>]) -> Option<()> {
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
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Whether there are none.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Words of weights per four filters, without those for requantisation.
    pub(crate) fn quad_words(&self) -> usize {
        FIRST_WORDS + 2 * self.pairs
    }
}

/// Results of all filters, requantised: one for each cell of `y`. Nothing happens where there are fewer weights.
#[inline(always)]
pub(super) fn results<const SHIFT: u32, const SIGNED: bool>(taps: &Taps<'_>, w: &[i32], y: &[Cell<i8>]) {
    let quad = taps.quad_words() + requant_words(SIGNED);
    if w.len() < y.len().div_ceil(4).saturating_mul(quad) || y.is_empty() || taps.is_empty() {
        return;
    }
    // SAFETY: there are weights of all quads (`w.len()` has been compared with them, in numbers that do not wrap: see `Taps::push`), and one cell for each result.
    unsafe { blocks::dense::quads::<SHIFT, SIGNED>(taps, w, y) }
}

/// Sums of the filters of one quad: A, 256 · B, C, 256 · D. Zeros where `w` is too short.
#[inline(never)]
pub(super) fn sums(taps: &Taps<'_>, w: &[i32]) -> [i32; 4] {
    let mut sums = [0; 4];
    if w.len() < taps.quad_words() || taps.is_empty() {
        return sums;
    }
    // SAFETY: there are weights of one quad (`w.len()` has been compared with them).
    unsafe { blocks::dense::sums_of_quad(taps, w, &mut sums) };
    sums
}

/// Words of weights per eight filters, for so many pairs of taps: first values, taps, and what requantises them.
pub(crate) const fn eight_words(pairs: usize, signed: bool) -> usize {
    8 + 4 * pairs + if signed { 24 } else { 16 }
}

/// How many times eight filters are taken of so many: the last ones too if five to seven make no full eight.
pub(super) const fn eights(filters: usize) -> usize {
    filters.saturating_add(3) / 8
}

/// Results of the first filters, requantised, as many as [`eights`] says. Gives back weights and cells of the others; nothing of either where there are fewer weights.
#[inline(always)]
pub(super) fn eights_of_results<'a, const SHIFT: u32, const SIGNED: bool>(
    taps: &Taps<'_>,
    w: &'a [i32],
    y: &'a [Cell<i8>],
) -> (&'a [i32], &'a [Cell<i8>]) {
    let (eight, eights) = (eight_words(taps.pairs(), SIGNED), eights(y.len()));
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
    // SAFETY: `eights_of_results` has split off so many weights, of which there are as many as `y` has eights, and hands over whole eights of cells; `eight_words` does not wrap: see `Taps::push`.
    unsafe { blocks::dense_eights::eights::<SHIFT, SIGNED>(taps, w, y) }
}

/// Results of all filters: eights, and with `REST` quads of those behind them.
#[inline(always)]
pub(super) fn results_of_many<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    taps: &Taps<'_>,
    w: &[i32],
    y: &[Cell<i8>],
) {
    let (w, y) = eights_of_results::<SHIFT, SIGNED>(taps, w, y);
    if REST {
        results::<SHIFT, SIGNED>(taps, w, y);
    }
}

/// Results of all filters, quad by quad.
#[inline(never)]
pub(super) fn exact_results(taps: &Taps<'_>, w: &[i32], q: &Requant<'_>, y: &[Cell<i8>]) {
    for (i, (y, w)) in y.chunks(4).zip(w.chunks_exact(taps.quad_words().max(1))).enumerate() {
        for (f, (y, sum)) in y.iter().zip(sums(taps, w)).enumerate() {
            let acc = if f % 2 == 1 { sum >> 8 } else { sum };
            let Some(result) = exact(q, 4 * i + f, acc) else { return };
            y.set(result);
        }
    }
}
