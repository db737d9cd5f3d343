//! Tiles of four pixels in assembly.
//!
//! A window of `n` taps, two words for each and three filters, takes 17·n + 26 instructions for 12·n products: 1.9 per product in windows of five taps. A tile takes about 130 more,
//! most of them for its twelve results. Accumulators, sums of the window and everything else stay in 26 registers: all that there are.

use super::State;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// Results of all filters for four pixels, some of which may be the same, of two words of operands for each tap. `None` where something is missing.
#[inline(never)]
pub(crate) fn finish(
    tiles: Windows<'_>,
    words: &[Cell<i32>],
    q: &UpperRequant<'_>,
    out: [&[Cell<i8>]; 4],
) -> Option<()> {
    let mut state = State::new(&tiles, words, q, out)?;
    let [threes, twos] = tiles.tiles();
    // SAFETY: there are words for all taps, results of four pixels and constants of all filters (`State::new`). `Windows` has proven its bytes.
    unsafe {
        if threes > 0 {
            state.tiles = threes;
            match q.is_own() {
                true => three_own(&mut state),
                false => three_common(&mut state),
            }
        }
        if twos > 0 {
            state.tiles = twos;
            match q.is_own() {
                true => two_own(&mut state),
                false => two_common(&mut state),
            }
        }
    }
    Some(())
}

/// The loop over tiles. `kiln_first` sets the accumulators to first values, the constants of whose channels `t` points at; `kiln_epilogue` writes the results.
macro_rules! all_tiles {
    () => {
        concat!(
            "
            addi sp, sp, -16
            sw {x}, 0(sp)
            1:
            lw {t}, 24({x})
            kiln_first
            lui {half}, 8
            lw {w}, 4({x})
            lw {x}, 0({x})
            ",
            define_sum!(),
            define_short_add!(),
            tile_windows!(),
            "
            lw {x}, 0(sp)
            addi {w}, {w}, 1
            sw {w}, 4({x})
            lw {a}, 24({x})
            lw {x0}, 8({x})
            lw {x1}, 12({x})
            lw {u}, 16({x})
            lw {base}, 20({x})
            kiln_epilogue
            sw {a}, 24({x})
            kiln_next_results {x0}, 8
            kiln_next_results {x1}, 12
            kiln_next_results {u}, 16
            kiln_next_results {base}, 20
            lw {t}, 28({x})
            addi {t}, {t}, -1
            sw {t}, 28({x})
            bnez {t}, 1b
            addi sp, sp, 16
            .purgem kiln_first
            .purgem kiln_epilogue
            .purgem kiln_next_results
            .purgem kiln_result
            .purgem kiln_results
            .purgem kiln_begin
            "
        )
    };
}

/// `kiln_begin`: the accumulators of a filter, whose constants are so many bytes behind `t`.
macro_rules! define_begin {
    () => {
        "
        .macro kiln_begin bytes, qa, ha, qb, hb
        lw \\ha, \\bytes({t})
        slli \\qa, \\ha, 16
        add \\qa, \\qa, \\ha
        mv \\qb, \\qa
        mv \\hb, \\ha
        .endm
        "
    };
}

/// `kiln_results`: the results of a filter, whose constants begin at `a`; those behind `$more` are read by that.
macro_rules! define_results {
    ($more:literal, $bytes:literal) => {
        concat!(
            "
            .macro kiln_results at, q0, h0, q1, h1
            lw {b}, 4({a})
            lw {c}, 8({a})
            lw {d}, 12({a})
            ",
            $more,
            "
            addi {a}, {a}, ",
            $bytes,
            "
            slli {t}, \\h0, 16
            sub \\q0, \\q0, {t}
            slli {t}, \\h1, 16
            sub \\q1, \\q1, {t}
            kiln_result \\q0, \\at, {x0}
            kiln_result \\h0, \\at, {x1}
            kiln_result \\q1, \\at, {u}
            kiln_result \\h1, \\at, {base}
            .endm
            "
        )
    };
}

/// Constants that are common to the channels.
macro_rules! common {
    () => {
        concat!(define_begin!(), define_result!("x", "b", "c", "d", "e", "f", ""), define_results!("", "16"),)
    };
}

