//! Products of elements and bytes in vectors.
#![allow(unsafe_code)]

use core::cell::Cell;

/// `acc`, and the products of elements and bytes of `w`: sixteen taps take four instructions.
///
/// # Safety
///
/// There are four elements for each word.
#[inline(always)]
pub(crate) unsafe fn dot_of_words(x: &[Cell<i8>], w: &[i32], acc: i32) -> i32 {
    let mut acc = acc;
    // SAFETY: as the caller promises. Without elements nothing is read.
    unsafe {
        core::arch::asm!(
            "wlstp.8 lr, {n}, 3f",
            "2:",
            "vldrb.8 q0, [{x}], #16",
            "vldrb.8 q1, [{w}], #16",
            "vmladava.s8 r0, q0, q1",
            "letp lr, 2b",
            "3:",
            n = in(reg) 4 * w.len(),
            x = inout(reg) x.as_ptr() => _,
            w = inout(reg) w.as_ptr() => _,
            inout("r0") acc,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            options(nostack, readonly),
        )
    }
    acc
}
