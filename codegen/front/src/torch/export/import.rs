//! An exported program, lowered.

use super::inputs;
use super::program::Program;
use super::store::Store;
use crate::budget::Budget;
use crate::onnx::lower::Host;
use crate::torch::lower::{Aliases, Importer};
use crate::{Read, Summary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

/// Lowers a program.
pub(super) fn lower(
    program: &Program,
    store: &Store<'_>,
    name: &str,
    options: &Options,
    budget: Budget,
) -> Result<Read, Error> {
    let host = Host::default();
    let mut importer = Importer::new(&program.tensors, name, options, &host, budget);
    let outputs = run(&mut importer, program, store)?;
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

/// What a program has, with shapes as far as it can be lowered.
pub(super) fn inspect(program: &Program, store: &Store<'_>, budget: Budget) -> Result<Summary, Error> {
    let (host, options) = (Host::default(), Options::default());
    let mut importer = Importer::new(&program.tensors, "", &options, &host, budget);
    match run(&mut importer, program, store) {
        Ok(_) | Err(Error::Unsupported(_)) => Ok(importer.summary(program, store)),
        Err(error) => Err(error),
    }
}

/// Lowers everything, and gives the names of outputs.
fn run<'p>(
    importer: &mut Importer<'_, 'p>,
    program: &'p Program,
    store: &Store<'_>,
) -> Result<Vec<String>, Error> {
    importer.read = inputs::read_names(program);
    importer.aliases = Aliases::of(&program.nodes, &program.tensors);
    importer.inputs(program, store)?;
    for (index, node) in program.nodes.iter().enumerate() {
        if !inputs::is_taken(node, &importer.slots) {
            importer.node(index, node)?;
        }
    }
    importer.outputs(program)
}
