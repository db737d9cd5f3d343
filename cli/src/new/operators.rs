//! The functions of custom operators in a new crate: with the signatures that the model wants of them, and zero as their result until they are written.

use anyhow::{bail, Result};
use kiln_codegen::ir::{Data, Graph, Op, Type};
use kiln_codegen::select::{Custom, Element};
use kiln_codegen::{Compiled, CustomOp, Options};
use serde::Serialize;
use std::collections::BTreeSet;

/// Modules that a new crate has already, or that Cargo takes for something else.
const TAKEN: [&str; 5] = ["device", "lib", "main", "sample", "tests"];

/// A file with functions.
#[derive(Debug, Serialize)]
pub(super) struct Module {
    pub(super) name: String,
    /// What its functions need of `kiln::custom`.
    imports: Vec<String>,
    functions: Vec<Function>,
}

/// A function, yet to be written.
#[derive(Debug, Serialize)]
struct Function {
    /// The operator's name in the model file.
    operator: String,
    /// Its first lines, as rustfmt has them.
    head: String,
    /// The stored zero of its result.
    zero: String,
}

/// Checks the paths: functions stand in modules of the crate.
///
/// # Errors
/// Says which path is none, and how it is written.
pub(super) fn check(options: &Options) -> Result<()> {
    options.custom_ops.iter().try_for_each(|custom| split(custom).map(|_| ()))
}

/// Module and function of a path: `crate::kernels::my_op`.
fn split(custom: &CustomOp) -> Result<(&str, &str)> {
    let path = custom.path.strip_prefix("crate::").unwrap_or(&custom.path);
    let is_name = |name: &str| syn::parse_str::<syn::Ident>(name).is_ok() && name.is_ascii();
    match path.split_once("::") {
        Some((module, function)) if is_name(module) && is_name(function) && !TAKEN.contains(&module) => {
            Ok((module, function))
        }
        _ => bail!(
            "`{}`, the function of the custom operator `{}`, has no module of its own in a new crate\n    help: name a module and a function: --custom-op {}=crate::kernels::my_op",
            custom.path,
            custom.name,
            custom.name
        ),
    }
}

/// The modules of a model's functions.
///
/// # Errors
/// Where one function would have to have several signatures.
pub(super) fn modules(compiled: &Compiled) -> Result<Vec<Module>> {
    let mut modules: Vec<Module> = Vec::new();
    for bound in &compiled.options.custom_ops {
        let (module, name) = split(bound)?;
        let mut uses = compiled.program.customs.iter().filter(|custom| custom.path == bound.path);
        // An operator whose result nothing uses is not called.
        let Some(first) = uses.next() else { continue };
        if let Some(other) = uses.next() {
            bail!(
                "`{}` would be a function of several signatures: for {}, and for {}\n    help: begin with one function for each operator; docs/custom-operators.md shows functions of any shape",
                bound.path,
                signature(first),
                signature(other)
            );
        }
        let function = Function {
            operator: bound.name.replace(['`', '\n', '\r'], "_"),
            head: head(name, first),
            zero: zero(&first.result),
        };
        let index = modules.iter().position(|known| known.name == module).unwrap_or(modules.len());
        if index == modules.len() {
            modules.push(Module { name: module.into(), imports: Vec::new(), functions: Vec::new() });
        }
        let module = &mut modules[index];
        let types = first.operands.iter().chain([&first.result]).map(dims_name);
        let imports: BTreeSet<String> = ["Input".into(), "Output".into()]
            .into_iter()
            .chain(types)
            .chain(std::mem::take(&mut module.imports))
            .collect();
        module.imports = imports.into_iter().collect();
        module.functions.push(function);
    }
    modules.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(modules)
}

/// The model with zeros as the results of custom operators: what the new crate computes.
pub(super) fn with_zeros(mut graph: Graph) -> Graph {
    let results: Vec<_> = graph
        .nodes()
        .filter(|(_, node)| matches!(node.op, Op::Custom { .. }))
        .map(|(id, node)| (id, node.result))
        .collect();
    for (node, result) in results {
        let ty = graph.ty(result).clone();
        let zeros = graph.add_const(graph.value(result).label().to_owned(), ty.clone(), Data::zeros(&ty));
        graph.replace_uses(result, zeros);
        graph.order.retain(|&other| other != node);
    }
    graph
}

/// `pub fn my_op(_x: Input<'_, i8, Dims2<1, 10>>, …) {`.
fn head(name: &str, custom: &Custom) -> String {
    const WIDTH: usize = 100;
    let single = custom.operands.len() == 1;
    let operand = |(index, ty): (usize, &Type)| match single {
        true => format!("_x: Input<'_, {}>", view(ty)),
        false => format!("_x{index}: Input<'_, {}>", view(ty)),
    };
    let operands = custom.operands.iter().enumerate().map(operand);
    let result = format!("y: Output<'_, {}>", view(&custom.result));
    let arguments: Vec<String> = operands.chain([result, "_attributes: &'static [u8]".into()]).collect();
    let line = format!("pub fn {name}({}) {{", arguments.join(", "));
    match line.len() <= WIDTH {
        true => line,
        false => format!("pub fn {name}(\n    {},\n) {{", arguments.join(",\n    ")),
    }
}

/// In words for people: `f32, Dims1<3> -> f32, Dims1<3>`.
fn signature(custom: &Custom) -> String {
    let operands: Vec<String> = custom.operands.iter().map(view).collect();
    format!("({}) -> {}", operands.join("; "), view(&custom.result))
}

/// `i8, Dims2<1, 10>`.
fn view(ty: &Type) -> String {
    let sizes: Vec<String> = ty.shape.dims().iter().map(usize::to_string).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("<{}>", sizes.join(", ")) };
    format!("{}, {}{sizes}", Element::from(ty.dtype).name(), dims_name(ty))
}

fn dims_name(ty: &Type) -> String {
    format!("Dims{}", ty.shape.dims().len())
}

fn zero(ty: &Type) -> String {
    match Element::from(ty.dtype) {
        Element::F32 => "0.0".into(),
        _ => ty.zero_point().to_string(),
    }
}
