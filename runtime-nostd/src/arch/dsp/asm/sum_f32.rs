//! Products of floats on Arm's scalar floating-point unit: with four filters at once, and of channels with a filter each.
//!
//! On a Cortex-M4, a list of `n` loads takes `1 + n` cycles, and a product and a sum one each. `vfma` rounds only once, and so has other bits.
#![allow(unsafe_code)]

use crate::arch::extent::product;
use crate::arch::portable::depthwise::Taps;
use core::cell::Cell;

/// Adds to `s0` to `s3` the products of `{fours}` times four elements at `{x}`, and of `{rest}` more, with four weights at `{w}` each. Each is rounded before it is added.
///
/// Four taps take 57 cycles.
macro_rules! add_products {
    () => {
        "cmp {fours}, #0
        beq 3f
        2:
        vldmia {x}!, {{s4-s7}}
        vldmia {w}!, {{s8-s23}}
        vmul.f32 s8, s8, s4
        vmul.f32 s9, s9, s4
        vmul.f32 s10, s10, s4
        vmul.f32 s11, s11, s4
        vadd.f32 s0, s0, s8
        vmul.f32 s12, s12, s5
        vadd.f32 s1, s1, s9
        vmul.f32 s13, s13, s5
        vadd.f32 s2, s2, s10
        vmul.f32 s14, s14, s5
        vadd.f32 s3, s3, s11
        vmul.f32 s15, s15, s5
        vadd.f32 s0, s0, s12
        vmul.f32 s16, s16, s6
        vadd.f32 s1, s1, s13
        vmul.f32 s17, s17, s6
        vadd.f32 s2, s2, s14
        vmul.f32 s18, s18, s6
        vadd.f32 s3, s3, s15
        vmul.f32 s19, s19, s6
        vadd.f32 s0, s0, s16
        vmul.f32 s20, s20, s7
        vadd.f32 s1, s1, s17
        vmul.f32 s21, s21, s7
        vadd.f32 s2, s2, s18
        vmul.f32 s22, s22, s7
        vadd.f32 s3, s3, s19
        vmul.f32 s23, s23, s7
        vadd.f32 s0, s0, s20
        vadd.f32 s1, s1, s21
        subs {fours}, {fours}, #1
        vadd.f32 s2, s2, s22
        vadd.f32 s3, s3, s23
        bne 2b
        3:
        cmp {rest}, #0
        beq 5f
        4:
        vldmia {x}!, {{s4}}
        vldmia {w}!, {{s8-s11}}
        vmul.f32 s8, s8, s4
        vmul.f32 s9, s9, s4
        vmul.f32 s10, s10, s4
        vmul.f32 s11, s11, s4
        vadd.f32 s0, s0, s8
        vadd.f32 s1, s1, s9
        subs {rest}, {rest}, #1
        vadd.f32 s2, s2, s10
        vadd.f32 s3, s3, s11
        bne 4b
        5:"
    };
}

/// Clamps a register to `s24` to `s25`.
macro_rules! clamp {
    ($x:literal) => {
        concat!(
            "vcmp.f32 ",
            $x,
            ", s24
            vmrs APSR_nzcv, fpscr
            it mi
            vmovmi.f32 ",
            $x,
            ", s24
            vcmp.f32 ",
            $x,
            ", s25
            vmrs APSR_nzcv, fpscr
            it gt
            vmovgt.f32 ",
            $x,
            ", s25\n"
        )
    };
}

/// Adds the biases at `{bias}` to `s0` to `s3`, clamps them to `s24` to `s25`, and writes them to `{out}`. NaN stays NaN.
macro_rules! finish_four {
    () => {
        concat!(
            "vldmia {bias}!, {{s4-s7}}
            vadd.f32 s0, s0, s4
            vadd.f32 s1, s1, s5
            vadd.f32 s2, s2, s6
            vadd.f32 s3, s3, s7\n",
            clamp!("s0"),
            clamp!("s1"),
            clamp!("s2"),
            clamp!("s3"),
            "vstmia {out}!, {{s0-s3}}"
        )
    };
}

