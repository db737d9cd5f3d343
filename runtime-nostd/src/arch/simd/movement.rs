//! Moving elements on processors that are slowed down by short loops.

use crate::arch::extent::product_of;
use crate::arch::portable::movement::copy;
use crate::arch::portable::walk::Walk;
use crate::params::Copy as Movement;
use crate::rows::{Read, ReadSlice};
use crate::Element;
use core::cell::Cell;

/// Elements of a last axis that is short.
const FEW: usize = 8;

/// As [`copy`], in the same order, with less to do for each run where runs are short: channels of an image that change places with its rows.
#[inline(always)]
pub fn copy_simd<T: Element>(p: &Movement, x: impl Read<T>, y: &[Cell<T>]) {
    let [.., m, n] = p.dims;
    // Emitted code knows which: one of these remains.
    match n <= FEW && m > n {
        true => move_few(p, x.slice(), y),
        false => copy(p, x, y),
    }
}

#[inline(never)]
fn move_few<T: Element>(p: &Movement, x: impl ReadSlice<T>, y: &[Cell<T>]) {
    // Elements go to different places, so that there are no more of them than those.
    let count = product_of(p.dims);
    if count == 0 || count > y.len() {
        return;
    }
    // A negative stride is its two's complement: offsets wrap.
    let src = p.src.map(|stride| stride as usize);
    let ([.., m, n], [.., from_run, from_step], [.., to_run, to_step]) = (p.dims, src, p.dst);
    let dims = behind_one(p.dims, 1);
    let tensors = [(&behind_one(src, 0), p.src_offset), (&behind_one(p.dst, 0), p.dst_offset)];
    for [mut from, mut to] in Walk::new(&dims, tensors) {
        for _ in 0..m {
            let (mut a, mut b) = (from, to);
            for _ in 0..n {
                let (Some(x), Some(y)) = (x.at(a), y.get(b)) else { return };
                y.set(x);
                a = a.wrapping_add(from_step);
                b = b.wrapping_add(to_step);
            }
            from = from.wrapping_add(from_run);
            to = to.wrapping_add(to_run);
        }
    }
}

/// All axes but the last, behind another one: a [`Walk`] over these leaves the last two to the caller.
pub(super) fn behind_one(axes: [usize; 6], first: usize) -> [usize; 6] {
    let [a, b, c, d, e, _] = axes;
    [first, a, b, c, d, e]
}

/// The last element that a [`Walk`] comes to; `usize::MAX` where it is beyond that.
pub(super) fn last(dims: &[usize; 6], strides: &[usize; 6]) -> usize {
    dims.iter().zip(strides).fold(0, |sum: usize, (&dim, &stride)| {
        sum.saturating_add(dim.saturating_sub(1).saturating_mul(stride))
    })
}
