//! What tests of readers share.

use super::module::{Attribute, Attributes, Function, Module, Operation, Region, Value};
use crate::testing::Random;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Files beside the corpus that `KILN_CORPUS` names whose names end so. None where it is not set.
pub(super) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("KILN_CORPUS") else {
        println!("KILN_CORPUS is not set: only texts of the tests were read");
        return Vec::new();
    };
    let folder = PathBuf::from(corpus).join("../conformance").join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Reads every beginning of a text, and texts in which bytes are other ones: that may fail, but neither panic nor hang.
pub(super) fn damage(text: &str, read: impl Fn(&[u8])) {
    let limited = |bytes: &[u8]| {
        let start = Instant::now();
        read(bytes);
        assert!(start.elapsed() < Duration::from_secs(1), "{}", String::from_utf8_lossy(bytes));
    };
    for end in 0..text.len() {
        limited(&text.as_bytes()[..end]);
    }
    let mut random = Random(1);
    // Characters that mean something more often than others.
    let telling = b"()[]{}<>:,=%#@\"-0193xe\n /*_.\xff";
    for _ in 0..text.len() {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] = telling[random.below(telling.len())],
                2 => {
                    bytes.remove(at);
                }
                _ => {
                    let (from, length) = (random.below(bytes.len()), random.below(40));
                    let piece = bytes[from..bytes.len().min(from + length)].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        limited(&bytes);
    }
}

/// What holds for all modules: values are numbers of types, and are defined in front of their uses.
pub(super) fn check(module: &Module<'_>) {
    fn operations(all: &[Operation<'_>], types: usize) {
        for operation in all {
            let values = operation.operands.iter().chain(&operation.results);
            assert!(values.into_iter().all(|value| value.0 < types));
            operation.regions.iter().for_each(|region| operations(&region.operations, types));
        }
    }
    for function in &module.functions {
        assert_eq!(function.argument_attributes.len(), function.body.arguments.len());
        assert_eq!(function.result_attributes.len(), function.results.len());
        operations(&function.body.operations, function.types.len());
    }
    canonical(module);
}

/// A module as a text that is the same for the same module, whatever it was written in: without places, with numbers of values in the order in which they
/// are defined, and with attributes in the order of their names.
pub(super) fn canonical(module: &Module<'_>) -> String {
    let mut text = String::new();
    for function in &module.functions {
        let mut canonical = Canonical { text: &mut text, function, numbers: HashMap::new() };
        canonical.function();
    }
    text
}

struct Canonical<'a, 'm> {
    text: &'a mut String,
    function: &'a Function<'m>,
    numbers: HashMap<Value, usize>,
}

impl Canonical<'_, '_> {
    fn function(&mut self) {
        let Function { name, public, results, argument_attributes, result_attributes, body, .. } =
            self.function;
        writeln!(self.text, "function {name} public: {public} -> {results:?}").unwrap();
        for list in argument_attributes.iter().chain(result_attributes) {
            self.attributes(list);
            self.text.push('\n');
        }
        self.region(body, 1);
    }

    fn values(&mut self, values: &[Value], defines: bool) {
        for value in values {
            let next = self.numbers.len();
            let number = match defines {
                true => *self.numbers.entry(*value).or_insert(next),
                false => self.numbers[value],
            };
            write!(self.text, " %{number}").unwrap();
            if defines {
                write!(self.text, ": {:?}", self.function.types[value.0]).unwrap();
            }
        }
    }

    fn region(&mut self, region: &Region<'_>, depth: usize) {
        let indent = "  ".repeat(depth);
        write!(self.text, "{indent}region").unwrap();
        self.values(&region.arguments, true);
        self.text.push('\n');
        for operation in &region.operations {
            write!(self.text, "{indent}{}", operation.name).unwrap();
            self.values(&operation.operands, false);
            self.attributes(&operation.attributes);
            self.text.push('\n');
            for region in &operation.regions {
                self.region(region, depth + 1);
            }
            if !operation.results.is_empty() {
                write!(self.text, "{indent}  ->").unwrap();
                self.values(&operation.results, true);
                self.text.push('\n');
            }
        }
    }

    fn attributes(&mut self, attributes: &Attributes<'_>) {
        let mut sorted: Vec<_> = attributes.0.iter().collect();
        sorted.sort_by(|first, second| first.0.cmp(&second.0));
        self.text.push_str(" {");
        for (key, value) in sorted {
            write!(self.text, "{key} = ").unwrap();
            self.attribute(value);
            self.text.push_str(", ");
        }
        self.text.push('}');
    }

    fn attribute(&mut self, attribute: &Attribute<'_>) {
        match attribute {
            Attribute::Parts(parts) => self.attributes(parts),
            Attribute::List(list) => {
                self.text.push('[');
                for each in list {
                    self.attribute(each);
                    self.text.push_str(", ");
                }
                self.text.push(']');
            }
            other => write!(self.text, "{other:?}").unwrap(),
        }
    }
}
