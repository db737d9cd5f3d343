//! Products of elements and bytes in plain Rust.
#![allow(unsafe_code)]

use crate::arch::dsp::dense::add;
use core::cell::Cell;

/// `acc`, and the products of elements and bytes of `w`.
pub(crate) unsafe fn dot_of_words(x: &[Cell<i8>], w: &[i32], acc: i32) -> i32 {
    x.chunks_exact(4).zip(w).fold(acc, |acc, (x, w)| add(x, *w, acc))
}
