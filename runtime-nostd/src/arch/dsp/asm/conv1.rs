//! Two products of 16-bit elements at a time, in assembly.

use core::cell::Cell;

/// Adds the products of four channels in each of so many rows, at least one, with four weights for each.
///
/// # Safety
///
/// In each of the rows, `channels` elements apart, four elements are readable, and four weights for each.
#[inline(always)]
pub(crate) unsafe fn rows_of_pairs(
    x: *const Cell<i16>,
    channels: usize,
    w: *const i16,
    rows: usize,
    sums: [i32; 4],
) -> [i32; 4] {
    let [mut a, mut b, mut c, mut d] = sums;
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            size!("128"),
            "lsrs {n}, {n}, #1",
            "bcc 2f",
            "ldr {p}, [{x}]",
            "ldr {q}, [{x}, #4]",
            "ldr {u}, [{w}], #8",
            "ldr {v}, [{w}, #-4]",
            "add {x}, {row}",
            "smlabb {a}, {p}, {u}, {a}",
            "smlatt {b}, {p}, {u}, {b}",
            "smlabb {c}, {q}, {v}, {c}",
            "smlatt {d}, {q}, {v}, {d}",
            "cmp {n}, #0",
            "2:",
            "beq 4f",
            "3:",
            ".rept 2",
            "ldr {p}, [{x}]",
            "ldr {q}, [{x}, #4]",
            "ldr {u}, [{w}], #8",
            "ldr {v}, [{w}, #-4]",
            "add {x}, {row}",
            "smlabb {a}, {p}, {u}, {a}",
            "smlatt {b}, {p}, {u}, {b}",
            "smlabb {c}, {q}, {v}, {c}",
            "smlatt {d}, {q}, {v}, {d}",
            ".endr",
            "subs {n}, {n}, #1",
            "bne 3b",
            "4:",
            x = inout(reg) x => _,
            w = inout(reg) w => _,
            n = inout(reg) rows => _,
            row = in(reg) 2 * channels,
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
            p = out(reg) _, q = out(reg) _, u = out(reg) _, v = out(reg) _,
            options(nostack, readonly),
        );
    }
    [a, b, c, d]
}
