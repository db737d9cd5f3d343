//! Pairs of channels, and their products, in assembly.
//!
//! A pair of channels of two tiles and four filters takes six loads and eight `SMLAD`: 16 cycles for 16 products.

use core::arch::asm;

/// Bytes 0 and 2 of a word as halves.
#[inline(always)]
pub(crate) fn widen(word: u32) -> u32 {
    let to;
    // SAFETY: it reads and writes registers.
    unsafe {
        asm!("sxtb16 {}, {}", out(reg) to, in(reg) word, options(pure, nomem, nostack, preserves_flags))
    }
    to
}

/// The sums of halves.
#[inline(always)]
pub(crate) fn add(a: u32, b: u32) -> u32 {
    let to;
    // SAFETY: it reads and writes registers; of flags, only those of single halves, which nobody reads.
    unsafe { asm!("sadd16 {}, {}, {}", out(reg) to, in(reg) a, in(reg) b, options(pure, nomem, nostack)) }
    to
}

/// The differences of halves.
#[inline(always)]
pub(crate) fn sub(a: u32, b: u32) -> u32 {
    let to;
    // SAFETY: as above.
    unsafe { asm!("ssub16 {}, {}, {}", out(reg) to, in(reg) a, in(reg) b, options(pure, nomem, nostack)) }
    to
}

/// Assembly: a pair of channels. `SMUAD` has no sums to add to.
#[rustfmt::skip]
macro_rules! pair {
    (@ $op:literal, $to:literal, $v:literal, $u:literal) => {
        concat!(
            ".ifc ", $op, ", smuad\n", $op, " ", $to, ", ", $v, ", ", $u, "\n",
            ".else\n", $op, " ", $to, ", ", $v, ", ", $u, ", ", $to, "\n.endif\n",
        )
    };
    ($op:literal) => {
        concat!(
            "ldr r10, [r8], #128\n",
            "ldr r11, [r8, #-124]\n",
            "ldr r12, [r9], #16\n",
            "ldr lr, [r9, #-12]\n",
            pair!(@ $op, "r0", "r10", "r12"),
            pair!(@ $op, "r4", "r11", "r12"),
            pair!(@ $op, "r1", "r10", "lr"),
            pair!(@ $op, "r5", "r11", "lr"),
            "ldr r12, [r9, #-8]\n",
            "ldr lr, [r9, #-4]\n",
            pair!(@ $op, "r2", "r10", "r12"),
            pair!(@ $op, "r6", "r11", "r12"),
            pair!(@ $op, "r3", "r10", "lr"),
            pair!(@ $op, "r7", "r11", "lr"),
        )
    };
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            // The sums, their end, bytes of all pairs, and where those of this frequency end.
            "push {{r10, r11, r12, lr}}",
            "2:",
            "ldr r12, [sp, #8]",
            "add r12, r12, r8",
            "str r12, [sp, #12]",
            // The first pair makes the sums, the others add to them.
            pair!("smuad"),
            ".rept 3",
            pair!("smlad"),
            ".endr",
            "b 4f",
            "3:",
            ".rept 4",
            pair!("smlad"),
            ".endr",
            "4:",
            "ldr r12, [sp, #12]",
            "cmp r8, r12",
            "bne 3b",
            "ldr r10, [sp]",
            "stmia r10!, {{r0, r1, r2, r3, r4, r5, r6, r7}}",
            "str r10, [sp]",
            "ldr r11, [sp, #4]",
            "ldr r12, [sp, #8]",
            "sub r8, r8, r12",
            "add r8, r8, #8",
            "cmp r10, r11",
            "bne 2b",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            inout("r8") v => _,
            inout("r9") u => _,
            inout("r10") m => _,
            inout("r11") m.wrapping_add(16 * 8) => _,
            inout("r12") 128 * pairs => _,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("lr") _,
        )
    }
}
