//! What tests of readers share.

use super::module::{Attribute, Attributes, Function, Module, Region, Value};
use std::collections::HashMap;
use std::fmt::Write;

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
