//! Reports about a compilation. Read-only.

pub mod budget;
pub mod certificate;
pub mod kernels;
pub mod memory;
pub mod packed;
pub mod passes;
pub mod picture;
pub mod schedule;
#[cfg(test)]
mod testing;

pub use crate::ir::macs;
