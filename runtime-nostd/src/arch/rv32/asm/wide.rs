//! Sums of four channels or filters in assembly.

use crate::arch::rv32::wide::{Window, LANES};
use core::cell::Cell;

/// Sums of the products of four channels from `c` on with `w`, four weights for each row of the window. A row takes 17 instructions.
///
/// # Safety
/// There are so many channels, and as many weights.
#[inline(always)]
pub(crate) unsafe fn channels(window: &Window<'_>, c: usize, w: &[i16]) -> [i32; LANES] {
    let [(first, rows), (second, others)] = window.parts;
    let [mut a, mut b, mut c, mut d, from, next] =
        [0, 0, 0, 0, first.as_ptr().wrapping_add(c) as usize, second.as_ptr().wrapping_add(c) as usize];
    // SAFETY: each part has so many rows of all channels, which are at least `c + 4`. Both together have as many as `w` has fours, as the caller says.
    unsafe {
        core::arch::asm!(
            "
            .macro kiln_row at
            lh {xa}, 0({x})
            lh {wa}, 0+8*\\at({w})
            lh {xb}, 2({x})
            lh {wb}, 2+8*\\at({w})
            lh {xc}, 4({x})
            lh {wc}, 4+8*\\at({w})
            lh {xd}, 6({x})
            lh {wd}, 6+8*\\at({w})
            add {x}, {x}, {step}
            mul {xa}, {xa}, {wa}
            mul {xb}, {xb}, {wb}
            mul {xc}, {xc}, {wc}
            mul {xd}, {xd}, {wd}
            add {a}, {a}, {xa}
            add {b}, {b}, {xb}
            add {c}, {c}, {xc}
            add {d}, {d}, {xd}
            .endm
            2:
            srli {turns}, {rows}, 2
            beqz {turns}, 4f
            3:
            .irp at, 0, 1, 2, 3
            kiln_row \\at
            .endr
            addi {w}, {w}, 32
            addi {turns}, {turns}, -1
            bnez {turns}, 3b
            4:
            andi {rows}, {rows}, 3
            beqz {rows}, 6f
            5:
            kiln_row 0
            addi {w}, {w}, 8
            addi {rows}, {rows}, -1
            bnez {rows}, 5b
            6:
            mv {x}, {next}
            mv {rows}, {others}
            li {others}, 0
            bnez {rows}, 2b
            .purgem kiln_row
            ",
            x = inout(reg) from => _, rows = inout(reg) rows => _, next = in(reg) next, others = inout(reg) others => _,
            step = in(reg) 2 * window.channels, w = inout(reg) w.as_ptr() => _, turns = out(reg) _,
            xa = out(reg) _, xb = out(reg) _, xc = out(reg) _, xd = out(reg) _,
            wa = out(reg) _, wb = out(reg) _, wc = out(reg) _, wd = out(reg) _,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            options(nostack, readonly),
        );
    }
    [a, b, c, d].map(|sum| sum as i32)
}

/// Sums of the products of `x` with four filters that alternate in `w`; nothing where these have another number of weights. A tap takes 13 instructions.
#[inline(always)]
pub(crate) fn filters(x: &[Cell<i8>], w: &[i8]) -> [i32; LANES] {
    let mut sums = [0; LANES];
    if w.len() / LANES != x.len() {
        return sums;
    }
    let [a, b, c, d] = &mut sums;
    // SAFETY: there are four weights for each element, as compared above.
    unsafe {
        core::arch::asm!(
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
            beqz {turns}, 3f
            2:
            .irp at, 0, 1, 2, 3, 4, 5, 6, 7
            kiln_tap \\at
            .endr
            addi {x}, {x}, 8
            addi {w}, {w}, 32
            addi {turns}, {turns}, -1
            bnez {turns}, 2b
            3:
            beqz {left}, 5f
            4:
            kiln_tap 0
            addi {x}, {x}, 1
            addi {w}, {w}, 4
            addi {left}, {left}, -1
            bnez {left}, 4b
            5:
            .purgem kiln_tap
            ",
            x = inout(reg) x.as_ptr() => _, w = inout(reg) w.as_ptr() => _,
            turns = inout(reg) x.len() / 8 => _, left = inout(reg) x.len() % 8 => _,
            x0 = out(reg) _, wa = out(reg) _, wb = out(reg) _, wc = out(reg) _, wd = out(reg) _,
            a = inout(reg) *a, b = inout(reg) *b, c = inout(reg) *c, d = inout(reg) *d,
            options(nostack, readonly),
        );
    }
    sums
}
