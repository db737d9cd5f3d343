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

const _: () = assert!(super::rv32::windows::MOST == 8, "the taps of `tile_windows`");

#[macro_use]
mod tile;
pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pairs;
pub(crate) mod quads;
pub(crate) mod rolling;
pub(crate) mod singles;
