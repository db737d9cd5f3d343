//! The reader of StableHLO, as the table of formats has it.

use super::module::Module;
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
    lower::lower(&parse(bytes)?, name, options, Budget::new(bytes.len()))
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    Ok(Summary { file_bytes: bytes.len(), ..lower::inspect(&parse(bytes)?, Budget::new(bytes.len()))? })
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
