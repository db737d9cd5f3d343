//! Parts of an operand that indices name.

use crate::params::Gather;
use crate::rows::{Read, ReadSlice};
use crate::Element;
use core::cell::Cell;

/// Parts of `x` that indices of 32 bits name. Coordinates outside of `x` count as the nearest ones inside.
#[inline(always)]
pub fn gather_i32<T: Element>(p: &Gather, x: impl Read<T>, indices: impl Read<i32>, y: &[Cell<T>]) {
    gather(p, x.slice(), indices.slice(), y);
}

/// Parts of `x` that indices of 64 bits name. Coordinates outside of `x` count as the nearest ones inside.
#[inline(always)]
pub fn gather_i64<T: Element>(p: &Gather, x: impl Read<T>, indices: impl Read<i64>, y: &[Cell<T>]) {
    gather(p, x.slice(), indices.slice(), y);
}

#[inline(never)]
fn gather<T: Element, I: Copy + Into<i64>>(
    p: &Gather,
    x: impl ReadSlice<T>,
    indices: impl ReadSlice<I>,
    y: &[Cell<T>],
) {
    let size = p.axes.iter().take(p.depth).fold(p.inner, |size, &dim| size.wrapping_mul(dim));
    let named = p.count.wrapping_mul(p.depth);
    // Each turn of the innermost loop takes a part of the result, or ends.
    if p.between == 0 || p.count == 0 {
        return;
    }
    let mut parts = y.chunks_exact(p.inner.max(1));
    for batch in 0..p.batch {
        for between in 0..p.between {
            let image = batch.wrapping_mul(p.between).wrapping_add(between).wrapping_mul(size);
            let mut at = batch.wrapping_mul(named);
            for _ in 0..p.count {
                let mut part = 0usize;
                for &dim in p.axes.iter().take(p.depth) {
                    let Some(index) = indices.at(at) else { return };
                    let last = dim.saturating_sub(1);
                    // An index that no address can have is beyond the last one.
                    let index = usize::try_from(index.into().max(0)).unwrap_or(usize::MAX).min(last);
                    part = part.wrapping_mul(dim).wrapping_add(index);
                    at = at.wrapping_add(1);
                }
                let first = image.wrapping_add(part.wrapping_mul(p.inner));
                let (Some(from), Some(to)) = (x.run(first, p.inner), parts.next()) else { return };
                for (y, x) in to.iter().zip(from.each()) {
                    y.set(x);
                }
            }
        }
    }
}
