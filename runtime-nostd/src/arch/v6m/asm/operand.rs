//! Operands of windows in assembly.

use core::arch::asm;
use core::cell::Cell;

/// The words of windows of two pixels: for each two or four taps (`TAPS`) of `a` and `b` as many words `a + 2¹⁶·b`, and 128 · (255 − their sum). Nothing is written if there are too few words, or too few elements of `b`.
#[inline(always)]
pub(crate) fn interleave<const TAPS: usize>(a: &[Cell<i8>], b: &[Cell<i8>], words: &[Cell<i32>]) {
    const { assert!(TAPS == 2 || TAPS == 4) };
    // Without a division, for which these cores have no instruction.
    let windows = a.len() / TAPS;
    if windows == 0 || b.len() / TAPS < windows || words.len() < (TAPS + 1).wrapping_mul(windows) {
        return;
    }
    // The elements behind the last ones.
    let [a, b] = [a, b].map(|x| x.as_ptr().wrapping_add(TAPS * windows));
    let taps = (TAPS * windows).wrapping_neg();
    // SAFETY: there are elements of so many windows in `a` and in `b`, and words for them.
    unsafe {
        match TAPS {
            2 => twos(a, b, words, taps),
            _ => fours(a, b, words, taps),
        }
    }
}

/// Windows of two taps.
///
/// # Safety
/// `taps`, which is negative, elements lie before `a` and `b`, and there are words for their windows, of which there is one or more.
#[inline(never)]
unsafe fn twos(a: *const Cell<i8>, b: *const Cell<i8>, words: &[Cell<i32>], taps: usize) {
    // SAFETY: as the caller says. What is written are cells. r6 and r7 are restored.
    unsafe {
        asm!(
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
            inout("r0") a => _,
            inout("r1") b => _,
            inout("r2") words.as_ptr() => _,
            inout("r3") taps => _,
            out("r4") _,
            out("r5") _,
        );
    }
}

/// Windows of four taps.
///
/// # Safety
/// As for [`twos`].
#[inline(never)]
unsafe fn fours(a: *const Cell<i8>, b: *const Cell<i8>, words: &[Cell<i32>], taps: usize) {
    // SAFETY: as the caller says. What is written are cells. r6 and r7 are restored.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "2:",
            "movs r7, #255",
            ".rept 2",
            "ldrsb r4, [r0, r3]",
            "ldrsb r5, [r1, r3]",
            "adds r3, r3, #1",
            "lsls r5, r5, #16",
            "adds r4, r4, r5",
            "ldrsb r5, [r0, r3]",
            "ldrsb r6, [r1, r3]",
            "lsls r6, r6, #16",
            "adds r5, r5, r6",
            "stm r2!, {{r4, r5}}",
            "adds r4, r4, r5",
            "subs r7, r7, r4",
            "adds r3, r3, #1",
            ".endr",
            "lsls r7, r7, #7",
            "stm r2!, {{r7}}",
            "cmp r3, #0",
            "bmi 2b",
            "pop {{r6, r7}}",
            inout("r0") a => _,
            inout("r1") b => _,
            inout("r2") words.as_ptr() => _,
            inout("r3") taps => _,
            out("r4") _,
            out("r5") _,
        );
    }
}
