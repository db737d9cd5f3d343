//! Operands of windows, through pointers.

use core::cell::Cell;

/// The words of two pixels: `a + 2¹⁶·b` for each two elements, `EACH` words from one to the next.
#[inline(never)]
pub(crate) fn interleave<const EACH: usize>(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    let count = a.len();
    if EACH == 0 || b.len() < count || words.len().saturating_add(EACH - 1) / EACH < count {
        return;
    }
    let (mut a, mut b, mut to) = (a.as_ptr(), b.as_ptr(), words.as_ptr());
    // SAFETY: reads `count` elements of each, which are there; writes a word for each, as far as there are words: both have been compared.
    unsafe {
        let end = a.add(count);
        let four = a.add(count & !3);
        while a != four {
            for at in 0..4 {
                let (a, b) = ((*a.add(at)).get(), (*b.add(at)).get());
                (*to.add(at * EACH)).set(i32::from(a).wrapping_add(i32::from(b) << 16));
            }
            (a, b, to) = (a.add(4), b.add(4), to.wrapping_add(4 * EACH));
        }
        while a != end {
            (*to).set(i32::from((*a).get()).wrapping_add(i32::from((*b).get()) << 16));
            (a, b, to) = (a.add(1), b.add(1), to.wrapping_add(EACH));
        }
    }
}
