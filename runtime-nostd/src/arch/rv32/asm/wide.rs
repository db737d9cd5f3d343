//! Four channels or filters at a time in assembly.

use crate::arch::extent::product;
use crate::arch::portable::sum::LANES;
use crate::arch::rv32::wide::{Factor, Window};
use core::cell::Cell;

/// `kiln_rescaled`: the sum `v` and bias number `i` as a result ([`Factor::result`]), in 17 instructions.
macro_rules! define_rescaled {
    ($store:literal, $size:literal) => {
        concat!(
            "
            .macro kiln_rescaled v, i
            lw {wa}, 4*\\i({bias})
            add \\v, \\v, {wa}
            sll \\v, \\v, {left}
            mul {wa}, \\v, {twice}
            mulhsu \\v, \\v, {twice}
            srli {wa}, {wa}, 31
            add \\v, \\v, {wa}
            srli {wa}, \\v, 31
            and {wa}, {wa}, {last}
            sub \\v, \\v, {wa}
            sra \\v, \\v, {right}
            add \\v, \\v, {last}
            sra \\v, \\v, {last}
            bge \\v, {lo}, 8f
            mv \\v, {lo}
            8:
            bge {hi}, \\v, 9f
            mv \\v, {hi}
            9:
            add \\v, \\v, {zero}
            ",
            $store,
            " \\v, ",
            $size,
            "*\\i({out})
            .endm
            "
        )
    };
}

/// A part of a [`Window`].
#[repr(C)]
struct Part {
    x: *const i16,
    rows: usize,
}

/// Results of the first channels, one of each, as far as they are whole fours: a row of four channels takes 17 instructions. `w` has four weights for each row of the window.
///
/// Nothing where something is missing.
#[inline(never)]
pub(crate) fn fours_of_channels(window: &Window<'_>, w: &[i16], bias: &[i32], by: &Factor, out: &[Cell<i8>]) {
    let results = out.len() / LANES * LANES;
    let fits =
        results <= window.channels && results <= bias.len() && product(results, window.rows()) <= w.len();
    if results == 0 || !fits {
        return;
    }
    let parts = window.parts.map(|(x, rows)| Part { x: x.as_ptr().cast(), rows });
    let out = out.as_ptr();
    // SAFETY: each part has so many rows of all channels. There are channels, biases and results for all fours, and weights for each of them and both parts' rows (compared above).
    unsafe {
        core::arch::asm!(
            define_rescaled!("sb", "1"),
            "
            .macro kiln_row at
            lh {xa}, 0({x})
            lh {wa}, 0+8*\\at({w})
            lh {xb}, 2({x})
            lh {wb}, 2+8*\\at({w})
            mul {xa}, {xa}, {wa}
            mul {xb}, {xb}, {wb}
            lh {wa}, 4+8*\\at({w})
            lh {wb}, 6+8*\\at({w})
            add {a}, {a}, {xa}
            add {b}, {b}, {xb}
            lh {xa}, 4({x})
            lh {xb}, 6({x})
            add {x}, {x}, {step}
            mul {xa}, {xa}, {wa}
            mul {xb}, {xb}, {wb}
            add {c}, {c}, {xa}
            add {d}, {d}, {xb}
            .endm
            2:
            li {a}, 0
            li {b}, 0
            li {c}, 0
            li {d}, 0
            mv {part}, {parts}
            3:
            lw {x}, 0({part})
            lw {rows}, 4({part})
            addi {part}, {part}, 8
            add {x}, {x}, {at}
            srli {turns}, {rows}, 2
            beqz {turns}, 5f
            4:
            .irp at, 0, 1, 2, 3
            kiln_row \\at
            .endr
            addi {w}, {w}, 32
            addi {turns}, {turns}, -1
            bnez {turns}, 4b
            5:
            andi {rows}, {rows}, 3
            beqz {rows}, 7f
            6:
            kiln_row 0
            addi {w}, {w}, 8
            addi {rows}, {rows}, -1
            bnez {rows}, 6b
            7:
            addi {turns}, {parts}, 16
            bne {part}, {turns}, 3b
            kiln_rescaled {a}, 0
            kiln_rescaled {b}, 1
            kiln_rescaled {c}, 2
            kiln_rescaled {d}, 3
            addi {at}, {at}, 8
            addi {bias}, {bias}, 16
            addi {out}, {out}, 4
            bne {out}, {end}, 2b
            .purgem kiln_row
            .purgem kiln_rescaled
            ",
            parts = in(reg) parts.as_ptr(), part = out(reg) _, x = out(reg) _, rows = out(reg) _, turns = out(reg) _,
            step = in(reg) 2 * window.channels, at = inout(reg) 0 => _, w = inout(reg) w.as_ptr() => _,
            bias = inout(reg) bias.as_ptr() => _, out = inout(reg) out => _, end = in(reg) out.wrapping_add(results),
            xa = out(reg) _, xb = out(reg) _, wa = out(reg) _, wb = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            left = in(reg) by.left, twice = in(reg) by.twice, right = in(reg) by.right, last = in(reg) by.last,
            lo = in(reg) by.lo, hi = in(reg) by.hi, zero = in(reg) by.zero_point,
            options(nostack),
        );
    }
}

