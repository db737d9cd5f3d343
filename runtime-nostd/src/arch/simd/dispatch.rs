//! From a kernel's name to its code for the processor.

use crate::arch::level::Level;
use core::sync::atomic::{AtomicU8, Ordering};

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

/// Defines an entry: a safe function that runs `$body::<S, …>(…)`, an `unsafe fn` that is `#[inline(always)]`, compiled for each [`Level`](Level). Its other
/// generics and its arguments are the entry's, or those that are given with it. An entry of `$body of Apart` computes with [`Apart<S>`](super::apart::Apart).
///
/// An entry that ends with `const SYMMETRIC` has this further argument: that no weight is −128, for which AVX2 has faster products.
macro_rules! kernel {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$($generic:ident : $bound:path),+>)? ($($arg:ident: $ty:ty),* $(,)?) = $body:ident
    ) => {
        kernel! {
            $(#[$meta])*
            $vis fn $name $(<$($generic: $bound),+>)? ($($arg: $ty),*) = $body $(<$($generic),+>)? ($($arg),*)
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:ident of Apart) => {
        kernel! {
            @ [$(#[$meta])* $vis] $name [] [] [$($arg: $ty),*] [$($arg),*]
            $body [crate::arch::simd::apart::Apart<S>] [] [$($arg),*] false
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$($generic:ident : $bound:path),+>)? ($($arg:ident: $ty:ty),* $(,)?)
            = $body:ident $(<$($of:ident),+>)? ($($given:expr),* $(,)?)
    ) => {
        kernel! {
            @ [$(#[$meta])* $vis] $name [$($($generic: $bound),+)?] [$($($generic),+)?] [$($arg: $ty),*] [$($arg),*]
            $body [S] [$($(, $of)+)?] [$($given),*] false
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$($generic:ident : $bound:path),+>)? ($($arg:ident: $ty:ty),* $(,)?)
            = $body:ident $(<$($of:ident),+>)? ($($given:expr),* $(,)?), const $symmetric:ident
    ) => {
        kernel! {
            @ [$(#[$meta])* $vis] $name [$($($generic: $bound,)+)? const $symmetric: bool] [$($($generic,)+)? $symmetric]
            [$($arg: $ty),*] [$($arg),*] $body [S] [$($(, $of)+)?] [$($given),*] $symmetric
        }
    };
    (
        @ [$($head:tt)*] $name:ident [$($generics:tt)*] [$($own:tt)*] [$($args:tt)*] [$($arg:tt)*]
        $body:ident [$vectors:ty] [$($of:tt)*] [$($given:tt)*] $symmetric:ident
    ) => {
        $($head)* fn $name<$($generics)*>($($args)*) {
            /// The vectors that the body computes with, by those of the processor.
            type Of<S> = $vectors;

            #[cfg(target_arch = "x86_64")]
            {
                use crate::arch::{level::Level, simd::dispatch::level};

                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<$($generics)*>($($args)*) {
                    use crate::arch::x86::avx2::{Avx2, Symmetric};

                    // SAFETY: the processor has what this function is compiled for.
                    unsafe {
                        match $symmetric {
                            true => $body::<Of<Symmetric> $($of)*>($($given)*),
                            false => $body::<Of<Avx2> $($of)*>($($given)*),
                        }
                    }
                }

                let level = level();
                crate::arch::with_avx512! {
                    #[target_feature(enable = "avx2,fma,avxvnni")]
                    unsafe fn avx_vnni<$($generics)*>($($args)*) {
                        // SAFETY: as above.
                        unsafe { $body::<Of<crate::arch::avx_vnni::AvxVnni> $($of)*>($($given)*) }
                    }

                    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
                    unsafe fn avx512<$($generics)*>($($args)*) {
                        // SAFETY: as above.
                        unsafe { $body::<Of<crate::arch::avx512::Avx512> $($of)*>($($given)*) }
                    }

                    match level {
                        // SAFETY: a level is used only if the processor has it.
                        Level::Avx512 => return unsafe { avx512::<$($own)*>($($arg)*) },
                        // SAFETY: as above.
                        Level::AvxVnni => return unsafe { avx_vnni::<$($own)*>($($arg)*) },
                        _ => {}
                    }
                }
                if level == Level::Avx2 {
                    // SAFETY: as above.
                    return unsafe { avx2::<$($own)*>($($arg)*) };
                }
            }
            // What programs for these are compiled with, all of their code may use.
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            {
                use crate::arch::{level::Level, simd::dispatch::level};

                match level() {
                    #[cfg(target_feature = "dotprod")]
                    Level::DotProduct => {
                        type S = crate::arch::aarch64::dotprod::DotProduct;
                        // SAFETY: the program is compiled for it.
                        return unsafe { $body::<Of<S> $($of)*>($($given)*) };
                    }
                    Level::Neon => {
                        type S = crate::arch::aarch64::neon::Neon;
                        // SAFETY: as above.
                        return unsafe { $body::<Of<S> $($of)*>($($given)*) };
                    }
                    _ => {}
                }
            }
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            {
                use crate::arch::{level::Level, simd::dispatch::level};

                if level() == Level::Simd128 {
                    type S = crate::arch::wasm::simd128::Simd128;
                    // SAFETY: as above.
                    return unsafe { $body::<Of<S> $($of)*>($($given)*) };
                }
            }
            // SAFETY: it needs nothing of the processor.
            unsafe { $body::<Of<crate::arch::simd::scalar::Scalar> $($of)*>($($given)*) }
        }
    };
}

pub(super) use kernel;
