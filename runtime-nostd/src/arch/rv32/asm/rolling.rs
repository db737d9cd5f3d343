//! Filters of 3 × 3 along rows, in assembly. A pixel takes 34 instructions one column apart, 38 two columns apart, and a channel about 70 for each row.

use crate::arch::extent::product;
use crate::arch::rv32::rolling::{plain, Line};

/// The results.
pub(crate) fn roll(line: &Line<'_>) {
    if !line.is_there() || line.channels == 0 {
        return;
    }
    if line.q.is_signed() {
        return plain(line);
    }
    let Line { rows, q, pad, channels, pixels, .. } = *line;
    // A row of the padding has no weights, and reads another row.
    let Some(any) = rows.into_iter().flatten().next() else { return };
    let [x0, x1, x2] = rows.map(|row| row.unwrap_or(any).as_ptr().cast());
    let padding = |at: usize| u32::from(rows[at].is_none()) << at;
    let mut state = State {
        x0,
        x1,
        x2,
        y: line.out.as_ptr().cast(),
        w: line.w.as_ptr(),
        channel: q.channels.as_ptr(),
        left: channels,
        length: product(pixels - usize::from(line.pads_right), channels),
        step: channels,
        spread: q.spread,
        shift: q.shift,
        ends: u32::from(q.hi as u8) | u32::from(q.lo as u8) << 8,
        pad: pad.into(),
        rows: padding(0) | padding(1) | padding(2),
        pads_left: line.pads_left.into(),
        pads_right: line.pads_right.into(),
    };
    // SAFETY: the operands of all channels are there (`Line::is_there`), and there is at least one channel.
    unsafe {
        if line.stride == 1 {
            one_apart(&mut state);
        } else {
            two_apart(&mut state);
        }
    }
}

/// What the code reads, in this order, and changes from channel to channel.
#[repr(C)]
struct State {
    x0: *const i8,
    x1: *const i8,
    x2: *const i8,
    y: *const i8,
    w: *const i8,
    channel: *const i32,
    /// Channels.
    left: usize,
    /// Bytes of all results that have no padding to the right.
    length: usize,
    /// From one column to the next.
    step: usize,
    spread: u32,
    shift: u32,
    /// Results of sums above and, in the second byte, below all steps.
    ends: u32,
    pad: i32,
    /// A bit for each row that is padding.
    rows: u32,
    pads_left: u32,
    pads_right: u32,
}

/// A channel: its constants, and `sum` with its first column.
macro_rules! begin {
    () => {
        "
        lw {step}, 32({k})
        lw {spread}, 36({k})
        lw {shift}, 40({k})
        1:
        lw {t}, 16({k})
        lb {a0}, 0({t})
        lb {a1}, 1({t})
        lb {a2}, 2({t})
        lb {b0}, 3({t})
        lb {b1}, 4({t})
        lb {b2}, 5({t})
        lb {c0}, 6({t})
        lb {c1}, 7({t})
        lb {c2}, 8({t})
        addi {t}, {t}, 9
        sw {t}, 16({k})
        lw {t}, 20({k})
        lw {first}, 0({t})
        lw {limit}, 4({t})
        lw {constant}, 8({t})
        lw {multiplier}, 12({t})
        addi {t}, {t}, 16
        sw {t}, 20({k})
        lw {x0}, 0({k})
        addi {t}, {x0}, 1
        sw {t}, 0({k})
        lw {x1}, 4({k})
        addi {t}, {x1}, 1
        sw {t}, 4({k})
        lw {x2}, 8({k})
        addi {t}, {x2}, 1
        sw {t}, 8({k})
        lw {y}, 12({k})
        addi {t}, {y}, 1
        sw {t}, 12({k})
        lw {end}, 28({k})
        add {end}, {end}, {y}
        lw {t}, 52({k})
        beqz {t}, 3f
        lw {e}, 48({k})
        andi {new}, {t}, 1
        beqz {new}, 2f
        add {new}, {a0}, {a1}
        add {new}, {new}, {a2}
        mul {new}, {new}, {e}
        add {first}, {first}, {new}
        li {a0}, 0
        li {a1}, 0
        li {a2}, 0
        2:
        andi {new}, {t}, 2
        beqz {new}, 2f
        add {new}, {b0}, {b1}
        add {new}, {new}, {b2}
        mul {new}, {new}, {e}
        add {first}, {first}, {new}
        li {b0}, 0
        li {b1}, 0
        li {b2}, 0
        2:
        andi {new}, {t}, 4
        beqz {new}, 2f
        add {new}, {c0}, {c1}
        add {new}, {new}, {c2}
        mul {new}, {new}, {e}
        add {first}, {first}, {new}
        li {c0}, 0
        li {c1}, 0
        li {c2}, 0
        2:
        3:
        lw {t}, 56({k})
        beqz {t}, 2f
        add {t}, {a0}, {b0}
        add {t}, {t}, {c0}
        lw {e}, 48({k})
        mul {t}, {t}, {e}
        add {sum}, {first}, {t}
        j 3f
        2:
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a0}
        add {sum}, {first}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b0}
        add {sum}, {sum}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c0}
        add {sum}, {sum}, {t}
        3:
        "
    };
}

