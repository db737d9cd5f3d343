//! Filters of 3 × 3 along rows, in assembly. A pixel takes 34 instructions one column apart, 38 two columns apart, and a channel about 70 for each row.

use crate::arch::rv32::rolling::Line;
use core::cell::Cell;

/// The results of a row. `rows` are those of the operand for each row of the filters; an empty one is padding.
#[inline(always)]
pub(crate) fn roll<'a>(line: &Line<'_>, rows: impl Fn(usize) -> &'a [Cell<i8>], out: &[Cell<i8>]) {
    let [read, results] = line.lengths;
    let (mut x, mut any, mut padded) = ([core::ptr::null(); 3], core::ptr::null(), 0);
    for (ky, x) in x.iter_mut().enumerate() {
        let row = rows(ky);
        if row.is_empty() {
            padded |= 1 << ky;
        } else if row.len() >= read {
            any = row.as_ptr().cast::<i8>();
            *x = any;
        } else {
            return;
        }
    }
    if any.is_null() || out.len() < results {
        return;
    }
    // A row of the padding has no weights, and reads another row.
    for x in x.iter_mut().filter(|x| x.is_null()) {
        *x = any;
    }
    let Line { q, pad, channels, pixels, .. } = *line;
    let mut state = State {
        x,
        y: out.as_ptr().cast(),
        w: line.w.as_ptr(),
        channel: q.channels.as_ptr(),
        left: channels,
        length: (pixels - usize::from(line.pads_right)) * channels,
        step: channels,
        spread: q.spread,
        shift: q.shift,
        ends: q.ends(),
        pad: pad.into(),
        rows: padded,
        pads_left: line.pads_left.into(),
        pads_right: line.pads_right.into(),
        apart: line.stride - 1,
    };
    // SAFETY: weights and constants of all channels are there, of which there is at least one (`Line::new`), and so are operands and results, as compared above.
    unsafe { all(&mut state) };
}

/// What the code reads, in this order, and changes from channel to channel.
#[repr(C)]
struct State {
    x: [*const i8; 3],
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
    /// Columns between two pixels: 0 or 1.
    apart: usize,
}

/// The next element of row `$x` of the operand.
#[rustfmt::skip]
macro_rules! element {
    ($x:literal) => {
        concat!("lb {e}, 0({", $x, "})\n", "add {", $x, "}, {", $x, "}, {step}\n")
    };
}

/// The element times weight `$w`, added to `$to`, or to `$from`.
#[rustfmt::skip]
macro_rules! times {
    ($w:literal => $to:literal) => {
        times!($w => $to, $to)
    };
    ($w:literal => $to:literal, $from:literal) => {
        concat!("mul {t}, {e}, {", $w, "}\n", "add {", $to, "}, {", $from, "}, {t}\n")
    };
}

/// A row of a filter, whose bit is `$bit`: where that row is padding, its products go to the first value, and its weights become 0.
#[rustfmt::skip]
macro_rules! padded_row {
    ($bit:literal, $w0:literal, $w1:literal, $w2:literal) => {
        concat!(
            "andi {new}, {t}, ", $bit, "\n",
            "beqz {new}, 2f\n",
            "add {new}, {", $w0, "}, {", $w1, "}\n",
            "add {new}, {new}, {", $w2, "}\n",
            "mul {new}, {new}, {e}\n",
            "add {first}, {first}, {new}\n",
            "li {", $w0, "}, 0\n",
            "li {", $w1, "}, 0\n",
            "li {", $w2, "}, 0\n",
            "2:\n",
        )
    };
}

/// The place of a pointer of the state, which moves on by `$bytes`, in `$to`.
#[rustfmt::skip]
macro_rules! advance {
    ($to:literal, $at:literal, $bytes:literal) => {
        concat!(
            "lw {", $to, "}, ", $at, "({k})\n",
            "addi {t}, {", $to, "}, ", $bytes, "\n",
            "sw {t}, ", $at, "({k})\n",
        )
    };
}

/// Weights and constants of a channel, and `sum` with its first column.
#[rustfmt::skip]
macro_rules! begin {
    () => {
        concat!(
            "lw {step}, 32({k})\n",
            "lw {spread}, 36({k})\n",
            "lw {shift}, 40({k})\n",
            "1:\n",
            "lw {t}, 16({k})\n",
            "lb {a0}, 0({t})\n",
            "lb {a1}, 1({t})\n",
            "lb {a2}, 2({t})\n",
            "lb {b0}, 3({t})\n",
            "lb {b1}, 4({t})\n",
            "lb {b2}, 5({t})\n",
            "lb {c0}, 6({t})\n",
            "lb {c1}, 7({t})\n",
            "lb {c2}, 8({t})\n",
            "addi {t}, {t}, 9\n",
            "sw {t}, 16({k})\n",
            "lw {t}, 20({k})\n",
            "lw {first}, 0({t})\n",
            "lw {limit}, 4({t})\n",
            "lw {constant}, 8({t})\n",
            "lw {multiplier}, 12({t})\n",
            "addi {t}, {t}, 16\n",
            "sw {t}, 20({k})\n",
            advance!("x0", "0", "1"),
            advance!("x1", "4", "1"),
            advance!("x2", "8", "1"),
            advance!("y", "12", "1"),
            "lw {end}, 28({k})\n",
            "add {end}, {end}, {y}\n",
            "lw {t}, 52({k})\n",
            "beqz {t}, 3f\n",
            "lw {e}, 48({k})\n",
            padded_row!("1", "a0", "a1", "a2"),
            padded_row!("2", "b0", "b1", "b2"),
            padded_row!("4", "c0", "c1", "c2"),
            "3:\n",
            "lw {t}, 56({k})\n",
            "beqz {t}, 2f\n",
            "add {t}, {a0}, {b0}\n",
            "add {t}, {t}, {c0}\n",
            "lw {e}, 48({k})\n",
            "mul {t}, {t}, {e}\n",
            "add {sum}, {first}, {t}\n",
            "j 3f\n",
            "2:\n",
            element!("x0"), times!("a0" => "sum", "first"),
            element!("x1"), times!("b0" => "sum"),
            element!("x2"), times!("c0" => "sum"),
            "3:\n",
        )
    };
}

