//! Means of windows, eight channels at a time: sums of two channels in the halves of a register.
#![allow(unsafe_code)]

use crate::arch::extent::{product, reach};
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Taps of a window at most: sums of so many elements fit half of a register.
pub(super) const MOST_TAPS: usize = 256;

/// Means of windows of which none is cut at an edge, of at most 256 taps, of at least eight channels: each sum of stored values becomes a result by `mean`.
///
/// About 1½ cycles a tap and eight an element. Serves `AVERAGE_POOL_2D` and `MEAN` over rows and columns.
#[inline(never)]
pub fn mean_pool2d_i8_dsp(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    // Windows of all columns are one run of taps.
    let runs = p.k_w == p.in_w;
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let whole = if runs { x.run(top, p.k_h) } else { None };
        for (column, out) in out.chunks_exact(c).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_mul(c);
            let mut channel = 0;
            while channel < c {
                // The last eight channels: some of them twice, which changes nothing.
                let first = channel.min(c.saturating_sub(8));
                let mut sums = [0; 4];
                if let Some(whole) = whole {
                    sums = add(whole, first, c, product(p.k_h, p.k_w), sums);
                } else {
                    for tap in 0..p.k_h.min(MOST_TAPS) {
                        let x = x.row(top.wrapping_add(tap));
                        sums = add(x, left.wrapping_add(first), c, p.k_w, sums);
                    }
                }
                finish(mean, sums, out.get(first..).unwrap_or(&[]));
                channel = channel.saturating_add(8);
            }
        }
    }
}

/// Adds the taps of eight channels from `first` on, `c` elements from one to the next, to sums of channels (0, 2), (1, 3), (4, 6) and (5, 7): low half first.
#[inline(never)]
fn add(x: &[Cell<i8>], first: usize, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    match x.get(first..) {
        // SAFETY: there is a tap, and eight elements of the last one end inside of the slice, as `reach` has just said, which no size makes wrap.
        Some(x) if taps > 0 && x.len() >= reach(taps, c, 8) => unsafe {
            add_taps(x.as_ptr().cast(), c, taps, sums)
        },
        _ => sums,
    }
}

/// Rescales eight sums, if there is room for them.
#[inline(never)]
fn finish(mean: &MeanLinear, sums: [u32; 4], out: &[Cell<i8>]) {
    if out.len() >= 8 {
        // SAFETY: there are eight elements, by the comparison above.
        unsafe { rescale(mean, sums, out.as_ptr().cast_mut().cast()) };
    }
}

/// # Safety
/// `taps` times eight elements may be read, `c` elements from one to the next. `taps` is not 0.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn add_taps(x: *const i8, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut d, mut e] = sums;
    // SAFETY: it reads what the caller allows.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which macros make more of.
            ".if 0",
            ".space 160",
            ".endif",
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
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn rescale(mean: &MeanLinear, sums: [u32; 4], out: *mut i8) {
    let [a, b, d, e] = sums;
    // SAFETY: it writes what the caller allows.
    unsafe {
        core::arch::asm!(
            // The compiler takes the size of assembly from its lines, which macros make more of.
            ".if 0",
            ".space 96",
            ".endif",
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

/// # Safety
/// `taps` times eight elements may be read, `c` elements from one to the next.
#[cfg(not(kiln_dsp))]
#[inline(always)]
unsafe fn add_taps(x: *const i8, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut d, mut e] = sums;
    let add = |pair: u32, low: i8, high: i8| {
        let low = (pair as u16).wrapping_add(low as u16);
        let high = ((pair >> 16) as u16).wrapping_add(high as u16);
        u32::from(low) | u32::from(high) << 16
    };
    for tap in 0..taps {
        // SAFETY: the caller allows it; nothing aligned is asked for.
        let [x0, x1, x2, x3, x4, x5, x6, x7] = unsafe { x.add(tap * c).cast::<[i8; 8]>().read() };
        (a, b, d, e) = (add(a, x0, x2), add(b, x1, x3), add(d, x4, x6), add(e, x5, x7));
    }
    [a, b, d, e]
}

/// # Safety
/// Eight elements may be written.
#[cfg(not(kiln_dsp))]
#[inline(always)]
unsafe fn rescale(mean: &MeanLinear, sums: [u32; 4], out: *mut i8) {
    let [a, b, d, e] = sums;
    let low = |pair: u32| mean.apply((pair as i16).into());
    let high = |pair: u32| mean.apply(((pair >> 16) as i16).into());
    let eight = [low(a), low(b), high(a), high(b), low(d), low(e), high(d), high(e)];
    // SAFETY: the caller allows it; nothing aligned is asked for.
    unsafe { out.cast::<[i8; 8]>().write(eight) };
}
