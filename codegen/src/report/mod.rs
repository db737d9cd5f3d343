//! Reports about a compilation. Read-only.

pub mod budget;
pub mod memory;
