//! Tiles of Winograd's algorithm in plain Rust: their transformation, their products, and results of their sums.
#![allow(unsafe_code)]

use crate::arch::dsp::winograd::Fitted;
use crate::arch::winograd::{self, Lanes, Sums};
use core::cell::Cell;

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles.
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    winograd::transform::<2, Pair>(patch, v);
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles.
pub(crate) fn finish<const SHIFT: u32, const SIGNED: bool>(
    requant: &Fitted<SHIFT, SIGNED>,
    sums: &Sums<'_, 8>,
    words: &[i32],
) -> Option<()> {
    sums.places.finish::<2, _>(sums, words, requant)
}

/// Two channels in the halves of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Pair(pub u32);

impl Lanes for Pair {
    const PHASES: usize = 2;

    fn load(word: &Cell<i32>, phase: usize) -> Self {
        let word = (word.get() as u32) >> (8 * phase as u32 % 32);
        Pair(halves(|shift| i32::from((word >> shift) as i8)))
    }

    fn add(self, other: Self) -> Self {
        Pair(halves(|shift| half(self.0, shift).wrapping_add(half(other.0, shift))))
    }

    fn sub(self, other: Self) -> Self {
        Pair(halves(|shift| half(self.0, shift).wrapping_sub(half(other.0, shift))))
    }

    unsafe fn store(self, to: *mut i32, _: usize) {
        // SAFETY: as the caller says.
        unsafe { to.write(self.0 as i32) }
    }
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    for frequency in 0..16 {
        for tile in 0..2 {
            for filter in 0..4 {
                let mut sum = 0i32;
                for pair in 0..pairs {
                    let (x, w) =
                        (2 * (16 * pair + frequency) + tile, 4 * (frequency * pairs + pair) + filter);
                    // SAFETY: as the caller says.
                    let (v, u) = unsafe { (*v.add(x) as u32, *u.add(w) as u32) };
                    sum = [0, 16].iter().fold(sum, |sum, &shift| {
                        sum.wrapping_add(half(v, shift).wrapping_mul(half(u, shift)))
                    });
                }
                // SAFETY: as the caller says.
                unsafe { m.add(8 * frequency + 4 * tile + filter).write(sum) };
            }
        }
    }
}

#[inline(always)]
pub(super) fn half(word: u32, shift: u32) -> i32 {
    i32::from((word >> shift) as i16)
}

#[inline(always)]
fn halves(of: impl Fn(u32) -> i32) -> u32 {
    of(0) as u32 & 0xffff | (of(16) as u32) << 16
}
