//! Tiles of four pixels in assembly.
//!
//! A window of `n` taps, two words for each and three filters, takes 17·n + 24 instructions for 12·n products: 1.8 per product in windows of five taps. By the smaller code it takes two more. A tile takes about 140 more,
//! or 170 by the smaller code, most of them for its twelve results. Accumulators, sums of the window and everything else stay in 27 registers.

use super::State;
use crate::arch::rv32::conv::{run_by_tiles, Blocks};
use crate::arch::rv32::operand::Run;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// The tiles of a layer, by the faster code.
pub(crate) struct Quads<'a>(State<'a>);

/// The same by the smaller code.
pub(crate) struct SmallQuads<'a>(State<'a>);

macro_rules! blocks {
    ($tiles:ident, $all:ident, $run:expr) => {
        impl<'a> Blocks<'a, 4> for $tiles<'a> {
            #[inline(always)]
            fn new(tiles: Windows<'a>, words: &'a [Cell<i32>], q: &'a UpperRequant<'a>) -> Option<Self> {
                State::new(&tiles, words, 2, q).map($tiles)
            }

            #[inline(always)]
            fn run(&mut self, run: Run<'_, '_, 4>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()> {
                $run(self, run, work, out)
            }

            #[inline(always)]
            fn finish(&mut self, out: &[&[Cell<i8>]; 4]) -> Option<()> {
                self.0.begin(out)?;
                // SAFETY: there are words for all taps and constants of all filters (`State::new`), and results of four pixels (`State::begin`). `Windows` has proven its bytes.
                unsafe { $all(&mut self.0) };
                Some(())
            }
        }
    };
}

blocks!(Quads, fast, Quads::at_once);
blocks!(SmallQuads, small, run_by_tiles);

impl Quads<'_> {
    /// As [`run_by_tiles`], with a block that gathers their operands, too.
    #[inline(always)]
    fn at_once(&mut self, run: Run<'_, '_, 4>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()> {
        self.0.begin_run(&run, work, out)?;
        // SAFETY: there are words for all taps and constants of all filters (`State::new`), and elements and results of all tiles (`State::begin_run`). `Windows` has proven its bytes.
        unsafe { fast(&mut self.0) };
        Some(())
    }
}

/// The loop over tiles of as many filters as `kiln_first` sets the accumulators of, to the first values of channels whose constants begin at `a`. `kiln_epilogue` writes the results. So many bytes behind the state is the end of these constants, and so many are the code of a tap.
macro_rules! loop_over_tiles {
    ($count:literal, $windows:expr) => {
        concat!(
            "lw {t}, ",
            $count,
            "({x})
            lw {a}, 24({x})
            beq {a}, {t}, 12f
            lla {base}, 3f
            1:
            lw {t}, 44({x})
            kiln_first
            lw {x}, 0({x})
            ",
            define_sum!(),
            define_short_add!(),
            $windows,
            "
            lw {x}, 0(sp)
            addi {w}, {w}, 1
            lw {a}, 24({x})
            lw {x0}, 8({x})
            lw {x1}, 12({x})
            lw {u}, 16({x})
            lw {y}, 20({x})
            add {x1}, {x1}, {x0}
            add {u}, {u}, {x0}
            add {y}, {y}, {x0}
            kiln_epilogue
            lw {t}, ",
            $count,
            "({x})
            sw {x0}, 8({x})
            sw {a}, 24({x})
            bne {a}, {t}, 1b
            12:
            .purgem kiln_first
            .purgem kiln_common
            .purgem kiln_calls
            "
        )
    };
}

