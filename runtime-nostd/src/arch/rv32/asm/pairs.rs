//! Tiles in assembly.
//!
//! Of a window of `n` taps, two words for each and three filters take 17·n + 20 instructions for 12·n products: 1.8 per product in windows of four taps, 1.6 in those of eight.
//! Accumulators, sums of the window and everything else stay in 26 registers: all that there are.

use core::cell::Cell;

/// Accumulators `q` and `h`: of the first filter with the first word of a tap, with the second one if there is one, of the next filter.
pub(crate) type Sums = [[i32; 2]; 6];

/// Adds the products of `FILTERS` filters with `EACH` words of each tap, in windows of so many taps.
#[inline(always)]
pub(crate) fn add<const EACH: usize, const FILTERS: usize>(
    window: usize,
    words: &[Cell<i32>],
    w: &[i8],
    sums: &mut Sums,
) {
    if !matches!(window, 2 | 4 | 8) || words.is_empty() || words.len() % (window * EACH) != 0 {
        return;
    }
    if w.len() < words.len() / EACH * FILTERS {
        return;
    }
    let range = words.as_ptr_range();
    let (x, end) = (range.start.cast::<i32>(), range.end.cast::<i32>());
    // SAFETY: words are those of whole windows, at least one, and there are weights for all of them (both compared above).
    unsafe {
        match (EACH, FILTERS, window) {
            (2, 3, 2) => four_by_three::<2>(x, end, w.as_ptr(), sums),
            (2, 3, 4) => four_by_three::<4>(x, end, w.as_ptr(), sums),
            (2, 3, _) => four_by_three::<8>(x, end, w.as_ptr(), sums),
            (2, 2, 2) => four_by_two::<2>(x, end, w.as_ptr(), sums),
            (2, 2, 4) => four_by_two::<4>(x, end, w.as_ptr(), sums),
            (2, 2, _) => four_by_two::<8>(x, end, w.as_ptr(), sums),
            (1, 3, 2) => two_by_three::<2>(x, end, w.as_ptr(), sums),
            (1, 3, 4) => two_by_three::<4>(x, end, w.as_ptr(), sums),
            (1, 3, _) => two_by_three::<8>(x, end, w.as_ptr(), sums),
            (1, 2, 2) => two_by_two::<2>(x, end, w.as_ptr(), sums),
            (1, 2, 4) => two_by_two::<4>(x, end, w.as_ptr(), sums),
            (1, 2, _) => two_by_two::<8>(x, end, w.as_ptr(), sums),
            _ => {}
        }
    }
}

/// The windows: `kiln_first` multiplies the first tap, `kiln_tap` adds those behind it, `kiln_split` parts the fields.
macro_rules! windows {
    () => {
        "
        2:
        kiln_first
        kiln_tap 1
        .if {k} > 2
        kiln_tap 2
        kiln_tap 3
        .endif
        .if {k} > 4
        kiln_tap 4
        kiln_tap 5
        kiln_tap 6
        kiln_tap 7
        .endif
        addi {x}, {x}, {x_step}
        addi {w}, {w}, {w_step}
        kiln_split
        bne {x}, {end}, 2b
        .purgem kiln_first
        .purgem kiln_tap
        .purgem kiln_split
        .purgem kiln_sum
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

/// Four pixels and three filters.
///
/// # Safety
/// From `x` to `end` there are words of whole windows of `K` taps, at least one, and for each tap three weights.
#[inline(never)]
unsafe fn four_by_three<const K: usize>(x: *const i32, end: *const i32, w: *const i8, sums: &mut Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], [mut qd, mut hd], [mut qe, mut he], [mut qf, mut hf]] =
        *sums;
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            "
            .macro kiln_first
            lw {x0}, 0({x})
            lb {u}, 0({w})
            lw {x1}, 4({x})
            mul {a}, {u}, {x0}
            mul {b}, {u}, {x1}
            lb {u}, 1({w})
            mul {c}, {u}, {x0}
            mul {d}, {u}, {x1}
            lb {u}, 2({w})
            mul {e}, {u}, {x0}
            mul {f}, {u}, {x1}
            .endm
            .macro kiln_tap at
            lw {x0}, 8*\\at({x})
            lb {u}, 3*\\at({w})
            lw {x1}, 8*\\at+4({x})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {a}, {a}, {t}
            add {b}, {b}, {u}
            lb {u}, 3*\\at+1({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {c}, {c}, {t}
            add {d}, {d}, {u}
            lb {u}, 3*\\at+2({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {e}, {e}, {t}
            add {f}, {f}, {u}
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
            k = const K, x_step = const 8 * K, w_step = const 3 * K,
            x = inout(reg) x => _, w = inout(reg) w => _, end = in(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc,
            qd = inout(reg) qd, qe = inout(reg) qe, qf = inout(reg) qf,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc,
            hd = inout(reg) hd, he = inout(reg) he, hf = inout(reg) hf,
            options(nostack, readonly),
        );
    }
    *sums = [[qa, ha], [qb, hb], [qc, hc], [qd, hd], [qe, he], [qf, hf]];
}

/// Four pixels and two filters.
///
/// # Safety
/// From `x` to `end` there are words of whole windows of `K` taps, at least one, and for each tap two weights.
#[inline(never)]
unsafe fn four_by_two<const K: usize>(x: *const i32, end: *const i32, w: *const i8, sums: &mut Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], [mut qd, mut hd], e, f] = *sums;
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            "
            .macro kiln_first
            lw {x0}, 0({x})
            lb {u}, 0({w})
            lw {x1}, 4({x})
            mul {a}, {u}, {x0}
            mul {b}, {u}, {x1}
            lb {u}, 1({w})
            mul {c}, {u}, {x0}
            mul {d}, {u}, {x1}
            .endm
            .macro kiln_tap at
            lw {x0}, 8*\\at({x})
            lb {u}, 2*\\at({w})
            lw {x1}, 8*\\at+4({x})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {a}, {a}, {t}
            add {b}, {b}, {u}
            lb {u}, 2*\\at+1({w})
            mul {t}, {u}, {x0}
            mul {u}, {u}, {x1}
            add {c}, {c}, {t}
            add {d}, {d}, {u}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            kiln_sum {d}, {qd}, {hd}
            .endm
            ",
            windows!(),
            k = const K, x_step = const 8 * K, w_step = const 2 * K,
            x = inout(reg) x => _, w = inout(reg) w => _, end = in(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc, qd = inout(reg) qd,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc, hd = inout(reg) hd,
            options(nostack, readonly),
        );
    }
    *sums = [[qa, ha], [qb, hb], [qc, hc], [qd, hd], e, f];
}

