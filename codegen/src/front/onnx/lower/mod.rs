//! Lowering of a parsed model to a [`Graph`].
//!
//! One file per family of operators. Each operator is given a [`NodeCx`], through which it sees its operands and attributes and adds nodes. An operator that
//! cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so that one run reports everything that stands in the way.
//!
//! Images are channel-first in ONNX and channel-last in the graph: transposes stand around every op that looks at an image, and passes remove them again.

mod attributes;
mod classical;
mod conv;
mod cx;
mod elementwise;
mod inputs;
mod inspect;
mod logic;
mod normalise;
mod pool;
mod product;
mod quantise;
mod recurrent;
mod reduce;
mod shape;
mod tensor;
mod trees;

use super::proto::{Model, Name, Node};
use crate::error::Error;
use crate::front::budget::Budget;
use crate::front::report::Report;
use crate::front::Summary;
use crate::ir::{DType, Graph, Type, ValueId};
use crate::options::Options;
use cx::NodeCx;
use std::collections::HashMap;

/// Why an operator is not lowered.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is sound, but Kiln cannot compile it: what, and the way out.
    Unsupported(String, String),
    /// It contradicts itself.
    Malformed(String),
    /// The whole file is to be given up.
    Fatal(Error),
    /// An operand comes from an operator that was refused itself; nothing more to say.
    Follows,
}

impl Refusal {
    fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Self {
        Refusal::Unsupported(what.into(), help.into())
    }

