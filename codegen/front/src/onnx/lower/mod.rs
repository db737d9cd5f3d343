//! Lowering of a parsed model to a [`Graph`].
//!
//! One file per family of operators. Each operator is given a [`NodeCx`], through which it sees its operands and attributes and adds nodes. An operator that
//! cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so that one run reports everything that stands in the way.
//!
//! Images are channel-first in ONNX and channel-last in the graph: transposes stand around every op that looks at an image, and passes remove them again.

mod activation;
mod attention;
mod attributes;
pub(crate) mod bits;
mod build;
mod call;
mod classical;
mod control;
mod conv;
mod custom;
mod cx;
mod einsum;
mod elementwise;
mod follow;
mod fourier;
mod functions;
mod gather;
mod generate;
mod image;
mod inputs;
mod inspect;
mod logic;
mod normalise;
mod pad;
mod pool;
mod product;
mod quantise;
mod quantise_dynamic;
mod quantise_layers;
mod recurrent;
mod recurrent_dynamic;
mod reduce;
mod resize;
mod scatter;
mod shape;
mod tensor;
mod transpose;
mod trees;
mod vectors;
mod volume;

use super::proto::{Dim, Model, Name, Node, Tensor, ValueInfo};
use crate::budget::Budget;
use crate::report::Report;
use crate::{Lowered, Read, Refusal, Summary};
pub(crate) use call::{Host, Set};
pub(crate) use control::{stacked, truth};
pub(crate) use cx::NodeCx;
pub(crate) use fourier::{fitted, Transform};
pub(crate) use functions::{exponential_less_one, log_of_more};
pub(crate) use image::{computed_convolution, convolution, Axis};
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::{DType, Graph, Shape, Type, ValueId};
pub(crate) use normalise::{inverse_root, normal, scaled};
pub(crate) use quantise::quantised;
pub(crate) use quantise_dynamic::product as integer_product;
use std::collections::HashMap;
pub(crate) use tensor::check_size;

/// The oldest and newest operator sets that are read.
const OPSETS: std::ops::RangeInclusive<i64> = 6..=27;

/// Operators and the set that first had them. Some programs name an older one for files that have them; what such a file means is the newer one, also for Softmax, whose axes are
/// others since set 13.
const NEWER: &[(&str, i64)] = &[("HardSwish", 14), ("Trilu", 14)];

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

/// The state of one import.
pub(crate) struct Importer<'m, 'a> {
    pub(crate) graph: Graph,
    /// Values by name; `None` for results of operators that were refused.
    values: HashMap<Name<'a>, Option<ValueId>>,
    /// The model, whose constants are read when they are needed.
    model: &'m Model<'a>,
    pub(crate) options: &'m Options,
    /// Constants of the file, by name.
    initializers: HashMap<Name<'a>, &'m Tensor<'a>>,
    /// The way to the subgraph that is read: `12 Loop/`.
    caller: String,
    /// Version of ONNX's own operators.
    opset: i64,
    pub(crate) budget: Budget,
    pub(crate) report: Report,
    /// What the file says of values, by name, once something was refused.
    declared: Option<HashMap<Name<'a>, ValueInfo<'a>>>,
}

/// Lowers the model's graph.
pub(super) fn lower(model: &Model<'_>, name: &str, options: &Options, budget: Budget) -> Result<Read, Error> {
    let importer = import(model, name, options, budget)?;
    let outputs: Vec<String> = model.graph.outputs.iter().map(|output| output.name.text()).collect();
    Read::of(importer.graph, importer.report, options, &outputs)
}

/// What the model's graph has, with shapes as far as it can be lowered.
pub(super) fn inspect(model: &Model<'_>, budget: Budget) -> Result<Summary, Error> {
    let options = Options::default();
    match import(model, "", &options, budget) {
        Ok(importer) => Ok(importer.summary()),
        // Nothing of it can be lowered: its operators can be listed all the same.
        Err(Error::Unsupported(_)) => Ok(Importer::new(model, "", &options, 0, Budget::new(0)).summary()),
        Err(error) => Err(error),
    }
}

