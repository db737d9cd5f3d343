//! Sums and products of tensors in assembly.

use super::last_shift;
use crate::arch::mve::elementwise::{Extreme, Floats, Pairs};
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

/// Assembly: behind `{n}` elements, of which `$lanes` were computed at a time, on to those of the next time. Whole vectors were counted. `$bytes` is the logarithm of an element's size.
#[rustfmt::skip]
macro_rules! next_time {
    ($lanes:literal, $bytes:literal) => {
        concat!(
            "add lr, {n}, #(", $lanes, " - 1)\n",
            "bic lr, lr, #(", $lanes, " - 1)\n",
            ".if {repeated} == 0\n",
            "sub r1, r1, lr, lsl #", $bytes, "\n",
            ".endif\n",
            "sub lr, {n}, lr\n",
            "add r0, r0, lr, lsl #", $bytes, "\n",
            "add r2, r2, lr, lsl #", $bytes, "\n",
            "subs {times}, {times}, #1\n",
            "bne 2b\n",
        )
    };
}

/// Assembly: the next eight products. `$if` and `$then` are the predicate of loads and stores, if there is one.
#[rustfmt::skip]
macro_rules! eight_products {
    ($if:literal, $then:literal) => {
        concat!(
            $if, "vldrb", $then, ".s16 q0, [r0], #8\n",
            ".if {repeated} == 0\n",
            $if, "vldrb", $then, ".s16 q1, [r1], #8\n",
            "vsub.i16 q0, q0, r3\n",
            "vsub.i16 q1, q1, r4\n",
            ".else\n",
            "vsub.i16 q0, q0, r3\n",
            ".endif\n",
            "vmullb.s16 q2, q0, q1\n",
            "vmullt.s16 q3, q0, q1\n",
            "vqrdmulh.s32 q2, q2, {multiplier}\n",
            "vqrdmulh.s32 q3, q3, {multiplier}\n",
            // What is negative becomes less by one, if it is shifted.
            "vqdmlah.s32 q2, q2, {one}\n",
            "vrshl.s32 q2, {shift}\n",
            "vqdmlah.s32 q3, q3, {one}\n",
            "vrshl.s32 q3, {shift}\n",
            "vqmovnb.s32 q2, q2\n",
            "vqmovnt.s32 q2, q3\n",
            "vqadd.s16 q2, q2, {zero}\n",
            "vmax.s16 q2, q2, q4\n",
            "vmin.s16 q2, q2, q5\n",
            $if, "vstrb", $then, ".16 q2, [r2], #8\n",
        )
    };
}

impl Pairs<i8> for MulParams {
    /// Eight products at a time.
    #[inline(never)]
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const i8,
        b: *const i8,
        y: *mut i8,
        n: usize,
        times: usize,
    ) {
        let ends = Ends { lo: self.lo, hi: self.hi, a_zero: self.x_zero, b_zero: self.y_zero };
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
                "2:",
                // Halves of words are no lanes of products, so vectors that are not full come behind the loop.
                "lsrs lr, {n}, #3",
                "beq 4f",
                "dls lr, lr",
                "3:",
                eight_products!("", ""),
                "le lr, 3b",
                "4:",
                "ands lr, {n}, #7",
                "beq 5f",
                "vctp.16 lr",
                eight_products!("vpst\n", "t"),
                "5:",
                next_time!("8", "0"),
                n = in(reg) n, times = inout(reg) times => _,
                multiplier = in(reg) self.out.multiplier, shift = in(reg) self.out.shift,
                one = in(reg) i32::from(self.out.shift != 0), zero = in(reg) self.out_zero,
                repeated = const REPEATED as u32,
                inout("r0") a => _, inout("r1") b => _, inout("r2") y => _, out("r3") _,
                inout("r4") core::ptr::from_ref(&ends) => _, out("lr") _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                out("d8") _, out("d9") _, out("d10") _, out("d11") _,
            );
        }
    }
}

impl<const MAX: bool> Pairs<i8> for Extreme<MAX> {
    /// Sixteen results at a time.
    #[inline(always)]
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const i8,
        b: *const i8,
        y: *mut i8,
        n: usize,
        times: usize,
    ) {
        // SAFETY: as the caller promises. Every register is declared.
        unsafe {
            core::arch::asm!(
                "vdup.8 q2, {lo}",
                "vdup.8 q3, {hi}",
                ".if {repeated}",
                "ldrsb r1, [r1]",
                "vdup.8 q1, r1",
                ".endif",
                "2:",
                "dlstp.8 lr, {n}",
                "3:",
                "vldrb.8 q0, [r0], #16",
                ".if {repeated} == 0",
                "vldrb.8 q1, [r1], #16",
                ".endif",
                ".if {max}",
                "vmax.s8 q0, q0, q1",
                ".else",
                "vmin.s8 q0, q0, q1",
                ".endif",
                "vmax.s8 q0, q0, q2",
                "vmin.s8 q0, q0, q3",
                "vstrb.8 q0, [r2], #16",
                "letp lr, 3b",
                next_time!("16", "0"),
                n = in(reg) n, times = inout(reg) times => _,
                lo = in(reg) i32::from(self.lo), hi = in(reg) i32::from(self.hi),
                repeated = const REPEATED as u32, max = const MAX as u32,
                inout("r0") a => _, inout("r1") b => _, inout("r2") y => _, out("lr") _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            );
        }
    }
}

impl<const OP: u32> Pairs<f32> for Floats<OP> {
    /// Four results at a time. NaN stays what it is: it is never greater, but always less (`lt`).
    #[inline(never)]
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const f32,
        b: *const f32,
        y: *mut f32,
        n: usize,
        times: usize,
    ) {
        // SAFETY: as the caller promises. Every register is declared.
        unsafe {
            core::arch::asm!(
                "vdup.32 q2, {lo}",
                "vdup.32 q3, {hi}",
                ".if {repeated}",
                "ldr r1, [r1]",
                "vdup.32 q1, r1",
                ".endif",
                "2:",
                "dlstp.32 lr, {n}",
                "3:",
                "vldrw.32 q0, [r0], #16",
                ".if {repeated} == 0",
                "vldrw.32 q1, [r1], #16",
                ".endif",
                ".if {op} == 0",
                "vadd.f32 q0, q0, q1",
                ".elseif {op} == 1",
                "vsub.f32 q0, q0, q1",
                ".elseif {op} == 2",
                "vsub.f32 q0, q1, q0",
                ".else",
                "vmul.f32 q0, q0, q1",
                ".endif",
                "vcmp.f32 gt, q2, q0",
                "vpsel q0, q2, q0",
                "vcmp.f32 gt, q0, q3",
                "vpsel q0, q3, q0",
                "vstrw.32 q0, [r2], #16",
                "letp lr, 3b",
                next_time!("4", "2"),
                n = in(reg) n, times = inout(reg) times => _,
                lo = in(reg) self.lo.to_bits(), hi = in(reg) self.hi.to_bits(),
                repeated = const REPEATED as u32, op = const OP,
                inout("r0") a => _, inout("r1") b => _, inout("r2") y => _, out("lr") _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            );
        }
    }
}
