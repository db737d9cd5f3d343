//! What the program is compiled for: the only module that reads what the build script says of the processor.

/// Inner blocks of [`dsp`](super::dsp).
#[cfg_attr(kiln_dsp, path = "dsp/asm/mod.rs")]
#[cfg_attr(not(kiln_dsp), path = "dsp/plain/mod.rs")]
pub(crate) mod dsp;

/// The inner block of [`dsp::convert`](super::dsp::convert).
#[cfg_attr(kiln_fpu, path = "dsp/asm/convert.rs")]
#[cfg_attr(not(kiln_fpu), path = "dsp/plain/convert.rs")]
pub(crate) mod dsp_floats;

/// Inner blocks of [`v6m`](super::v6m).
#[cfg_attr(kiln_v6m, path = "v6m/asm/mod.rs")]
#[cfg_attr(not(kiln_v6m), path = "v6m/plain/mod.rs")]
pub(crate) mod v6m;

/// Instruction sets of [`x86`](super::x86) that older compilers do not know.
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

/// Whether products of halves of words are cheaper than checked ones of words.
pub(crate) const HALF_PRODUCTS: bool = cfg!(all(kiln_v6m, not(kiln_dsp)));

/// Whether a product of two words is one instruction, or anyhow no call that can be avoided.
pub(crate) const LONG_PRODUCTS: bool = cfg!(any(not(kiln_v6m), kiln_long_product));

/// Defines `include_model!`, which tells the compiler what this crate is compiled for.
#[cfg(feature = "macros")]
macro_rules! define_include_model {
    ($d:tt, $target:literal) => {
        /// Compiles a model into a type of that name.
        ///
        /// See [`kiln_macros::include_model`] for its options.
        #[macro_export]
        macro_rules! include_model {
            ($d($d arguments:tt)*) => {
                $crate::__include_model! { @ $target $d($d arguments)* }
            };
        }
    };
}
#[cfg(all(feature = "macros", kiln_dsp))]
define_include_model!($, "cortex-m4");
#[cfg(all(feature = "macros", kiln_v6m, not(kiln_dsp)))]
define_include_model!($, "cortex-m0");
#[cfg(all(feature = "macros", target_arch = "x86_64"))]
define_include_model!($, "x86-64");
#[cfg(all(feature = "macros", target_arch = "aarch64"))]
define_include_model!($, "aarch64");
#[cfg(all(feature = "macros", target_arch = "wasm32"))]
define_include_model!($, "wasm32");
#[cfg(all(
    feature = "macros",
    not(any(kiln_dsp, kiln_v6m, target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
))]
define_include_model!($, "portable");
