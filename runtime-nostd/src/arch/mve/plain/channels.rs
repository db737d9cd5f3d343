//! Depthwise convolutions of sixteen channels at a time.

use crate::arch::mve::affine::{End, Stored};
use crate::arch::mve::channels::{ends, group_words, Run, HEAD, MOST_TAPS};
use crate::arch::mve::{LANES, VECTOR_WORDS};
use core::cell::Cell;

/// What the taps of a pixel read.
pub(crate) struct Taps<'a>([&'a [Cell<i8>]; MOST_TAPS]);

impl<'a> Taps<'a> {
    pub(crate) fn new() -> Self {
        Taps([&[]; MOST_TAPS])
    }

    pub(crate) fn set(&mut self, tap: usize, x: &'a [Cell<i8>]) {
        if let Some(place) = self.0.get_mut(tap) {
            *place = x;
        }
    }
}

/// What the taps of a run read.
pub(super) fn taps_of<'a>(run: &Run<'a>) -> impl Iterator<Item = &'a [Cell<i8>]> {
    run.taps.0.iter().take(run.count).copied()
}

/// All channels of some pixels.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
#[allow(unsafe_code)]
pub(crate) unsafe fn pixels<const EXACT: bool, const CLAMPED: bool>(run: &Run<'_>) {
    let Some((&[shift, lo, hi, _], groups)) = run.w.split_first_chunk::<HEAD>() else { return };
    let end = End::of(shift.clamp(0, 31) as u32, EXACT, false);
    let (lo, hi) = if CLAMPED { (lo, hi) } else { (i8::MIN.into(), i8::MAX.into()) };
    let groups = groups.chunks_exact(group_words(run.count, EXACT)).take(run.channels.div_ceil(LANES));
    for pixel in 0..run.pixels {
        for (group, w) in groups.clone().enumerate() {
            let first = (group * LANES).min(run.channels - LANES);
            let (firsts, w) = w.split_at(LANES);
            let (weights, words) = w.split_at(run.count * LANES / 4);
            for channel in 0..LANES {
                // Four channels together, and the place among them.
                let (four, lane) = (channel / 8 * 2 + channel % 2, channel % 8 / 2);
                let taps = run.taps.0.iter().take(run.count).zip(weights.chunks_exact(LANES / 4));
                let products = taps.map(|(x, w)| {
                    let w = w.get(channel / 4).map_or(0, |w| (w >> (channel % 4 * 8)) as i8);
                    let x = x.get(pixel * run.x_step + first + channel).map_or(0, Cell::get);
                    i32::from(w) * i32::from(x)
                });
                let sum = products.fold(0, i32::wrapping_add);
                let word = |what: usize| match what {
                    0 => firsts.get(four * VECTOR_WORDS + lane),
                    _ => words.get((four * ends(EXACT) + what - 1) * VECTOR_WORDS + lane),
                };
                let result: i8 = end.result(sum, |what| word(what).copied().unwrap_or(0));
                if let Some(y) = run.y.get(pixel * run.y_step + first + channel) {
                    y.set(i8::saturated(i32::from(result).max(lo).min(hi)));
                }
            }
        }
    }
}
