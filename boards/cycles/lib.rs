//! A QEMU plugin that counts executed instructions exactly, and estimates the cycles a Cortex-M4 would take for them.
//!
//! Compiled by `kiln_boards::cycles` with plain rustc, as it depends on nothing; `model` and `count` are also part of kiln-boards,
//! which tests them.
#![warn(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod count;
mod model;
mod plugin;
mod qemu;
