//! Products with four filters whose elements alternate, in vectors.
#![allow(unsafe_code)]

use crate::arch::portable::depthwise::Taps;
use core::cell::Cell;

/// Adds the products of floats, each rounded before it is added: thirteen instructions for sixteen.
#[inline(always)]
pub(crate) fn four(x: &[Cell<f32>], w: &[f32], acc: &mut [f32; 4]) -> bool {
    let n = x.len().min(w.len() / 4);
    // SAFETY: there are `n` elements, and four weights for each. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vldrw.32 q0, [{acc}]",
            "wls lr, {fours}, 3f",
            "2:",
            "ldm r0!, {{r2, r3, r4, r5}}",
            "vldrw.32 q1, [r1], #16",
            "vmul.f32 q1, q1, r2",
            "vldrw.32 q2, [r1], #16",
            "vmul.f32 q2, q2, r3",
            "vadd.f32 q0, q0, q1",
            "vldrw.32 q1, [r1], #16",
            "vmul.f32 q1, q1, r4",
            "vadd.f32 q0, q0, q2",
            "vldrw.32 q2, [r1], #16",
            "vmul.f32 q2, q2, r5",
            "vadd.f32 q0, q0, q1",
            "vadd.f32 q0, q0, q2",
            "le lr, 2b",
            "3:",
            "wls lr, {rest}, 5f",
            "4:",
            "ldr r2, [r0], #4",
            "vldrw.32 q1, [r1], #16",
            "vmul.f32 q1, q1, r2",
            "vadd.f32 q0, q0, q1",
            "le lr, 4b",
            "5:",
            "vstrw.32 q0, [{acc}]",
            acc = in(reg) acc.as_mut_ptr(), fours = in(reg) n / 4, rest = in(reg) n % 4,
            inout("r0") x.as_ptr() => _, inout("r1") w.as_ptr() => _,
            out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            options(nostack),
        )
    }
    true
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn pixel(_: &[Cell<f32>], _: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn finish(_: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn window(_: &Taps<'_, f32>, _: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}
