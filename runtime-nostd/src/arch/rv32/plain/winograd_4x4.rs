//! Products of frequencies of tiles of 4 × 4 results, and results of their sums, in plain Rust.
#![allow(unsafe_code)]

use super::winograd::products_of;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::winograd::Sums;

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for four tiles.
pub(crate) fn finish(q: &UpperRequant<'_>, sums: &Sums<'_, 64>) -> Option<()> {
    sums.places.finish::<4, _>(sums, &[], q)
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for four tiles.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says.
    unsafe { products_of::<36>(v, u, pairs, m) }
}
