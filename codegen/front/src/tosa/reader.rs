//! The reader of TOSA, as the table of formats has it.

use super::schema::Model;
use super::{inspect, lower};
use crate::budget::Budget;
use crate::{Read, Reader};
use kiln_ir::error::Error;
use kiln_ir::options::Options;

pub(crate) const READER: Reader = Reader {
    read,
    inspect: inspect::inspect,
    embed: |_, _| Ok(None),
    operators: || lower::operators().map(str::to_owned).collect(),
};

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let mut budget = Budget::new(bytes.len());
    let model = Model::parse(bytes, &mut budget)?;
    lower::lower(&model, name, options, budget)
}