/// The windows of a tile of three filters, with code of their own for each number of taps: two instructions less for each window than with [`tile_windows`]. At `base`, eight bytes for each number of taps move `x` behind
/// the window and jump to its code; the first eight are the end of the tile.
macro_rules! windows_by_length {
    () => {
        concat!(
            "
        .option push
        .option norvc
        .macro kiln_weights q, h
        mul {t}, {u}, {x0}
        mul {u}, {u}, {x1}
        add \\q, \\q, {t}
        add \\h, \\h, {u}
        .endm
        .macro kiln_window taps
        .set kiln_left, \\taps
        .set kiln_at, 2
        lw {x0}, -8*kiln_left({x})
        lb {u}, kiln_at({w})
        lw {x1}, 4-8*kiln_left({x})
        mul {a}, {u}, {x0}
        mul {b}, {u}, {x1}
        lb {u}, kiln_at+1({w})
        mul {c}, {u}, {x0}
        mul {d}, {u}, {x1}
        lb {u}, kiln_at+2({w})
        mul {e}, {u}, {x0}
        mul {f}, {u}, {x1}
        .rept \\taps-1
        .set kiln_left, kiln_left-1
        .set kiln_at, kiln_at+3
        lw {x0}, -8*kiln_left({x})
        lb {u}, kiln_at({w})
        lw {x1}, 4-8*kiln_left({x})
        kiln_weights {a}, {b}
        lb {u}, kiln_at+1({w})
        kiln_weights {c}, {d}
        lb {u}, kiln_at+2({w})
        kiln_weights {e}, {f}
        .endr
        addi {w}, {w}, 2+3*\\taps
        kiln_split
        kiln_jump
        .endm
        .macro kiln_jump
        lbu {u}, 0({w})
        add {t}, {base}, {u}
        jr {t}
        .endm
        kiln_jump
        3:
        j 4f
        nop
        .irp taps, 1, 2, 3, 4, 5, 6, 7, 8
        addi {x}, {x}, 8*\\taps
        j 4\\taps\\()f
        .endr
        .option rvc
        .irp taps, 1, 2, 3, 4, 5, 6, 7, 8
        4\\taps:
        kiln_window \\taps
        .endr
        4:
        .option pop
        .purgem kiln_weights
        .purgem kiln_window
        .purgem kiln_jump
        ",
            purge_windows!(),
        )
    };
}

/// Writes the words of the next tile of pixels, where there are rows to read them from. Goes on to the elements of the tile behind it.
macro_rules! gather {
    () => {
        "
        lw {half}, 72({x})
        beqz {half}, 16f
        lw {w}, 0({x})
        lw {qa}, 76({x})
        lw {qb}, 80({x})
        lw {qc}, 84({x})
        addi {base}, {x}, 92
        slli {half}, {half}, 2
        add {half}, {half}, {base}
        2:
        lw {a}, 0({base})
        beqz {a}, 6f
        add {t}, {a}, {qc}
        sw {t}, 0({base})
        add {b}, {a}, {qb}
        add {c}, {b}, {qb}
        add {d}, {c}, {qb}
        andi {e}, {qa}, -4
        add {e}, {e}, {a}
        add {f}, {a}, {qa}
        beq {a}, {e}, 4f
        3:
        .irp at, 0, 1, 2, 3
        kiln_words \\at
        .endr
        addi {a}, {a}, 4
        addi {b}, {b}, 4
        addi {c}, {c}, 4
        addi {d}, {d}, 4
        addi {w}, {w}, 32
        bne {a}, {e}, 3b
        4:
        beq {a}, {f}, 7f
        5:
        kiln_words 0
        addi {a}, {a}, 1
        addi {b}, {b}, 1
        addi {c}, {c}, 1
        addi {d}, {d}, 1
        addi {w}, {w}, 8
        bne {a}, {f}, 5b
        j 7f
        6:
        slli {t}, {qa}, 3
        add {w}, {w}, {t}
        7:
        addi {base}, {base}, 4
        bne {base}, {half}, 2b
        16:
        "
    };
}

/// `kiln_words`: both words of a tap, whose elements are so many bytes behind `a` to `d`.
macro_rules! define_words {
    () => {
        "
        .macro kiln_words at
        lb {t}, \\at({b})
        lb {u}, \\at({a})
        lb {x0}, \\at({d})
        lb {x1}, \\at({c})
        slli {t}, {t}, 16
        slli {x0}, {x0}, 16
        add {t}, {t}, {u}
        add {x0}, {x0}, {x1}
        sw {t}, 8*\\at({w})
        sw {x0}, 4+8*\\at({w})
        .endm
        "
    };
}

