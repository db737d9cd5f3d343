//! The intermediate representation: a static-shape tensor graph in SSA form; its invariants ([`verify`]); and what every part of the compiler shares:
//! errors ([`error`]), options ([`options`]) and targets ([`Target`]).
//!
//! # What a graph means
//!
//! A [`Graph`] is a function of its inputs and its state. Evaluating it computes every node once, in
//! [`Graph::nodes`] order (which is a topological order), then replaces each state's value with the
//! value of its `next`, and yields the outputs. There are no side effects: a model's variables are
//! [`State`]s, read as ordinary values (the value they had when the evaluation began) and written by
//! naming the value they take when it ends.
//!
//! # Types
//!
//! Every value has a [`Type`]: storage element, static shape (row-major, last axis contiguous; images are
//! NHWC unless the op that reads or writes them has another [`Layout`], convolution weights OHWI) and, where the storage is quantised, a [`Quant`]: real = scale · (stored −
//! zero point), per tensor or along one axis. Scales are kept as the bits of the `f32` in the file.
//!
//! # Arithmetic
//!
//! On floats an op means the real function, computed in `f32`. On integers it means exactly what its
//! attributes say: convolution-like ops accumulate `Σ (x − zx)·(w − zw) + bias` in `i32` and bring the sum to
//! the result's scale by an explicit [`Rescale`]; nothing is derived from scales at evaluation time, so a
//! reader of any format states its own rounding, and no pass can change it by accident. Zero points do come
//! from the operands' and the result's types. [`interp`](../kiln_interp/index.html) is the definition of every op.

mod attr;
pub mod error;
mod function;
mod graph;
mod layout;
mod macs;
mod multiplier;
pub mod near;
mod op;
pub mod options;
mod property;
mod rules;
mod signal;
pub mod source;
pub mod spelling;
mod table;
mod text;
pub mod trees;
mod types;
pub mod verify;

pub use attr::{
    AddRescale, Attr, Clamp, CompareRescale, LeakyRescale, Multiplier, Padding, Real, Rescale, Rounding,
    SoftmaxScale, Window,
};
pub use function::{Binary, Comparison, Reduction, Unary};
pub use graph::{Data, Graph, Node, NodeId, State, Value, ValueDef, ValueId};
/// What code is compiled for. The build script of the runtime reads the same rows.
pub use kiln_kernel_table::{Isa, Target, UnknownTarget};
pub use layout::{Layout, Order};
pub use macs::macs;
pub use op::{Op, OpInfo, DYNAMIC_ROW};
pub use property::{Facts, Rows};
pub use signal::Signal;
pub use text::{Lexer, ParseError};
pub use types::{softmax_of_16_bits, DType, Quant, Shape, Type};
