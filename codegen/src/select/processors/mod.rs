//! The processors that have kernels of their own. Each has a folder, which offers candidates ([`Processor`]), packs constants and writes calls, and knows no other folder.

pub(super) mod dsp;
pub(super) mod mve;
mod rv32;
mod simd;
mod v6m;

use super::kernel::Processor;
use kiln_kernel_table::Isa;

/// A processor; `None` for plain Rust, whose kernels are written by the files beside this folder.
pub(super) fn of(isa: Isa) -> Option<&'static dyn Processor> {
    match isa {
        Isa::Portable => None,
        Isa::V6m => Some(&v6m::V6m),
        Isa::Dsp => Some(&dsp::Dsp),
        Isa::Mve => Some(&mve::Mve),
        Isa::Rv32 => Some(&rv32::Rv32),
        Isa::Simd => Some(&simd::Simd),
    }
}