/// Adds the products of floats.
#[inline(always)]
pub(crate) fn four(x: &[Cell<f32>], w: &[f32], acc: &mut [f32; 4]) -> bool {
    let n = x.len().min(w.len() / 4);
    // SAFETY: there are `n` elements, and four weights for each. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vldmia {acc}, {{s0-s3}}",
            add_products!(),
            "vstmia {acc}, {{s0-s3}}",
            acc = in(reg) acc.as_mut_ptr(),
            fours = inout(reg) n / 4 => _,
            rest = inout(reg) n % 4 => _,
            x = inout(reg) x.as_ptr() => _,
            w = inout(reg) w.as_ptr() => _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
            options(nostack),
        )
    }
    true
}

/// Results of a pixel: products of `x` with filters of which four alternate in `w`, biases, clamped to `lo..=hi`. How many it wrote: a multiple of four.
///
/// A result takes 13 cycles besides its products.
#[inline(always)]
pub(crate) fn pixel(
    x: &[Cell<f32>],
    w: &[f32],
    bias: &[f32],
    [lo, hi]: [f32; 2],
    out: &[Cell<f32>],
) -> usize {
    let results = out.len().min(bias.len()) / 4 * 4;
    if results == 0 || w.len() < product(x.len(), results) {
        return 0;
    }
    // SAFETY: there are weights of all elements for each result, and its bias. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vmov s24, {lo}",
            "vmov s25, {hi}",
            "6:",
            "vmov s0, {zero}",
            "vmov.f32 s1, s0",
            "vmov.f32 s2, s0",
            "vmov.f32 s3, s0",
            "mov {x}, {first}",
            "lsr {fours}, {n}, #2",
            "and {rest}, {n}, #3",
            add_products!(),
            finish_four!(),
            "subs {quads}, {quads}, #1",
            "bne 6b",
            lo = in(reg) lo,
            hi = in(reg) hi,
            zero = in(reg) 0,
            first = in(reg) x.as_ptr(),
            n = in(reg) x.len(),
            x = out(reg) _,
            fours = out(reg) _,
            rest = out(reg) _,
            w = inout(reg) w.as_ptr() => _,
            bias = inout(reg) bias.as_ptr() => _,
            out = inout(reg) out.as_ptr() => _,
            quads = inout(reg) results / 4 => _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _,
            out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _,
            options(nostack),
        )
    }
    results
}

/// Adds biases to sums, and clamps them to `lo..=hi`. How many results it wrote: a multiple of four.
#[inline(always)]
pub(crate) fn finish(acc: &[f32], bias: &[f32], [lo, hi]: [f32; 2], out: &[Cell<f32>]) -> usize {
    let results = acc.len().min(bias.len()).min(out.len()) / 4 * 4;
    if results == 0 {
        return 0;
    }
    // SAFETY: there are as many sums, biases and results. Every register is declared.
    unsafe {
        core::arch::asm!(
            "vmov s24, {lo}",
            "vmov s25, {hi}",
            "2:",
            "vldmia {acc}!, {{s0-s3}}",
            finish_four!(),
            "subs {quads}, {quads}, #1",
            "bne 2b",
            lo = in(reg) lo,
            hi = in(reg) hi,
            acc = inout(reg) acc.as_ptr() => _,
            bias = inout(reg) bias.as_ptr() => _,
            out = inout(reg) out.as_ptr() => _,
            quads = inout(reg) results / 4 => _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d12") _,
            options(nostack),
        )
    }
    results
}

/// Where results go, and what becomes of sums before.
#[repr(C)]
struct Store {
    bias: *const f32,
    out: *mut f32,
    lo: f32,
    hi: f32,
}