/// `kiln_begin`: the accumulators of a filter, whose constants `a` points at.
macro_rules! define_begin {
    () => {
        "
        .macro kiln_begin qa, ha, qb, hb
        lw \\ha, 0({a})
        slli \\qa, \\ha, 16
        add \\qa, \\qa, \\ha
        mv \\qb, \\qa
        mv \\hb, \\ha
        .endm
        "
    };
}

/// `kiln_results`: the results of a filter, whose constants begin at `a`, so many bytes behind the places of the next results. What is behind the third constant is read by `$more`, which also moves `a` to the next filter.
macro_rules! define_results {
    ($more:expr) => {
        concat!(
            "
            .macro kiln_results at, q0, h0, q1, h1
            lw {b}, 4+16*\\at({a})
            lw {c}, 8+16*\\at({a})
            lw {d}, 12+16*\\at({a})
            ",
            $more,
            "
            slli {t}, \\h0, 16
            sub \\q0, \\q0, {t}
            slli {t}, \\h1, 16
            sub \\q1, \\q1, {t}
            kiln_result \\q0, \\at, {x0}
            kiln_result \\h0, \\at, {x1}
            kiln_result \\q1, \\at, {u}
            kiln_result \\h1, \\at, {y}
            .endm
            "
        )
    };
}

/// Results with constants that are common to the channels.
macro_rules! common {
    () => {
        concat!(define_result!("x", "b", "c", "d", "e", "f", ""), define_results!(""))
    };
}

/// Constants of a channel's own: `w` is the origin, `half` by how much the constant below it differs.
macro_rules! own {
    () => {
        "
        lw {w}, 16({a})
        lw {half}, 20({a})
        lw {e}, 24({a})
        lw {f}, 28({a})
        sub {half}, {half}, {c}
        "
    };
}

/// A routine that writes the results of the first filter, and returns to `w`. Constants behind the third one are read by `$more`, as by `kiln_results`.
macro_rules! routine {
    ($more:expr) => {
        concat!(
            define_result!("x", "b", "c", "d", "e", "f", below_origin!("w", "half")),
            define_results!($more),
            "
            j 31f
            30:
            sw {w}, 4(sp)
            kiln_results 0, {qa}, {ha}, {qb}, {hb}
            addi {x0}, {x0}, 1
            addi {x1}, {x1}, 1
            addi {u}, {u}, 1
            addi {y}, {y}, 1
            lw {w}, 4(sp)
            jr {w}
            31:
            .purgem kiln_result
            .purgem kiln_results
            ",
        )
    };
}

/// Faster code: results with common constants are written in place.
macro_rules! in_place {
    () => {
        "
        .macro kiln_epilogue
        lw {t}, 28({x})
        bnez {t}, 10f
        lw {e}, 36({x})
        lw {f}, 40({x})
        kiln_common
        j 11f
        10:
        sw {w}, 8(sp)
        kiln_calls
        lw {w}, 8(sp)
        lui {half}, 8
        11:
        .endm
        "
    };
}

/// Smaller code: a routine writes all results.
macro_rules! by_calls {
    () => {
        "
        .macro kiln_epilogue
        sw {w}, 8(sp)
        kiln_calls
        lw {w}, 8(sp)
        lui {half}, 8
        .endm
        "
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
        .macro kiln_first
        kiln_begin {qa}, {ha}, {qb}, {hb}
        add {a}, {a}, {t}
        kiln_begin {qc}, {hc}, {qd}, {hd}
        add {a}, {a}, {t}
        kiln_begin {qe}, {he}, {qf}, {hf}
        .endm
        .macro kiln_common
        kiln_results 0, {qa}, {ha}, {qb}, {hb}
        kiln_results 1, {qc}, {hc}, {qd}, {hd}
        kiln_results 2, {qe}, {he}, {qf}, {hf}
        addi {x0}, {x0}, 3
        addi {a}, {a}, 48
        .endm
        .macro kiln_calls
        jal {w}, 30f
        kiln_move {qc}, {hc}, {qd}, {hd}
        jal {w}, 30f
        kiln_move {qe}, {he}, {qf}, {hf}
        jal {w}, 30f
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
        .macro kiln_first
        kiln_begin {qa}, {ha}, {qb}, {hb}
        add {a}, {a}, {t}
        kiln_begin {qc}, {hc}, {qd}, {hd}
        .endm
        .macro kiln_common
        kiln_results 0, {qa}, {ha}, {qb}, {hb}
        kiln_results 1, {qc}, {hc}, {qd}, {hd}
        addi {x0}, {x0}, 2
        addi {a}, {a}, 32
        .endm
        .macro kiln_calls
        jal {w}, 30f
        kiln_move {qc}, {hc}, {qd}, {hd}
        jal {w}, 30f
        .endm
        "
    };
}

