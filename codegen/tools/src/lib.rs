//! What only Kiln's command line needs: what is said about a compilation ([`report`]), what could be better ([`advice`]), quantising by samples
//! ([`quantize`]), and writing ONNX files ([`write`](mod@write)).

pub mod advice;
pub mod number;
pub mod page;
pub mod pareto;
pub mod quantize;
pub mod report;
pub mod write;
