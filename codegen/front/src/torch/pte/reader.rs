//! The reader of ExecuTorch programs, as the table of formats has it.

use super::chain::trace;
use super::schema::Program;
use super::{data, import, inspect};
use crate::budget::Budget;
use crate::torch::lower;
use crate::{Read, Reader, Summary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

pub(crate) const READER: Reader = Reader {
    read,
    inspect: summary,
    embed: data::embed,
    operators: || lower::operators().map(str::to_owned).collect(),
};

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let mut budget = Budget::new(bytes.len());
    let program = Program::parse(bytes, &mut budget)?;
    let mut network = trace(&program.method, &mut budget);
    import::lower(&program, &mut network, name, options, Budget::new(bytes.len()))
}

fn summary(bytes: &[u8]) -> Result<Summary, Error> {
    let mut budget = Budget::new(bytes.len());
    let program = Program::parse(bytes, &mut budget)?;
    let mut network = trace(&program.method, &mut budget);
    let summary = inspect::inspect(&program, &mut network, Budget::new(bytes.len()))?;
    Ok(Summary { file_bytes: bytes.len(), ..summary })
}
