//! Sums and products of tensors in assembly.

use super::last_shift;
use crate::params::{AddLinear, MulParams};

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

/// What a block of products reads, in this order.
#[repr(C)]
struct Ends {
    lo: i32,
    hi: i32,
    a_zero: i32,
    b_zero: i32,
}

/// `n` products, eight at a time, with a second operand of as many elements, or of one if `REPEATED`.
///
/// # Safety
///
/// All have `n` elements, one at least. Results may lie over operands at the same place or before.
pub(crate) unsafe fn product_vectors<const REPEATED: bool>(
    p: &MulParams,
    a: *const i8,
    b: *const i8,
    y: *mut i8,
    n: usize,
) {
    let ends = Ends { lo: p.lo, hi: p.hi, a_zero: p.x_zero, b_zero: p.y_zero };
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "ldrd r3, lr, [r4]",
            "vdup.16 q4, r3",
            "vdup.16 q5, lr",
            "ldrd r3, r4, [r4, #8]",
            ".if {repeated}",
            "ldrsb r1, [r1]",
            "subs r1, r1, r4",
            "vdup.16 q1, r1",
            ".endif",
            "dlstp.16 lr, {n}",
            "2:",
            "vldrb.s16 q0, [r0], #8",
            ".if {repeated} == 0",
            "vldrb.s16 q1, [r1], #8",
            "vsub.i16 q0, q0, r3",
            "vsub.i16 q1, q1, r4",
            ".else",
            "vsub.i16 q0, q0, r3",
            ".endif",
            "vmullb.s16 q2, q0, q1",
            "vmullt.s16 q3, q0, q1",
            "vqrdmulh.s32 q2, q2, {multiplier}",
            "vqrdmulh.s32 q3, q3, {multiplier}",
            // What is negative becomes less by one, if it is shifted.
            "vqdmlah.s32 q2, q2, {one}",
            "vrshl.s32 q2, {shift}",
            "vqdmlah.s32 q3, q3, {one}",
            "vrshl.s32 q3, {shift}",
            "vqmovnb.s32 q2, q2",
            "vqmovnt.s32 q2, q3",
            "vqadd.s16 q2, q2, {zero}",
            "vmax.s16 q2, q2, q4",
            "vmin.s16 q2, q2, q5",
            "vstrb.16 q2, [r2], #8",
            "letp lr, 2b",
            n = in(reg) n, multiplier = in(reg) p.out.multiplier, shift = in(reg) p.out.shift,
            one = in(reg) i32::from(p.out.shift != 0), zero = in(reg) p.out_zero, repeated = const REPEATED as u32,
            inout("r0") a => _, inout("r1") b => _, inout("r2") y => _, out("r3") _, inout("r4") core::ptr::from_ref(&ends) => _,
            out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        );
    }
}
