//! The reader of TorchScript, as the table of formats has it.

use super::eval;
use super::inspect;
use super::model::{Files, Model};
use crate::budget::Budget;
use crate::torch::lower;
use crate::{Read, Reader, Summary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

pub(crate) const READER: Reader = Reader {
    read,
    inspect: summary,
    embed: |_, _| Ok(None),
    operators: || lower::operators().map(str::to_owned).collect(),
};

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let mut budget = Budget::new(bytes.len());
    let files = Files::open(bytes, &mut budget)?;
    let model = Model::read(&files, &mut budget)?;
    eval::read(&model, name, options, || Budget::new(bytes.len()))
}

fn summary(bytes: &[u8]) -> Result<Summary, Error> {
    let mut budget = Budget::new(bytes.len());
    let files = Files::open(bytes, &mut budget)?;
    let model = Model::read(&files, &mut budget)?;
    Ok(Summary { file_bytes: bytes.len(), ..inspect::summary(&model, &mut Budget::new(bytes.len()))? })
}
