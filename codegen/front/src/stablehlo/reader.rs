//! The reader of StableHLO, as the table of formats has it.

use super::module::{Module, Operation, Region};
use super::{bytecode, form, hlo_text, lower, text};
use crate::budget::Budget;
use crate::{Read, Reader, Summary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

pub(crate) const READER: Reader = Reader {
    read,
    inspect,
    embed: |_, _| Ok(None),
    operators: || {
        let whole =
            |name: &str| if name.contains('.') { name.to_owned() } else { format!("stablehlo.{name}") };
        lower::operators().map(whole).collect()
    },
};

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let module = parse(bytes)?;
    lower::lower(&module, name, options, budget(bytes, &module))
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let module = parse(bytes)?;
    Ok(Summary { file_bytes: bytes.len(), ..lower::inspect(&module, budget(bytes, &module))? })
}

/// Bytes of an operation's text. Bytecode says the same in about 10 bytes, and has the allowance of a text.
const TEXT_OF_OPERATION: usize = 128;

/// The allowance of a file with that module.
fn budget(bytes: &[u8], module: &Module<'_>) -> Budget {
    let operations: usize = module.functions.iter().map(|function| operations(&function.body)).sum();
    Budget::new(bytes.len().saturating_add(operations.saturating_mul(TEXT_OF_OPERATION)))
}

/// How many operations a region has, with those of the regions in it.
fn operations(region: &Region<'_>) -> usize {
    let of = |operation: &Operation<'_>| 1 + operation.regions.iter().map(operations).sum::<usize>();
    region.operations.iter().map(of).sum()
}

/// A module in whichever form it is written.
fn parse(bytes: &[u8]) -> Result<Module<'_>, Error> {
    if form::is_bytecode(bytes) {
        return bytecode::read(bytes);
    }
    if form::is_jax_export(bytes) {
        return bytecode::read(form::jax_payload(bytes)?);
    }
    match form::is_hlo_text(bytes) {
        true => hlo_text::read(bytes),
        false => text::read(bytes),
    }
}
