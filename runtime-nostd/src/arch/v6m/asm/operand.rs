//! Operands of windows in assembly.

use core::cell::Cell;

/// The words of windows of two pixels: for each two taps of `a` and `b` two words `a + 2¹⁶·b`, and 128 · (255 − their sum).
#[inline(never)]
pub(crate) fn interleave(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    let windows = (a.len() / 2).min(b.len() / 2).min(words.len() / 3);
    if windows == 0 {
        return;
    }
    // SAFETY: the loop reads `2 · windows` elements of `a` and of `b` and writes `3 · windows` words, as many as there are; they
    // are cells, which may be read and written through shared references. r6 and r7 are restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "movs r7, #255",
            "2:",
            "ldrsb r4, [r0, r3]",
            "ldrsb r5, [r1, r3]",
            "adds r3, r3, #1",
            "lsls r5, r5, #16",
            "adds r4, r4, r5",
            "ldrsb r5, [r0, r3]",
            "ldrsb r6, [r1, r3]",
            "lsls r6, r6, #16",
            "adds r5, r5, r6",
            "adds r6, r4, r5",
            "subs r6, r7, r6",
            "lsls r6, r6, #7",
            "stm r2!, {{r4, r5, r6}}",
            "adds r3, r3, #1",
            "bmi 2b",
            "pop {{r6, r7}}",
            inout("r0") a.as_ptr().add(2 * windows) => _,
            inout("r1") b.as_ptr().add(2 * windows) => _,
            inout("r2") words.as_ptr() => _,
            inout("r3") (2 * windows).wrapping_neg() => _,
            out("r4") _,
            out("r5") _,
        );
    }
}
