//! Products of bytes with four filters whose elements alternate, in vectors.
#![allow(unsafe_code)]

use core::cell::Cell;

/// Adds the products of bytes with weights of which `$load` makes a vector of four: thirteen instructions for sixteen.
macro_rules! four {
    ($x:ident, $w:ident, $acc:ident, $load:literal) => {{
        let n = $x.len().min($w.len() / 4);
        // SAFETY: there are `n` elements, and four weights for each. Every register is declared.
        unsafe {
            core::arch::asm!(
                "vldrw.32 q0, [{acc}]",
                "wls lr, {fours}, 3f",
                "2:",
                ".rept 4",
                "ldrsb r2, [r0], #1",
                $load,
                "vmla.s32 q0, q1, r2",
                ".endr",
                "le lr, 2b",
                "3:",
                "wls lr, {rest}, 5f",
                "4:",
                "ldrsb r2, [r0], #1",
                $load,
                "vmla.s32 q0, q1, r2",
                "le lr, 4b",
                "5:",
                "vstrw.32 q0, [{acc}]",
                acc = in(reg) $acc.as_mut_ptr(), fours = in(reg) n / 4, rest = in(reg) n % 4,
                inout("r0") $x.as_ptr() => _, inout("r1") $w.as_ptr() => _,
                out("r2") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                options(nostack),
            )
        }
        true
    }};
}

/// Adds the products of bytes, modulo 2³².
#[inline(always)]
pub(crate) fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "vldrb.s32 q1, [r1], #4")
}

/// As [`four`] with weights of 16 bits.
#[inline(always)]
pub(crate) fn four_wide(x: &[Cell<i8>], w: &[i16], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "vldrh.s32 q1, [r1], #8")
}
