//! The commands of `cargo kiln`, as functions: the binary parses arguments and calls them, and so do tests.

pub mod bench;
pub mod boards;
pub mod compile;
pub mod emit;
mod emulated;
pub mod eval;
pub mod explain;
pub mod flash;
pub mod infer;
pub mod kernels;
pub mod limits;
pub mod new;
mod on_board;
pub mod ops;
pub mod place;
pub mod plan;
mod progress;
pub mod quantize;
pub mod record;
pub mod report;
pub mod slide;
pub mod target;
pub mod tune;
pub mod validate;

pub use kiln_tools::cases::{compare, golden, noise, npz};
pub use kiln_tools::number;
use kiln_tools::page;
