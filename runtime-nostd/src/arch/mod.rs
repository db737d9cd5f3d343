//! Code that depends on the machine: memory as typed cells, and one folder of kernels per kind of processor.
//!
//! The folders have the same families in files of the same names. `unsafe` may stand in this module only, and not in `portable`. No other module reads what the
//! build script says of the processor.

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub(crate) mod aarch64;
pub(crate) mod crew;
pub(crate) mod elements;
pub(crate) mod extent;
#[cfg(feature = "std")]
mod heap;
pub(crate) mod level;
pub(crate) mod memory;
pub(crate) mod observer;
pub(crate) mod pixel;
pub(crate) mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod wasm;
pub(crate) mod winograd;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

// The processors. Their inner blocks are assembly where the program is compiled for them, and plain Rust elsewhere.

pub(crate) mod dsp;
/// Inner blocks of [`dsp`].
#[cfg_attr(kiln_dsp, path = "dsp/asm/mod.rs")]
#[cfg_attr(not(kiln_dsp), path = "dsp/plain/mod.rs")]
pub(crate) mod dsp_blocks;
/// The inner block of [`dsp::convert`].
#[cfg_attr(kiln_fpu, path = "dsp/asm/convert.rs")]
#[cfg_attr(not(kiln_fpu), path = "dsp/plain/convert.rs")]
pub(crate) mod dsp_floats;

/// The inner block of products of single filters, in [`dsp::dense`] and [`dsp::recurrent`]: in vectors where the core has them.
#[cfg_attr(kiln_mve, path = "mve/dot.rs")]
#[cfg_attr(all(kiln_dsp, not(kiln_mve)), path = "dsp/asm/dot.rs")]
#[cfg_attr(not(kiln_dsp), path = "dsp/plain/dot.rs")]
pub(crate) mod dot_block;

/// The inner blocks of sums of products of floats, in [`portable`], if there are some.
#[cfg_attr(kiln_mve, path = "mve/sum_f32.rs")]
#[cfg_attr(all(kiln_fpu, not(kiln_mve)), path = "dsp/asm/sum_f32.rs")]
#[cfg_attr(not(any(kiln_mve, kiln_fpu)), path = "dsp/plain/sum_f32.rs")]
mod sum_f32;

/// The same of bytes.
#[cfg_attr(kiln_mve, path = "mve/sum_i8.rs")]
#[cfg_attr(all(kiln_dsp, not(kiln_mve)), path = "dsp/asm/sum_i8.rs")]
#[cfg_attr(not(any(kiln_mve, kiln_dsp)), path = "dsp/plain/sum_i8.rs")]
mod sum_i8;

/// Complex numbers of 16 bits, in [`portable`].
#[cfg_attr(kiln_dsp, path = "dsp/asm/point.rs")]
#[cfg_attr(not(kiln_dsp), path = "dsp/plain/point.rs")]
mod point_block;

pub(crate) mod mve;
/// Inner blocks of [`mve`].
#[cfg_attr(kiln_mve, path = "mve/asm/mod.rs")]
#[cfg_attr(not(kiln_mve), path = "mve/plain/mod.rs")]
pub(crate) mod mve_blocks;

pub(crate) mod portable;

pub(crate) mod rv32;
/// Inner blocks of [`rv32`].
#[cfg_attr(kiln_rv32, path = "rv32/asm/mod.rs")]
#[cfg_attr(not(kiln_rv32), path = "rv32/plain/mod.rs")]
pub(crate) mod rv32_blocks;

pub(crate) mod simd;

pub(crate) mod v6m;
/// Inner blocks of [`v6m`].
#[cfg_attr(kiln_v6m, path = "v6m/asm/mod.rs")]
#[cfg_attr(not(kiln_v6m), path = "v6m/plain/mod.rs")]
pub(crate) mod v6m_blocks;

/// What generated code calls, of all processors.
pub(crate) mod kernels {
    pub use super::dsp::kernels::*;
    pub use super::mve::kernels::*;
    pub use super::portable::kernels::*;
    pub use super::rv32::kernels::*;
    pub use super::simd::kernels::*;
    pub use super::v6m::kernels::*;
}

/// Instruction sets of [`x86`] that older compilers do not know.
#[cfg(kiln_avx512)]
#[path = "x86/avx512.rs"]
pub(crate) mod avx512;
#[cfg(kiln_avx512)]
#[path = "x86/avx_vnni.rs"]
pub(crate) mod avx_vnni;

/// Whether the compiler knows them.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX512: bool = cfg!(kiln_avx512);

/// What is there only if the compiler knows them.
#[cfg(kiln_avx512)]
macro_rules! with_avx512 {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(all(target_arch = "x86_64", not(kiln_avx512)))]
macro_rules! with_avx512 {
    ($($code:tt)*) => {};
}
#[cfg(target_arch = "x86_64")]
pub(crate) use with_avx512;

/// The same value, of which the compiler knows nothing on cores with Helium: for what multiplies numbers that were integers, or become some.
///
/// LLVM makes one instruction of the conversion of a vector and its product with a power of two. The exponent in it is wrong if the function needs the same number elsewhere (seen with LLVM 22).
#[inline(always)]
pub(crate) fn opaque<T>(x: T) -> T {
    if cfg!(kiln_mve) {
        core::hint::black_box(x)
    } else {
        x
    }
}

/// Whether products of halves of words are cheaper than checked ones of words.
pub(crate) const HALF_PRODUCTS: bool = cfg!(all(kiln_v6m, not(kiln_dsp)));

/// Whether four sums, and where their operands are, do not fit the registers that instructions can use.
pub(crate) const FEW_REGISTERS: bool = cfg!(all(kiln_v6m, not(kiln_dsp)));

/// Whether loops over floats are cheaper with one sum than with four, as measured: on cores with Helium.
pub(crate) const VECTOR_FLOATS: bool = cfg!(kiln_mve);

/// Whether a product of two words is one instruction, or anyhow no call that can be avoided.
pub(crate) const LONG_PRODUCTS: bool = cfg!(any(not(kiln_v6m), kiln_long_product));
