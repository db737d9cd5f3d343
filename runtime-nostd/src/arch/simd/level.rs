//! Which instruction set kernels use.

use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set of kernels, in ascending order on each kind of processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Level {
    /// Plain Rust.
    Portable = 1,
    /// x86-64 with AVX2 and FMA: vectors of 256 bits.
    Avx2 = 2,
    /// The same with AVX-VNNI: products of bytes in one instruction.
    AvxVnni = 3,
    /// x86-64 with AVX-512 (F, BW, DQ, VL) and its VNNI: vectors of 512 bits.
    Avx512 = 4,
    /// AArch64 with Advanced SIMD.
    Neon = 5,
    /// The same with the dot products of Armv8.4, where the program is compiled with `-C target-feature=+dotprod`.
    DotProduct = 6,
    /// WebAssembly compiled with `-C target-feature=+simd128`.
    Simd128 = 7,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 7] = [
        Level::Portable,
        Level::Avx2,
        Level::AvxVnni,
        Level::Avx512,
        Level::Neon,
        Level::DotProduct,
        Level::Simd128,
    ];

    /// Its name: `portable`, `avx2`, `avx-vnni`, `avx512`, `neon`, `dotprod` or `simd128`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::AvxVnni => "avx-vnni",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
            Level::DotProduct => "dotprod",
            Level::Simd128 => "simd128",
        }
    }

    /// The level of that name.
    pub fn of_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// The level that kernels use, 0 before the processor was asked.
static CURRENT: AtomicU8 = AtomicU8::new(0);

/// The level that kernels use: the highest that the processor and the compiler have, or what [`limit_level`] left of it.
///
/// The processor is asked once; models compiled for processors of one kind only (microcontrollers) never ask.
#[inline]
pub fn level() -> Level {
    let current = CURRENT.load(Ordering::Relaxed);
    match Level::ALL.get(usize::from(current).wrapping_sub(1)) {
        Some(&level) => level,
        None => limit_level(Level::Simd128),
    }
}

/// Kernels use no level above this one from now on, in the whole program: for tests and measurements. Returns the one they use, which is the highest below it that the
/// processor has.
#[cold]
pub fn limit_level(most: Level) -> Level {
    let usable = |level: &Level| *level <= most && is_available(*level);
    let level = Level::ALL.into_iter().rev().find(usable).unwrap_or(Level::Portable);
    CURRENT.store(level as u8, Ordering::Relaxed);
    level
}

/// Whether the processor has a level, and the program has kernels for it.
pub fn is_available(level: Level) -> bool {
    match level {
        Level::Portable => true,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::AvxVnni | Level::Avx512 => crate::arch::x86::is_available(level),
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        Level::Neon | Level::DotProduct => crate::arch::aarch64::is_available(level),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Level::Simd128 => crate::arch::wasm::is_available(level),
        _ => false,
    }
}
