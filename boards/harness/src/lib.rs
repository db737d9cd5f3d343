//! Runs one model compiled by Kiln: on a Cortex-M or RISC-V board or emulator through semihosting, or as an ordinary process.
//!
//! [`validate`] runs every case of a case file and writes the outputs to another file. [`bench`] computes one output
//! between marker functions, and reports how much stack it took. Which of them a firmware calls is decided by the
//! few lines of `main.rs` that `kiln_boards::firmware` writes around a model.
//!
//! Programs that run something else than a model have [`print`], [`send`] and [`exit`].
//!
//! Nothing else here formats, allocates or panics, so that a firmware's symbols speak about the model alone.
#![cfg_attr(target_os = "none", no_std)]
#![warn(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

#[cfg(all(target_os = "none", target_arch = "arm"))]
#[path = "arm.rs"]
mod arch;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "riscv.rs"]
mod arch;
mod bench;
#[cfg(all(target_os = "none", target_arch = "arm", feature = "counter"))]
#[path = "counter_arm.rs"]
mod counter;
#[cfg(all(target_os = "none", target_arch = "riscv32", feature = "counter"))]
#[path = "counter_riscv.rs"]
mod counter;
#[cfg(target_os = "none")]
mod firmware;
#[cfg(all(target_os = "none", feature = "counter"))]
mod layers;
#[cfg(not(target_os = "none"))]
#[path = "hosted.rs"]
mod platform;
#[cfg(target_os = "none")]
#[path = "semihosting.rs"]
mod platform;
mod program;
mod report;
#[cfg(feature = "second-core")]
mod second_core;
#[cfg(target_os = "none")]
mod stack;
mod validate;

#[cfg(target_os = "none")]
pub use arch::entry;
pub use bench::bench;
#[cfg(all(target_os = "none", feature = "counter"))]
pub use bench::bench_layers;
pub use platform::{exit, send};
pub use program::print;
pub use validate::validate;

/// The entry point of a program that has one static to itself: `main!(TYPE = VALUE, RUN)` calls `RUN(&'static mut TYPE)`, which does not return.
#[macro_export]
macro_rules! main {
    ($state:ty = $value:expr, $run:expr) => {
        static mut STATE: $state = $value;

        #[cfg_attr(target_os = "none", $crate::entry)]
        fn main() -> ! {
            $crate::prepare();
            // SAFETY: nothing else refers to the static, and `main` is called once.
            ($run)(unsafe { &mut *(&raw mut STATE) })
        }
    };
}

/// Starts what the board has besides its first core. Called once, by [`main!`].
#[doc(hidden)]
pub fn prepare() {
    #[cfg(feature = "second-core")]
    second_core::prepare();
}

/// Runs the model once, on all cores that the board has.
#[inline(always)]
pub(crate) fn invoke<M: kiln::Model>(model: &mut M) -> bool {
    #[cfg(feature = "second-core")]
    return second_core::invoke(model);
    #[cfg(not(feature = "second-core"))]
    model.invoke()
}

/// File with the cases, in the directory the emulator (or process) runs in. Its layout is documented in `kiln_boards::cases`.
pub(crate) const CASES: &core::ffi::CStr = c"cases.bin";
/// File that [`validate`] writes.
pub(crate) const OUTPUTS: &core::ffi::CStr = c"outputs.bin";
