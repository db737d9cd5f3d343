//! Products of bytes with four filters whose elements alternate, in assembly.
#![allow(unsafe_code)]

use core::cell::Cell;

/// Adds the products of bytes, modulo 2³²: four taps take 36 cycles.
#[inline(always)]
pub(crate) fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; 4]) -> bool {
    let n = x.len().min(w.len() / 4);
    let [a, b, c, d] = *acc;
    let (mut a, mut b, mut c, mut d) = (a, b, c, d);
    // SAFETY: there are `n` elements, and four weights for each.
    unsafe {
        core::arch::asm!(
            // Adds products with the four weights at `{w}`: of the low or the high half of a register.
            ".macro kiln_tap x, half",
            "ldr {u}, [{w}], #4",
            "sxtb16 {t}, {u}",
            "sxtb16 {u}, {u}, ror #8",
            "smla\\half\\()b {a}, \\x, {t}, {a}",
            "smla\\half\\()t {c}, \\x, {t}, {c}",
            "smla\\half\\()b {b}, \\x, {u}, {b}",
            "smla\\half\\()t {d}, \\x, {u}, {d}",
            ".endm",
            "subs {n}, {n}, #4",
            "blo 3f",
            "2:",
            "ldr {odd}, [{x}], #4",
            "sxtb16 {even}, {odd}",
            "sxtb16 {odd}, {odd}, ror #8",
            "kiln_tap {even}, b",
            "kiln_tap {odd}, b",
            "kiln_tap {even}, t",
            "kiln_tap {odd}, t",
            "subs {n}, {n}, #4",
            "bhs 2b",
            "3:",
            "adds {n}, {n}, #4",
            "beq 5f",
            "4:",
            "ldrsb {even}, [{x}], #1",
            "kiln_tap {even}, b",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            ".purgem kiln_tap",
            a = inout(reg) a,
            b = inout(reg) b,
            c = inout(reg) c,
            d = inout(reg) d,
            n = inout(reg) n => _,
            x = inout(reg) x.as_ptr() => _,
            w = inout(reg) w.as_ptr() => _,
            even = out(reg) _,
            odd = out(reg) _,
            t = out(reg) _,
            u = out(reg) _,
            options(nostack, readonly),
        )
    }
    *acc = [a, b, c, d];
    true
}
