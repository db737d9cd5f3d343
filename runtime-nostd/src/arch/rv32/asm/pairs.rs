//! Tiles of two pixels in assembly.

use crate::arch::rv32::windows::Windows;
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
            (1, 3) => two_by_three(x, w, sums),
            (1, 2) => two_by_two(x, w, sums),
            _ => return sums,
        }
    };
    tiles.skip((end as usize).wrapping_sub(w as usize).wrapping_add(1));
    sums
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
            tile_windows!(),
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
            tile_windows!(),
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
