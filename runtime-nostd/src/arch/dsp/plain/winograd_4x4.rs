//! Tiles of 4 × 4 results of Winograd's algorithm in plain Rust: their transformation, their products, and results of their sums.
//!
//! Of a transformed tile, the first three rows of frequencies of all pairs of channels come first, then the others.
#![allow(unsafe_code)]

use super::winograd::{half, halves};
use crate::arch::dsp::winograd::{Fitted, HALF, PATCH_4X4};
use crate::arch::winograd::Sums;
use core::array;
use core::cell::Cell;

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles.
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let pairs = v.len() / (2 * HALF);
    for (at, four) in patch.chunks_exact(PATCH_4X4).enumerate().take(pairs / 2) {
        for phase in 0..2 {
            let pair = |shift: u32| {
                let element = |row: usize, column: usize| {
                    four.get(10 * row + column)
                        .map_or(0, |word| i32::from((word.get() as u32 >> (8 * phase + shift)) as i8))
                };
                array::from_fn::<_, 2, _>(|tile| {
                    let columns: [[i32; 6]; 6] = array::from_fn(|column| {
                        frequencies(array::from_fn(|row| element(row, 4 * tile + column)))
                    });
                    array::from_fn::<[i32; 6], 6, _>(|i| {
                        frequencies(columns.map(|column| column.get(i).copied().unwrap_or(0)))
                    })
                })
            };
            let (low, high) = (pair(0), pair(16));
            for (tile, (low, high)) in low.iter().zip(&high).enumerate() {
                for (frequency, (&low, &high)) in low.iter().flatten().zip(high.iter().flatten()).enumerate()
                {
                    let pair = 2 * at + phase as usize;
                    let to = (frequency / 18 * pairs + pair) * HALF + 2 * (frequency % 18) + tile;
                    if let Some(to) = v.get(to) {
                        to.set(halves(|shift| if shift == 0 { low } else { high }) as i32);
                    }
                }
            }
        }
    }
}

/// `Bᵀ d` of a column.
fn frequencies([a, b, c, d, e, f]: [i32; 6]) -> [i32; 6] {
    [
        4 * a - 5 * c + e,
        e + d - 4 * (b + c),
        e - d + 4 * (b - c),
        e - c + 2 * (d - b),
        e - c - 2 * (d - b),
        4 * b - 5 * d + f,
    ]
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
