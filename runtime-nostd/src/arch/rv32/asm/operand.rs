//! Operands of windows, through pointers.

use core::cell::Cell;

/// The words of each two of two or four pixels: `a + 2¹⁶·b`, for `count` elements.
#[inline(always)]
pub(crate) fn interleave<const PIXELS: usize>(
    pixels: [&[Cell<i8>]; PIXELS],
    count: usize,
    words: &[Cell<i32>],
) {
    let each = PIXELS / 2;
    if each == 0 || pixels.iter().any(|pixel| pixel.len() < count) || words.len() / each < count {
        return;
    }
    let mut pixels = pixels.map(<[_]>::as_ptr);
    let mut to = words.as_ptr();
    // SAFETY: reads `count` elements of each pixel and writes as many words for each two of them, which are there: both have been compared.
    unsafe {
        let end = to.add(count * each);
        let fours = to.add((count & !3) * each);
        while to != fours {
            for at in 0..4 {
                tap(&pixels, at, to.wrapping_add(at * each));
            }
            pixels.iter_mut().for_each(|pixel| *pixel = pixel.wrapping_add(4));
            to = to.wrapping_add(4 * each);
        }
        while to != end {
            tap(&pixels, 0, to);
            pixels.iter_mut().for_each(|pixel| *pixel = pixel.wrapping_add(1));
            to = to.wrapping_add(each);
        }
    }
}

/// The words of the elements `at`.
///
/// # Safety
/// Elements and words are there.
#[inline(always)]
unsafe fn tap<const PIXELS: usize>(pixels: &[*const Cell<i8>; PIXELS], at: usize, to: *const Cell<i32>) {
    // SAFETY: as the caller says.
    let element = |pixel: &*const Cell<i8>| i32::from(unsafe { (*pixel.add(at)).get() });
    for (pair, both) in pixels.chunks_exact(2).enumerate() {
        if let [a, b] = both {
            let word = element(a).wrapping_add(element(b) << 16);
            // SAFETY: as the caller says.
            unsafe { (*to.add(pair)).set(word) };
        }
    }
}
