//! Tiles of two pixels in assembly.
//!
//! A window of `n` taps and three filters takes 10·n + 22 instructions for 6·n products. The constants of channels may be common or their own: one code serves both, so that it is small.

use super::State;
use crate::arch::rv32::conv::{run_by_tiles, Blocks};
use crate::arch::rv32::operand::Run;
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::rv32::windows::Windows;
use core::cell::Cell;

/// The tiles of a layer.
pub(crate) struct Pairs<'a>(State<'a>);

impl<'a> Blocks<'a, 2> for Pairs<'a> {
    #[inline(always)]
    fn new(tiles: Windows<'a>, words: &'a [Cell<i32>], q: &'a UpperRequant<'a>) -> Option<Self> {
        State::new(&tiles, words, 1, q).map(Pairs)
    }

    #[inline(always)]
    fn run(&mut self, run: Run<'_, '_, 2>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()> {
        run_by_tiles(self, run, work, out)
    }

    // A call for both ways to its operands.
    #[inline(never)]
    fn finish(&mut self, out: &[&[Cell<i8>]; 2]) -> Option<()> {
        let state = &mut self.0;
        state.begin(out)?;
        // SAFETY: there are words for all taps and constants of all filters (`State::new`), and results of two pixels (`State::begin`). `Windows` has proven its bytes.
        unsafe {
            if state.channel != state.behind[0] {
                three(state);
            }
            if state.channel != state.behind[1] {
                two(state);
            }
        }
        Some(())
    }
}

/// The loop over tiles. `kiln_first` sets the accumulators to first values, the constants of whose channels begin at `t`; `kiln_epilogue` writes the results. So many bytes are the code of a tap, and so many behind the state is the end of the constants.
macro_rules! all_tiles {
    ($tap:literal, $behind:literal) => {
        concat!(
            "
            .macro kiln_begin q, h
            lw \\h, 0({t})
            slli \\q, \\h, 16
            add \\q, \\q, \\h
            .endm
            .macro kiln_results at, q, h
            lw {a}, 4({k})
            lw {b}, 8({k})
            lw {c}, 12({k})
            addi {t}, {bytes}, -16
            beqz {t}, 6f
            lw {base}, 16({k})
            lw {v}, 20({k})
            lw {x0}, 24({k})
            lw {u}, 28({k})
            sub {v}, {v}, {b}
            6:
            add {k}, {k}, {bytes}
            slli {t}, \\h, 16
            sub \\q, \\q, {t}
            kiln_result \\q, \\at, {y0}
            kiln_result \\h, \\at, {y1}
            .endm
            ",
            define_result!("s", "a", "b", "c", "x0", "u", below_origin!("base", "v")),
            "
            1:
            mv {t}, {k}
            kiln_first
            lui {half}, 8
            lw {x}, 0({s})
            ",
            define_sum!(),
            define_short_add!(),
            tile_windows!("lla {base}, 3f", $tap),
            "
            addi {w}, {w}, 1
            lw {x0}, 36({s})
            lw {u}, 40({s})
            lui {base}, 0x80000
            kiln_epilogue
            lw {t}, ",
            $behind,
            "({s})
            bne {k}, {t}, 1b
            .purgem kiln_first
            .purgem kiln_epilogue
            .purgem kiln_result
            .purgem kiln_results
            .purgem kiln_begin
            "
        )
    };
}

/// Tiles of three filters.
///
/// # Safety
/// What the state names is there, for all tiles.
#[inline(never)]
unsafe fn three(state: &mut State<'_>) {
    let State { mut w, mut channel, y: mut y0, bytes, .. } = *state;
    let y1 = y0.wrapping_add(state.apart[0]);
    // SAFETY: as the caller says. A jump goes to the code of 1 to 8 taps.
    unsafe {
        core::arch::asm!(
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
            .macro kiln_first
            kiln_begin {qa}, {ha}
            add {t}, {t}, {bytes}
            kiln_begin {qb}, {hb}
            add {t}, {t}, {bytes}
            kiln_begin {qc}, {hc}
            .endm
            .macro kiln_epilogue
            kiln_results 0, {qa}, {ha}
            kiln_results 1, {qb}, {hb}
            kiln_results 2, {qc}, {hc}
            addi {y0}, {y0}, 3
            addi {y1}, {y1}, 3
            .endm
            ",
            all_tiles!("36", "48"),
            s = in(reg) &mut *state, w = inout(reg) w, k = inout(reg) channel, y0 = inout(reg) y0, y1 = inout(reg) y1 => _,
            bytes = in(reg) bytes, half = out(reg) _, x = out(reg) _, x0 = out(reg) _, u = out(reg) _, t = out(reg) _, v = out(reg) _,
            base = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _,
            qa = out(reg) _, qb = out(reg) _, qc = out(reg) _, ha = out(reg) _, hb = out(reg) _, hc = out(reg) _,
            options(nostack),
        );
    }
    (state.w, state.channel, state.y) = (w, channel, y0);
}

/// Tiles of two filters.
///
/// # Safety
/// What the state names is there, for all tiles.
#[inline(never)]
unsafe fn two(state: &mut State<'_>) {
    let State { mut w, mut channel, y: mut y0, bytes, .. } = *state;
    let y1 = y0.wrapping_add(state.apart[0]);
    // SAFETY: as the caller says. A jump goes to the code of 1 to 8 taps.
    unsafe {
        core::arch::asm!(
            "
            .macro kiln_next
            srli {u}, {u}, 1
            add {x}, {x}, {u}
            slli {t}, {u}, 1
            slli {u}, {u}, 2
            add {u}, {u}, {t}
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
            kiln_short_add {a}, {t}
            kiln_short_add {b}, {u}
            .endm
            .macro kiln_split
            kiln_sum {a}, {qa}, {ha}
            kiln_sum {b}, {qb}, {hb}
            .endm
            .macro kiln_first
            kiln_begin {qa}, {ha}
            add {t}, {t}, {bytes}
            kiln_begin {qb}, {hb}
            .endm
            .macro kiln_epilogue
            kiln_results 0, {qa}, {ha}
            kiln_results 1, {qb}, {hb}
            addi {y0}, {y0}, 2
            addi {y1}, {y1}, 2
            .endm
            ",
            all_tiles!("24", "52"),
            s = in(reg) &mut *state, w = inout(reg) w, k = inout(reg) channel, y0 = inout(reg) y0, y1 = inout(reg) y1 => _,
            bytes = in(reg) bytes, half = out(reg) _, x = out(reg) _, x0 = out(reg) _, u = out(reg) _, t = out(reg) _, v = out(reg) _,
            base = out(reg) _, a = out(reg) _, b = out(reg) _, c = out(reg) _,
            qa = out(reg) _, qb = out(reg) _, ha = out(reg) _, hb = out(reg) _,
            options(nostack),
        );
    }
    (state.w, state.channel, state.y) = (w, channel, y0);
}
