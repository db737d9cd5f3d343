//! Products of matrices and vectors in assembly, four filters at a time.

use super::super::pieces::shifts;
use crate::params::CompactDense;
use core::cell::Cell;

/// What the block reads, in its order.
#[repr(C)]
struct Frame {
    /// 0: the elements.
    x: *const Cell<i8>,
    /// 4: words of four elements.
    words: usize,
    /// 8: the next result.
    y: *const Cell<i8>,
    /// 12: results that are left.
    left: usize,
    /// 16: whether negative sums are corrected.
    signed: usize,
    /// 20 and 24: shifts of even and odd filters.
    shifts: [u32; 2],
    /// The weights, in r8.
    w: *const i32,
}

/// Results of all filters for one row.
///
/// # Safety
///
/// There are elements in fours, results, and weights for all of them.
#[inline(always)]
pub(crate) unsafe fn block(p: &CompactDense<'_>, x: &[Cell<i8>], y: &[Cell<i8>]) {
    let frame = Frame {
        x: x.as_ptr(),
        words: x.len() / 4,
        y: y.as_ptr(),
        left: y.len(),
        signed: p.signed.into(),
        shifts: shifts(p.shift, p.signed),
        w: p.weights.as_ptr(),
    };
    // SAFETY: the frame describes them.
    unsafe { assembly(&frame) }
}

/// The assembly of [`block`].
///
/// r0–r3 accumulate A, A + 256 · B, C and C + 256 · D; r8 is the next weight, r9 the next element, r6 how many words are left; r4 and r5 hold four elements, r10, r11, r12
/// and lr their weights: 25 cycles for 16 products.
///
/// # Safety
///
/// The frame describes elements, weights and results that are there, one of each at least.
#[inline(always)]
unsafe fn assembly(frame: &Frame) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "ldm r0, {{r0, r1, r2, r3, r4, r5, r6, r8}}",
            "push {{r0, r1, r2, r3, r4, r5, r6}}",
            // Each quad.
            "2:",
            "ldrd r9, r6, [sp, #0]",
            "ldm r8!, {{r0, r1, r2, r3}}",
            "3:",
            "ldr r4, [r9], #4",
            "ldm r8!, {{r10, r11, r12, lr}}",
            four_elements!(),
            "subs r6, r6, #1",
            "bne 3b",
            // Sums and results.
            "subs r1, r1, r0",
            "subs r3, r3, r2",
            "ldr r4, [sp, #16]",
            "cbz r4, 4f",
            "ldm r8!, {{r4, r5, r6, r7}}",
            corrected_single!(),
            "4:",
            "ldm r8!, {{r4, r5, r6, r7}}",
            "smmlar r0, r0, r4, r5",
            "smmlar r1, r1, r6, r7",
            "ldm r8!, {{r4, r5, r6, r7}}",
            "smmlar r2, r2, r4, r5",
            "smmlar r3, r3, r6, r7",
            "ldrd r6, r7, [sp, #20]",
            "asrs r0, r6",
            "asrs r1, r7",
            "asrs r2, r6",
            "asrs r3, r7",
            "ssat r0, #8, r0",
            "ssat r1, #8, r1",
            "ssat r2, #8, r2",
            "ssat r3, #8, r3",
            "ldrd r4, r5, [sp, #8]",
            // As many results as there are filters.
            "strb r0, [r4, #0]",
            "subs r5, #2",
            "blt 5f",
            "strb r1, [r4, #1]",
            "beq 5f",
            "strb r2, [r4, #2]",
            "subs r5, #2",
            "blt 5f",
            "strb r3, [r4, #3]",
            "add r4, r4, #4",
            "strd r4, r5, [sp, #8]",
            "5:",
            "bgt 2b",
            "add sp, sp, #28",
            "pop {{r6, r7}}",
            inout("r0") frame => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
