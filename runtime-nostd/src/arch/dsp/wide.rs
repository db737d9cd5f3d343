//! Layers with 16-bit elements on one side, two products at a time.
#![allow(unsafe_code)]

use super::dot::dot;
use crate::arch::extent::product;
use crate::arch::portable::wide::conv1_i16_i8 as conv1;
use crate::fixed::{high_mul, round_shift};
use crate::params::{Conv, Rescale, Scale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`dense_i8_i16`](crate::kernels::dense_i8_i16), one filter after the other. `w` holds for each filter its taps as bytes; zeros make the last word full.
#[inline(never)]
pub fn dense_i8_i16_dsp(
    x: Rows<'_, i8>,
    w: &[i32],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i16>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let (x, rescaled) = (x.row(row), rescaled(by));
        let filters = w.chunks_exact(x.len().div_ceil(4).max(1));
        for ((y, w), bias) in y.iter().zip(filters).zip(bias) {
            y.set(rescaled(dot(x, w, *bias)) as i16);
        }
    }
}

/// [`Rescale::apply`] without branches, in numbers that stay in registers.
#[inline(always)]
fn rescaled(by: &Rescale) -> impl Fn(i32) -> i32 {
    let Rescale { by: Scale { multiplier, shift }, zero_point, lo, hi } = *by;
    let (left, right) = (shift.max(0).unsigned_abs(), shift.min(0).unsigned_abs());
    let (lo, hi) = (lo.saturating_sub(zero_point), hi.saturating_sub(zero_point));
    move |sum| {
        let value = round_shift(high_mul(sum.wrapping_shl(left), multiplier), right);
        value.max(lo).min(hi).wrapping_add(zero_point)
    }
}

/// As [`conv1_i16_i8`](crate::kernels::conv1_i16_i8), reading two elements at a time where every result is of one channel, of whole fours.
#[inline(never)]
pub fn conv1_i16_i8_dsp(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i16],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, out) in y.of_band(band) {
        let window = x.run(row.wrapping_mul(p.stride_h), p.k_h);
        let whole = p.in_c == p.out_c && p.in_c % 4 == 0 && x.row_len() == p.in_c && p.k_h > 0;
        match (window, out.get(..p.in_c), bias.get(..p.in_c), w.get(..product(p.k_h, p.in_c))) {
            (Some(x), Some(y), Some(bias), Some(w)) if whole => {
                fours_of_channels(p, x, w, bias, by, y);
            }
            _ => conv1(p, x, w, bias, by, y, Band { first: row, rows: 1 }),
        }
    }
}

/// The results of one row, from a window of so many rows of channels in fours, and as many weights.
#[inline(always)]
fn fours_of_channels(p: &Conv, x: &[Cell<i16>], w: &[i16], bias: &[i32], by: &Rescale, y: &[Cell<i8>]) {
    let rescaled = rescaled(by);
    let fours = y.chunks_exact(4).zip(bias.chunks_exact(4)).zip(w.chunks_exact((4 * p.k_h).max(1)));
    // Not slices of four: what lies below them in the other rows is read from the same pointer.
    let mut first = x.as_ptr();
    for ((y, bias), w) in fours {
        let x = first;
        first = first.wrapping_add(4);
        let (&[a, b, c, d], [ya, yb, yc, yd]) = (bias, y) else { return };
        // SAFETY: `x` begins at the four of the first row, of as many as there are results, which are `in_c`; the window is a run of `k_h` rows that long, as its caller has found it; and
        // `w` has four weights for each of them.
        let [a, b, c, d] = unsafe { rows_of_pairs(x, p.in_c, w.as_ptr(), p.k_h, [a, b, c, d]) };
        ya.set(rescaled(a) as i8);
        yb.set(rescaled(b) as i8);
        yc.set(rescaled(c) as i8);
        yd.set(rescaled(d) as i8);
    }
}

/// Adds the products of four channels in each of so many rows, at least one, with four weights for each.
///
/// # Safety
///
/// In each of the rows, `channels` elements apart, four elements are readable, and four weights for each.
#[inline(always)]
unsafe fn rows_of_pairs(
    x: *const Cell<i16>,
    channels: usize,
    w: *const i16,
    rows: usize,
    sums: [i32; 4],
) -> [i32; 4] {
    let [mut a, mut b, mut c, mut d] = sums;
    #[cfg(kiln_dsp)]
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            ".if 0",
            ".space 128",
            ".endif",
            "lsrs {n}, {n}, #1",
            "bcc 2f",
            "ldr {p}, [{x}]",
            "ldr {q}, [{x}, #4]",
            "ldr {u}, [{w}], #8",
            "ldr {v}, [{w}, #-4]",
            "add {x}, {row}",
            "smlabb {a}, {p}, {u}, {a}",
            "smlatt {b}, {p}, {u}, {b}",
            "smlabb {c}, {q}, {v}, {c}",
            "smlatt {d}, {q}, {v}, {d}",
            "cmp {n}, #0",
            "2:",
            "beq 4f",
            "3:",
            ".rept 2",
            "ldr {p}, [{x}]",
            "ldr {q}, [{x}, #4]",
            "ldr {u}, [{w}], #8",
            "ldr {v}, [{w}, #-4]",
            "add {x}, {row}",
            "smlabb {a}, {p}, {u}, {a}",
            "smlatt {b}, {p}, {u}, {b}",
            "smlabb {c}, {q}, {v}, {c}",
            "smlatt {d}, {q}, {v}, {d}",
            ".endr",
            "subs {n}, {n}, #1",
            "bne 3b",
            "4:",
            x = inout(reg) x => _,
            w = inout(reg) w => _,
            n = inout(reg) rows => _,
            row = in(reg) 2 * channels,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            p = out(reg) _, q = out(reg) _, u = out(reg) _, v = out(reg) _,
            options(nostack, readonly),
        );
    }
    #[cfg(not(kiln_dsp))]
    for row in 0..rows {
        // SAFETY: as the caller promises.
        let ([xa, xb, xc, xd], [wa, wb, wc, wd]) = unsafe {
            let x = x.add(row * channels).cast::<[i16; 4]>().read();
            (x, w.add(4 * row).cast::<[i16; 4]>().read())
        };
        let product = |x: i16, w: i16| i32::from(x) * i32::from(w);
        (a, b) = (a.wrapping_add(product(xa, wa)), b.wrapping_add(product(xb, wb)));
        (c, d) = (c.wrapping_add(product(xc, wc)), d.wrapping_add(product(xd, wd)));
    }
    [a, b, c, d]
}
