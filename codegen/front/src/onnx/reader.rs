//! The reader of ONNX, as the table of formats has it.

use super::external::embed;
use super::lower;
use super::proto::{Failure, Model};
use crate::budget::Budget;
use crate::{Read, Reader, Summary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

pub(crate) const READER: Reader =
    Reader { read, inspect, embed, operators: || lower::operators().map(str::to_owned).collect() };

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let (model, budget) = parse(bytes)?;
    lower::lower(&model, name, options, budget)
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let (model, budget) = parse(bytes)?;
    Ok(Summary { file_bytes: bytes.len(), ..lower::inspect(&model, budget)? })
}

fn parse(bytes: &[u8]) -> Result<(Model<'_>, Budget), Error> {
    // Nodes and attributes are small messages, of which larger structures are made.
    let mut budget = Budget::new(bytes.len().saturating_mul(4));
    let model = Model::parse(bytes, &mut budget).map_err(|failure| match failure {
        Failure::Broken(broken) => Error::malformed("model", broken.to_string()),
        Failure::Budget(error) => error,
    })?;
    Ok((model, budget))
}
