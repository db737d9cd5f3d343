//! Instruction sets of hosts.

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
