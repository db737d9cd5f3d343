//! Tiles in assembly.
//!
//! A window of `n` taps, two words for each and three filters, takes 17·n + 26 instructions for 12·n products: 1.9 per product in windows of five taps.
//! Accumulators, sums of the window and everything else stay in 26 registers: all that there are.
//!
//! The code of a window has [`MOST`] taps, the last one first. A jump skips those that a window has not.

use crate::arch::rv32::windows::{Windows, MOST};
use core::cell::Cell;

/// Accumulators `q` and `h`: of the first filter with the first word of a tap, with the second one if there is one, of the next filter.
pub(crate) type Sums = [[i32; 2]; 6];

/// Adds the products of the next tile, which has `FILTERS` filters, with `EACH` words of each tap.
#[inline(always)]
pub(crate) fn add<const EACH: usize, const FILTERS: usize>(
    tiles: &mut Windows<'_>,
    words: &[Cell<i32>],
    sums: Sums,
) -> Sums {
    if words.len() / EACH.max(1) < tiles.size() || tiles.filters() != FILTERS {
        return sums;
    }
    let (x, w) = (words.as_ptr().cast::<i32>(), tiles.bytes().as_ptr());
    // SAFETY: there are words for all taps, and the next tile has so many filters (both compared above). `Windows` has proven its bytes.
    let (end, sums) = unsafe {
        match (EACH, FILTERS) {
            (2, 3) => four_by_three(x, w, sums),
            (2, 2) => four_by_two(x, w, sums),
            (1, 3) => two_by_three(x, w, sums),
            (1, 2) => two_by_two(x, w, sums),
            _ => return sums,
        }
    };
    tiles.skip((end as usize).wrapping_sub(w as usize).wrapping_add(1));
    sums
}

const _: () = assert!(MOST == 12, "the taps of `windows`");

/// The windows: `kiln_next` moves `x` behind the window, of which `u` is `8·n`, and makes it the bytes of code of `n` taps, each of which has `{tap}`. `kiln_last` multiplies the last tap,
/// `kiln_tap` adds those before it, `kiln_split` parts the fields.
macro_rules! windows {
    () => {
        "
        .option push
        .option norvc
        lla {base}, 3f
        lbu {u}, 0({w})
        2:
        lbu {x0}, 1({w})
        kiln_next
        add {w}, {w}, {x0}
        sub {t}, {base}, {u}
        kiln_last
        jalr zero, {tap}({t})
        .irp at, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
        kiln_tap \\at
        .endr
        3:
        kiln_split
        lbu {u}, 0({w})
        bnez {u}, 2b
        .option pop
        .purgem kiln_next
        .purgem kiln_last
        .purgem kiln_tap
        .purgem kiln_split
        .purgem kiln_sum
        .purgem kiln_short_add
        "
    };
}

/// `kiln_sum`: the sum of a window to its two accumulators.
macro_rules! define_sum {
    () => {
        "
        .macro kiln_sum s, q, h
        add \\q, \\q, \\s
        add \\s, \\s, {half}
        srai \\s, \\s, 16
        add \\h, \\h, \\s
        .endm
        "
    };
}

/// Four pixels and three filters. Returns where the 0 behind the tile is, and the accumulators.
///
/// # Safety
/// At `w` is a tile of three filters, and at `x` two words for each of its taps.
#[inline(always)]
unsafe fn four_by_three(x: *const i32, w: *const i8, sums: Sums) -> (*const i8, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], [mut qd, mut hd], [mut qe, mut he], [mut qf, mut hf]] =
        sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            define_short_add!(),
            "
            .macro kiln_next
            add {x}, {x}, {u}
            slli {u}, {u}, 3
            .endm
            .macro kiln_last
            lw {x0}, -8({x})
            lb {u}, -3({w})
            lw {x1}, -4({x})
            mul {a}, {u}, {x0}
            mul {b}, {u}, {x1}
            lb {u}, -2({w})
            mul {c}, {u}, {x0}
            mul {d}, {u}, {x1}
            lb {u}, -1({w})
            mul {e}, {u}, {x0}
            mul {f}, {u}, {x1}
            .endm
            .macro kiln_tap at
            lw {x0}, -8*\\at({x})
            lb {u}, -3*\\at({w})
            lw {x1}, 4-8*\\at({x})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {a}, {a}, {t}
            add {b}, {b}, {u}
            lb {u}, 1-3*\\at({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {c}, {c}, {t}
            add {d}, {d}, {u}
            lb {u}, 2-3*\\at({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            kiln_short_add {e}, {t}
            kiln_short_add {f}, {u}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            kiln_sum {d}, {qd}, {hd}
            kiln_sum {e}, {qe}, {he}
            kiln_sum {f}, {qf}, {hf}
            .endm
            ",
            windows!(),
            tap = const 64,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc, qd = inout(reg) qd, qe = inout(reg) qe, qf = inout(reg) qf,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc, hd = inout(reg) hd, he = inout(reg) he, hf = inout(reg) hf,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], [qc, hc], [qd, hd], [qe, he], [qf, hf]])
}

