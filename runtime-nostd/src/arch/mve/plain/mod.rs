//! The inner blocks of kernels in plain Rust, with the results of the assembly.

pub(crate) mod channels;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod int16;
pub(crate) mod lines;
pub(crate) mod movement;
pub(crate) mod pool;
pub(crate) mod recurrent;
pub(crate) mod single;
pub(crate) mod softmax;
pub(crate) mod unary;
pub(crate) mod wide;
pub(crate) mod window;

use crate::arch::mve::LANES;
use core::cell::Cell;

/// The taps of filter `f` of `filters` that alternate vector by vector, with their place in the operand: the first vector has what is left of whole ones, if something is.
fn sum(w: &[i32], x: &[Cell<i8>], filters: usize, f: usize) -> i32 {
    let first = match x.len() % LANES {
        0 => LANES.min(x.len()),
        rest => rest,
    };
    let (first, others) = x.split_at(first);
    let vectors = core::iter::once(first).chain(others.chunks(LANES));
    let mut sum = 0i32;
    for (x, w) in vectors.zip(w.chunks(filters * LANES / 4)) {
        let w = w.iter().skip(f * LANES / 4).flat_map(|word| word.to_le_bytes());
        for (x, w) in x.iter().zip(w) {
            sum = sum.wrapping_add(i32::from(x.get()) * i32::from(w as i8));
        }
    }
    sum
}
