//! Reports about a compilation. Read-only.

pub mod certificate;
mod front;
pub mod kernels;
#[cfg(test)]
mod memory_tests;
pub mod on_board;
pub mod picture;
pub mod schedule;
#[cfg(test)]
mod testing;
pub mod whole;

pub use front::in_front;
pub use kiln_codegen::budget::{memory, packed};
pub use kiln_codegen::log as passes;
pub use kiln_ir::macs;
