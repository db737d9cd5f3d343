//! What only Kiln's command line needs: what is said about a compilation ([`report`]), what could be better ([`advice`]), quantising by samples
//! ([`quantize`]), writing ONNX files ([`write`](mod@write)), and recorded cases with the interpreter's answers ([`cases`]).

pub mod advice;
pub mod cases;
pub mod number;
pub mod page;
pub mod pareto;
pub mod quantize;
pub mod report;
pub mod write;
