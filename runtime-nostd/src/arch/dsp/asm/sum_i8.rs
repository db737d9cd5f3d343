//! Products of bytes with four filters whose elements alternate, and of channels with a filter each, and what becomes of their sums, in assembly.
#![allow(unsafe_code)]

use crate::arch::extent::sum;
use crate::arch::portable::depthwise::Taps;
use crate::arch::portable::sum::Results;
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

/// What the block of a window reads, in its order. It keeps the next row and the rows that are left in the same places.
#[repr(C)]
struct Window<W> {
    /// 0: the elements of the next row.
    row: *const *const Cell<i8>,
    /// 4: taps of a row.
    taps: usize,
    /// 8: rows.
    rows: usize,
    /// 12: bytes from the last weight of a row to the first one of the next.
    w_skip: usize,
    /// 16: four sums.
    acc: *mut i32,
    /// 20: the first weight.
    w: *const W,
    /// 24: elements from one tap to the next.
    x_step: usize,
    /// 28: bytes from the weight of one tap to that of the next.
    w_step: usize,
    /// 32: elements from the first channel of a row to the first of the four.
    first: usize,
}

/// Assembly: a tap of four channels.
macro_rules! four_channels {
    ($load:literal, $products:literal) => {
        concat!(
            "ldr r7, [r4]\n",
            $load,
            "\nsxtb16 r8, r7, ror #8
            sxtb16 r7, r7
            ",
            $products,
            "\nadd r4, r4, r10
            add r5, r5, r11"
        )
    };
}

/// Adds the products of the taps of a window to the sums of the channels from `first` on, modulo 2³². `$load` puts the weights at `r5` into `r9` and `r12`, and `$products` adds their products with
/// the channels 0 and 2 in `r7`, and 1 and 3 in `r8`.
macro_rules! window {
    ($taps:ident, $w:ident of $bytes:literal bytes, $first:ident, $acc:ident, $load:literal, $products:literal) => {{
        let Taps { rows, len, step, w_first, w_step, w_skip, .. } = *$taps;
        let channels = $acc.len() / 4 * 4;
        let Some(starts) = $taps.starts(sum($first, channels), $w.len()) else { return 0 };
        for (four, acc) in $acc.chunks_exact_mut(4).enumerate() {
            let first = $first + 4 * four;
            let mut window = Window {
                row: starts.as_ptr().cast(),
                taps: len,
                rows: rows.len(),
                w_skip: w_skip.wrapping_mul($bytes),
                acc: acc.as_mut_ptr(),
                w: $w.as_ptr().wrapping_add(w_first + first),
                x_step: step,
                w_step: w_step.wrapping_mul($bytes),
                first,
            };
            // SAFETY: from `first` on, there are four elements of each tap in each row, four weights of each, and four sums. Every register is declared, or saved and restored.
            unsafe {
                core::arch::asm!(
                    "push {{r6, r7}}",
                    "ldr r12, [lr, #16]",
                    "ldr r5, [lr, #20]",
                    "ldr r10, [lr, #24]",
                    "ldr r11, [lr, #28]",
                    "ldm r12, {{r0, r1, r2, r3}}",
                    "2:",
                    "ldr r9, [lr]",
                    "ldr r6, [lr, #4]",
                    "ldr r8, [lr, #32]",
                    "ldr r4, [r9], #4",
                    "str r9, [lr]",
                    "add r4, r4, r8",
                    "cmp r6, #3",
                    "beq 4f",
                    "3:",
                    four_channels!($load, $products),
                    "subs r6, r6, #1",
                    "bne 3b",
                    "b 5f",
                    "4:",
                    four_channels!($load, $products),
                    four_channels!($load, $products),
                    four_channels!($load, $products),
                    "5:",
                    "ldr r7, [lr, #12]",
                    "ldr r6, [lr, #8]",
                    "add r5, r5, r7",
                    "subs r6, r6, #1",
                    "str r6, [lr, #8]",
                    "bne 2b",
                    "ldr r12, [lr, #16]",
                    "stm r12, {{r0, r1, r2, r3}}",
                    "pop {{r6, r7}}",
                    inout("lr") &raw mut window => _,
                    out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
                )
            }
        }
        channels
    }};
}

