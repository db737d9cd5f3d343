//! Moving elements without changing them.

use super::walk::{behind_one, Walk};
use crate::arch::extent::product_of;
use crate::params::{Copy as Movement, Pad};
use crate::rows::{Band, Read, ReadSlice, Rows};
use crate::Element;
use core::cell::Cell;

/// Copies elements from strided places to strided places: transpositions, slices, concatenations, paddings.
///
/// Elements are written in ascending order of their index, each after it and all of lower index have been read. So both places may
/// overlap where elements move towards lower addresses.
#[inline(always)]
pub fn copy<T: Element>(p: &Movement, x: impl Read<T>, y: &[Cell<T>]) {
    // Emitted code knows which: one of these remains.
    match (p.dims, p.src, p.dst) {
        ([1, 1, 1, 1, 1, n], [.., 1], [.., 1]) => move_run(n, x.slice(), p.src_offset, y, p.dst_offset),
        _ => move_elements(p, x.slice(), y),
    }
}

#[inline(never)]
fn move_elements<T: Element>(p: &Movement, x: impl ReadSlice<T>, y: &[Cell<T>]) {
    // Elements go to different places, so that there are no more of them than those.
    let count = product_of(p.dims);
    if count == 0 || count > y.len() {
        return;
    }
    // A negative stride is its two's complement: offsets wrap.
    let src = p.src.map(|stride| stride as usize);
    let ([.., runs, n], [.., from_run, from_step], [.., to_run, to_step]) = (p.dims, src, p.dst);
    let tensors = [(&behind_one(src, 0), p.src_offset), (&behind_one(p.dst, 0), p.dst_offset)];
    // Many runs are short, so that what is done between them counts.
    for [mut from, mut to] in Walk::new(&behind_one(p.dims, 1), tensors) {
        for _ in 0..runs {
            if from_step == 1 && to_step == 1 {
                move_run(n, x, from, y, to);
            } else {
                let (mut from, mut to) = (from, to);
                for _ in 0..n {
                    let (Some(x), Some(y)) = (x.at(from), y.get(to)) else { return };
                    y.set(x);
                    from = from.wrapping_add(from_step);
                    to = to.wrapping_add(to_step);
                }
            }
            from = from.wrapping_add(from_run);
            to = to.wrapping_add(to_run);
        }
    }
}

/// Copies `n` consecutive elements, if all are there, four at a time: those of a block are all read before the first of them is written.
#[inline(never)]
fn move_run<T: Element>(n: usize, x: impl ReadSlice<T>, from: usize, y: &[Cell<T>], to: usize) {
    let (Some(mut x), Some(mut y)) = (x.run(from, n), y.run(to, n)) else { return };
    while let (Some((block, x_behind)), [a, b, c, d, y_behind @ ..]) = (x.four(), y) {
        [a, b, c, d].into_iter().zip(block).for_each(|(y, x)| y.set(x));
        (x, y) = (x_behind, y_behind);
    }
    for (x, y) in x.each().zip(y) {
        y.set(x);
    }
}

/// Sets all elements.
#[inline(always)]
pub fn fill<T: Element>(value: T, y: &[Cell<T>]) {
    for y in y {
        y.set(value);
    }
}

/// Rows of a padded image: those of the operand, between elements of `value`, which the rows before and behind the operand are made of.
#[inline(never)]
pub fn pad_rows<T: Element>(p: &Pad, value: T, x: Rows<'_, T>, y: Rows<'_, T>, band: Band) {
    for (row, to) in y.of_band(band) {
        fill(value, to);
        let from = row.wrapping_sub(p.before);
        if from < p.rows {
            move_elements(&p.row, x.row(from), to);
        }
    }
}
