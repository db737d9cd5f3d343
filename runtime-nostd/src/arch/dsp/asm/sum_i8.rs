//! Products of bytes with four filters whose elements alternate, in assembly.
#![allow(unsafe_code)]

use core::cell::Cell;

/// Adds the products of bytes with weights. `$load` puts those of four filters into halves of registers: `$first` and `$second` into the low and the high half of `{t}`, `$third` and
/// `$fourth` into those of `{u}`.
macro_rules! four {
    ($x:ident, $w:ident, $acc:ident, $load:literal, [$first:literal, $second:literal, $third:literal, $fourth:literal]) => {{
        let n = $x.len().min($w.len() / 4);
        let [mut a, mut b, mut c, mut d] = *$acc;
        // SAFETY: there are `n` elements, and four weights for each.
        unsafe {
            core::arch::asm!(
                // One tap, whose element is in a half of `x`.
                ".macro kiln_tap x, half",
                $load,
                concat!("smla\\half\\()b {", $first, "}, \\x, {t}, {", $first, "}"),
                concat!("smla\\half\\()t {", $second, "}, \\x, {t}, {", $second, "}"),
                concat!("smla\\half\\()b {", $third, "}, \\x, {u}, {", $third, "}"),
                concat!("smla\\half\\()t {", $fourth, "}, \\x, {u}, {", $fourth, "}"),
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
                x = inout(reg) $x.as_ptr() => _,
                w = inout(reg) $w.as_ptr() => _,
                even = out(reg) _,
                odd = out(reg) _,
                t = out(reg) _,
                u = out(reg) _,
                options(nostack, readonly),
            )
        }
        *$acc = [a, b, c, d];
        true
    }};
}

/// Adds the products of bytes, modulo 2³²: four taps take 36 cycles.
#[inline(always)]
pub(crate) fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "ldr {u}, [{w}], #4\nsxtb16 {t}, {u}\nsxtb16 {u}, {u}, ror #8", ["a", "c", "b", "d"])
}

/// As [`four`] with weights of 16 bits.
#[inline(always)]
pub(crate) fn four_wide(x: &[Cell<i8>], w: &[i16], acc: &mut [i32; 4]) -> bool {
    four!(x, w, acc, "ldr {t}, [{w}], #4\nldr {u}, [{w}], #4", ["a", "b", "c", "d"])
}
