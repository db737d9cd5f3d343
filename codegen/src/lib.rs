//! Kiln's compiler: a trained model in, plain `no_std` Rust out.

mod error;
pub mod front;
pub mod interp;
pub mod ir;
pub mod passes;
pub mod plan;
pub mod schedule;
pub mod verify;

pub use error::{Error, Problem};
