//! Tiles in plain Rust.

use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// Accumulators `q` and `h`: of the first filter with the first word of a tap, with the second one if there is one, of the next filter.
pub(crate) type Sums = [[i32; 2]; 6];

/// Adds the products of the next tile, which has `FILTERS` filters, with `EACH` words of each tap.
pub(crate) fn add<const EACH: usize, const FILTERS: usize>(
    tiles: &mut Windows<'_>,
    words: &[Cell<i32>],
    mut sums: Sums,
) -> Sums {
    if words.len() / EACH.max(1) < tiles.size() || tiles.filters() != FILTERS {
        return sums;
    }
    let (bytes, mut words) = (tiles.bytes(), words);
    let mut len = 0;
    while let Some(&[eight, step, ..]) = bytes.get(len..).filter(|w| w.first() != Some(&0)) {
        let (taps, step) = (eight as u8 as usize / 8, step as u8 as usize);
        let w = bytes.get(len + 2..len + step).unwrap_or(&[]);
        let window = words.get(..taps * EACH).unwrap_or(&[]);
        for (at, [q, h]) in sums.iter_mut().enumerate().take(EACH * FILTERS) {
            let weights = w.iter().skip(at / EACH).step_by(FILTERS);
            let words = window.iter().skip(at % EACH).step_by(EACH);
            let product = |(x, &w): (&Cell<i32>, &i8)| x.get().wrapping_mul(w.into());
            let sum = words.zip(weights).map(product).fold(0, i32::wrapping_add);
            *q = q.wrapping_add(sum);
            *h = h.wrapping_add(sum.wrapping_add(1 << 15) >> 16);
        }
        words = words.get(taps * EACH..).unwrap_or(&[]);
        len += step;
    }
    tiles.skip(len + 1);
    sums
}
