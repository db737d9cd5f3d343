//! XLA's HLO text, read as a module of StableHLO.
//!
//! A text is a list of computations, each a list of instructions. Those that are called become functions; those that an instruction applies (to reduce, to
//! loop, to choose) become its regions. Tuples are taken apart: no value of the module is one.

mod attributes;
mod calls;
mod emit;
mod literals;
mod operations;
mod parse;
mod shapes;
#[cfg(test)]
mod tests;
mod windows;

#[cfg(test)]
use super::form::is_hlo_text;
use super::module::{Module, Type};
use super::scanner::Scanner;
use kiln_ir::error::Error;
use std::collections::HashMap;

/// Bytes of what is read for each byte of text. An instruction of 30 bytes is kept in about 200, and makes an operation of about 300.
const PER_BYTE: usize = 24;

/// Reads a text.
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    let mut scan = Scanner::new(bytes, PER_BYTE)?;
    let module = parse::program(&mut scan).and_then(|program| emit::module(&mut scan, &program));
    module.map_err(|broken| scan.error(broken))
}

/// A text.
#[derive(Default)]
struct Program<'m> {
    name: &'m str,
    computations: HashMap<&'m str, Computation<'m>>,
    /// The name of the computation that is the model.
    entry: &'m str,
}

/// A computation: its instructions in an order in which they can be computed.
#[derive(Default)]
struct Computation<'m> {
    instructions: Vec<Instruction<'m>>,
    /// The instruction whose value is that of the computation.
    root: usize,
    /// The instruction of each parameter.
    parameters: Vec<usize>,
}

/// An instruction.
struct Instruction<'m> {
    name: &'m str,
    ty: Type,
    opcode: &'m str,
    /// Numbers of the instructions that are its operands.
    operands: Vec<usize>,
    /// Where its operands stand, and on which line.
    at: usize,
    line: usize,
    /// Its attributes with the places of their values.
    attributes: Vec<(&'m str, usize)>,
}

impl Instruction<'_> {
    /// Where the value of an attribute stands.
    fn attribute(&self, key: &str) -> Option<usize> {
        self.attributes.iter().find(|(other, _)| *other == key).map(|(_, at)| *at)
    }
}