/// Constants of each channel's own: `w` is the origin, `half` by how much the constant below it differs.
macro_rules! own {
    () => {
        concat!(
            define_begin!(),
            define_result!("x", "b", "c", "d", "e", "f", below_origin!("w", "half")),
            define_results!(
                "
                lw {w}, 16({a})
                lw {half}, 20({a})
                lw {e}, 24({a})
                lw {f}, 28({a})
                sub {half}, {half}, {c}
                ",
                "32"
            ),
        )
    };
}

/// Windows of three filters.
macro_rules! three_filters {
    () => {
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
        .macro kiln_next_results y, at
        addi \\y, \\y, 3
        sw \\y, \\at({x})
        .endm
        "
    };
}

/// Windows of two filters.
macro_rules! two_filters {
    () => {
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
        .macro kiln_next_results y, at
        addi \\y, \\y, 2
        sw \\y, \\at({x})
        .endm
        "
    };
}

/// A function for tiles of three filters, whose channels have so many bytes.
macro_rules! three {
    ($name:ident, $form:ident, $second:literal, $third:literal, $shifts:literal) => {
        /// # Safety
        /// What the state names is there, for all tiles.
        #[inline(never)]
        unsafe fn $name(state: &mut State) {
            // SAFETY: as the caller says. A jump goes to the code of 1 to 8 taps. The stack has its pointer back at the end.
            unsafe {
                core::arch::asm!(
                    three_filters!(),
                    $form!(),
                    "
                    .macro kiln_first
                    kiln_begin 0, {qa}, {ha}, {qb}, {hb}
                    ",
                    concat!("kiln_begin ", $second, ", {qc}, {hc}, {qd}, {hd}"),
                    concat!("kiln_begin ", $third, ", {qe}, {he}, {qf}, {hf}"),
                    "
                    .endm
                    .macro kiln_epilogue
                    ",
                    $shifts,
                    "
                    kiln_results 0, {qa}, {ha}, {qb}, {hb}
                    kiln_results 1, {qc}, {hc}, {qd}, {hd}
                    kiln_results 2, {qe}, {he}, {qf}, {hf}
                    .endm
                    ",
                    all_tiles!(),
                    tap = const 64,
                    x = inout(reg) state => _, w = out(reg) _, half = out(reg) _,
                    x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _,
                    a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
                    qa = out(reg) _, qb = out(reg) _, qc = out(reg) _, qd = out(reg) _, qe = out(reg) _, qf = out(reg) _,
                    ha = out(reg) _, hb = out(reg) _, hc = out(reg) _, hd = out(reg) _, he = out(reg) _, hf = out(reg) _,
                );
            }
        }
    };
}

/// A function for tiles of two filters.
macro_rules! two {
    ($name:ident, $form:ident, $second:literal, $shifts:literal) => {
        /// # Safety
        /// What the state names is there, for all tiles.
        #[inline(never)]
        unsafe fn $name(state: &mut State) {
            // SAFETY: as the caller says. A jump goes to the code of 1 to 8 taps. The stack has its pointer back at the end.
            unsafe {
                core::arch::asm!(
                    two_filters!(),
                    $form!(),
                    "
                    .macro kiln_first
                    kiln_begin 0, {qa}, {ha}, {qb}, {hb}
                    ",
                    concat!("kiln_begin ", $second, ", {qc}, {hc}, {qd}, {hd}"),
                    "
                    .endm
                    .macro kiln_epilogue
                    ",
                    $shifts,
                    "
                    kiln_results 0, {qa}, {ha}, {qb}, {hb}
                    kiln_results 1, {qc}, {hc}, {qd}, {hd}
                    .endm
                    ",
                    all_tiles!(),
                    tap = const 40,
                    x = inout(reg) state => _, w = out(reg) _, half = out(reg) _,
                    x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _,
                    a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
                    qa = out(reg) _, qb = out(reg) _, qc = out(reg) _, qd = out(reg) _,
                    ha = out(reg) _, hb = out(reg) _, hc = out(reg) _, hd = out(reg) _,
                );
            }
        }
    };
}

three!(three_common, common, "16", "32", "lw {e}, 36({x})\n lw {f}, 40({x})");
three!(three_own, own, "32", "64", "");
two!(two_common, common, "16", "lw {e}, 36({x})\n lw {f}, 40({x})");
two!(two_own, own, "32", "");
