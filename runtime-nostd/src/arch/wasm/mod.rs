//! The instruction set of WebAssembly.
// The intrinsics of which these kernels consist are unsafe where they read or write memory.
#![allow(unsafe_code, unused_unsafe, clippy::indexing_slicing)]

pub(crate) mod simd128;

use super::level::Level;

/// Whether the program is compiled with what a level needs.
pub(crate) fn is_available(level: Level) -> bool {
    matches!(level, Level::Portable | Level::Simd128)
}