/// Results of a pixel, one channel each: products of its taps, biases, clamped to `lo..=hi`. How many it wrote: a multiple of eight.
///
/// Eight results take 39 cycles for each tap, and 150 for all.
#[inline(always)]
pub(crate) fn window(
    taps: &Taps<'_, f32>,
    w: &[f32],
    bias: &[f32],
    [lo, hi]: [f32; 2],
    out: &[Cell<f32>],
) -> usize {
    let Taps { rows, len, step, w_first, w_step, w_skip, .. } = *taps;
    let results = out.len().min(bias.len()) / 8 * 8;
    if results == 0 {
        return 0;
    }
    let Some(starts) = taps.starts(results, w.len()) else { return 0 };
    for first in (0..results).step_by(8) {
        let store = Store {
            bias: bias.as_ptr().wrapping_add(first),
            out: out.as_ptr().wrapping_add(first).cast_mut().cast(),
            lo,
            hi,
        };
        // SAFETY: from `first` on, there are eight elements of each tap in each row, eight weights of each, eight biases and eight results. What lies between two taps is shorter than
        // the slices, so no product wraps. Every register is declared.
        unsafe {
            core::arch::asm!(
                "movs {t}, #0",
                "vmov s0, {t}",
                "vmov.f32 s1, s0",
                "vmov.f32 s2, s0",
                "vmov.f32 s3, s0",
                "vmov.f32 s4, s0",
                "vmov.f32 s5, s0",
                "vmov.f32 s6, s0",
                "vmov.f32 s7, s0",
                "2:",
                "ldr {x}, [{rows}], #4",
                "mov {t}, {taps}",
                "add {x}, {x}, {from}",
                "3:",
                "vldmia {x}, {{s8-s15}}",
                "vldmia {w}, {{s16-s23}}",
                "add {x}, {x}, {x_step}",
                "vmul.f32 s8, s8, s16",
                "vmul.f32 s9, s9, s17",
                "vmul.f32 s10, s10, s18",
                "vmul.f32 s11, s11, s19",
                "vadd.f32 s0, s0, s8",
                "vmul.f32 s12, s12, s20",
                "vadd.f32 s1, s1, s9",
                "vmul.f32 s13, s13, s21",
                "vadd.f32 s2, s2, s10",
                "vmul.f32 s14, s14, s22",
                "vadd.f32 s3, s3, s11",
                "vmul.f32 s15, s15, s23",
                "vadd.f32 s4, s4, s12",
                "add {w}, {w}, {w_step}",
                "vadd.f32 s5, s5, s13",
                "subs {t}, {t}, #1",
                "vadd.f32 s6, s6, s14",
                "vadd.f32 s7, s7, s15",
                "bne 3b",
                "add {w}, {w}, {w_skip}",
                "subs {n}, {n}, #1",
                "bne 2b",
                "ldr {x}, [{store}]",
                "ldr {w}, [{store}, #4]",
                "vldr s24, [{store}, #8]",
                "vldr s25, [{store}, #12]",
                "vldmia {x}, {{s8-s15}}",
                "vadd.f32 s0, s0, s8",
                "vadd.f32 s1, s1, s9",
                "vadd.f32 s2, s2, s10",
                "vadd.f32 s3, s3, s11",
                "vadd.f32 s4, s4, s12",
                "vadd.f32 s5, s5, s13",
                "vadd.f32 s6, s6, s14",
                "vadd.f32 s7, s7, s15",
                clamp!("s0"),
                clamp!("s1"),
                clamp!("s2"),
                clamp!("s3"),
                clamp!("s4"),
                clamp!("s5"),
                clamp!("s6"),
                clamp!("s7"),
                "vstmia {w}, {{s0-s7}}",
                rows = inout(reg) starts.as_ptr() => _,
                n = inout(reg) rows.len() => _,
                from = in(reg) 4 * first,
                taps = in(reg) len,
                x_step = in(reg) step.wrapping_mul(4),
                w = inout(reg) w.as_ptr().wrapping_add(w_first + first) => _,
                w_step = in(reg) w_step.wrapping_mul(4),
                w_skip = in(reg) w_skip.wrapping_mul(4),
                store = in(reg) &store,
                x = out(reg) _,
                t = out(reg) _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _,
                out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _,
                options(nostack),
            )
        }
    }
    results
}
