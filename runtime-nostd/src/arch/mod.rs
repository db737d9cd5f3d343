//! Code that depends on the machine: memory as typed cells, and one folder of kernels per kind of machine.
//!
//! The folders mirror each other file for file; [`kernels`](crate::kernels) chooses between them. `unsafe` may stand in this
//! module only, and not in `portable`.

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub(crate) mod aarch64;
pub(crate) mod dsp;
pub(crate) mod elements;
pub(crate) mod extent;
#[cfg(feature = "std")]
mod heap;
pub(crate) mod level;
pub(crate) mod memory;
pub(crate) mod observer;
pub(crate) mod portable;
pub(crate) mod simd;
pub(crate) mod target;
pub(crate) mod v6m;
pub(crate) mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod wasm;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;
