//! The reader of exported programs, as the table of formats has it.

use super::program::Program;
use super::store::Store;
use super::{import, OLD_PROGRAM};
use crate::archive::{Archive, Entry};
use crate::budget::Budget;
use crate::json::{Json, Parsed};
use crate::torch::lower;
use crate::{Read, Reader, Summary};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;

pub(crate) const READER: Reader = Reader {
    read,
    inspect,
    embed: |_, _| Ok(None),
    operators: || lower::operators().map(str::to_owned).collect(),
};

/// Versions of the schema that are read: those of torch 2.5 to 2.15.
const SCHEMAS: std::ops::RangeInclusive<i64> = 7..=8;

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let (program, store) = parse(bytes)?;
    import::lower(&program, &store, name, options, budget(bytes))
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let (program, store) = parse(bytes)?;
    Ok(Summary { file_bytes: bytes.len(), ..import::inspect(&program, &store, budget(bytes))? })
}

fn budget(bytes: &[u8]) -> Budget {
    Budget::new(bytes.len())
}

fn parse(bytes: &[u8]) -> Result<(Program, Store<'_>), Error> {
    let archive = Archive::open(bytes).ok_or_else(|| Error::malformed("archive", "it is damaged"))?;
    let mut programs = archive.programs();
    let entry = match (programs.next(), programs.next()) {
        (Some(first), Some(second)) => {
            let what = format!("the archive has several models: \"{}\", \"{}\"", first.name, second.name);
            return Err(unsupported(what, "save each model in a file of its own"));
        }
        (Some(only), None) => only,
        (None, _) => {
            let old = archive.ending(OLD_PROGRAM);
            old.ok_or_else(|| Error::malformed("archive", "it has no program"))?
        }
    };
    drop(programs);
    let order = archive.ending("byteorder").map(|entry| archive.read(entry));
    if matches!(order, Some(Ok(b"big"))) {
        let help = "save it on a machine with little-endian order";
        return Err(unsupported("its weights are in big-endian order".into(), help));
    }
    let text = archive.read(entry).map_err(|what| Error::malformed("archive", what))?;
    let program = parsed(entry, text, Program::read)?;
    let schema = program.schema;
    if !SCHEMAS.contains(&schema) {
        let what = format!(
            "its program has version {schema} of torch's schema; {} to {} are read, those of torch 2.5 to 2.15",
            SCHEMAS.start(),
            SCHEMAS.end()
        );
        return Err(unsupported(what, "export it again with one of these"));
    }
    let store = Store::read(archive)?;
    Ok((program, store))
}

/// Reads a JSON file of the archive.
pub(super) fn parsed<T>(
    entry: Entry<'_>,
    text: &[u8],
    read: impl FnOnce(&mut Json<'_>) -> Parsed<T>,
) -> Result<T, Error> {
    let mut json = Json::new(text);
    let read = read(&mut json).and_then(|value| match json.ends() {
        true => Ok(value),
        false => json.broken("something stands behind the end"),
    });
    read.map_err(|broken| Error::malformed(entry.name, format!("byte {}: {}", broken.at, broken.what)))
}

fn unsupported(what: String, help: &str) -> Error {
    Error::Unsupported(vec![Problem { place: "archive".into(), what, help: help.into() }])
}
