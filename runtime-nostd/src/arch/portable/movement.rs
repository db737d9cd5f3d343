//! Moving elements without changing them.

use super::walk::Walk;
use crate::params::{Copy as Movement, Pad};
use crate::rows::{Band, Read, ReadSlice, Rows};
use crate::Element;
use core::cell::Cell;

/// Copies elements from strided places to strided places: transpositions, slices, concatenations, paddings.
///
/// Elements are copied in ascending order of their index, one after the other.
#[inline(always)]
pub fn copy<T: Element>(p: &Movement, x: impl Read<T>, y: &[Cell<T>]) {
    move_elements(p, x.slice(), y);
}

#[inline(never)]
fn move_elements<T: Element>(p: &Movement, x: impl ReadSlice<T>, y: &[Cell<T>]) {
    // A negative stride is its two's complement: offsets wrap.
    let src = p.src.map(|stride| stride as usize);
    let ([.., n], [.., from_step], [.., to_step]) = (p.dims, src, p.dst);
    for [mut from, mut to] in Walk::new(&p.dims, [(&src, p.src_offset), (&p.dst, p.dst_offset)]) {
        if from_step == 1 && to_step == 1 {
            let to = y.get(to..to.wrapping_add(n)).unwrap_or(&[]);
            for (x, y) in x.run(from, n).into_iter().flatten().zip(to) {
                y.set(x);
            }
        } else {
            for _ in 0..n {
                let (Some(x), Some(y)) = (x.at(from), y.get(to)) else { return };
                y.set(x);
                from = from.wrapping_add(from_step);
                to = to.wrapping_add(to_step);
            }
        }
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
    for row in band.range() {
        let to = y.row(row);
        fill(value, to);
        let from = row.wrapping_sub(p.before);
        if from < p.rows {
            move_elements(&p.row, x.row(from), to);
        }
    }
}
