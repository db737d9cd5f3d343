//! Calls every function of `kiln::post`. `host-tests/tests/firmware.rs` writes the `main` around it.
#![no_std]

mod all;

pub use all::run;