/// `sum` as a result in `t`. What is beyond all steps goes to `$beyond`.
#[rustfmt::skip]
macro_rules! result {
    ($beyond:literal) => {
        concat!(
            "bgeu {sum}, {limit}, ", $beyond, "\n",
            "sll {t}, {sum}, {spread}\n",
            "mulhu {t}, {t}, {multiplier}\n",
            "add {t}, {t}, {constant}\n",
            "sra {t}, {t}, {shift}\n",
        )
    };
}

/// The result of a sum beyond all steps, and back to `$back`.
#[rustfmt::skip]
macro_rules! beyond {
    ($back:literal) => {
        concat!(
            "srli {t}, {sum}, 31\n",
            "add {t}, {t}, {k}\n",
            "lbu {t}, 44({t})\n",
            "j ", $back, "\n",
        )
    };
}

/// Pixels one column apart, behind their first column.
#[rustfmt::skip]
macro_rules! one_column {
    () => {
        concat!(
            element!("x0"), times!("a1" => "sum"), times!("a0" => "behind", "first"),
            element!("x1"), times!("b1" => "sum"), times!("b0" => "behind"),
            element!("x2"), times!("c1" => "sum"), times!("c0" => "behind"),
            "beq {y}, {end}, 3f\n",
            "2:\n",
            element!("x0"), times!("a2" => "sum"), times!("a1" => "behind"), times!("a0" => "new", "first"),
            element!("x1"), times!("b2" => "sum"), times!("b1" => "behind"), times!("b0" => "new"),
            element!("x2"), times!("c2" => "sum"), times!("c1" => "behind"), times!("c0" => "new"),
            result!("14f"),
            "15:\n",
            "sb {t}, 0({y})\n",
            "add {y}, {y}, {step}\n",
            "mv {sum}, {behind}\n",
            "mv {behind}, {new}\n",
            "bne {y}, {end}, 2b\n",
            "3:\n",
        )
    };
}

/// The second column of a pixel, where pixels are two columns apart.
#[rustfmt::skip]
macro_rules! second_column {
    () => {
        concat!(
            element!("x0"), times!("a1" => "sum"),
            element!("x1"), times!("b1" => "sum"),
            element!("x2"), times!("c1" => "sum"),
        )
    };
}

/// Pixels two columns apart, behind their first column.
#[rustfmt::skip]
macro_rules! two_columns {
    () => {
        concat!(
            "beq {y}, {end}, 3f\n",
            "2:\n",
            second_column!(),
            element!("x0"), times!("a2" => "sum"), times!("a0" => "new", "first"),
            element!("x1"), times!("b2" => "sum"), times!("b0" => "new"),
            element!("x2"), times!("c2" => "sum"), times!("c0" => "new"),
            result!("4f"),
            "5:\n",
            "sb {t}, 0({y})\n",
            "add {y}, {y}, {step}\n",
            "mv {sum}, {new}\n",
            "bne {y}, {end}, 2b\n",
            "3:\n",
        )
    };
}

/// Whether there is a pixel with padding to the right.
macro_rules! is_padded {
    () => {
        "lw {t}, 60({k})\n beqz {t}, 8f\n"
    };
}

/// The pixel with padding to the right, and the next channel.
macro_rules! end {
    () => {
        concat!(
            "add {t}, {a2}, {b2}\n",
            "add {t}, {t}, {c2}\n",
            "lw {e}, 48({k})\n",
            "mul {t}, {t}, {e}\n",
            "add {sum}, {sum}, {t}\n",
            result!("6f"),
            "7:\n",
            "sb {t}, 0({y})\n",
            "8:\n",
            "lw {t}, 24({k})\n",
            "addi {t}, {t}, -1\n",
            "sw {t}, 24({k})\n",
            "bnez {t}, 1b\n",
            "j 9f\n",
            "4:\n",
            beyond!("5b"),
            "14:\n",
            beyond!("15b"),
            "6:\n",
            beyond!("7b"),
            "9:\n",
        )
    };
}

/// The results of all channels.
///
/// # Safety
/// All that the state names is there, for at least one channel.
#[inline(never)]
unsafe fn all(state: &mut State) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            begin!(),
            "lw {t}, 64({k})\n",
            "bnez {t}, 20f\n",
            one_column!(), is_padded!(),
            "j 21f\n",
            "20:\n",
            two_columns!(), is_padded!(), second_column!(),
            "21:\n",
            end!(),
            k = in(reg) state,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _,
            x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, y = out(reg) _, end = out(reg) _, step = out(reg) _,
            first = out(reg) _, sum = out(reg) _, behind = out(reg) _, new = out(reg) _, e = out(reg) _, t = out(reg) _,
            limit = out(reg) _, multiplier = out(reg) _, constant = out(reg) _, spread = out(reg) _, shift = out(reg) _,
            options(nostack),
        );
    }
}