/// Lowers what can be lowered of the model's graph.
fn import<'m, 'a>(
    model: &'m Model<'a>,
    name: &str,
    options: &'m Options,
    budget: Budget,
) -> Result<Importer<'m, 'a>, Error> {
    let own = model.opsets.iter().find(|(domain, _)| matches!(domain.0, b"" | b"ai.onnx"));
    let newest = model.graph.nodes.iter().filter(|node| is_own(node.domain)).filter_map(|node| {
        NEWER.iter().find(|(name, _)| name.as_bytes() == node.op_type.0).map(|(_, version)| *version)
    });
    let opset = own.map_or(0, |(_, version)| newest.fold(*version, i64::max));
    if !OPSETS.contains(&opset) && model.graph.nodes.iter().any(|node| is_own(node.domain)) {
        let what = format!(
            "its operators are from ONNX operator set {opset}; sets {} to {} are supported",
            OPSETS.start(),
            OPSETS.end()
        );
        return Err(unsupported("model", what, "export it again, or convert it with onnx.version_converter"));
    }
    if model.has_functions {
        let help = "export it without functions (`torch.onnx.export(…, dynamo=False)`), or inline them with onnx.inliner";
        return Err(unsupported("model", "it defines functions of its own".into(), help));
    }
    let mut importer = Importer::new(model, name, options, opset, budget);
    importer.inputs()?;
    for (index, node) in model.graph.nodes.iter().enumerate() {
        importer.node(index, node)?;
    }
    importer.outputs()?;
    Ok(importer)
}

fn unsupported(place: &str, what: String, help: &str) -> Error {
    Error::Unsupported(vec![kiln_ir::error::Problem { place: place.into(), what, help: help.into() }])
}

/// Whether a domain is ONNX's own.
fn is_own(domain: Name<'_>) -> bool {
    matches!(domain.0, b"" | b"ai.onnx")
}

impl<'m, 'a> Importer<'m, 'a> {
    fn new(model: &'m Model<'a>, name: &str, options: &'m Options, opset: i64, budget: Budget) -> Self {
        Importer {
            graph: Graph::new(name),
            values: HashMap::new(),
            model,
            options,
            initializers: model.graph.initializers.iter().map(|tensor| (tensor.name, tensor)).collect(),
            caller: String::new(),
            opset,
            budget,
            report: Report::default(),
            declared: None,
        }
    }

    fn node(&mut self, index: usize, node: &'m Node<'a>) -> Result<(), Error> {
        self.budget.charge(OPERATOR_BYTES + 64 * (node.inputs.len() + node.outputs.len()))?;
        let name = inspect::operator_name(node);
        let origin = format!("{}{index} {name}", self.caller);
        let place = match (node.name.is_empty(), node.outputs.first()) {
            (false, _) => format!("operator {origin} \"{}\"", node.name),
            (true, Some(result)) => format!("operator {origin} \"{result}\""),
            (true, None) => format!("operator {origin}"),
        };
        for result in node.outputs.iter().filter(|name| !name.is_empty()) {
            if self.values.contains_key(result) || self.initializers.contains_key(result) {
                return Err(Error::malformed(place, format!("\"{result}\" is computed a second time")));
            }
        }
        let before = self.graph.order.len();
        let lowered = match find(&name) {
            _ if custom::bound(self.options, &name).is_some() => {
                One(custom::custom).run(&mut NodeCx::new(self, node, origin))
            }
            Some(lower) => lower.run(&mut NodeCx::new(self, node, origin)),
            None => Err(custom::unknown(node)),
        };
        if let Err(refusal) = lowered {
            self.report.refuse(place, Some((index, &name)), refusal)?;
            // What was made of it so far is not part of the model.
            self.graph.order.truncate(before);
        }
        // What was refused, or is not computed, can be named by the operators behind it.
        for &result in node.outputs.iter().filter(|name| !name.is_empty()) {
            if !self.values.contains_key(&result) {
                let value = self.stand_in(result);
                self.values.insert(result, value);
            }
        }
        Ok(())
    }

    /// A value to stand for a result of a refused operator, so that the operators behind it are looked at too: where the file says what it is. Integers may be a
    /// shape or an index, which has to be constant.
    fn stand_in(&mut self, result: Name<'a>) -> Option<ValueId> {
        if self.report.is_empty() || !self.caller.is_empty() {
            return None;
        }
        let ty = self.declared(result)?;
        if matches!(ty.dtype, DType::I32 | DType::I64) {
            return None;
        }
        self.budget.charge(OPERATOR_BYTES).ok()?;
        let value = self.graph.add_input(result.text(), ty);
        self.graph.inputs.pop();
        Some(value)
    }