/// Four pixels and two filters. Returns where the 0 behind the tile is, and the accumulators.
///
/// # Safety
/// At `w` is a tile of two filters, and at `x` two words for each of its taps.
#[inline(always)]
unsafe fn four_by_two(x: *const i32, w: *const i8, sums: Sums) -> (*const i8, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], [mut qd, mut hd], e, f] = sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            define_short_add!(),
            "
            .macro kiln_next
            add {x}, {x}, {u}
            slli {t}, {u}, 2
            add {u}, {u}, {t}
            .endm
            .macro kiln_last
            lw {x0}, -8({x})
            lb {u}, -2({w})
            lw {x1}, -4({x})
            mul {a}, {u}, {x0}
            mul {b}, {u}, {x1}
            lb {u}, -1({w})
            mul {c}, {u}, {x0}
            mul {d}, {u}, {x1}
            .endm
            .macro kiln_tap at
            lw {x0}, -8*\\at({x})
            lb {u}, -2*\\at({w})
            lw {x1}, 4-8*\\at({x})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            kiln_short_add {a}, {t}
            kiln_short_add {b}, {u}
            lb {u}, 1-2*\\at({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            kiln_short_add {c}, {t}
            kiln_short_add {d}, {u}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            kiln_sum {d}, {qd}, {hd}
            .endm
            ",
            windows!(),
            tap = const 40,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc, qd = inout(reg) qd,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc, hd = inout(reg) hd,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], [qc, hc], [qd, hd], e, f])
}

/// Two pixels and three filters. Returns where the 0 behind the tile is, and the accumulators.
///
/// # Safety
/// At `w` is a tile of three filters, and at `x` a word for each of its taps.
#[inline(always)]
unsafe fn two_by_three(x: *const i32, w: *const i8, sums: Sums) -> (*const i8, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], d, e, f] = sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            define_short_add!(),
            "
            .macro kiln_next
            srli {u}, {u}, 1
            add {x}, {x}, {u}
            slli {t}, {u}, 3
            add {u}, {u}, {t}
            .endm
            .macro kiln_last
            lw {x0}, -4({x})
            lb {a}, -3({w})
            lb {b}, -2({w})
            lb {c}, -1({w})
            mul {a}, {a}, {x0}
            mul {b}, {b}, {x0}
            mul {c}, {c}, {x0}
            .endm
            .macro kiln_tap at
            lw {x0}, -4*\\at({x})
            lb {t}, -3*\\at({w})
            lb {u}, 1-3*\\at({w})
            lb {v}, 2-3*\\at({w})
            mul {t}, {t}, {x0}
            mul {u}, {u}, {x0}
            mul {v}, {v}, {x0}
            add {a}, {a}, {t}
            kiln_short_add {b}, {u}
            kiln_short_add {c}, {v}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            .endm
            ",
            windows!(),
            tap = const 36,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _, v = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], [qc, hc], d, e, f])
}

/// Two pixels and two filters. Returns where the 0 behind the tile is, and the accumulators.
///
/// # Safety
/// At `w` is a tile of two filters, and at `x` a word for each of its taps.
#[inline(always)]
unsafe fn two_by_two(x: *const i32, w: *const i8, sums: Sums) -> (*const i8, Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], c, d, e, f] = sums;
    let mut end = w;
    // SAFETY: as the caller says. A jump goes to the code of 1 to 12 taps.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            define_short_add!(),
            "
            .macro kiln_next
            srli {u}, {u}, 1
            add {x}, {x}, {u}
            slli {t}, {u}, 3
            sub {u}, {t}, {u}
            .endm
            .macro kiln_last
            lw {x0}, -4({x})
            lb {a}, -2({w})
            lb {b}, -1({w})
            mul {a}, {a}, {x0}
            mul {b}, {b}, {x0}
            .endm
            .macro kiln_tap at
            lw {x0}, -4*\\at({x})
            lb {t}, -2*\\at({w})
            lb {u}, 1-2*\\at({w})
            mul {t}, {t}, {x0}
            mul {u}, {u}, {x0}
            add {a}, {a}, {t}
            add {b}, {b}, {u}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            .endm
            ",
            windows!(),
            tap = const 28,
            x = inout(reg) x => _, w = inout(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _,
            a = out(reg) _, b = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb,
            ha = inout(reg) ha, hb = inout(reg) hb,
            options(nostack, readonly),
        );
    }
    (end, [[qa, ha], [qb, hb], c, d, e, f])
}
