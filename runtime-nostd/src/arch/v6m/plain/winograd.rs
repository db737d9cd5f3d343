//! Tiles of Winograd's algorithm in plain Rust: their transformation, their products, and results of their sums.
#![allow(unsafe_code)]

use crate::arch::v6m::winograd::TILES;
use crate::arch::winograd::Sums;
use crate::kernels::HalfRequant;
use core::cell::Cell;

/// Words of four channels of a patch, and of a transformed one for each frequency.
const PATCH: usize = 24;
const TRANSFORMED: usize = 4 * TILES;

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles: a word for each frequency, channel and tile.
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let frequency = v.len() / 16;
    for (four, patch) in patch.chunks_exact(PATCH).enumerate() {
        for (at, (channel, tile)) in [0, 2, 1, 3].iter().flat_map(|c| [(c, 0), (c, 1)]).enumerate() {
            let element = |row: usize, column: usize| {
                let word = patch.get(6 * row + 2 * tile + column).map_or(0, Cell::get);
                i32::from((word >> (8 * channel)) as i8)
            };
            let one = |[a, b, c, d]: [i32; 4]| [a - c, b + c, c - b, b - d];
            let columns = [0, 1, 2, 3].map(|column| one([0, 1, 2, 3].map(|row| element(row, column))));
            let [a, b, c, d] = columns;
            let rows = a.into_iter().zip(b).zip(c.into_iter().zip(d));
            let all = rows.flat_map(|((a, b), (c, d))| one([a, b, c, d]));
            let to = v.get(TRANSFORMED * four + at..).unwrap_or(&[]);
            to.iter().step_by(frequency.max(1)).zip(all).for_each(|(to, element)| to.set(element));
        }
    }
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles. `u` has halves for each frequency, channel and filter.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    let u = u.cast::<i16>();
    for frequency in 0..16 {
        for (tile, filter) in (0..TILES).flat_map(|tile| (0..4).map(move |filter| (tile, filter))) {
            let mut sum = 0i32;
            for channel in 2 * pairs * frequency..2 * pairs * (frequency + 1) {
                // SAFETY: as the caller says.
                let (v, u) = unsafe { (*v.add(TILES * channel + tile), *u.add(4 * channel + filter)) };
                sum = sum.wrapping_add(v.wrapping_mul(i32::from(u)));
            }
            // SAFETY: as the caller says.
            unsafe { m.add(4 * TILES * frequency + 4 * tile + filter).write(sum) };
        }
    }
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles.
pub(crate) fn finish(q: &HalfRequant<'_>, sums: &Sums<'_, 8>, words: &[i32]) -> Option<()> {
    sums.places.finish::<2, _>(sums, words, q)
}
