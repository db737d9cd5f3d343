//! Rows of a softmax in assembly.

/// The largest of `n` elements.
///
/// # Safety
///
/// `n` elements may be read, one at least.
#[inline(always)]
pub(crate) unsafe fn largest(x: *const i8, n: usize) -> i8 {
    let mut largest = i32::from(i8::MIN);
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "dlstp.8 lr, {n}",
            "2:",
            "vldrb.8 q0, [r0], #16",
            "vmaxv.s8 {largest}, q0",
            "letp lr, 2b",
            n = in(reg) n, largest = inout(reg) largest,
            inout("r0") x => _, out("lr") _, out("d0") _, out("d1") _,
        );
    }
    largest as i8
}

/// The sum of the exponentials of `n` elements, in Q12.19: each one is rounded half up.
///
/// # Safety
///
/// `n` elements may be read, one at least, and none is above `largest`.
#[inline(always)]
pub(crate) unsafe fn sum(exps: &[i32; 256], largest: i8, x: *const i8, n: usize) -> i64 {
    let (mut low, mut high) = (0u32, 0u32);
    // SAFETY: as the caller promises, so differences of elements are indices of the table. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vdup.32 q3, {largest}",
            "dlstp.32 lr, {n}",
            "2:",
            "vldrb.s32 q0, [r0], #4",
            "vabd.s32 q0, q0, q3",
            "vldrw.u32 q1, [{exps}, q0, uxtw #2]",
            "vrshr.s32 q1, q1, #12",
            "vaddlva.s32 r2, r3, q1",
            "letp lr, 2b",
            exps = in(reg) exps.as_ptr(), n = in(reg) n, largest = in(reg) i32::from(largest),
            inout("r0") x => _, inout("r2") low, inout("r3") high, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d6") _, out("d7") _,
        );
    }
    (u64::from(high) << 32 | u64::from(low)) as i64
}

/// `n` results of 8 or 16 bits: exponentials times `by` in Q0.31, divided by a power of two, both rounded as the reference does it, plus `least`.
///
/// # Safety
///
/// As for [`sum`], and `n` results may be written: of 16 bits if `WIDE`. They may lie over the elements at the same place or before, if not `WIDE`.
#[inline(always)]
pub(crate) unsafe fn shares<const WIDE: bool>(
    exps: &[i32; 256],
    largest: i8,
    [by, shift, least]: [i32; 3],
    x: *const i8,
    y: *mut u8,
    n: usize,
) {
    // SAFETY: as the caller promises, so differences of elements are indices of the table. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vdup.32 q3, {largest}",
            "dlstp.32 lr, {n}",
            "2:",
            "vldrb.s32 q0, [r0], #4",
            "vabd.s32 q0, q0, q3",
            "vldrw.u32 q1, [{exps}, q0, uxtw #2]",
            "vqrdmulh.s32 q1, q1, {by}",
            // What is negative becomes less by one, if it is shifted.
            "vqdmlah.s32 q1, q1, {one}",
            "vrshl.s32 q1, {right}",
            "vadd.i32 q1, q1, {least}",
            "vqmovnb.s32 q1, q1",
            ".if {wide}",
            "vstrh.32 q1, [r1], #8",
            ".else",
            "vqmovnb.s16 q1, q1",
            "vstrb.32 q1, [r1], #4",
            ".endif",
            "letp lr, 2b",
            exps = in(reg) exps.as_ptr(), n = in(reg) n, largest = in(reg) i32::from(largest),
            by = in(reg) by, one = in(reg) i32::from(shift != 0), right = in(reg) -shift, least = in(reg) least,
            wide = const WIDE as u32,
            inout("r0") x => _, inout("r1") y => _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d6") _, out("d7") _,
        );
    }
}
