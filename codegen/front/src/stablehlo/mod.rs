//! Readers of StableHLO: MLIR's text and bytecode, and XLA's HLO text.

mod bytecode;
mod hlo_text;
mod module;
mod scanner;
#[cfg(test)]
mod testing;
mod text;
