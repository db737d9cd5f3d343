//! Matrix products of one or two filters, one after the other: nothing to share, so weights are bytes as the operand's elements are.
#![allow(unsafe_code)]

use super::affine::{affine, corrected};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), for one or two filters. Those of more are quads: a tap of one filter takes 2.4 cycles here, and 5 there, whatever is in the quad.
///
/// `w` holds for each filter: its first value, its taps as bytes (zeros make the last word full), with `SIGNED` the correction, the multiplier M and the constant C. They mean what
/// they mean for filter a of a quad.
#[inline(never)]
pub fn dense_i8_dsp_dot<const SHIFT: u32, const SIGNED: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        let mut w = w;
        for y in y {
            let Some((&first, behind)) = w.split_first() else { return };
            let Some((taps, behind)) = behind.split_at_checked(x.len().div_ceil(4)) else { return };
            let acc = dot(x, taps, first);
            let (d, shift, behind) = match behind.split_first() {
                Some((&k, behind)) if SIGNED => (corrected(acc, 8, k), SHIFT.saturating_add(8), behind),
                _ => (acc, SHIFT, behind),
            };
            let &[m, c, ref behind @ ..] = behind else { return };
            y.set(affine(d, [m, c], shift));
            w = behind;
        }
    }
}

/// `acc`, and the products of elements and bytes of `w`. Nothing is added where it has fewer words than the elements need.
#[inline(always)]
pub(super) fn dot(x: &[Cell<i8>], w: &[i32], acc: i32) -> i32 {
    let words = x.len() / 4;
    let (x, rest) = x.split_at_checked(words * 4).unwrap_or_default();
    let Some((w, last)) = w.split_at_checked(words) else { return acc };
    #[cfg(kiln_dsp)]
    // SAFETY: both hold so many words: they are what was split off.
    let mut acc = unsafe { dot_of_words(x.as_ptr().cast(), w.as_ptr(), words, acc) };
    #[cfg(not(kiln_dsp))]
    let mut acc = x.chunks_exact(4).zip(w).fold(acc, |acc, (x, w)| add(x, *w, acc));
    if let Some(last) = last.first() {
        acc = add(rest, *last, acc);
    }
    acc
}

/// Adds the products of up to four elements and the bytes of a word.
#[inline(always)]
fn add(x: &[Cell<i8>], w: i32, acc: i32) -> i32 {
    let products = x.iter().zip(w.to_le_bytes()).map(|(x, w)| i32::from(x.get()) * i32::from(w as i8));
    products.fold(acc, i32::wrapping_add)
}

/// The assembly of [`dot`]: eight taps take 17 cycles.
///
/// # Safety
///
/// So many words are readable from `x` and from `w`.
#[cfg(kiln_dsp)]
#[inline(always)]
unsafe fn dot_of_words(x: *const u8, w: *const i32, words: usize, acc: i32) -> i32 {
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
            x = inout(reg) x => _,
            w = inout(reg) w => _,
            words = in(reg) words,
            acc = inout(reg) acc,
            n = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            t = out(reg) _, u = out(reg) _,
            options(nostack, readonly),
        )
    }
    acc
}