/// Two pixels and three filters.
///
/// # Safety
/// From `x` to `end` there are words of whole windows of `K` taps, at least one, and for each tap three weights.
#[inline(never)]
unsafe fn two_by_three<const K: usize>(x: *const i32, end: *const i32, w: *const i8, sums: &mut Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], [mut qc, mut hc], d, e, f] = *sums;
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            "
            .macro kiln_first
            lw {x0}, 0({x})
            lb {a}, 0({w})
            lb {b}, 1({w})
            lb {c}, 2({w})
            mul {a}, {a}, {x0}
            mul {b}, {b}, {x0}
            mul {c}, {c}, {x0}
            .endm
            .macro kiln_tap at
            lw {x0}, 4*\\at({x})
            lb {t}, 3*\\at({w})
            lb {u}, 3*\\at+1({w})
            lb {v}, 3*\\at+2({w})
            mul {t}, {t}, {x0}
            mul {u}, {u}, {x0}
            mul {v}, {v}, {x0}
            add {a}, {a}, {t}
            add {b}, {b}, {u}
            add {c}, {c}, {v}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            kiln_sum {c}, {qc}, {hc}
            .endm
            ",
            windows!(),
            k = const K, x_step = const 4 * K, w_step = const 3 * K,
            x = inout(reg) x => _, w = inout(reg) w => _, end = in(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, t = out(reg) _, u = out(reg) _, v = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, qc = inout(reg) qc,
            ha = inout(reg) ha, hb = inout(reg) hb, hc = inout(reg) hc,
            options(nostack, readonly),
        );
    }
    *sums = [[qa, ha], [qb, hb], [qc, hc], d, e, f];
}

/// Two pixels and two filters.
///
/// # Safety
/// From `x` to `end` there are words of whole windows of `K` taps, at least one, and for each tap two weights.
#[inline(never)]
unsafe fn two_by_two<const K: usize>(x: *const i32, end: *const i32, w: *const i8, sums: &mut Sums) {
    let [[mut qa, mut ha], [mut qb, mut hb], c, d, e, f] = *sums;
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            define_sum!(),
            "
            .macro kiln_first
            lw {x0}, 0({x})
            lb {a}, 0({w})
            lb {b}, 1({w})
            mul {a}, {a}, {x0}
            mul {b}, {b}, {x0}
            .endm
            .macro kiln_tap at
            lw {x0}, 4*\\at({x})
            lb {t}, 2*\\at({w})
            lb {u}, 2*\\at+1({w})
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
            k = const K, x_step = const 4 * K, w_step = const 2 * K,
            x = inout(reg) x => _, w = inout(reg) w => _, end = in(reg) end, half = in(reg) 1 << 15,
            x0 = out(reg) _, t = out(reg) _, u = out(reg) _, a = out(reg) _, b = out(reg) _,
            qa = inout(reg) qa, qb = inout(reg) qb, ha = inout(reg) ha, hb = inout(reg) hb,
            options(nostack, readonly),
        );
    }
    *sums = [[qa, ha], [qb, hb], c, d, e, f];
}
