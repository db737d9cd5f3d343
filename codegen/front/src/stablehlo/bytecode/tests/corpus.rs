//! Files of the corpus, as far as it is there: bytecode says the same as the text of the same model.

use super::super::{jax_payload, read};
use crate::stablehlo::module::{Attribute, Attributes, Function, Module, Region, Type, Value};
use crate::stablehlo::text;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files that JAX has written.
pub(super) fn files() -> Vec<PathBuf> {
    let Ok(models) = std::env::var("KILN_CORPUS") else { return Vec::new() };
    let folder = Path::new(&models).join("../conformance/frameworks/jax");
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Numbers for values: those that are computed in the same way have the same number, in whatever order, and however often.
#[derive(Default)]
struct Numbers(HashMap<String, usize>);

impl Numbers {
    fn number(&mut self, of: String) -> usize {
        let next = self.0.len();
        *self.0.entry(of).or_insert(next)
    }

    /// What each function computes.
    fn module(&mut self, module: &Module<'_>) -> Vec<String> {
        let mut functions: Vec<_> = module.functions.iter().map(|function| self.function(function)).collect();
        functions.sort();
        functions
    }

    fn function(&mut self, function: &Function<'_>) -> String {
        let Function { name, public, results, .. } = function;
        let attributes = |list: &[Attributes<'_>]| list.iter().map(written).collect::<Vec<_>>();
        // Names of arguments stand only in bytecode.
        let mut arguments = function.argument_attributes.clone();
        arguments.iter_mut().for_each(|Attributes(list)| list.retain(|(key, _)| key != "name"));
        let arguments = attributes(&arguments);
        let result_attributes = attributes(&function.result_attributes);
        let body = self.region(function, &function.body, 0, &mut HashMap::new());
        format!("{name} {public} {arguments:?} {result_attributes:?} {results:?} {body}")
    }

    /// What the last operation of a region gives.
    fn region(
        &mut self,
        function: &Function<'_>,
        region: &Region<'_>,
        depth: usize,
        values: &mut HashMap<Value, usize>,
    ) -> String {
        for (index, argument) in region.arguments.iter().enumerate() {
            let number =
                self.number(format!("argument {index} at {depth}: {:?}", function.types[argument.0]));
            values.insert(*argument, number);
        }
        let mut last = String::new();
        for operation in &region.operations {
            let mut operands: Vec<_> = operation.operands.iter().map(|operand| values[operand]).collect();
            let mut name = &*operation.name;
            if name == "chlo.square" {
                // JAX writes this operation of CHLO as what it consists of.
                name = "stablehlo.multiply";
                operands.push(operands[0]);
            }
            let regions =
                operation.regions.iter().map(|region| self.region(function, region, depth + 1, values));
            let regions: Vec<_> = regions.collect();
            last = format!("{name} {operands:?} {} {regions:?}", written(&operation.attributes));
            for (index, result) in operation.results.iter().enumerate() {
                let number = self.number(format!("{last} {index}: {:?}", function.types[result.0]));
                values.insert(*result, number);
            }
        }
        last
    }
}

/// Attributes in the order of their names.
fn written(attributes: &Attributes<'_>) -> String {
    let mut list: Vec<_> =
        attributes.0.iter().map(|(name, value)| format!("{name}={}", one(value))).collect();
    list.sort();
    list.join(", ")
}

fn one(attribute: &Attribute<'_>) -> String {
    match attribute {
        Attribute::Parts(parts) => format!("{{{}}}", written(parts)),
        Attribute::List(list) => format!("{:?}", list.iter().map(one).collect::<Vec<_>>()),
        Attribute::Dense(dense) => {
            let Type::Tensor(tensor) = &dense.ty else { panic!("{dense:?}") };
            let is_one = tensor.shape.iter().all(|size| *size == Some(1));
            format!("{:?} {:?} {}", dense.ty, dense.bytes, dense.splat || is_one)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn bytecode_says_the_same_as_text() {
    for path in files() {
        let name = path.to_str().unwrap();
        let endings = [".old.vhlo.mlirbc", ".vhlo.mlirbc", ".jaxexport"];
        let Some(ending) = endings.into_iter().find(|ending| name.ends_with(ending)) else { continue };
        let file = std::fs::read(&path).unwrap();
        let bytecode = if ending == ".jaxexport" { jax_payload(&file).unwrap() } else { &file };
        let module = read(bytecode).unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = std::fs::read(name.replace(ending, ".generic.mlir")).unwrap();
        let expected = text::read(&text).unwrap();
        assert_eq!(module.name, expected.name, "{name}");
        // JAX writes operations of CHLO as calls of functions with what they consist of.
        let is_composed = String::from_utf8_lossy(&text).matches("\"chlo.").count()
            != String::from_utf8_lossy(&text).matches("\"chlo.square\"").count();
        if !is_composed {
            let mut numbers = Numbers::default();
            assert_eq!(numbers.module(&module), numbers.module(&expected), "{name}");
        }
    }
}
