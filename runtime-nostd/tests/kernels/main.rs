//! Every kernel against an implementation written straight from the arithmetic's definition, which shares no code with it.

// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::panic)]

mod choices;
mod classical;
mod computed;
mod convolution;
mod elementwise;
mod movement;
mod overlays;
mod packed;
mod pooling;
mod rings;
mod softmax;
mod support;
mod table;
mod unary;