/// The next tile side by side, if there is one.
macro_rules! next {
    () => {
        "
        lw {t}, 68({x})
        addi {t}, {t}, -1
        sw {t}, 68({x})
        beqz {t}, 14f
        lw {u}, 8({x})
        lw {t}, 88({x})
        add {u}, {u}, {t}
        sw {u}, 8({x})
        j 13b
        14:
        "
    };
}

/// A function for all tiles: those of three filters, and those of two behind them. The faster one gathers the operands of tiles side by side, and computes one after the other.
macro_rules! all {
    ($name:ident, $gather:expr, $begin:expr, $windows:expr, $next:expr, $end:expr) => {
        /// # Safety
        /// What the state names is there, for all tiles.
        #[inline(never)]
        unsafe fn $name(state: &mut State<'_>) {
            // SAFETY: as the caller says. A jump goes to the code of 1 to 8 taps. The stack has its pointer back at the end.
            unsafe {
                core::arch::asm!(
                    "
                    addi sp, sp, -16
                    sw {x}, 0(sp)
                    .macro kiln_move q0, h0, q1, h1
                    mv {qa}, \\q0
                    mv {ha}, \\h0
                    mv {qb}, \\q1
                    mv {hb}, \\h1
                    .endm
                    ",
                    define_begin!(),
                    $gather,
                    "
                    lw {w}, 56({x})
                    lw {t}, 60({x})
                    sw {t}, 24({x})
                    lui {half}, 8
                    ",
                    $begin,
                    three_filters!(),
                    loop_over_tiles!("48", $windows),
                    two_filters!(),
                    loop_over_tiles!("52", tile_windows!("", "40")),
                    $next,
                    $end,
                    "
                    addi sp, sp, 16
                    .purgem kiln_move
                    .purgem kiln_begin
                    .purgem kiln_epilogue
                    ",
                    x = inout(reg) state => _, w = out(reg) _, half = out(reg) _,
                    x0 = out(reg) _, x1 = out(reg) _, u = out(reg) _, t = out(reg) _, base = out(reg) _, y = out(reg) _,
                    a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
                    qa = out(reg) _, qb = out(reg) _, qc = out(reg) _, qd = out(reg) _, qe = out(reg) _, qf = out(reg) _,
                    ha = out(reg) _, hb = out(reg) _, hc = out(reg) _, hd = out(reg) _, he = out(reg) _, hf = out(reg) _,
                );
            }
        }
    };
}

all!(
    fast,
    concat!(define_words!(), "\n13:\n", gather!(), "\n.purgem kiln_words\n"),
    concat!(common!(), in_place!()),
    windows_by_length!(),
    next!(),
    concat!(".purgem kiln_result\n .purgem kiln_results\n", routine!(concat!(own!(), "addi {a}, {a}, 32")),)
);
all!(
    small,
    "",
    by_calls!(),
    tile_windows!("", "64"),
    "",
    routine!(concat!(
        "
        lui {w}, 0x80000
        lw {e}, 36({x})
        lw {f}, 40({x})
        lw {t}, 28({x})
        beqz {t}, 10f
        ",
        own!(),
        "
        10:
        lw {t}, 44({x})
        add {a}, {a}, {t}
        "
    ))
);
