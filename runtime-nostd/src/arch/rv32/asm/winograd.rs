//! Products of frequencies, and results of their sums, in assembly.
//!
//! A channel of four tiles and four filters takes eight loads, 16 `MUL` and 16 additions: 2.5 instructions per product. A turn of the loop has four pairs of channels. The first turn begins behind its first pair, which has been multiplied without additions.
//!
//! A result takes 21 instructions: four loads, six additions, half a shift and half an addition of what four results have in common, six to make it a byte.

use crate::arch::rv32::upper::UpperRequant;
use crate::arch::winograd::Sums;
use core::arch::asm;
use core::cell::Cell;

/// Assembly: a channel of four filters, in the half of pair `kiln_pair` that is `kiln_half` bytes behind, by the macro for a filter.
#[rustfmt::skip]
macro_rules! channel {
    ($filter:literal) => {
        concat!(
            "lh {v0}, {bytes}*kiln_pair + kiln_half({v})\n",
            "lh {v1}, {bytes}*kiln_pair + kiln_half + 4({v})\n",
            "lh {v2}, {bytes}*kiln_pair + kiln_half + 8({v})\n",
            "lh {v3}, {bytes}*kiln_pair + kiln_half + 12({v})\n",
            $filter, " 0, {a0}, {a1}, {a2}, {a3}\n",
            $filter, " 4, {b0}, {b1}, {b2}, {b3}\n",
            $filter, " 8, {c0}, {c1}, {c2}, {c3}\n",
            $filter, " 12, {d0}, {d1}, {d2}, {d3}\n",
        )
    };
}

/// Assembly: both channels of a pair.
#[rustfmt::skip]
macro_rules! pair {
    ($pair:literal) => {
        concat!(
            ".set kiln_pair, ", $pair, "\n",
            ".set kiln_half, 0\n",
            channel!("kiln_filter"),
            ".set kiln_half, 2\n",
            channel!("kiln_filter"),
        )
    };
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for four tiles.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says.
    unsafe { products_of::<16>(v, u, pairs, m) }
}

/// As [`products`], for so many frequencies: at most 41, so that those of the fourth pair are in reach of a load.
///
/// # Safety
/// As there.
#[inline(never)]
pub(super) unsafe fn products_of<const FREQUENCIES: usize>(
    v: *const i32,
    u: *const i32,
    pairs: usize,
    m: *mut i32,
) {
    const { assert!(FREQUENCIES % 2 == 0 && 3 * 16 * FREQUENCIES + 14 < 2048) };
    // SAFETY: as the caller says. Every register is declared; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "
            .macro kiln_filter at, p, q, r, s
            lh {w}, 16*kiln_pair + kiln_half + \\at({u})
            mul {t}, {w}, {v0}
            add \\p, \\p, {t}
            mul {t}, {w}, {v1}
            add \\q, \\q, {t}
            mul {t}, {w}, {v2}
            add \\r, \\r, {t}
            mul {w}, {w}, {v3}
            add \\s, \\s, {w}
            .endm
            .macro kiln_first at, p, q, r, s
            lh {w}, \\at({u})
            mul \\p, {w}, {v0}
            mul \\q, {w}, {v1}
            mul \\r, {w}, {v2}
            mul \\s, {w}, {v3}
            .endm
            .macro kiln_store at, p, q, r, s
            sw \\p, \\at({m})
            sw \\q, \\at + 16({m})
            sw \\r, \\at + 32({m})
            sw \\s, \\at + 48({m})
            .endm
            addi sp, sp, -16
            sw {end}, 0(sp)
            addi {t}, {m}, 2*{bytes}
            addi {t}, {t}, 2*{bytes}
            sw {t}, 4(sp)
            2:
            lw {end}, 0(sp)
            add {end}, {end}, {v}
            .set kiln_pair, 0
            .set kiln_half, 0
            ",
            channel!("kiln_first"),
            "
            .set kiln_half, 2
            ",
            channel!("kiln_filter"),
            "
            j 4f
            3:
            ",
            pair!("0"),
            "
            4:
            ",
            pair!("1"),
            pair!("2"),
            pair!("3"),
            "
            .if 4*{bytes} < 2048
            addi {v}, {v}, 4*{bytes}
            .else
            addi {v}, {v}, 2*{bytes}
            addi {v}, {v}, 2*{bytes}
            .endif
            addi {u}, {u}, 64
            bne {v}, {end}, 3b
            kiln_store 0, {a0}, {a1}, {a2}, {a3}
            kiln_store 4, {b0}, {b1}, {b2}, {b3}
            kiln_store 8, {c0}, {c1}, {c2}, {c3}
            kiln_store 12, {d0}, {d1}, {d2}, {d3}
            addi {m}, {m}, 64
            lw {t}, 0(sp)
            sub {v}, {v}, {t}
            addi {v}, {v}, 16
            lw {t}, 4(sp)
            bne {m}, {t}, 2b
            addi sp, sp, 16
            .purgem kiln_filter
            .purgem kiln_first
            .purgem kiln_store
            ",
            v = inout(reg) v => _, u = inout(reg) u => _, m = inout(reg) m => _, end = inout(reg) 16 * FREQUENCIES * pairs => _,
            bytes = const 16 * FREQUENCIES,
            v0 = out(reg) _, v1 = out(reg) _, v2 = out(reg) _, v3 = out(reg) _, w = out(reg) _, t = out(reg) _,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, a3 = out(reg) _,
            b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, b3 = out(reg) _,
            c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _, c3 = out(reg) _,
            d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, d3 = out(reg) _,
        )
    }
}