/// Pixels one column apart, behind their first column.
macro_rules! one_column {
    () => {
        "
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a1}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {a0}
        add {behind}, {first}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b1}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {b0}
        add {behind}, {behind}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c1}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {c0}
        add {behind}, {behind}, {t}
        beq {y}, {end}, 3f
        2:
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {a1}
        add {behind}, {behind}, {t}
        mul {t}, {e}, {a0}
        add {new}, {first}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {b1}
        add {behind}, {behind}, {t}
        mul {t}, {e}, {b0}
        add {new}, {new}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {c1}
        add {behind}, {behind}, {t}
        mul {t}, {e}, {c0}
        add {new}, {new}, {t}
        bgeu {sum}, {limit}, 4f
        sll {t}, {sum}, {spread}
        mulhu {t}, {t}, {multiplier}
        add {t}, {t}, {constant}
        sra {t}, {t}, {shift}
        5:
        sb {t}, 0({y})
        add {y}, {y}, {step}
        mv {sum}, {behind}
        mv {behind}, {new}
        bne {y}, {end}, 2b
        3:
        "
    };
}

/// Pixels two columns apart, behind their first column.
macro_rules! two_columns {
    () => {
        "
        beq {y}, {end}, 3f
        2:
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a1}
        add {sum}, {sum}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b1}
        add {sum}, {sum}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c1}
        add {sum}, {sum}, {t}
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {a0}
        add {new}, {first}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {b0}
        add {new}, {new}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c2}
        add {sum}, {sum}, {t}
        mul {t}, {e}, {c0}
        add {new}, {new}, {t}
        bgeu {sum}, {limit}, 4f
        sll {t}, {sum}, {spread}
        mulhu {t}, {t}, {multiplier}
        add {t}, {t}, {constant}
        sra {t}, {t}, {shift}
        5:
        sb {t}, 0({y})
        add {y}, {y}, {step}
        mv {sum}, {new}
        bne {y}, {end}, 2b
        3:
        "
    };
}

/// The column before the padding, where pixels are two columns apart.
macro_rules! second_column {
    () => {
        "
        lb {e}, 0({x0})
        add {x0}, {x0}, {step}
        mul {t}, {e}, {a1}
        add {sum}, {sum}, {t}
        lb {e}, 0({x1})
        add {x1}, {x1}, {step}
        mul {t}, {e}, {b1}
        add {sum}, {sum}, {t}
        lb {e}, 0({x2})
        add {x2}, {x2}, {step}
        mul {t}, {e}, {c1}
        add {sum}, {sum}, {t}
        "
    };
}

/// Whether there is a pixel with padding to the right.
macro_rules! is_padded {
    () => {
        "
        lw {t}, 60({k})
        beqz {t}, 8f
        "
    };
}

/// The pixel with padding to the right, and the next channel.
macro_rules! end {
    () => {
        "
        add {t}, {a2}, {b2}
        add {t}, {t}, {c2}
        lw {e}, 48({k})
        mul {t}, {t}, {e}
        add {sum}, {sum}, {t}
        bgeu {sum}, {limit}, 6f
        sll {t}, {sum}, {spread}
        mulhu {t}, {t}, {multiplier}
        add {t}, {t}, {constant}
        sra {t}, {t}, {shift}
        7:
        sb {t}, 0({y})
        8:
        lw {t}, 24({k})
        addi {t}, {t}, -1
        sw {t}, 24({k})
        bnez {t}, 1b
        j 9f
        4:
        lw {e}, 44({k})
        srli {t}, {sum}, 31
        slli {t}, {t}, 3
        srl {t}, {e}, {t}
        j 5b
        6:
        lw {e}, 44({k})
        srli {t}, {sum}, 31
        slli {t}, {t}, 3
        srl {t}, {e}, {t}
        j 7b
        9:
        "
    };
}

/// Pixels one column apart.
///
/// # Safety
/// All that the state names is there, for at least one channel.
#[inline(never)]
unsafe fn one_apart(state: &mut State) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            begin!(), one_column!(), is_padded!(), end!(),
            k = in(reg) state,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _,
            x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, y = out(reg) _, end = out(reg) _, step = out(reg) _,
            first = out(reg) _, sum = out(reg) _, behind = out(reg) _, new = out(reg) _, e = out(reg) _, t = out(reg) _,
            limit = out(reg) _, multiplier = out(reg) _, constant = out(reg) _, spread = out(reg) _, shift = out(reg) _,
            options(nostack),
        );
    }
}

/// Pixels two columns apart.
///
/// # Safety
/// All that the state names is there, for at least one channel.
#[inline(never)]
unsafe fn two_apart(state: &mut State) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            begin!(), two_columns!(), is_padded!(), second_column!(), end!(),
            k = in(reg) state,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _,
            x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, y = out(reg) _, end = out(reg) _, step = out(reg) _,
            first = out(reg) _, sum = out(reg) _, new = out(reg) _, e = out(reg) _, t = out(reg) _,
            limit = out(reg) _, multiplier = out(reg) _, constant = out(reg) _, spread = out(reg) _, shift = out(reg) _,
            options(nostack),
        );
    }
}
