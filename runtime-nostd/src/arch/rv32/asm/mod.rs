//! The inner blocks of kernels in assembly.

#![allow(unsafe_code)]

/// Assembly: defines `kiln_short_add`, an addition of two bytes.
macro_rules! define_short_add {
    () => {
        "
        .macro kiln_short_add to, s
        .option rvc
        c.add \\to, \\s
        .option norvc
        .endm
        "
    };
}

/// The windows of a tile. Their code has the most taps that there are, the last one first; a jump skips those that a window has not. `kiln_next` moves `x` behind the window, of which `u` is `8·n`, and makes it the bytes of code of `n` taps, each of which has `{tap}`. `kiln_last` multiplies the last tap,
/// `kiln_tap` adds those before it, `kiln_split` parts the fields.
macro_rules! tile_windows {
    () => {
        "
        .option push
        .option norvc
        lla {base}, 3f
        lbu {u}, 0({w})
        2:
        lbu {x0}, 1({w})
        kiln_next
        add {w}, {w}, {x0}
        sub {t}, {base}, {u}
        kiln_last
        jalr zero, {tap}({t})
        .irp at, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
        kiln_tap \\at
        .endr
        3:
        kiln_split
        lbu {u}, 0({w})
        bnez {u}, 2b
        .option pop
        .purgem kiln_next
        .purgem kiln_last
        .purgem kiln_tap
        .purgem kiln_split
        .purgem kiln_sum
        .purgem kiln_short_add
        "
    };
}

/// `kiln_sum`: the sum of a window to its two accumulators.
macro_rules! define_sum {
    () => {
        "
        .macro kiln_sum s, q, h
        add \\q, \\q, \\s
        add \\s, \\s, {half}
        srai \\s, \\s, 16
        add \\h, \\h, \\s
        .endm
        "
    };
}

const _: () = assert!(super::rv32::windows::MOST == 12, "the taps of `tile_windows`");

pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pairs;
pub(crate) mod quads;
pub(crate) mod rolling;
pub(crate) mod singles;
