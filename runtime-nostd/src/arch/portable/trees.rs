//! Decision trees.

use core::cell::Cell;

const LEAF: u32 = 1 << 15;
const MISSING: u32 = 1 << 14;
const EQUAL: u32 = 1 << 13;
const MORE: u32 = 1;

/// Sums over decision trees: of each row of `features` numbers of `x`, one sum for each of the `targets`.
///
/// `table` has two numbers for each record of a tree, the bits of a float and what it is for; `roots` are places of records. A branch goes on at the next record where its
/// feature is at most the float (or equal to it, or no number, as its bits 13 and 14 say), otherwise as many records further on as its upper 16 bits say. A leaf (bit 15) adds the float to the
/// target that the upper 16 bits name; the next record is one of the same leaf where bit 0 is set. What leads out of the table ends the tree.
#[inline(never)]
pub fn trees_f32(
    features: usize,
    targets: usize,
    table: &[i32],
    roots: &[i32],
    x: &[Cell<f32>],
    y: &[Cell<f32>],
) {
    walk(features, targets, table, roots, x, y, (0.0, |sum, number| sum + number));
}

/// As [`trees_f32`], but the least number of each target instead of the sum; 0 where no leaf names the target.
#[inline(never)]
pub fn trees_least_f32(
    features: usize,
    targets: usize,
    table: &[i32],
    roots: &[i32],
    x: &[Cell<f32>],
    y: &[Cell<f32>],
) {
    let less = |least, number| if number < least { number } else { least };
    walk(features, targets, table, roots, x, y, (f32::INFINITY, less));
    for y in y {
        if y.get() == f32::INFINITY {
            y.set(0.0);
        }
    }
}

/// Joins what leaves add to a target, from `start` on.
#[inline(always)]
fn walk(
    features: usize,
    targets: usize,
    table: &[i32],
    roots: &[i32],
    x: &[Cell<f32>],
    y: &[Cell<f32>],
    (start, join): (f32, impl Fn(f32, f32) -> f32),
) {
    for (x, y) in x.chunks_exact(features.max(1)).zip(y.chunks_exact(targets.max(1))) {
        for y in y {
            y.set(start);
        }
        for &root in roots {
            let mut at = root as usize;
            while let Some(&[bits, what]) = table.get(at.wrapping_mul(2)..).and_then(|rest| rest.get(..2)) {
                let (number, what) = (f32::from_bits(bits as u32), what as u32);
                let link = (what >> 16) as usize;
                let further = if what & LEAF == 0 {
                    let Some(x) = x.get((what & (EQUAL - 1)) as usize) else { break };
                    let x = x.get();
                    let holds = if what & EQUAL == 0 { x <= number } else { x == number };
                    if holds || (what & MISSING != 0 && x.is_nan()) {
                        1
                    } else {
                        link.max(1)
                    }
                } else {
                    let Some(y) = y.get(link) else { break };
                    y.set(join(y.get(), number));
                    if what & MORE == 0 {
                        break;
                    }
                    1
                };
                at = at.wrapping_add(further);
            }
        }
    }
}
