//! Widening elements in assembly.

use core::cell::Cell;

/// Copies what makes whole times eight elements of `from` to where `to` begins, in ascending order. Gives back the others.
///
/// # Safety
///
/// `to` is no shorter, and begins before `from`.
#[inline(always)]
pub(crate) unsafe fn copy_down<'a>(from: &'a [Cell<i16>], to: &[Cell<i16>]) -> &'a [Cell<i16>] {
    let done = from.len() & !7;
    // SAFETY: as the caller promises.
    unsafe { copy_fours(from.as_ptr().cast(), to.as_ptr().cast_mut().cast(), done / 8) };
    from.get(done..).unwrap_or(&[])
}

/// Copies `fours` times four words, in ascending order.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[inline(always)]
unsafe fn copy_fours(from: *const u8, to: *mut u8, fours: usize) {
    if fours == 0 {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            four_words!("{a}" "{b}" "{c}" "{d}" from "{from}"),
            "str {a}, [{to}], #16",
            "str {b}, [{to}, #-12]",
            "str {c}, [{to}, #-8]",
            "str {d}, [{to}, #-4]",
            "subs {fours}, {fours}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            fours = inout(reg) fours => _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            options(nostack),
        )
    }
}

/// Widens `runs` runs of `words` times four elements; `skip` bytes lie between their results. At least one of each.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[inline(always)]
pub(crate) unsafe fn fours(from: *const u8, to: *mut u8, words: usize, runs: usize, skip: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "ands {n}, {words}, #3",
            "beq 4f",
            "3:",
            "ldr {a}, [{from}], #4",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "str {b}, [{to}], #4",
            "str {a}, [{to}], #4",
            "subs {n}, {n}, #1",
            "bne 3b",
            "4:",
            "lsrs {n}, {words}, #2",
            "beq 6f",
            "5:",
            "ldr {a}, [{from}], #16",
            "ldr {c}, [{from}, #-12]",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {d}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            "str {b}, [{to}], #32",
            "str {a}, [{to}, #-28]",
            "str {d}, [{to}, #-24]",
            "str {c}, [{to}, #-20]",
            "ldr {a}, [{from}, #-8]",
            "ldr {c}, [{from}, #-4]",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {d}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            "str {b}, [{to}, #-16]",
            "str {a}, [{to}, #-12]",
            "str {d}, [{to}, #-8]",
            "str {c}, [{to}, #-4]",
            "subs {n}, {n}, #1",
            "bne 5b",
            "6:",
            "add {to}, {to}, {skip}",
            "subs {runs}, {runs}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            words = in(reg) words,
            runs = inout(reg) runs => _,
            skip = in(reg) skip,
            n = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            options(nostack),
        )
    }
}

/// Widens `fours` times four runs of three elements, `step` bytes from each other.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[inline(always)]
pub(crate) unsafe fn threes(from: *const u8, to: *mut u8, fours: usize, step: usize) {
    if fours == 0 {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "2:",
            "ldr {a}, [{from}], #12",
            "ldr {b}, [{from}, #-8]",
            "ldr {c}, [{from}, #-4]",
            // Elements 0 and 2, 4 and 6, 8 and 10 in d, e and f; 1 and 3, 5 and 7, 9 and 11 in a, b and c.
            "sxtb16 {d}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "sxtb16 {e}, {b}",
            "sxtb16 {b}, {b}, ror #8",
            "sxtb16 {f}, {c}",
            "sxtb16 {c}, {c}, ror #8",
            // 0; 1, 2
            "pkhbt {t}, {a}, {d}",
            "strh {d}, [{to}]",
            "str {t}, [{to}, #2]",
            "add {to}, {to}, {step}",
            // 3; 4, 5
            "lsr {a}, {a}, #16",
            "pkhbt {t}, {e}, {b}, lsl #16",
            "strh {a}, [{to}]",
            "str {t}, [{to}, #2]",
            "add {to}, {to}, {step}",
            // 6, 7; 8
            "pkhtb {t}, {b}, {e}, asr #16",
            "str {t}, [{to}]",
            "strh {f}, [{to}, #4]",
            "add {to}, {to}, {step}",
            // 9, 10; 11: the first one and the last one are the halves of c
            "pkhbt {t}, {c}, {f}",
            "lsr {c}, {c}, #16",
            "str {t}, [{to}]",
            "strh {c}, [{to}, #4]",
            "add {to}, {to}, {step}",
            "subs {fours}, {fours}, #1",
            "bne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            fours = inout(reg) fours => _,
            step = in(reg) step,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
            t = out(reg) _,
            options(nostack),
        )
    }
}

/// Widens `runs` elements to places `step` bytes from each other; at least one.
///
/// # Safety
///
/// `from` is readable and `to` writable as far as that.
#[inline(always)]
pub(crate) unsafe fn ones(from: *const u8, to: *mut u8, runs: usize, step: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "ands {n}, {runs}, #3",
            "beq 3f",
            "2:",
            "ldrsb {a}, [{from}], #1",
            "strh {a}, [{to}]",
            "add {to}, {to}, {step}",
            "subs {n}, {n}, #1",
            "bne 2b",
            "3:",
            "lsrs {n}, {runs}, #2",
            "beq 5f",
            "4:",
            "ldr {a}, [{from}], #4",
            "sxtb16 {b}, {a}",
            "sxtb16 {a}, {a}, ror #8",
            "strh {b}, [{to}]",
            "strh {a}, [{to}, {step}]",
            "add {to}, {to}, {step}, lsl #1",
            "lsr {b}, {b}, #16",
            "lsr {a}, {a}, #16",
            "strh {b}, [{to}]",
            "strh {a}, [{to}, {step}]",
            "add {to}, {to}, {step}, lsl #1",
            "subs {n}, {n}, #1",
            "bne 4b",
            "5:",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            runs = in(reg) runs,
            step = in(reg) step,
            n = out(reg) _, a = out(reg) _, b = out(reg) _,
            options(nostack),
        )
    }
}
