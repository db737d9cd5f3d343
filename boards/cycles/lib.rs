//! A QEMU plugin that counts executed instructions exactly, and estimates the cycles a core would take for them.
//!
//! Compiled by `kiln_boards::cycles` with plain rustc, as it depends on nothing; `model`, `cores`, `riscv` and `count` are also part of kiln-nn-boards,
//! which tests them.
#![warn(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

// `kiln_boards` has the file too, and uses all of it.
#[allow(dead_code)]
mod cores;
mod count;
mod model;
mod plugin;
mod qemu;
mod riscv;
