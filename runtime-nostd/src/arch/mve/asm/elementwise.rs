//! Sums of tensors in assembly.

use super::last_shift;
use crate::params::AddLinear;

/// `n` sums, four at a time.
///
/// # Safety
///
/// All have `n` elements, one at least. Results may lie over operands at the same place or before.
pub(crate) unsafe fn add_vectors<const SHIFT: u32>(
    p: &AddLinear,
    a: *const i8,
    b: *const i8,
    y: *mut i8,
    n: usize,
) {
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vdup.32 q2, {by_a}",
            "dlstp.32 lr, {n}",
            "2:",
            "vldrb.s32 q0, [r0], #4",
            "vldrb.s32 q1, [r1], #4",
            "vmlas.s32 q0, q2, {start}",
            "vmla.s32 q0, q1, {by_b}",
            ".if {shift} > 16",
            "vshr.s32 q0, q0, #({shift} - 16)",
            "vqshrnb.s32 q0, q0, #16",
            ".elseif {shift} > 0",
            "vqshrnb.s32 q0, q0, #{shift}",
            ".else",
            "vqmovnb.s32 q0, q0",
            ".endif",
            "vqmovnb.s16 q0, q0",
            "vstrb.32 q0, [r2], #4",
            "letp lr, 2b",
            by_a = in(reg) p.x, by_b = in(reg) p.y, start = in(reg) p.start, n = in(reg) n,
            shift = const last_shift(SHIFT),
            inout("r0") a => _, inout("r1") b => _, inout("r2") y => _,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
        );
    }
}
