//! Products of frequencies of tiles of 4 × 4 results, and results of their sums, in assembly.
//!
//! A result takes about 32 instructions: three and three quarters loads and stores, nine for its sum, what [`NINTH`] is for, and six to make it a byte.

use super::winograd::{products_of, State};
use crate::arch::rv32::upper::UpperRequant;
use crate::arch::winograd::{Sums, NINTH};
use core::arch::asm;

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for four tiles.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says.
    unsafe { products_of::<36>(v, u, pairs, m) }
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for four tiles.
#[inline(always)]
pub(crate) fn finish(q: &UpperRequant<'_>, sums: &Sums<'_, 64>) -> Option<()> {
    let mut state = State::new::<4, 64>(q, sums)?;
    // SAFETY: there are sums of four tiles, as many filters as there are constants of, and pixels of all tiles that have channels of these filters.
    unsafe {
        match q.is_own() {
            true => own(&mut state),
            false => common(&mut state),
        }
    }
    Some(())
}

/// A function whose channels have so many bytes of constants. `$constants` reads those that are not common to them.
///
/// Columns of six sums come first: four take their place. Sums of columns and of rows are divided by two as often as they can be: not at all, once, twice and twice.
/// The last pixel comes first: what pixels that there are not have written there is overwritten.
macro_rules! results {
    ($name:ident, $more:expr, $bytes:literal, $constants:literal) => {
        /// # Safety
        /// What the state names is there, for one filter or more.
        #[inline(never)]
        unsafe fn $name(state: &mut State) {
            // SAFETY: as the caller says. Every register is declared.
            unsafe {
                asm!(
                    define_result!("x", "limit", "constant", "multiplier", "spread", "shift", $more),
                    "
                    .macro kiln_four at, step
                    lw {b}, \\at + \\step({m})
                    lw {c}, \\at + 2*\\step({m})
                    lw {d}, \\at + 3*\\step({m})
                    lw {e}, \\at + 4*\\step({m})
                    lw {a}, \\at({m})
                    lw {f}, \\at + 5*\\step({m})
                    add {t}, {b}, {c}
                    sub {b}, {b}, {c}
                    add {c}, {d}, {e}
                    sub {d}, {d}, {e}
                    add {a}, {a}, {c}
                    sub {c}, {c}, {t}
                    slli {t}, {t}, 2
                    sub {a}, {a}, {t}
                    slli {t}, {b}, 1
                    sub {e}, {d}, {t}
                    slli {d}, {d}, 1
                    sub {f}, {f}, {b}
                    add {f}, {f}, {d}
                    .endm
                    .macro kiln_column at
                    kiln_four \\at, 384
                    sw {a}, \\at({m})
                    sw {e}, \\at + 384({m})
                    sw {c}, \\at + 768({m})
                    sw {f}, \\at + 1152({m})
                    .endm
                    .macro kiln_pixel v, at, by
                    mul \\v, \\v, {ninth}
                    lw {b}, \\at({pixels})
                    srai \\v, \\v, \\by
                    add \\v, \\v, {first}
                    add {b}, {b}, {filter}
                    kiln_result \\v, 0, {b}
                    .endm
                    .macro kiln_row row, halved
                    kiln_four 384*\\row - 1024, 64
                    kiln_pixel {f}, 16*\\row + 12, 4-\\halved
                    kiln_pixel {c}, 16*\\row + 8, 4-\\halved
                    kiln_pixel {e}, 16*\\row + 4, 5-\\halved
                    kiln_pixel {a}, 16*\\row, 6-\\halved
                    .endm
                    ",
                    first_filter!($constants),
                    "
                    // In reach of loads.
                    addi {m}, {m}, 1024
                    addi {end}, {end}, 1024
                    3:
                    kiln_column -1024
                    kiln_column -1024 + 64
                    kiln_column -1024 + 128
                    kiln_column -1024 + 192
                    kiln_column -1024 + 256
                    kiln_column -1024 + 320
                    kiln_row 3, 2
                    kiln_row 2, 2
                    kiln_row 1, 1
                    kiln_row 0, 0
                    addi {m}, {m}, -16
                    addi {pixels}, {pixels}, -64
                    bne {m}, {end}, 3b
                    lw {t}, 16({x})
                    addi {m}, {m}, 68 - 1024
                    addi {pixels}, {pixels}, 256
                    sw {m}, 0({x})
                    addi {filter}, {filter}, 1
                    addi {t}, {t}, -1
                    sw {t}, 16({x})
                    bnez {t}, 2b
                    .purgem kiln_result
                    .purgem kiln_four
                    .purgem kiln_column
                    .purgem kiln_row
                    .purgem kiln_pixel
                    ",
                    bytes = const $bytes,
                    x = inout(reg) state => _,
                    ninth = in(reg) NINTH,
                    m = out(reg) _, pixels = out(reg) _, filter = out(reg) _, end = out(reg) _,
                    first = out(reg) _, limit = out(reg) _, constant = out(reg) _, multiplier = out(reg) _,
                    spread = out(reg) _, shift = out(reg) _, origin = out(reg) _, difference = out(reg) _,
                    a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _, f = out(reg) _,
                    t = out(reg) _,
                )
            }
        }
    };
}

both_results!(results);
