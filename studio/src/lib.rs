//! The compiler in the browser. The page asks questions in JSON, and gets answers in JSON.
//!
//! Nothing of the compiler is here: figures are those of `kiln_codegen::compile`, the report is that of `cargo kiln report`, the front
//! that of `cargo kiln plan --pareto`, and outputs are those of the interpreter, compared as `cargo kiln validate` does. On this machine the crate only makes a page of the module.

#[cfg(target_arch = "wasm32")]
mod answer;
#[cfg(target_arch = "wasm32")]
mod exports;
#[cfg(target_arch = "wasm32")]
mod figures;
#[cfg(target_arch = "wasm32")]
mod made;
#[cfg(not(target_arch = "wasm32"))]
pub mod page;
#[cfg(target_arch = "wasm32")]
mod project;
#[cfg(target_arch = "wasm32")]
mod request;
#[cfg(target_arch = "wasm32")]
mod run;
