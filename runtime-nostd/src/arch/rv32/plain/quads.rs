//! Tiles of four pixels in plain Rust.

pub(crate) use super::pairs::finish;
