//! Instruction sets of x86-64. Those that older compilers do not know are modules of [`arch`](super).
// The intrinsics of which these kernels consist are unsafe, or were in the oldest compiler that the runtime supports.
#![allow(unsafe_code, unused_unsafe, clippy::indexing_slicing)]

pub(crate) mod avx2;

use super::level::Level;
use super::AVX512;
use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv, CpuidResult};

/// Whether the processor has what a level is compiled for, and the system keeps its registers.
pub(crate) fn is_available(level: Level) -> bool {
    match level {
        Level::Portable => true,
        Level::Avx2 => avx2(),
        Level::AvxVnni => AVX512 && avx2() && leaf(7, 1).eax & 1 << 4 != 0,
        Level::Avx512 => AVX512 && avx2() && avx512(),
        Level::Neon | Level::DotProduct | Level::Simd128 => false,
    }
}

/// AVX2 and FMA (Intel's Software Developer's Manual, volume 2, CPUID).
fn avx2() -> bool {
    // FMA, OSXSAVE and AVX; AVX2; XMM and YMM registers.
    let basic = 1 << 12 | 1 << 27 | 1 << 28;
    leaf(1, 0).ecx & basic == basic && leaf(7, 0).ebx & 1 << 5 != 0 && saved() & 0b110 == 0b110
}

/// AVX-512 F, DQ, BW, VL and VNNI. Only where there is AVX2.
fn avx512() -> bool {
    let (foundation, vnni) = (1 << 16 | 1 << 17 | 1 << 30 | 1 << 31, 1 << 11);
    let leaf = leaf(7, 0);
    // Masks and both parts of ZMM registers besides.
    leaf.ebx & foundation == foundation && leaf.ecx & vnni != 0 && saved() & 0b1110_0110 == 0b1110_0110
}

/// A leaf of CPUID; zeros where there is none of that number, and under Miri, whose processor has no vectors.
fn leaf(number: u32, part: u32) -> CpuidResult {
    if cfg!(miri) {
        return CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
    }
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        match __cpuid(0).eax >= number {
            true => __cpuid_count(number, part),
            false => CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 },
        }
    }
}

/// The registers that the operating system keeps. Only where OSXSAVE is set.
fn saved() -> u64 {
    #[target_feature(enable = "xsave")]
    unsafe fn register() -> u64 {
        // SAFETY: with OSXSAVE the instruction is there.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: the callers checked OSXSAVE.
    unsafe { register() }
}
