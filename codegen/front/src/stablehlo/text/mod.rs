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

use super::module::{Module, Type, Value};
use super::scanner::Scanner;
use kiln_ir::error::Error;
use locations::Location;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Reads a text.
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    let mut reader = Reader {
        scan: Scanner::new(bytes)?,
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

/// Whether bytes look like such a text.
pub(super) fn is_stablehlo_text(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    // Comments and empty lines in front.
    loop {
        rest = rest.trim_ascii_start();
        if !rest.starts_with(b"//") {
            break;
        }
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
    let begins = |with: &str| rest.starts_with(with.as_bytes());
    if let Some(rest) = rest.strip_prefix(b"module") {
        let is_apart = rest.first().is_some_and(u8::is_ascii_whitespace);
        let rest = rest.trim_ascii_start();
        return is_apart
            && (rest.starts_with(b"@") || rest.starts_with(b"attributes") || rest.starts_with(b"{"));
    }
    let is_alias = matches!(rest.first(), Some(b'#' | b'!')) && {
        let name =
            rest[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)).count();
        name > 0 && rest[1 + name..].starts_with(b" = ")
    };
    is_alias
        || ["\"builtin.module\"", "builtin.module", "func.func ", "\"func.func\""].into_iter().any(begins)
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
