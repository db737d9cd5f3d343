//! Products of frequencies in assembly.
//!
//! A channel of four tiles and four filters takes eight loads, 16 `MUL` and 16 additions: 2.5 instructions per product.

use core::arch::asm;

/// Assembly: a channel of four filters, in the half of its pair that is `kiln_half` bytes behind, by the macro for a filter.
#[rustfmt::skip]
macro_rules! channel {
    ($filter:literal) => {
        concat!(
            "lh {v0}, kiln_half({v})\n",
            "lh {v1}, kiln_half + 4({v})\n",
            "lh {v2}, kiln_half + 8({v})\n",
            "lh {v3}, kiln_half + 12({v})\n",
            $filter, " 0, {a0}, {a1}, {a2}, {a3}\n",
            $filter, " 4, {b0}, {b1}, {b2}, {b3}\n",
            $filter, " 8, {c0}, {c1}, {c2}, {c3}\n",
            $filter, " 12, {d0}, {d1}, {d2}, {d3}\n",
        )
    };
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for four tiles.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says. Every register is declared; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "
            .macro kiln_filter at, p, q, r, s
            lh {w}, kiln_half + \\at({u})
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
            addi {t}, {m}, 1024
            sw {t}, 4(sp)
            2:
            lw {end}, 0(sp)
            add {end}, {end}, {v}
            .set kiln_half, 0
            ",
            channel!("kiln_first"),
            "
            .set kiln_half, 2
            ",
            channel!("kiln_filter"),
            "
            addi {v}, {v}, 256
            addi {u}, {u}, 16
            beq {v}, {end}, 4f
            3:
            .set kiln_half, 0
            ",
            channel!("kiln_filter"),
            "
            .set kiln_half, 2
            ",
            channel!("kiln_filter"),
            "
            addi {v}, {v}, 256
            addi {u}, {u}, 16
            bne {v}, {end}, 3b
            4:
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
            v = inout(reg) v => _, u = inout(reg) u => _, m = inout(reg) m => _, end = inout(reg) 256 * pairs => _,
            v0 = out(reg) _, v1 = out(reg) _, v2 = out(reg) _, v3 = out(reg) _, w = out(reg) _, t = out(reg) _,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, a3 = out(reg) _,
            b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, b3 = out(reg) _,
            c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _, c3 = out(reg) _,
            d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, d3 = out(reg) _,
        )
    }
}
