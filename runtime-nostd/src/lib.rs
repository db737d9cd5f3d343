//! Runs neural networks that Kiln compiled.
//!
//! A compiled model is plain Rust that calls the [`kernels`] of this crate on regions of one [`Arena`]. There is no
//! interpreter, no allocator and no model file at run time; nothing here can fail, panic, allocate or recurse.
//!
//! Generated code contains no `unsafe`: [`Arena::memory`] hands out regions as slices of [`Cell`](core::cell::Cell),
//! which may overlap, and checks their range and alignment while the firmware compiles.
//!
//! A model takes its input at once (`invoke`), row by row (`push_row`) or as a window that slides (`slide`): see [`Feed`]. Several
//! models can share one arena: [`share_arena!`]. `invoke_async` lets other tasks run between the steps of a long inference.
//!
//! Two cores of a microcontroller, or several threads of a host, may compute a model together: [`Crew`].
//!
//! Servers and other programs with `std` hold models whose types they do not know as [`any::AnyModel`].
//!
//! Features of speech from the samples of a microphone: `features!`. Images from the lines of a sensor: [`camera`]. Readings of motion and other sensors in units, filtered and resampled: [`sensor`]. What outputs mean, which class, since when and where, says [`post`]. Samples sent to a host that records them: [`record`](mod@record). Operators of your own: [`custom`].
//!
//! # Features
//!
//! - `macros` (default): `include_model!`, which compiles a model while the crate around it compiles, and `features!`.
//! - `heapless`: lists of bounded length in [`post`]: the best `K` classes, detections without duplicates.
//! - `defmt`: `defmt::Format` on all public types but those that are memory ([`Arena`], [`Memory`], [`Bytes`], [`Rows`], and the tensors of [`custom`]), and a sink for [`events`] that
//!   prints them.
//! - `std`: arenas on the heap, and batches in several threads: see [`any`]. Threads that help a model: `Crew::of_threads`.
//! - `ndarray`: tensors of any model as views of the crate `ndarray`, which needs an allocator: see [`any`].
//! - `micromath`: approximate exponentials in the float kernels, smaller and faster than exact ones. Exponentials are then off by at most
//!   0.25 %, logistic values by 0.0006, hyperbolic tangents by 0.0011. Integer kernels are not affected.
//!
//! The crate needs Rust 1.82, or 1.87 with the feature `heapless`, whose crate asks for that; `core`; and a little-endian target.
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[cfg(target_endian = "big")]
compile_error!("models are stored in little-endian order: big-endian targets are not supported");

#[cfg(feature = "std")]
extern crate std;

pub mod any;
mod arch;
pub mod camera;
pub mod custom;
pub mod events;
mod feed;
mod fixed;
pub mod frontend;
pub mod kernels;
mod model;
mod params;
pub mod post;
mod quantized;
pub mod record;
mod rows;
pub mod sensor;
mod share;
mod turns;

pub use arch::crew::{Crew, Signal};
pub use arch::level::Level;
pub use arch::memory::{Arena, Bytes, Element, Memory};
pub use arch::simd::dispatch::{is_available, level, limit_level};
#[cfg(feature = "defmt")]
#[doc(hidden)]
pub use defmt as __defmt;
pub use feed::{row_mut, write_row, Feed};
pub use kernels::{Band, Rows};
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use kiln_macros::{features as __features, include_model as __include_model};
pub use model::{trace, DType, Model, ModelInfo, TensorInfo};
pub use quantized::{dequantize, quantize, Quantized};
pub use rows::{constant_row, due, Again};
pub use share::Share;
#[doc(hidden)]
pub use share::{largest, sum};
pub use turns::{yield_now, YieldNow};

/// Whether `exp` and `tanh` of kernels are approximations: the feature `micromath`. Models that were compiled with `float = "reproducible"` are refused then.
pub const APPROXIMATES: bool = cfg!(feature = "micromath");

/// Includes a model that the crate's build script compiled with `kiln_codegen::Build`.
///
/// ```text
/// kiln::include_compiled!(kws); // from models/kws.tflite: the type `Kws`
/// kiln::include_compiled!("person-detect"); // where the file's name is no identifier: the type `PersonDetect`
/// ```
#[macro_export]
macro_rules! include_compiled {
    ($name:ident) => {
        include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
    };
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// Defines `include_model!` and `features!`, which tell the compiler what this crate is compiled for.
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

        /// Makes a type of that name, which computes audio features from a stream of samples.
        ///
        /// See [`kiln_macros::features`] for its keys.
        #[macro_export]
        macro_rules! features {
            ($d($d arguments:tt)*) => {
                $crate::__features! { @ $target $d($d arguments)* }
            };
        }
    };
}
#[cfg(feature = "macros")]
include!(concat!(env!("OUT_DIR"), "/include_model.rs"));