    /// What the file says of a value: its type, where all sizes are known.
    fn declared(&mut self, name: Name<'a>) -> Option<Type> {
        if self.declared.is_none() {
            let declared = self.model.graph.declared(&mut self.budget);
            self.declared = Some(declared.into_iter().map(|info| (info.name, info)).collect());
        }
        let info = self.declared.as_ref()?.get(&name)?;
        let size = |dim: &Dim<'_>| match *dim {
            Dim::Size(size) => usize::try_from(size).ok().filter(|&size| size > 0),
            Dim::Symbol(_) => None,
        };
        let dims: Vec<usize> = info.dims.as_ref()?.iter().map(size).collect::<Option<_>>()?;
        let dtype = tensor::dtype(info.element?).ok()?;
        tensor::check_size(dtype, &dims).ok()?;
        Some(Type { dtype, shape: Shape(dims), quant: None })
    }

    fn outputs(&mut self) -> Result<(), Error> {
        let model = self.model;
        for info in &model.graph.outputs {
            self.budget.charge(OPERATOR_BYTES)?;
            match self.read(info.name).and_then(|value| self.with_elements(value)) {
                Ok(value) => {
                    let output = self.output(&info.name.text(), value)?;
                    self.graph.outputs.push(output);
                }
                Err(refusal) => self.report.refuse(format!("output \"{}\"", info.name), None, refusal)?,
            }
        }
        match model.graph.outputs.is_empty() {
            true => Err(Error::malformed("model", "it has no outputs")),
            false => Ok(()),
        }
    }

    /// The value of that name.
    fn read(&mut self, name: Name<'a>) -> Lowered<ValueId> {
        if let Some(known) = self.values.get(&name) {
            return known.ok_or(Refusal::Follows);
        }
        let Some(&tensor) = self.initializers.get(&name) else {
            return Err(malformed!("\"{name}\" is used before it is computed"));
        };
        let (ty, data) = tensor::constant(tensor, &mut self.budget)?;
        let value = self.graph.add_const(name.text(), ty, data);
        self.values.insert(name, Some(value));
        Ok(value)
    }
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
enum Lower {
    /// Gives the only result.
    One(fn(&mut NodeCx<'_, '_, '_>) -> Lowered<ValueId>),
    /// Binds all results itself.
    All(fn(&mut NodeCx<'_, '_, '_>) -> Lowered),
}
use Lower::{All, One};

impl Lower {
    fn run(self, cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
        match self {
            One(lower) => lower(cx).and_then(|value| cx.bind(0, value)),
            All(lower) => lower(cx),
        }
    }
}

/// The operators of a family: name, of those of other domains behind the domain's, and lowering.
type Operators = &'static [(&'static str, Lower)];

/// The operators that Kiln compiles.
const FAMILIES: &[Operators] = &[
    activation::OPERATORS,
    attention::OPERATORS,
    classical::OPERATORS,
    control::OPERATORS,
    conv::OPERATORS,
    einsum::OPERATORS,
    elementwise::OPERATORS,
    fourier::OPERATORS,
    gather::OPERATORS,
    generate::OPERATORS,
    logic::OPERATORS,
    normalise::OPERATORS,
    pad::OPERATORS,
    pool::OPERATORS,
    product::OPERATORS,
    quantise::OPERATORS,
    quantise_dynamic::OPERATORS,
    quantise_layers::OPERATORS,
    recurrent::OPERATORS,
    reduce::OPERATORS,
    resize::OPERATORS,
    scatter::OPERATORS,
    shape::OPERATORS,
    transpose::OPERATORS,
    trees::OPERATORS,
    vectors::OPERATORS,
];

/// Names of all operators.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|(name, _)| *name)
}

fn find(name: &str) -> Option<Lower> {
    FAMILIES.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}

/// The name of an element type for messages.
pub(crate) fn describe(ty: &Type) -> String {
    format!("{}{:?}", ty.dtype.name(), ty.shape.dims())
}

#[cfg(test)]
mod tests;
