//! Instruction sets of AArch64.
// The intrinsics of which these kernels consist are unsafe, or were in the oldest compiler that the runtime supports.
#![allow(unsafe_code, unused_unsafe, clippy::indexing_slicing)]

#[cfg(target_feature = "dotprod")]
pub(crate) mod dotprod;
pub(crate) mod neon;

use super::level::Level;

/// Whether the program is compiled with what a level needs.
pub(crate) fn is_available(level: Level) -> bool {
    match level {
        Level::Portable | Level::Neon => true,
        Level::DotProduct => cfg!(target_feature = "dotprod"),
        Level::Avx2 | Level::AvxVnni | Level::Avx512 | Level::Simd128 => false,
    }
}