    fn malformed(what: impl Into<String>) -> Self {
        Refusal::Malformed(what.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Fatal(error)
    }
}

type Lowered<T = ()> = Result<T, Refusal>;

/// The oldest and newest operator sets that are read.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=26;

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

/// The state of one import.
struct Importer<'m, 'a> {
    graph: Graph,
    /// Values by name; `None` for results of operators that were refused.
    values: HashMap<Name<'a>, Option<ValueId>>,
    /// The model, whose constants are read when they are needed.
    model: &'m Model<'a>,
    options: &'m Options,
    /// Constants of the file, by name: their place in the list.
    initializers: HashMap<Name<'a>, usize>,
    /// Version of ONNX's own operators.
    opset: i64,
    budget: Budget,
    report: Report,
}

/// Lowers the model's graph.
pub(super) fn lower(
    model: &Model<'_>,
    name: &str,
    options: &Options,
    budget: Budget,
) -> Result<Graph, Error> {
    let importer = import(model, name, options, budget)?;
    match importer.report.is_empty() {
        true => Ok(importer.graph),
        false => Err(Error::Unsupported(importer.report.into_problems())),
    }
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
    let opset = own.map_or(0, |(_, version)| *version);
    if !OPSETS.contains(&opset) && model.graph.nodes.iter().any(|node| is_own(node.domain)) {
        let what = format!(
            "its operators are those of set {opset} (ONNX), sets {} to {} are known",
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
    Error::Unsupported(vec![crate::error::Problem { place: place.into(), what, help: help.into() }])
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
            initializers: model.graph.initializers.iter().enumerate().map(|(i, t)| (t.name, i)).collect(),
            opset,
            budget,
            report: Report::default(),
        }
    }

    fn node(&mut self, index: usize, node: &'m Node<'a>) -> Result<(), Error> {
        self.budget.charge(OPERATOR_BYTES + 64 * (node.inputs.len() + node.outputs.len()))?;
        let name = inspect::operator_name(node);
        let origin = format!("{index} {name}");
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
        let lowered = match find(&name) {
            Some(lower) => lower(&mut NodeCx::new(self, node, origin)),
            None => {
                let help = "replace it by supported operators, or move the computation out of the model";
                Err(Refusal::unsupported("this operator cannot be compiled", help))
            }
        };
        if let Err(refusal) = lowered {
            self.refuse(place, Some((index, &name)), refusal)?;
        }
        // What was refused, or is not computed, can be named by the operators behind it.
        for &result in node.outputs.iter().filter(|name| !name.is_empty()) {
            self.values.entry(result).or_insert(None);
        }
        Ok(())
    }

    fn outputs(&mut self) -> Result<(), Error> {
        let model = self.model;
        for info in &model.graph.outputs {
            self.budget.charge(OPERATOR_BYTES)?;
            match self.read(info.name) {
                Ok(value) => self.graph.outputs.push(value),
                Err(refusal) => self.refuse(format!("output \"{}\"", info.name), None, refusal)?,
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
        let model = self.model;
        let tensor = self.initializers.get(&name).and_then(|&i| model.graph.initializers.get(i));
        let Some(tensor) = tensor else {
            return Err(Refusal::malformed(format!("\"{name}\" is used before it is computed")));
        };
        let (ty, data) = tensor::constant(tensor, &mut self.budget)?;
        let value = self.graph.add_const(name.text(), ty, data);
        self.values.insert(name, Some(value));
        Ok(value)
    }

    /// Notes what was refused, or gives up. `operator` is the index and name of a refused operator.
    fn refuse(
        &mut self,
        place: String,
        operator: Option<(usize, &str)>,
        refusal: Refusal,
    ) -> Result<(), Error> {
        match refusal {
            Refusal::Follows => Ok(()),
            Refusal::Unsupported(what, help) => {
                self.report.add(place, operator, what, help);
                Ok(())
            }
            Refusal::Malformed(what) => Err(Error::malformed(place, what)),
            Refusal::Fatal(error) => Err(error),
        }
    }
}

type Lower = fn(&mut NodeCx<'_, '_, '_>) -> Lowered;

/// The operators that Kiln compiles; those of other domains with the domain's name.
const OPERATORS: &[(&str, Lower)] = &[
    ("Abs", elementwise::abs),
    ("Add", elementwise::add),
    ("And", logic::and),
    ("ArgMax", reduce::arg_max),
    ("ArgMin", reduce::arg_min),
    ("AveragePool", pool::average),
    ("BatchNormalization", product::batch_normalization),
    ("Cast", elementwise::cast),
    ("Ceil", elementwise::ceil),
    ("Clip", elementwise::clip),
    ("Concat", shape::concat),
    ("Constant", tensor::constant_node),
    ("ConstantOfShape", shape::constant_of_shape),
    ("Conv", conv::conv),
    ("Cos", elementwise::cos),
    ("DepthToSpace", shape::depth_to_space),
    ("DequantizeLinear", quantise::dequantize_linear),
    ("Div", elementwise::div),
    ("Dropout", shape::identity),
    ("Elu", elementwise::elu),
    ("Equal", logic::equal),
    ("Exp", elementwise::exp),
    ("Expand", shape::expand),
    ("Flatten", shape::flatten),
    ("Floor", elementwise::floor),
    ("Gather", shape::gather),
    ("Gelu", elementwise::gelu),
    ("Gemm", product::gemm),
    ("GRU", recurrent::gru),
    ("GlobalAveragePool", pool::global_average),
    ("GlobalMaxPool", pool::global_max),
    ("Greater", logic::greater),
    ("GreaterOrEqual", logic::greater_or_equal),
    ("HardSigmoid", elementwise::hard_sigmoid),
    ("HardSwish", elementwise::hard_swish),
    ("Identity", shape::identity),
    ("InstanceNormalization", normalise::instance),
    ("LSTM", recurrent::lstm),
    ("LayerNormalization", normalise::layer),
    ("LeakyRelu", elementwise::leaky_relu),
    ("Less", logic::less),
    ("LessOrEqual", logic::less_or_equal),
    ("Log", elementwise::log),
    ("MatMul", product::matmul),
    ("Max", elementwise::max),
    ("MaxPool", pool::max),
    ("Min", elementwise::min),
    ("Mul", elementwise::mul),
    ("Neg", elementwise::neg),
    ("Not", logic::not),
    ("Or", logic::or),
    ("PRelu", elementwise::prelu),
    ("Pad", shape::pad),
    ("Pow", elementwise::pow),
    ("QuantizeLinear", quantise::quantize_linear),
    ("Reciprocal", elementwise::reciprocal),
    ("RNN", recurrent::rnn),
    ("ReduceMax", reduce::max),
    ("ReduceMean", reduce::mean),
    ("ReduceMin", reduce::min),
    ("ReduceSum", reduce::sum),
    ("Relu", elementwise::relu),
    ("Reshape", shape::reshape),
    ("Round", elementwise::round),
    ("Shape", shape::shape),
    ("Sigmoid", elementwise::sigmoid),
    ("Sign", elementwise::sign),
    ("Sin", elementwise::sin),
    ("Slice", shape::slice),
    ("Softmax", reduce::softmax),
    ("SpaceToDepth", shape::space_to_depth),
    ("Split", shape::split),
    ("Sqrt", elementwise::sqrt),
    ("Squeeze", shape::squeeze),
    ("Sub", elementwise::sub),
    ("Tanh", elementwise::tanh),
    ("Tile", shape::tile),
    ("Transpose", shape::transpose),
    ("Unsqueeze", shape::unsqueeze),
    ("Where", logic::choose),
    ("Xor", logic::xor),
    ("ai.onnx.ml.ArrayFeatureExtractor", classical::array_feature_extractor),
    ("ai.onnx.ml.Binarizer", classical::binarizer),
    ("ai.onnx.ml.LabelEncoder", classical::label_encoder),
    ("ai.onnx.ml.LinearClassifier", classical::linear_classifier),
    ("ai.onnx.ml.LinearRegressor", classical::linear_regressor),
    ("ai.onnx.ml.Normalizer", classical::normalizer),
    ("ai.onnx.ml.SVMRegressor", classical::svm_regressor),
    ("ai.onnx.ml.Scaler", classical::scaler),
    ("ai.onnx.ml.TreeEnsembleClassifier", trees::classifier),
    ("ai.onnx.ml.TreeEnsembleRegressor", trees::regressor),
    ("ai.onnx.ml.ZipMap", classical::zip_map),
    ("com.microsoft.Gelu", elementwise::gelu),
];

fn find(name: &str) -> Option<Lower> {
    OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}

/// The name of an element type for messages.
fn describe(ty: &Type) -> String {
    format!("{}{:?}", ty.dtype.name(), ty.shape.dims())
}

/// The bytes of integers of that type.
fn int_bytes(dtype: DType, numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes().into_iter().take(dtype.size())).collect()
}
