//! Windows in assembly. Means: sums of two channels in the halves of a register. Largest elements: a comparison of four bytes and a choice between them.

use crate::params::MeanLinear;
use core::cell::Cell;

/// # Safety
/// `taps` times eight elements may be read, `c` elements from one to the next. `taps` is not 0.
#[inline(always)]
pub(crate) unsafe fn add_taps(x: *const i8, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut d, mut e] = sums;
    // SAFETY: it reads what the caller allows.
    unsafe {
        core::arch::asm!(
            size!("160"),
            ".macro kiln_tap",
            "ldr {lower}, [{x}]",
            "ldr {upper}, [{x}, #4]",
            "sxtab16 {a}, {a}, {lower}",
            "sxtab16 {b}, {b}, {lower}, ror #8",
            "sxtab16 {d}, {d}, {upper}",
            "sxtab16 {e}, {e}, {upper}, ror #8",
            "add {x}, {c}",
            ".endm",
            "subs {taps}, #4",
            "blo 3f",
            "2:",
            "kiln_tap",
            "kiln_tap",
            "kiln_tap",
            "kiln_tap",
            "subs {taps}, #4",
            "bhs 2b",
            "3:",
            "adds {taps}, #4",
            "beq 5f",
            "4:",
            "kiln_tap",
            "subs {taps}, #1",
            "bne 4b",
            "5:",
            ".purgem kiln_tap",
            x = inout(reg) x => _,
            c = in(reg) c,
            taps = inout(reg) taps => _,
            a = inout(reg) a,
            b = inout(reg) b,
            d = inout(reg) d,
            e = inout(reg) e,
            lower = out(reg) _,
            upper = out(reg) _,
            options(readonly, nostack),
        );
    }
    [a, b, d, e]
}

/// # Safety
/// Eight elements may be written.
#[inline(always)]
pub(crate) unsafe fn rescale(mean: &MeanLinear, sums: [u32; 4], out: *mut i8) {
    let [a, b, d, e] = sums;
    // SAFETY: it writes what the caller allows.
    unsafe {
        core::arch::asm!(
            size!("96"),
            ".macro kiln_mean half, sum",
            "smlaw\\half {t}, {factor}, \\sum, {start}",
            "ssat {t}, #8, {t}, asr #{shift}",
            "strb {t}, [{y}], #1",
            ".endm",
            "kiln_mean b, {a}",
            "kiln_mean b, {b}",
            "kiln_mean t, {a}",
            "kiln_mean t, {b}",
            "kiln_mean b, {d}",
            "kiln_mean b, {e}",
            "kiln_mean t, {d}",
            "kiln_mean t, {e}",
            ".purgem kiln_mean",
            y = inout(reg) out => _,
            a = in(reg) a,
            b = in(reg) b,
            d = in(reg) d,
            e = in(reg) e,
            factor = in(reg) mean.factor,
            start = in(reg) mean.start,
            t = out(reg) _,
            shift = const MeanLinear::SHIFT,
            options(nostack),
        );
    }
}

/// `words` times four channels of each of some windows, from the first channel in `rows` and `out` on; the next window's results lie behind.
///
/// # Safety
/// `rows` may be read as far as the last window's last tap, and `out` holds the results.
#[inline(always)]
pub(crate) unsafe fn words<const K_H: usize, const K_W: usize>(
    rows: [*const i8; K_H],
    c: usize,
    step: usize,
    windows: usize,
    words: usize,
    out: &[Cell<i8>],
) {
    if words == 0 {
        return;
    }
    let row = |index: usize| rows.get(index).copied().unwrap_or(core::ptr::null());
    // SAFETY: it reads and writes what the caller allows; r6, which operands never are in, is as before at the end.
    unsafe {
        core::arch::asm!(
            // r0 to r2: taps; r3: result; r4: windows left; r5: channels; r8: to the next window; r9, r10: words, left; r11: the largest so far.
            "push {{r6, r7}}",
            ".macro kiln_larger x",
            "ssub8 r6, r11, \\x",
            "sel r11, r11, \\x",
            ".endm",
            // Taps of one row; the first one is the last to be read, as it moves the pointer.
            ".macro kiln_row p, first",
            ".if {k_w} > 1",
            "ldr r12, [\\p, r5]",
            ".endif",
            ".if {k_w} > 2",
            "ldr lr, [\\p, r5, lsl #1]",
            ".endif",
            ".if \\first",
            "ldr r11, [\\p], #4",
            ".else",
            "ldr r6, [\\p], #4",
            "ssub8 r7, r11, r6",
            "sel r11, r11, r6",
            ".endif",
            ".if {k_w} > 1",
            "kiln_larger r12",
            ".endif",
            ".if {k_w} > 2",
            "kiln_larger lr",
            ".endif",
            ".endm",
            "2:",
            "mov r10, r9",
            "3:",
            "kiln_row r0, 1",
            ".if {k_h} > 1",
            "kiln_row r1, 0",
            ".endif",
            ".if {k_h} > 2",
            "kiln_row r2, 0",
            ".endif",
            "str r11, [r3], #4",
            "subs r10, #1",
            "bne 3b",
            "add r0, r8",
            "add r1, r8",
            "add r2, r8",
            "subs r4, #1",
            "bne 2b",
            "pop {{r6, r7}}",
            ".purgem kiln_larger",
            ".purgem kiln_row",
            inout("r0") row(0) => _,
            inout("r1") row(1) => _,
            inout("r2") row(2) => _,
            inout("r3") out.as_ptr() => _,
            inout("r4") windows => _,
            in("r5") c,
            in("r8") step.wrapping_sub(4 * words),
            in("r9") words,
            out("r10") _,
            out("r11") _,
            out("r12") _,
            out("lr") _,
            k_h = const K_H,
            k_w = const K_W,
        );
    }
}
