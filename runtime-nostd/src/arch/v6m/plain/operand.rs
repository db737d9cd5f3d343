//! Operands of windows in plain Rust.

use core::cell::Cell;

/// The words of windows of two pixels: for each two taps of `a` and `b` two words `a + 2¹⁶·b`, and 128 · (255 − their sum).
pub(crate) fn interleave(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    let both = |a: &Cell<i8>, b: &Cell<i8>| i32::from(a.get()).wrapping_add(i32::from(b.get()) << 16);
    for ((a, b), words) in a.chunks_exact(2).zip(b.chunks_exact(2)).zip(words.chunks_exact(3)) {
        let ([a0, a1], [b0, b1], [first, second, correction]) = (a, b, words) else { return };
        let (x0, x1) = (both(a0, b0), both(a1, b1));
        first.set(x0);
        second.set(x1);
        correction.set(255i32.wrapping_sub(x0.wrapping_add(x1)).wrapping_shl(7));
    }
}
