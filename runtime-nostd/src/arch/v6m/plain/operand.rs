//! Operands of windows in plain Rust.

use core::cell::Cell;

/// The words of windows of two pixels: for each two or four taps (`TAPS`) of `a` and `b` as many words `a + 2¹⁶·b`, and 128 · (255 − their sum). Nothing is written if there are too few words, or too few elements of `b`.
pub(crate) fn interleave<const TAPS: usize>(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    let windows = a.len() / TAPS.max(1);
    if b.len() / TAPS.max(1) < windows || words.len() < (TAPS + 1).wrapping_mul(windows) {
        return;
    }
    let both = |a: &Cell<i8>, b: &Cell<i8>| i32::from(a.get()).wrapping_add(i32::from(b.get()) << 16);
    for ((a, b), words) in a.chunks_exact(TAPS).zip(b.chunks_exact(TAPS)).zip(words.chunks_exact(TAPS + 1)) {
        let Some((correction, words)) = words.split_last() else { return };
        let mut sum = 0i32;
        for ((a, b), word) in a.iter().zip(b).zip(words) {
            word.set(both(a, b));
            sum = sum.wrapping_add(both(a, b));
        }
        correction.set(255i32.wrapping_sub(sum).wrapping_shl(7));
    }
}
