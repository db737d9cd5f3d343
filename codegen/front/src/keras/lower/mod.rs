//! Lowering of a model to a [`Graph`](kiln_ir::Graph).
//!
//! One file per family of layers. Each call of a layer is given a [`Cx`]. A layer that cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so that
//! one run reports everything that stands in the way.
//!
//! Masks of steps, which `Embedding` and `Masking` make, go along with values and through the layers that pass them on.

mod activation;
mod arguments;
mod attention;
mod cells;
mod conv;
mod conv_lstm;
mod core;
mod cx;
mod inspect;
mod interface;
mod mask;
mod merge;
mod normalise;
mod ops;
mod ops_arrange;
mod ops_reduce;
mod pool;
mod recurrent;
mod reshape;
mod resize;
mod run;
mod wrap;

use super::model::{Layer, Model};
use super::store::Store;
use crate::budget::Budget;
use crate::onnx::lower::{Host, Importer as Means};
use crate::{Lowered, OperatorSummary, Read, Refusal, Summary};
use cx::Cx;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::ValueId;
use std::collections::HashMap;

/// Bytes of graph that a layer takes: its nodes and values with their names.
const LAYER_BYTES: usize = 512;

/// A tensor, and which of its steps count.
#[derive(Clone, Copy, Debug)]
struct Slot {
    value: ValueId,
    mask: Option<ValueId>,
}

impl Slot {
    fn plain(value: ValueId) -> Slot {
        Slot { value, mask: None }
    }
}

/// What all layers of an import share, beside the graph.
struct Shared<'m, 'f> {
    host: &'m Host,
    store: &'m Store<'f>,
    options: &'m Options,
    /// Whether Keras 2 wrote the file.
    is_old: bool,
    /// Layers so far.
    count: usize,
    /// How deep models are nested.
    depth: usize,
    /// Variables of stateful layers, by path, and what calls so far have left in them.
    variables: HashMap<String, Vec<ValueId>>,
    states: HashMap<String, Vec<ValueId>>,
    /// What layers became, for a summary.
    trace: Option<Vec<OperatorSummary>>,
}

/// The state of one import.
struct Importer<'m, 'f> {
    means: Means<'m, 'static>,
    shared: Shared<'m, 'f>,
}

impl<'m, 'f> Importer<'m, 'f> {
    fn new(
        name: &str,
        store: &'m Store<'f>,
        version: &str,
        options: &'m Options,
        host: &'m Host,
        budget: Budget,
    ) -> Self {
        let is_old = version.starts_with("2.") || version.starts_with("1.");
        let means = Means::hosted(host, name, options, budget);
        let (variables, states) = (HashMap::new(), HashMap::new());
        let shared =
            Shared { host, store, options, is_old, count: 0, depth: 0, variables, states, trace: None };
        Importer { means, shared }
    }
}

/// Lowers a model.
pub(super) fn lower(
    layer: &Layer<'_>,
    store: &Store<'_>,
    version: &str,
    name: &str,
    options: &Options,
    budget: Budget,
) -> Result<Read, Error> {
    let host = Host::default();
    let mut importer = Importer::new(name, store, version, options, &host, budget);
    let outputs = importer.run(layer)?.outputs;
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

/// What a model has, with shapes as far as it can be lowered.
pub(super) fn inspect(
    layer: &Layer<'_>,
    store: &Store<'_>,
    version: &str,
    budget: Budget,
) -> Result<Summary, Error> {
    let (host, options) = (Host::default(), Options::default());
    let mut importer = Importer::new("", store, version, &options, &host, budget);
    importer.shared.trace = Some(Vec::new());
    match importer.run(layer) {
        Ok(names) => Ok(importer.summary(layer, version, &names)),
        Err(Error::Unsupported(_)) => Ok(importer.summary(layer, version, &run::Names::default())),
        Err(error) => Err(error),
    }
}

/// The lowering of a layer.
#[derive(Clone, Copy)]
enum Lower {
    /// Gives the only result, which has the mask of the operand if the layer passes it on.
    One(fn(&mut Cx<'_, '_, '_>) -> Lowered<ValueId>),
    /// Gives all results, without masks.
    All(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>>),
    /// Gives all results with their masks.
    Slots(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>>),
}
use Lower::{All, One, Slots};

/// The layers of a family: classes, and lowerings.
type Layers = &'static [(&'static str, Lower)];

/// The layers that Kiln compiles.
const LAYERS: &[Layers] = &[
    activation::LAYERS,
    attention::LAYERS,
    conv::LAYERS,
    core::LAYERS,
    merge::LAYERS,
    normalise::LAYERS,
    pool::LAYERS,
    recurrent::LAYERS,
    reshape::LAYERS,
    resize::LAYERS,
    wrap::LAYERS,
];

/// The operations of `keras.ops` that Kiln compiles, by class.
const OPERATIONS: &[Layers] = &[ops::OPERATIONS, ops_arrange::OPERATIONS];

/// Names of all layers, and of all operations behind `ops.`.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().chain(OPERATIONS).copied().flatten().map(|(name, _)| *name)
}

/// The lowering of a layer's class, or of an operation's.
fn find(layer: &Layer<'_>) -> Option<Lower> {
    let table = if layer.is_operation() { OPERATIONS } else { LAYERS };
    table.iter().copied().flatten().find(|(known, _)| *known == layer.class).map(|(_, lower)| *lower)
}

/// Longest name that is shown; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

fn short(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

/// Why a layer without a lowering is refused.
fn unknown(layer: &Layer<'_>) -> Refusal {
    let class = short(layer.class);
    if class == "Lambda" {
        let what = "it is a Lambda layer, whose code is not part of what Kiln reads";
        return Refusal::unsupported(
            what,
            "replace it with layers of Keras, or with operations of keras.ops",
        );
    }
    if !layer.is_own() {
        let what = format!("{class} is a class of the model's author, whose code is not in the file");
        return Refusal::unsupported(what, "build the model of Keras's own layers");
    }
    let help = "replace it with supported layers, or move the computation out of the model";
    Refusal::unsupported(format!("layers of the class {class} cannot be compiled"), help)
}

/// The model that a layer is.
fn model<'v>(layer: &Layer<'v>) -> Lowered<Model<'v>> {
    Model::read(layer)
}
