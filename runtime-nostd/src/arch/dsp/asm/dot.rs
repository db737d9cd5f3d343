//! Products of elements and bytes in assembly.
#![allow(unsafe_code)]

use core::cell::Cell;

/// `acc`, and the products of elements and bytes of `w`: eight taps take 17 cycles.
///
/// # Safety
///
/// There are four elements for each word.
#[inline(always)]
pub(crate) unsafe fn dot_of_words(x: &[Cell<i8>], w: &[i32], acc: i32) -> i32 {
    let mut acc = acc;
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            ".if 0",
            ".space 128",
            ".endif",
            // Words that make no full turn.
            "ands {n}, {words}, #3",
            "beq 3f",
            "2:",
            "ldr {a}, [{x}], #4",
            "ldr {b}, [{w}], #4",
            "sxtb16 {t}, {a}",
            "sxtb16 {u}, {b}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {b}, {b}, ror #8",
            "smlad {acc}, {t}, {u}, {acc}",
            "smlad {acc}, {a}, {b}, {acc}",
            "subs {n}, {n}, #1",
            "bne 2b",
            "3:",
            "lsrs {n}, {words}, #2",
            "beq 5f",
            "4:",
            ".rept 2",
            "ldr {a}, [{x}], #8",
            "ldr {b}, [{w}], #8",
            "ldr {c}, [{x}, #-4]",
            "ldr {d}, [{w}, #-4]",
            "sxtb16 {t}, {a}",
            "sxtb16 {u}, {b}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {b}, {b}, ror #8",
            "smlad {acc}, {t}, {u}, {acc}",
            "smlad {acc}, {a}, {b}, {acc}",
            "sxtb16 {t}, {c}",
            "sxtb16 {u}, {d}",
            "sxtb16 {c}, {c}, ror #8",
            "sxtb16 {d}, {d}, ror #8",
            "smlad {acc}, {t}, {u}, {acc}",
            "smlad {acc}, {c}, {d}, {acc}",
            ".endr",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            x = inout(reg) x.as_ptr() => _,
            w = inout(reg) w.as_ptr() => _,
            words = in(reg) w.len(),
            acc = inout(reg) acc,
            n = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            t = out(reg) _, u = out(reg) _,
            options(nostack, readonly),
        )
    }
    acc
}
