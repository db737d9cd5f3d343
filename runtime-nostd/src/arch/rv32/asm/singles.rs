//! Tiles of one row in assembly.
//!
//! A word `w` has four weights: `e` of the even bytes, `o` of the odd ones. The sums of `x · w` and of `x · o` are computed. That of `x · e` is their difference: `e = w − 2⁸ · o`, also modulo 2³².
//! So one mask per word is enough. The odd bytes need no shift, because their product is the upper half of a longer one: `(x · 2²⁴) · (2⁸ · o) = 2³² · (x · o)`.
//!
//! A window of `n` taps and eight filters takes 15·n + 27 instructions for 8·n products: 2.2 per product in windows of twelve taps.

use crate::arch::rv32::singles::{Sums, Tiles, MOST};
use core::cell::Cell;

/// Adds the products of the next tile, which has `WORDS` words of filters for each tap, with the elements of `x`, and half of the upper field's unit for each window.
#[inline(always)]
pub(crate) fn add<const WORDS: usize>(tiles: &mut Tiles<'_>, x: &[Cell<i8>], sums: Sums) -> Sums {
    if x.len() < tiles.size() || tiles.words() != WORDS {
        return sums;
    }
    let (x, w) = (x.as_ptr().cast::<i8>(), tiles.next().as_ptr());
    // SAFETY: there is an element for each tap, and the next tile has so many words of filters (both compared above). `Tiles` has proven what it consists of.
    let (end, sums) = unsafe {
        match WORDS {
            1 => four(x, w, sums),
            2 => eight(x, w, sums),
            _ => return sums,
        }
    };
    tiles.skip((end as usize).wrapping_sub(w as usize) / 4);
    sums
}

const _: () = assert!(MOST == 12, "the taps of `windows`");

/// The windows: `kiln_next` moves `x` and `w` behind the window, whose taps are in `u`, and makes that the bytes of their code, each of which has `{tap}`; `{skipped}` is the same number. `kiln_last` multiplies the last tap,
/// `kiln_tap` adds those before it, `kiln_split` parts the fields. `sum` is the sum of the window's elements: all weights are too large by 128, in both fields.
macro_rules! windows {
    () => {
        concat!(
            "
        .option push
        .option norvc
        .macro kiln_sum s, q, h
        add \\s, \\s, {u}
        add \\q, \\q, \\s
        srai \\s, \\s, 16
        add \\h, \\h, \\s
        .endm
        lla {base}, 3f
        lw {count}, 0({w})
        addi {w}, {w}, 4
        2:
        lw {u}, 0({w})
        kiln_next
        sub {x0}, {base}, {u}
        kiln_last
        jalr zero, {skipped}({x0})
        .irp at, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
        kiln_tap \\at
        .endr
        3:
        addi {count}, {count}, -1
        mul {u}, {sum}, {excess}
        sub {u}, {half}, {u}
        kiln_split
        bnez {count}, 2b
        .option pop
        ",
            purge_windows!(),
            "
        .purgem kiln_first
        .purgem kiln_add
        .purgem kiln_part
        "
        )
    };
}

/// `kiln_first`: the products of an element with the word of weights so many bytes from `w`, and with its odd bytes. `kiln_add`: adds such products. `kiln_part`: makes the sum of the former that of the
/// even bytes.
macro_rules! define_words {
    () => {
        "
        .macro kiln_first from, x, all, odd
        lw {t}, \\from({w})
        and {u}, {t}, {mask}
        mul \\all, {t}, \\x
        mulhsu \\odd, {high}, {u}
        .endm
        .macro kiln_add from, all, odd
        lw {t}, \\from({w})
        and {u}, {t}, {mask}
        mul {t}, {t}, {x0}
        mulhsu {u}, {high}, {u}
        kiln_short_add \\all, {t}
        kiln_short_add \\odd, {u}
        .endm
        .macro kiln_part all, odd
        slli {t}, \\odd, 8
        sub \\all, \\all, {t}
        .endm
        "
    };
}

/// Eight filters. Returns where the tile ends, and the accumulators.
///
/// # Safety
/// At `w` is a tile of two words for each tap, and at `x` an element for each tap.
#[inline(always)]
unsafe fn eight(x: *const i8, w: *const i32, sums: Sums) -> (*const i32, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], [mut qd, mut hd]] = sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_short_add!(),
            define_words!(),
            "
            .macro kiln_next
            add {x}, {x}, {u}
            slli {t}, {u}, 3
            add {w}, {w}, {t}
            addi {w}, {w}, 4
            mul {u}, {u}, {tap}
            .endm
            .macro kiln_last
            lb {sum}, -1({x})
            slli {high}, {sum}, 24
            kiln_first -8, {sum}, {a}, {b}
            kiln_first -4, {sum}, {c}, {d}
            .endm
            .macro kiln_tap at
            lb {x0}, -\\at({x})
            slli {high}, {x0}, 24
            add {sum}, {sum}, {x0}
            kiln_add 0-8*\\at, {a}, {b}
            kiln_add 4-8*\\at, {c}, {d}
            .endm
            .macro kiln_split
            kiln_part {a}, {b}
            kiln_part {c}, {d}
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            kiln_sum {d}, {qd}, {hd}
            .endm
            ",
            windows!(),
            skipped = const 52, tap = in(reg) 52,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15, mask = in(reg) 0xff00_ff00u32,
            excess = in(reg) 128 << 16 | 128, sum = out(reg) _, count = out(reg) _, base = out(reg) _, high = out(reg) _,
            x0 = out(reg) _, u = out(reg) _, t = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc, qd = inout(reg) qd,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc, hd = inout(reg) hd,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], [qc, hc], [qd, hd]])
}

/// Four filters. Returns where the tile ends, and the accumulators.
///
/// # Safety
/// At `w` is a tile of one word for each tap, and at `x` an element for each tap.
#[inline(always)]
unsafe fn four(x: *const i8, w: *const i32, sums: Sums) -> (*const i32, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], c, d] = sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_short_add!(),
            define_words!(),
            "
            .macro kiln_next
            add {x}, {x}, {u}
            slli {t}, {u}, 2
            add {w}, {w}, {t}
            addi {w}, {w}, 4
            mul {u}, {u}, {tap}
            .endm
            .macro kiln_last
            lb {sum}, -1({x})
            slli {high}, {sum}, 24
            kiln_first -4, {sum}, {a}, {b}
            .endm
            .macro kiln_tap at
            lb {x0}, -\\at({x})
            slli {high}, {x0}, 24
            add {sum}, {sum}, {x0}
            kiln_add 0-4*\\at, {a}, {b}
            .endm
            .macro kiln_split
            kiln_part {a}, {b}
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            .endm
            ",
            windows!(),
            skipped = const 32, tap = in(reg) 32,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15, mask = in(reg) 0xff00_ff00u32,
            excess = in(reg) 128 << 16 | 128, sum = out(reg) _, count = out(reg) _, base = out(reg) _, high = out(reg) _,
            x0 = out(reg) _, u = out(reg) _, t = out(reg) _,
            a = out(reg) _, b = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb,
            ha = inout(reg) ha, hb = inout(reg) hb,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], c, d])
}
