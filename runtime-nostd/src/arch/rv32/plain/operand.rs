//! Operands of windows in plain Rust.

use core::cell::Cell;

/// The words of two pixels: `a + 2¹⁶·b` for each two elements, `EACH` words from one to the next.
pub(crate) fn interleave<const EACH: usize>(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    for ((a, b), word) in a.iter().zip(b).zip(words.iter().step_by(EACH.max(1))) {
        word.set(i32::from(a.get()).wrapping_add(i32::from(b.get()) << 16));
    }
}
