//! Operands of windows in plain Rust.

use core::cell::Cell;

/// The words of each two of two or four pixels: `a + 2¹⁶·b`, for `count` elements.
pub(crate) fn interleave<const PIXELS: usize>(
    pixels: &[&[Cell<i8>]; PIXELS],
    count: usize,
    words: &[Cell<i32>],
) {
    let each = (PIXELS / 2).max(1);
    for (at, words) in words.chunks_exact(each).enumerate().take(count) {
        for (both, word) in pixels.chunks_exact(2).zip(words) {
            let element = |pixel: Option<&&[Cell<i8>]>| {
                pixel.and_then(|pixel| pixel.get(at)).map_or(0, |x| i32::from(x.get()))
            };
            let (a, b) = (element(both.first()), element(both.last()));
            word.set(a.wrapping_add(b << 16));
        }
    }
}
