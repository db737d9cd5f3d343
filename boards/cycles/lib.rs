//! A QEMU plugin that counts executed instructions exactly, and estimates the cycles a core would take for them.
//!
//! Compiled by `kiln_boards::cycles` with plain rustc, as it depends on nothing; all but `plugin` and `qemu` are also part of
//! kiln-nn-boards, which tests them.
#![warn(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

// `kiln_boards` has the file too, and uses all of it.
#[allow(dead_code)]
mod cores;
mod cortex_m55;
mod cortex_m7;
mod count;
mod helium;
mod model;
mod operands;
mod pipeline;
mod plugin;
mod qemu;
mod riscv;
