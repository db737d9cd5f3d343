//! MLIR's text of StableHLO, in the generic form and in the pretty form of each operation.

mod attributes;
mod dense;
mod functions;
mod locations;
mod operations;
mod parts;
mod pretty;
mod special;
#[cfg(test)]
mod tests;
mod types;

pub(super) use dense::bits_of;

#[cfg(test)]
use super::form::is_stablehlo_text;
use super::module::{Module, Type, Value};
use super::scanner::Scanner;
use kiln_ir::error::Error;
use locations::Location;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Bytes of what is read for each byte of text.
const PER_BYTE: usize = 16;

/// Reads a text.
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    let mut reader = Reader {
        scan: Scanner::new(bytes, PER_BYTE)?,
        aliases: HashMap::new(),
        type_aliases: HashMap::new(),
        resources: HashMap::new(),
        locations: HashMap::new(),
        types: Vec::new(),
        names: HashMap::new(),
        defined: Vec::new(),
        functions: HashSet::new(),
        signature_of_function: None,
    };
    let module = reader.file(bytes);
    module.map_err(|broken| reader.scan.error(broken))
}

/// A text that is being read.
struct Reader<'m> {
    scan: Scanner<'m>,
    /// Where each alias of an attribute, of a location or of a type is defined.
    aliases: HashMap<&'m str, usize>,
    type_aliases: HashMap<&'m str, usize>,
    /// Where the bytes of each resource stand.
    resources: HashMap<&'m str, usize>,
    /// What aliases of locations stand for.
    locations: HashMap<&'m str, Location<'m>>,
    /// The types of the function's values.
    types: Vec<Type>,
    /// The values that can be named at this place: the first of each name, and how many it has.
    names: HashMap<&'m str, (Value, usize)>,
    /// These names in the order of their definition.
    defined: Vec<&'m str>,
    /// The names of the functions.
    functions: HashSet<Cow<'m, str>>,
    /// The type that a dictionary gives a function.
    signature_of_function: Option<(Vec<Type>, Vec<Type>)>,
}
