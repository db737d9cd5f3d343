//! Tiles of 4 × 4 results of Winograd's algorithm in plain Rust: their transformation, their products, and results of their sums.
//!
//! Of a transformed tile, the first three rows of frequencies of all pairs of channels come first, then the others.
#![allow(unsafe_code)]

use super::winograd::{half, Pair};
use crate::arch::dsp::winograd::{Fitted, HALF, PATCH_4X4};
use crate::arch::winograd::{six, Lanes, Sums};
use core::array;
use core::cell::Cell;

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles.
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let pairs = v.len() / (2 * HALF);
    for (pair, four) in (0..pairs).map(|pair| (pair, patch.chunks_exact(PATCH_4X4).nth(pair / 2))) {
        let Some(four) = four else { return };
        let element = |at: usize| four.get(at).map_or(Pair::default(), |word| Pair::load(word, pair % 2));
        let columns: [[Pair; 6]; 10] =
            array::from_fn(|column| six(array::from_fn(|row| element(10 * row + column))));
        for i in 0..6 {
            let row = columns.map(|column| column.get(i).copied().unwrap_or_default());
            for tile in 0..2 {
                let elements = array::from_fn(|at| row.get(4 * tile + at).copied().unwrap_or_default());
                for (j, element) in six(elements).into_iter().enumerate() {
                    let to = (i / 3 * pairs + pair) * HALF + 2 * (6 * (i % 3) + j) + tile;
                    if let Some(to) = v.get(to) {
                        to.set(element.0 as i32);
                    }
                }
            }
        }
    }
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles.
pub(crate) fn finish<const SHIFT: u32, const SIGNED: bool>(
    requant: &Fitted<SHIFT, SIGNED>,
    sums: &Sums<'_, 32>,
    words: &[i32],
) -> Option<()> {
    sums.places.finish::<4, _>(sums, words, requant)
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    for frequency in 0..36 {
        for tile in 0..2 {
            for filter in 0..4 {
                let mut sum = 0i32;
                for pair in 0..pairs {
                    let x = (frequency / 18 * pairs + pair) * HALF + 2 * (frequency % 18) + tile;
                    let w = 4 * (frequency * pairs + pair) + filter;
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
