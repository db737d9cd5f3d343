//! Channels of 16-bit elements in assembly.

use core::cell::Cell;

/// A result for each channel, from `k_h` rows of elements and as many weights, four channels after the other. The sums become results by a multiplier, a shift, a constant and a clamp.
///
/// # Safety
///
/// There are as many elements and weights, for one row at least, and a bias and a result for each channel, whose number is a multiple of four and not 0.
pub(crate) unsafe fn fours_of_channels(
    k_h: usize,
    x: &[Cell<i16>],
    w: &[i16],
    bias: &[i32],
    [multiplier, shift, constant, lo, hi]: [i32; 5],
    y: &[Cell<i8>],
) {
    let ends = [lo, hi, constant];
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "ldr lr, [r0]",
            "vdup.32 q3, lr",
            "ldr lr, [r0, #4]",
            "vdup.32 q4, lr",
            "ldr lr, [r0, #8]",
            "vdup.32 q5, lr",
            // Each four channels.
            "2:",
            "mov r0, {x}",
            "mov lr, {k_h}",
            "vldrw.32 q0, [{bias}], #16",
            "3:",
            "vldrh.s32 q1, [r0]",
            "vldrh.s32 q2, [r1], #8",
            "add r0, r0, {row}",
            "vmul.i32 q1, q1, q2",
            "vadd.i32 q0, q0, q1",
            "le lr, 3b",
            "vqrdmulh.s32 q0, q0, {multiplier}",
            "vshr.s32 q1, q0, #31",
            "vqadd.s32 q0, q0, q1",
            "vqadd.s32 q0, q0, q5",
            "vshl.s32 q0, {shift}",
            "vmax.s32 q0, q0, q3",
            "vmin.s32 q0, q0, q4",
            "vstrb.32 q0, [r2], #4",
            "add {x}, {x}, #8",
            "subs {fours}, {fours}, #1",
            "bne 2b",
            x = inout(reg) x.as_ptr() => _,
            k_h = in(reg) k_h,
            bias = inout(reg) bias.as_ptr() => _,
            row = in(reg) 2 * y.len(),
            multiplier = in(reg) multiplier,
            shift = in(reg) shift,
            fours = inout(reg) y.len() / 4 => _,
            inout("r0") ends.as_ptr() => _,
            inout("r1") w.as_ptr() => _,
            inout("r2") y.as_ptr() => _,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        )
    }
}