/// Adds the products of the taps of a window, of the channels from `first` on, to their sums. For how many: fours. A tap of four channels takes 13 cycles, and four more where rows have not three of them.
#[inline(never)]
pub(crate) fn window(taps: &Taps<'_, i8>, w: &[i8], first: usize, acc: &mut [i32]) -> usize {
    window!(
        taps,
        w of 1 bytes,
        first,
        acc,
        "ldr r9, [r5]",
        "sxtb16 r12, r9, ror #8
        sxtb16 r9, r9
        smlabb r0, r7, r9, r0
        smlabb r1, r8, r12, r1
        smlatt r2, r7, r9, r2
        smlatt r3, r8, r12, r3"
    )
}

/// As [`window`] with weights of 16 bits: 12 cycles, and four more.
#[inline(never)]
pub(crate) fn window_wide(taps: &Taps<'_, i8>, w: &[i16], first: usize, acc: &mut [i32]) -> usize {
    window!(
        taps,
        w of 2 bytes,
        first,
        acc,
        "ldr r9, [r5]
        ldr r12, [r5, #4]",
        "smlabb r0, r7, r9, r0
        smlabt r1, r8, r9, r1
        smlatb r2, r7, r12, r2
        smlatt r3, r8, r12, r3"
    )
}

/// What the block of results reads, in its order.
#[repr(C)]
struct Rescale {
    sums: *const i32,
    bias: *const i32,
    /// Factors of channels, or one of them all.
    multipliers: *const i32,
    shifts: *const i8,
    out: *const Cell<i8>,
    /// Where they end.
    end: *const Cell<i8>,
    zero_point: i32,
    /// Bounds, without the zero point.
    bounds: [i32; 2],
}

/// Whether [`rescale`] does it.
pub(crate) const RESCALES: bool = true;

/// Adds biases to sums, and rescales them as [`Scale::apply`](crate::params::Scale): 32 cycles for each, and four more where channels have factors of their own.
///
/// # Safety
/// There is a result, and there are as many sums and biases as results. Where `EACH` is 1 there are as many factors, otherwise one.
#[inline(never)]
pub(crate) unsafe fn rescale<const EACH: usize>(by: &Results<'_>) {
    let by = Rescale {
        sums: by.sums.as_ptr(),
        bias: by.bias.as_ptr(),
        multipliers: by.multipliers.as_ptr(),
        shifts: by.shifts.as_ptr(),
        out: by.out.as_ptr(),
        end: by.out.as_ptr_range().end,
        zero_point: by.q.zero_point,
        bounds: by.bounds(),
    };
    // SAFETY: as the caller says. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            "ldr r5, [r0, #20]",
            "push {{r5}}",
            "ldr r6, [r0, #24]",
            "ldr r7, [r0, #28]",
            "ldr r8, [r0, #32]",
            "ldm r0, {{r0, r1, r2, r3, r4}}",
            ".ifeq {each}",
            "ldr r12, [r2]",
            "ldrsb r3, [r3]",
            "bic r2, r3, r3, asr #31",
            "mvn r3, r3",
            ".endif",
            "2:",
            "ldr r9, [r0], #4",
            "ldr r10, [r1], #4",
            ".if {each}",
            "ldr r12, [r2], #4",
            "ldrsb r5, [r3], #1",
            "add r9, r9, r10",
            "cmp r5, #0",
            "it gt",
            "lslgt r9, r9, r5",
            ".else",
            "add r9, r9, r10",
            "lsl r9, r9, r2",
            ".endif",
            // The product times two, and half a bit of the upper word: `high_mul`.
            "mov r10, #0x40000000",
            "mov r11, #0",
            "smlal r10, r11, r9, r12",
            "lsls r10, r10, #1",
            "adc r11, r11, r11",
            // `round_shift`.
            ".if {each}",
            "mvns r5, r5",
            "bmi 3f",
            "add r11, r11, r11, asr #31",
            "asr r11, r11, r5",
            ".else",
            "cmp r3, #0",
            "blt 3f",
            "add r11, r11, r11, asr #31",
            "asr r11, r11, r3",
            ".endif",
            "add r11, r11, #1",
            "asr r11, r11, #1",
            "3:",
            "cmp r11, r7",
            "it lt",
            "movlt r11, r7",
            "cmp r11, r8",
            "it gt",
            "movgt r11, r8",
            "ldr r5, [sp]",
            "add r11, r11, r6",
            "strb r11, [r4], #1",
            "cmp r4, r5",
            "bne 2b",
            "add sp, sp, #4",
            "pop {{r6, r7}}",
            each = const EACH,
            inout("r0") &raw const by => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
        )
    }
}
