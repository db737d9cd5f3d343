//! Products of frequencies, and results of their sums, in plain Rust.
#![allow(unsafe_code)]

use crate::arch::rv32::upper::UpperRequant;
use crate::arch::winograd::Sums;

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for four tiles.
pub(crate) fn finish(q: &UpperRequant<'_>, sums: &Sums<'_, 16>) -> Option<()> {
    sums.places.finish::<2, _>(sums, &[], q)
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for four tiles.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says.
    unsafe { products_of::<16>(v, u, pairs, m) }
}

/// As [`products`], for so many frequencies.
///
/// # Safety
/// As there.
pub(super) unsafe fn products_of<const FREQUENCIES: usize>(
    v: *const i32,
    u: *const i32,
    pairs: usize,
    m: *mut i32,
) {
    let (v, u) = (v.cast::<i16>(), u.cast::<i16>());
    for frequency in 0..FREQUENCIES {
        for tile in 0..4 {
            for filter in 0..4 {
                let mut sum = 0i32;
                for pair in 0..pairs {
                    let (x, w) = (
                        4 * (FREQUENCIES * pair + frequency) + tile,
                        4 * (frequency * pairs + pair) + filter,
                    );
                    for half in 0..2 {
                        // SAFETY: as the caller says. A word has two halves.
                        let (v, u) = unsafe { (*v.add(2 * x + half), *u.add(2 * w + half)) };
                        sum = sum.wrapping_add(i32::from(v).wrapping_mul(i32::from(u)));
                    }
                }
                // SAFETY: as the caller says.
                unsafe { m.add(16 * frequency + 4 * tile + filter).write(sum) };
            }
        }
    }
}