/// Results of the first filters, as far as they are whole fours: a tap of four filters takes 13 instructions. Filters in `w` alternate by four.
///
/// Nothing where something is missing.
#[inline(never)]
pub(crate) fn fours_of_filters(x: &[Cell<i8>], w: &[i8], bias: &[i32], by: &Factor, out: &[Cell<i16>]) {
    let results = out.len() / LANES * LANES;
    if results == 0 || results > bias.len() || product(results, x.len()) > w.len() {
        return;
    }
    let (first, out) = (x.as_ptr(), out.as_ptr());
    // SAFETY: there are biases and results for all fours, and weights for each of them and each element (compared above).
    unsafe {
        core::arch::asm!(
            define_rescaled!("sh", "2"),
            "
            .macro kiln_tap at
            lb {x0}, \\at({x})
            lb {wa}, 0+4*\\at({w})
            lb {wb}, 1+4*\\at({w})
            lb {wc}, 2+4*\\at({w})
            lb {wd}, 3+4*\\at({w})
            mul {wa}, {wa}, {x0}
            mul {wb}, {wb}, {x0}
            mul {wc}, {wc}, {x0}
            mul {wd}, {wd}, {x0}
            add {a}, {a}, {wa}
            add {b}, {b}, {wb}
            add {c}, {c}, {wc}
            add {d}, {d}, {wd}
            .endm
            2:
            li {a}, 0
            li {b}, 0
            li {c}, 0
            li {d}, 0
            mv {x}, {first}
            beq {x}, {eights}, 4f
            3:
            .irp at, 0, 1, 2, 3, 4, 5, 6, 7
            kiln_tap \\at
            .endr
            addi {x}, {x}, 8
            addi {w}, {w}, 32
            bne {x}, {eights}, 3b
            4:
            beq {x}, {stop}, 6f
            5:
            kiln_tap 0
            addi {x}, {x}, 1
            addi {w}, {w}, 4
            bne {x}, {stop}, 5b
            6:
            kiln_rescaled {a}, 0
            kiln_rescaled {b}, 1
            kiln_rescaled {c}, 2
            kiln_rescaled {d}, 3
            addi {bias}, {bias}, 16
            addi {out}, {out}, 8
            bne {out}, {end}, 2b
            .purgem kiln_tap
            .purgem kiln_rescaled
            ",
            first = in(reg) first, eights = in(reg) first.wrapping_add(x.len() / 8 * 8), stop = in(reg) first.wrapping_add(x.len()),
            x = out(reg) _, w = inout(reg) w.as_ptr() => _,
            bias = inout(reg) bias.as_ptr() => _, out = inout(reg) out => _, end = in(reg) out.wrapping_add(results),
            x0 = out(reg) _, wa = out(reg) _, wb = out(reg) _, wc = out(reg) _, wd = out(reg) _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            left = in(reg) by.left, twice = in(reg) by.twice, right = in(reg) by.right, last = in(reg) by.last,
            lo = in(reg) by.lo, hi = in(reg) by.hi, zero = in(reg) by.zero_point,
            options(nostack),
        );
    }
}
