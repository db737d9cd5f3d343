//! Firmware on real boards, through the [probe-rs](https://probe.rs) library.
//!
//! [`Chip`] is what probe-rs knows about a board's chip, [`Image`] an ELF file, [`Plan`] what of it goes where: whatever can be wrong
//! with the three is an [`Error`] before a probe is looked for. [`attach`] opens the probe and asks the chip what it is, [`flash`] erases,
//! programs, verifies and resets, [`run`] lets the firmware run, answers its semihosting calls and prints what it logs.
//!
//! `cargo kiln` starts the program of this package for all of that: a crate of its own, because probe-rs takes longer to compile than all of
//! Kiln.

mod attach;
mod chip;
mod error;
mod files;
mod flash;
mod image;
mod log;
mod plan;
pub mod progress;
mod run;
mod select;

pub use attach::{attach, identify, Unlock};
pub use chip::{register_chips, Chip};
pub use error::Error;
pub use flash::{flash, reset, Event};
pub use image::{Image, Processor, Segment};
pub use log::decode_all;
pub use plan::{Part, Plan};
pub use run::{run, Apart, Options};
pub use select::select;
