//! Tests with files of the corpus, as far as it is there.

use super::*;
use crate::stablehlo::module::{Attribute, Attributes, Function, Module, Region, Type, Value};
use crate::stablehlo::text;
use std::collections::HashMap;
use std::path::PathBuf;

fn files() -> Vec<PathBuf> {
    let Ok(models) = std::env::var("KILN_CORPUS") else { return Vec::new() };
    let folder = std::path::Path::new(&models).join("../conformance/frameworks/jax");
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Numbers for values: values that are computed in the same way have the same number, whatever the order of operations is, and however often a module computes them.
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
        let arguments = attributes(&function.argument_attributes);
        let result_attributes = attributes(&function.result_attributes);
        let body = self.region(function, &function.body, 0, &mut HashMap::new());
        format!("{name} {public} {arguments:?} {result_attributes:?} {results:?} {body}")
    }

    fn region(
        &mut self,
        function: &Function<'_>,
        region: &Region<'_>,
        depth: usize,
        values: &mut HashMap<Value, usize>,
    ) -> String {
        for (index, argument) in region.arguments.iter().enumerate() {
            let number = self.number(format!("argument {index} at {depth}: {:?}", function.types[argument.0]));
            values.insert(*argument, number);
        }
        let mut last = String::new();
        for operation in &region.operations {
            let mut operands: Vec<_> = operation.operands.iter().map(|operand| values[operand]).collect();
            let mut name = &*operation.name;
            if name == "chlo.square" {
                // Bytecode has no operations of CHLO, but what they consist of.
                name = "stablehlo.multiply";
                operands.push(operands[0]);
            }
            let regions = operation.regions.iter().map(|region| self.region(function, region, depth + 1, values));
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
    let mut list: Vec<_> = attributes.0.iter().map(|(name, value)| format!("{name}={}", one(value))).collect();
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
fn compare() {
    let (mut same, mut all) = (0, 0);
    for path in files() {
        let name = path.to_str().unwrap();
        let ending = [".old.vhlo.mlirbc", ".vhlo.mlirbc", ".jaxexport"].into_iter().find(|ending| name.ends_with(ending));
        let Some(ending) = ending else { continue };
        let bytes = std::fs::read(&path).unwrap();
        let module = read(if ending == ".jaxexport" { jax_payload(&bytes).unwrap() } else { &bytes }).unwrap();
        let written = std::fs::read(name.replace(ending, ".generic.mlir")).unwrap();
        let written = text::read(&written).unwrap();
        all += 1;
        let mut numbers = Numbers::default();
        let (a, b) = (numbers.module(&module), numbers.module(&written));
        if a == b && module.name == written.name { same += 1; continue }
        println!("FILE {} {} {}", path.file_name().unwrap().to_str().unwrap(), module.name, written.name);
        for (a, b) in a.iter().zip(b.iter()) {
            if a != b { println!("   {}\n   {}", &a[..a.len().min(700)], &b[..b.len().min(700)]); }
        }
    }
    println!("SAME {same} {all}");
}

#[test]
fn versions() {
    let Ok(folder) = std::env::var("KILN_VHLO") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        match read(&bytes) {
            Ok(module) => {
                println!("VERSION {name}: {} functions", module.functions.len());
                let text = std::fs::read(format!("/tmp/vht/{}", name.trim_end_matches(".bc")));
                let Ok(text) = text else { continue };
                let start = text.windows(7).position(|w| w == b"\nmodule" || w == b"\nfunc.f" || w == b"\n\"func.").unwrap_or(0);
                match text::read(&text[0..]) {
                    Ok(written) => {
                        let mut numbers = Numbers::default();
                        let (mut same, mut all) = (0, 0);
                        for f in &written.functions {
                            all += 1;
                            let Some(g) = module.functions.iter().find(|g| g.name == f.name) else { println!("  no {}", f.name); continue };
                            let (a, b) = (numbers.function(g), numbers.function(f));
                            if a == b { same += 1 } else if std::env::var("KILN_SHOW").is_ok() { 
                                println!("  DIFF {}", f.name);
                                for (x, y) in g.body.operations.iter().zip(&f.body.operations) {
                                    let (x, y) = (format!("{} {}", x.name, super::tests::written(&x.attributes)), format!("{} {}", y.name, super::tests::written(&y.attributes)));
                                    if x != y { println!("     {x}\n     {y}"); }
                                }
                                if g.types != f.types { println!("     {:?}\n     {:?}", g.types, f.types); }
                            }
                        }
                        println!("  TEXT same {same} of {all} {start}");
                    }
                    Err(error) => println!("  text: {error}"),
                }
            }
            Err(error) => println!("VERSION {name}: {error}"),
        }
    }
}
