//! Reports about a compilation. Read-only.

pub mod budget;
pub mod memory;
pub mod picture;
pub mod schedule;
#[cfg(test)]
mod testing;
