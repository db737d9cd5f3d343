//! Boards as data, firmware builds, and QEMU runs with instruction counts.
//!
//! A [`Board`] is a folder with a `board.toml` and a `memory.x`. [`firmware::build`] links one generated model with the
//! harness for a board; [`qemu::validate`] runs the cases of a file on it, and [`qemu::bench`] counts what one inference costs.
//! [`host::build`] and [`host::validate`] do the former with the same harness as an ordinary process, of this machine or of an [`EmulatedHost`].
//! [`toolchain`] finds or installs what all of this needs.

mod board;
pub mod cases;
pub mod cycles;
mod emulated;
mod error;
pub mod firmware;
pub mod host;
pub mod image;
pub mod probe;
mod process;
mod project;
pub mod qemu;
mod run;
pub mod source;
pub mod toolchain;
mod work;

pub use board::{Board, Energy, FastRegion, Identity, Memory, Region, Runner};
pub use emulated::EmulatedHost;
pub use error::Error;
pub use project::harness;
pub use source::Source;
pub use work::work_dir;