/// What the code of results reads.
#[repr(C)]
pub(super) struct State {
    /// The sums of the next filter for the last tile.
    m: *const Cell<i32>,
    /// The pixels of the last tile.
    pixels: *const *const Cell<i8>,
    /// The constants of the next filter.
    channel: *const i32,
    filter: usize,
    /// Filters that are left.
    left: usize,
    /// `kiln_result` reads `ends` where the state of other tiles has them.
    reserved: [usize; 3],
    /// Results of sums above and, in the second byte, below all steps.
    ends: u32,
    spread: u32,
    shift: u32,
}

impl State {
    /// For four tiles. There are sums of all of them, one filter or more, as many as there are constants of, and pixels of all tiles that have channels of these filters. `None` where these are missing.
    #[inline(always)]
    pub(super) fn new<const SIDE: usize, const PIXELS: usize>(
        q: &UpperRequant<'_>,
        sums: &Sums<'_, PIXELS>,
    ) -> Option<Self> {
        let (first, filters) = sums.filters::<SIDE>()?;
        let channels = q.channels_from(first, filters)?;
        Some(State {
            m: sums.m.as_ptr().wrapping_add(12),
            pixels: sums.places.pixels.as_ptr().wrapping_add(3 * SIDE * SIDE),
            channel: channels.as_ptr(),
            filter: first,
            left: filters,
            reserved: [0; 3],
            ends: q.ends(),
            spread: q.spread,
            shift: q.shift,
        })
    }
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for four tiles.
#[inline(always)]
pub(crate) fn finish(q: &UpperRequant<'_>, sums: &Sums<'_, 16>) -> Option<()> {
    let mut state = State::new::<2, 16>(q, sums)?;
    // SAFETY: there are sums of four tiles, as many filters as there are constants of, and pixels of all tiles that have channels of these filters (`Sums::filters`).
    unsafe {
        match q.is_own() {
            true => own(&mut state),
            false => common(&mut state),
        }
    }
    Some(())
}

/// Assembly: begins with the first filter of those that the state names, at `2` with the next one. `$constants` reads constants that are not common to all channels.
macro_rules! first_filter {
    ($constants:literal) => {
        concat!(
            "
            lw {filter}, 12({x})
            lw {pixels}, 4({x})
            lw {spread}, 36({x})
            lw {shift}, 40({x})
            2:
            lw {c}, 8({x})
            lw {m}, 0({x})
            lw {first}, 0({c})
            lw {limit}, 4({c})
            lw {constant}, 8({c})
            lw {multiplier}, 12({c})
            ",
            $constants,
            "
            addi {c}, {c}, {bytes}
            sw {c}, 8({x})
            addi {end}, {m}, -64
            "
        )
    };
}

/// Both functions of results: with constants that are common to all channels, and with those of a channel's own.
macro_rules! both_results {
    ($results:ident) => {
        $results!(common, "", 16, "/* {origin} {difference} */");
        $results!(
            own,
            below_origin!("origin", "difference"),
            32,
            "
            lw {origin}, 16({c})
            lw {difference}, 20({c})
            lw {spread}, 24({c})
            lw {shift}, 28({c})
            sub {difference}, {difference}, {constant}
            "
        );
    };
}

/// A function whose channels have so many bytes of constants. `$constants` reads those that are not common to them.
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
                    .macro kiln_column at, p, n
                    lw {b}, 256 + \\at({m})
                    lw {c}, 512 + \\at({m})
                    lw {t}, \\at({m})
                    add \\p, {b}, {c}
                    sub \\n, {b}, {c}
                    add \\p, \\p, {t}
                    lw {t}, 768 + \\at({m})
                    sub \\n, \\n, {t}
                    .endm
                    .macro kiln_row a, b, c, d
                    add \\a, \\a, \\b
                    add \\a, \\a, \\c
                    sub \\b, \\b, \\c
                    sub \\b, \\b, \\d
                    .endm
                    .macro kiln_pixel v, at
                    lw {b}, \\at({pixels})
                    srai \\v, \\v, 2
                    add \\v, \\v, {first}
                    add {b}, {b}, {filter}
                    kiln_result \\v, 0, {b}
                    .endm
                    ",
                    first_filter!($constants),
                    "
                    3:
                    kiln_column 0, {p0}, {n0}
                    kiln_column 64, {p1}, {n1}
                    kiln_column 128, {p2}, {n2}
                    kiln_column 192, {p3}, {n3}
                    kiln_row {p0}, {p1}, {p2}, {p3}
                    kiln_row {n0}, {n1}, {n2}, {n3}
                    kiln_pixel {n1}, 12
                    kiln_pixel {n0}, 8
                    kiln_pixel {p1}, 4
                    kiln_pixel {p0}, 0
                    addi {m}, {m}, -16
                    addi {pixels}, {pixels}, -16
                    bne {m}, {end}, 3b
                    lw {t}, 16({x})
                    addi {m}, {m}, 68
                    addi {pixels}, {pixels}, 64
                    sw {m}, 0({x})
                    addi {filter}, {filter}, 1
                    addi {t}, {t}, -1
                    sw {t}, 16({x})
                    bnez {t}, 2b
                    .purgem kiln_result
                    .purgem kiln_column
                    .purgem kiln_row
                    .purgem kiln_pixel
                    ",
                    bytes = const $bytes,
                    x = inout(reg) state => _,
                    m = out(reg) _, pixels = out(reg) _, filter = out(reg) _, end = out(reg) _,
                    first = out(reg) _, limit = out(reg) _, constant = out(reg) _, multiplier = out(reg) _,
                    spread = out(reg) _, shift = out(reg) _, origin = out(reg) _, difference = out(reg) _,
                    b = out(reg) _, c = out(reg) _, t = out(reg) _,
                    p0 = out(reg) _, p1 = out(reg) _, p2 = out(reg) _, p3 = out(reg) _,
                    n0 = out(reg) _, n1 = out(reg) _, n2 = out(reg) _, n3 = out(reg) _,
                )
            }
        }
    };
}

both_results!(results);
