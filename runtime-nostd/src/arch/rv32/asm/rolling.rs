//! Filters of 3 × 3 along rows, in assembly. A pixel takes 31⅓ instructions one column apart, 37½ two columns apart, and a channel about 70 for each row.
//!
//! The sums of the next pixels stay where they are: three pixels (or two that are two columns apart) take turns with the same registers. So a row begins at one of three (or two) places.

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
    let Line { q, pad, channels, pixels, stride, .. } = *line;
    let inside = pixels - usize::from(line.pads_right);
    let (y, length) = (out.as_ptr().cast::<i8>(), inside * channels);
    let mut state = State {
        x,
        y,
        w: line.w.as_ptr(),
        channel: q.channels.as_ptr(),
        last: y.wrapping_add(length + channels),
        results: length.wrapping_sub(1),
        step: channels,
        spread: q.spread,
        shift: q.shift,
        ends: q.ends(),
        pad: pad.into(),
        begin: 0,
        turn: if stride == 1 { inside % 3 } else { 3 + inside % 2 },
        rows: padded,
        pads_left: line.pads_left.into(),
        pads_right: line.pads_right.into(),
        elements: read - 1,
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
    /// Where results end that have no padding to the right, behind the last channel.
    last: *const i8,
    /// How far the results of the next channel begin before that end.
    results: usize,
    /// From one column to the next.
    step: usize,
    spread: u32,
    shift: u32,
    /// Results of sums above and, in the second byte, below all steps.
    ends: u32,
    pad: i32,
    /// Where a row begins. The code finds it.
    begin: usize,
    /// Where its pixels begin: by as many of them as take no part in whole turns, one column apart (0 to 2) or two columns apart (3 and 4). The code makes an address of it.
    turn: usize,
    /// A bit for each row that is padding.
    rows: u32,
    pads_left: u32,
    pads_right: u32,
    /// How far the elements of the next channel begin before the end of a row of the operand.
    elements: usize,
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

/// Addresses of the code for the rows' beginnings and pixels, and where the first channel is.
#[rustfmt::skip]
macro_rules! find {
    () => {
        "
        lw {e}, 64({k})
        lla {t}, 41f
        bnez {e}, 2f
        lla {t}, 42f
        2:
        lw {e}, 60({k})
        beqz {e}, 2f
        lla {t}, 40f
        2:
        sw {t}, 52({k})
        lw {e}, 56({k})
        lla {t}, 30f
        beqz {e}, 2f
        addi {e}, {e}, -1
        lla {t}, 31f
        beqz {e}, 2f
        addi {e}, {e}, -1
        lla {t}, 32f
        beqz {e}, 2f
        addi {e}, {e}, -1
        lla {t}, 33f
        beqz {e}, 2f
        lla {t}, 34f
        2:
        sw {t}, 56({k})
        lw {x0}, 0({k})
        lw {x1}, 4({k})
        lw {x2}, 8({k})
        lw {y}, 12({k})
        lw {t}, 28({k})
        lw {step}, 32({k})
        lw {spread}, 36({k})
        lw {shift}, 40({k})
        add {end}, {y}, {t}
        addi {end}, {end}, 1
        "
    };
}

/// Weights and constants of a channel, and `sum` with its first column.
#[rustfmt::skip]
macro_rules! begin {
    () => {
        concat!(
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
            "lw {t}, 52({k})\n",
            "jr {t}\n",
            "40:\n",
            "lw {t}, 60({k})\n",
            "lw {e}, 48({k})\n",
            padded_row!("1", "a0", "a1", "a2"),
            padded_row!("2", "b0", "b1", "b2"),
            padded_row!("4", "c0", "c1", "c2"),
            "lw {t}, 64({k})\n",
            "beqz {t}, 42f\n",
            "41:\n",
            "add {t}, {a0}, {b0}\n",
            "add {t}, {t}, {c0}\n",
            "lw {e}, 48({k})\n",
            "mul {t}, {t}, {e}\n",
            "add {sum}, {first}, {t}\n",
            "lw {t}, 56({k})\n",
            "jr {t}\n",
            "42:\n",
            element!("x0"), times!("a0" => "sum", "first"),
            element!("x1"), times!("b0" => "sum"),
            element!("x2"), times!("c0" => "sum"),
            "lw {t}, 56({k})\n",
            "jr {t}\n",
        )
    };
}

/// `$sum` as the next result. What is beyond all steps goes to `$beyond`, and comes back to `$back`.
#[rustfmt::skip]
macro_rules! result {
    ($sum:literal, $beyond:literal, $back:literal) => {
        concat!(
            "bgeu {", $sum, "}, {limit}, ", $beyond, "f\n",
            "sll {t}, {", $sum, "}, {spread}\n",
            "mulhu {t}, {t}, {multiplier}\n",
            "add {t}, {t}, {constant}\n",
            "sra {t}, {t}, {shift}\n",
            $back, ":\n",
            "sb {t}, 0({y})\n",
        )
    };
}

/// The result of a sum beyond all steps.
#[rustfmt::skip]
macro_rules! beyond {
    ($sum:literal, $beyond:literal, $back:literal) => {
        concat!(
            $beyond, ":\n",
            "srli {t}, {", $sum, "}, 31\n",
            "add {t}, {t}, {k}\n",
            "lbu {t}, 44({t})\n",
            "j ", $back, "b\n",
        )
    };
}

/// Pixels one column apart: their second column, behind the first one in `sum`, to the sums of two pixels.
#[rustfmt::skip]
macro_rules! second_of_two {
    ($sum:literal, $behind:literal) => {
        concat!(
            element!("x0"), times!("a1" => $sum, "sum"), times!("a0" => $behind, "first"),
            element!("x1"), times!("b1" => $sum), times!("b0" => $behind),
            element!("x2"), times!("c1" => $sum), times!("c0" => $behind),
        )
    };
}

/// The third column of a pixel, which is the second one of the next pixel and the first one of the pixel behind that.
#[rustfmt::skip]
macro_rules! one_column {
    ($sum:literal, $behind:literal, $new:literal, $beyond:literal, $back:literal) => {
        concat!(
            element!("x0"), times!("a2" => $sum), times!("a1" => $behind), times!("a0" => $new, "first"),
            element!("x1"), times!("b2" => $sum), times!("b1" => $behind), times!("b0" => $new),
            element!("x2"), times!("c2" => $sum), times!("c1" => $behind), times!("c0" => $new),
            result!($sum, $beyond, $back),
            "add {y}, {y}, {step}\n",
        )
    };
}

/// The second column of a pixel, where pixels are two columns apart.
#[rustfmt::skip]
macro_rules! second_column {
    ($sum:literal) => {
        concat!(
            element!("x0"), times!("a1" => $sum),
            element!("x1"), times!("b1" => $sum),
            element!("x2"), times!("c1" => $sum),
        )
    };
}

/// The second and third column of a pixel, where pixels are two columns apart. The third one is the first one of the next pixel.
#[rustfmt::skip]
macro_rules! two_columns {
    ($sum:literal, $new:literal, $beyond:literal, $back:literal) => {
        concat!(
            second_column!($sum),
            element!("x0"), times!("a2" => $sum), times!("a0" => $new, "first"),
            element!("x1"), times!("b2" => $sum), times!("b0" => $new),
            element!("x2"), times!("c2" => $sum), times!("c0" => $new),
            result!($sum, $beyond, $back),
            "add {y}, {y}, {step}\n",
        )
    };
}

/// All pixels, and the next channel.
#[rustfmt::skip]
macro_rules! pixels {
    () => {
        concat!(
            "31:\n",
            second_of_two!("new", "sum"),
            "j 6f\n",
            "32:\n",
            second_of_two!("behind", "new"),
            "j 5f\n",
            "30:\n",
            second_of_two!("sum", "behind"),
            "beq {y}, {end}, 3f\n",
            "4:\n",
            one_column!("sum", "behind", "new", "14", "15"),
            "5:\n",
            one_column!("behind", "new", "sum", "16", "17"),
            "6:\n",
            one_column!("new", "sum", "behind", "18", "19"),
            "bne {y}, {end}, 4b\n",
            "3:\n",
            "lw {t}, 68({k})\n",
            "beqz {t}, 8f\n",
            // Padding to the right.
            "7:\n",
            "add {t}, {a2}, {b2}\n",
            "add {t}, {t}, {c2}\n",
            "lw {e}, 48({k})\n",
            "mul {t}, {t}, {e}\n",
            "add {sum}, {sum}, {t}\n",
            result!("sum", "20", "21"),
            // The next channel.
            "8:\n",
            "lw {e}, 72({k})\n",
            "lw {t}, 28({k})\n",
            "sub {x0}, {x0}, {e}\n",
            "sub {x1}, {x1}, {e}\n",
            "sub {x2}, {x2}, {e}\n",
            "sub {y}, {end}, {t}\n",
            "lw {t}, 24({k})\n",
            "addi {end}, {end}, 1\n",
            "bne {end}, {t}, 1b\n",
            "j 9f\n",
            "34:\n",
            "mv {new}, {sum}\n",
            "j 6f\n",
            "33:\n",
            "beq {y}, {end}, 3f\n",
            "4:\n",
            two_columns!("sum", "new", "22", "23"),
            "6:\n",
            two_columns!("new", "sum", "24", "25"),
            "bne {y}, {end}, 4b\n",
            "3:\n",
            "lw {t}, 68({k})\n",
            "beqz {t}, 8b\n",
            second_column!("sum"),
            "j 7b\n",
            beyond!("sum", "14", "15"),
            beyond!("behind", "16", "17"),
            beyond!("new", "18", "19"),
            beyond!("sum", "20", "21"),
            beyond!("sum", "22", "23"),
            beyond!("new", "24", "25"),
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
            find!(),
            begin!(),
            pixels!(),
            k = in(reg) state,
            a0 = out(reg) _, a1 = out(reg) _, a2 = out(reg) _, b0 = out(reg) _, b1 = out(reg) _, b2 = out(reg) _, c0 = out(reg) _, c1 = out(reg) _, c2 = out(reg) _,
            x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, y = out(reg) _, end = out(reg) _, step = out(reg) _,
            first = out(reg) _, sum = out(reg) _, behind = out(reg) _, new = out(reg) _, e = out(reg) _, t = out(reg) _,
            limit = out(reg) _, multiplier = out(reg) _, constant = out(reg) _, spread = out(reg) _, shift = out(reg) _,
            options(nostack),
        );
    }
}
