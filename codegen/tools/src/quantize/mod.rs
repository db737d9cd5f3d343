//! Post-training quantisation: a float graph and samples of its inputs in, a quantised graph out.
//!
//! [`quantize`] is the whole way. The float graph is folded and fused first; the interpreter computes it on every sample, which tells the range of every value
//! ([`Method`]); each layer becomes the layer between dequantise and quantise ops. Formats are those of TensorFlow Lite: activations of 8 bits with a zero point, or of 16 bits without;
//! symmetric weights with a scale for each filter; biases of 32 bits in steps of the operand's scale times the weights'; one format for the operands and results of
//! ops that copy, compare or average stored values; the format of a softmax, a sigmoid and a tanh that their arithmetic implies. Zero is exact in all of them.
//!
//! A state becomes an input and an output. Samples of such a model are consecutive calls.
//!
//! What comes out is a [`Graph`] again: [`interp`](kiln_interp) computes it, with the rounding of every stored value, and [`write`](crate::write) writes it. How good it is is measured on the
//! integers that it is compiled to ([`qdq`](kiln_codegen::passes::qdq)).

mod build;
mod cheap;
mod equalise;
mod fallback;
mod format;
mod histogram;
mod observe;
mod prepare;
mod range;
mod simulate;
mod state;

pub use build::Precision;
pub use range::Method;
pub use simulate::Progress;

use build::{build, Built, Plan, Ranges};
use kiln_codegen::{passes, verify};
use kiln_interp::Values;
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::StatePair;
use kiln_ir::{DType, Data, Graph, NodeId, Op};
use state::Opened;
use std::collections::BTreeMap;

/// Bits of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// −127 to 127.
    #[default]
    Eight,
    /// −7 to 7.
    Four,
}

/// How a model is quantised.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How ranges of activations are chosen; `None` for what gives the best ratio.
    pub method: Option<Method>,
    /// Whether each filter has a scale of its own.
    pub per_channel: bool,
    /// Whether activations have 16 bits.
    pub wide: bool,
    /// Bits of weights.
    pub weights: Bits,
    /// Layers that stay in floats: their names, or their numbers in the report.
    pub keep_float: Vec<String>,
    /// The least signal-to-noise ratio in dB: layers get 16 bits, or stay in floats, until it is reached.
    pub budget_snr: Option<f64>,
    /// Whether layers are equalised; `None` where it helps.
    pub equalise: Option<bool>,
    /// Whether biases are corrected; `None` where it helps.
    pub correct_bias: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: None,
            per_channel: true,
            wide: false,
            weights: Bits::Eight,
            keep_float: Vec::new(),
            budget_snr: None,
            equalise: None,
            correct_bias: None,
        }
    }
}

/// A layer of the quantised model.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its number, from 1 on, in the order of evaluation.
    pub number: usize,
    /// Its name in the model file.
    pub name: String,
    /// The op.
    pub op: &'static str,
    /// How it computes.
    pub precision: Precision,
    /// Signal-to-noise ratio of the model's outputs in dB where this layer alone is quantised: its operands, weights and result. Of several outputs, the least.
    pub alone: f64,
}

/// A quantised model.
#[derive(Clone, Debug)]
pub struct Quantised {
    /// The graph, with the inputs and outputs of the float one, and its states behind them.
    pub graph: Graph,
    /// Of the inputs and outputs, those that were states: what the option `state` makes states of them again.
    pub states: Vec<StatePair>,
    /// Layers in the order of evaluation.
    pub layers: Vec<Layer>,
    /// Signal-to-noise ratio of the outputs in dB, as Kiln compiles the graph (in integers), against the float model's; of several outputs, the least.
    pub snr: f64,
    /// Of a model with state, the same over all samples as consecutive calls: what one call leaves wrong is there in the next.
    pub calls: Option<f64>,
    /// As it was before layers fell back to 16 bits or floats.
    pub first_snr: f64,
    /// On how many samples ratios were measured.
    pub measured: usize,
    /// How ranges of activations were chosen.
    pub method: Method,
    /// Whether layers were equalised.
    pub equalised: bool,
    /// Whether biases were corrected.
    pub corrected: bool,
    /// What fell back for the sake of the budget: the numbers of the layers.
    pub fallen: Vec<usize>,
}

/// Samples on which ratios are measured: at most that many, evenly spaced.
const MEASURED: usize = 32;

/// Samples on which layers are quantised one by one.
const MEASURED_ALONE: usize = 8;

/// Quantises a float graph. `samples[sample][input]` is the calibration set.
///
/// # Errors
/// [`Error::Options`] where samples or settings do not fit the model, or the model has nothing to quantise.
pub fn quantize(
    graph: &Graph,
    samples: &[Vec<Data>],
    settings: &Settings,
    progress: Progress<'_>,
) -> Result<Quantised, Error> {
    check(graph, samples)?;
    let (float, given) = (graph, samples);
    let Opened { graph, samples, pairs, places } = state::opened(float, given)?;
    let samples = &samples[..];
    let plain = prepare::prepare(&graph)?;
    let quantisable: Vec<NodeId> = prepare::quantisable(&plain).into_iter().collect();
    if quantisable.is_empty() {
        let help = "give a float model: one that is quantised already stays as it is".into();
        let what = "the model has no layer of floats to quantise".into();
        return Err(Error::Options(Problem { place: String::new(), what, help }));
    }
    let kept = kept(&plain, &settings.keep_float)?;
    let start = if settings.wide { Precision::I16 } else { Precision::I8 };
    let precision: BTreeMap<NodeId, Precision> = quantisable
        .iter()
        .map(|&id| (id, if kept.contains(&id) { Precision::Float } else { start }))
        .collect();
    let between = equalise::between(&plain);
    let observed = observe::observe(&plain, &between, samples, progress)?;
    let mut variants = Vec::new();
    if settings.equalise != Some(false) {
        let mut by_activations = plain.clone();
        if equalise::by_activations(&mut by_activations, &observed.largest) {
            let observed = observe::observe(&by_activations, &[], samples, progress)?;
            variants.push((by_activations, observed, true));
        }
        let mut by_weights = plain.clone();
        if !settings.per_channel && equalise::by_weights(&mut by_weights) {
            let observed = observe::observe(&by_weights, &[], samples, progress)?;
            variants.push((by_weights, observed, true));
        }
    }
    if settings.equalise != Some(true) || variants.is_empty() {
        variants.push((plain, observed, false));
    }
    let methods = match settings.method {
        Some(method) => vec![method],
        None => Method::NAMES.iter().filter_map(|name| Method::of_name(name)).collect(),
    };
    let measured = spread(samples, MEASURED);
    let mut best: Option<Trial<'_>> = None;
    for (graph, observed, equalised) in variants {
        let run = |sample: usize| simulate::outputs_of(&graph, measured[sample]);
        let float = simulate::each(simulate::workers(&graph), measured.len(), (progress, "computing"), run)?;
        let corrections = match settings.correct_bias {
            Some(false) => BTreeMap::new(),
            _ => observe::corrections(&graph, &quantisable, samples, settings, progress)?,
        };
        for &method in &methods {
            let of =
                observed.histograms.iter().map(|(&id, histogram)| (id, method.range(histogram))).collect();
            let ranges = Ranges::new(&graph, &of, &quantisable, &places);
            let corrections = match settings.correct_bias {
                Some(_) => vec![corrections.clone()],
                None => vec![BTreeMap::new(), corrections.clone()],
            };
            for corrections in corrections {
                let mut trial = Trial {
                    graph: graph.clone(),
                    float: float.clone(),
                    samples: measured.clone(),
                    settings,
                    ranges: ranges.clone(),
                    precision: precision.clone(),
                    corrections,
                    method,
                    equalised,
                    snr: 0.0,
                };
                trial.snr = trial.measure(&trial.precision, progress)?;
                if best.as_ref().is_none_or(|best| trial.snr > best.snr) {
                    best = Some(trial);
                }
            }
        }
    }
    let trial = best.ok_or_else(|| Error::internal("quantize", "nothing was tried"))?;
    let quantised = fallback::finish(trial, samples, progress)?;
    let calls = state::ratio_of_calls(float, &quantised.graph, &places, given)?;
    Ok(Quantised { states: pairs, calls, ..quantised })
}

/// One way to quantise.
struct Trial<'a> {
    graph: Graph,
    /// What ratios are measured on.
    samples: Vec<&'a Vec<Data>>,
    /// The float graph's outputs there.
    float: Vec<Vec<Data>>,
    settings: &'a Settings,
    ranges: Ranges,
    precision: BTreeMap<NodeId, Precision>,
    corrections: BTreeMap<NodeId, Vec<f32>>,
    method: Method,
    equalised: bool,
    snr: f64,
}

impl Trial<'_> {
    fn build(&self, precision: &BTreeMap<NodeId, Precision>) -> Result<Built, Error> {
        self.built(precision, false)
    }

    /// As `build`, where `cheap` takes more time for fewer cycles in the end.
    fn built(&self, precision: &BTreeMap<NodeId, Precision>, cheap: bool) -> Result<Built, Error> {
        let Trial { settings, ranges, corrections, .. } = self;
        build(&self.graph, &Plan { settings, ranges, precision, corrections, cheap })
    }

    /// The ratio of the outputs, with these precisions: of the integers that the quantised graph is compiled to, which may differ from the floats between them by a step.
    fn measure(&self, precision: &BTreeMap<NodeId, Precision>, progress: Progress<'_>) -> Result<f64, Error> {
        self.measured(self.build(precision)?.graph, passes::qdq::run_as_floats_round, progress)
    }

    /// The ratio of a quantised graph's outputs, with this pass for its integers.
    fn measured(
        &self,
        mut graph: Graph,
        integers: fn(&mut Graph) -> bool,
        progress: Progress<'_>,
    ) -> Result<f64, Error> {
        if integers(&mut graph) {
            verify::after_stage("pass qdq", &graph)?;
        }
        let one = |sample: usize| {
            let quantised = simulate::outputs_of(&graph, self.samples[sample])?;
            Ok(simulate::powers(&self.float[sample], &quantised))
        };
        let workers = simulate::workers(&graph);
        let powers = simulate::each(workers, self.samples.len(), (progress, "measuring"), one)?;
        Ok(simulate::ratio(&self.graph, &powers))
    }

    fn float_outputs(&self, values: &Values) -> Result<Vec<Data>, Error> {
        self.graph.outputs.iter().map(|&id| Ok(values.get(id).map_err(simulate::internal)?.clone())).collect()
    }
}

/// At most so many of the samples, evenly spaced.
fn spread(samples: &[Vec<Data>], most: usize) -> Vec<&Vec<Data>> {
    let count = samples.len().min(most);
    (0..count).map(|k| &samples[k * samples.len() / count]).collect()
}

/// Nodes that are layers of their own in reports and settings: all that do more than move or compare stored values.
fn is_layer(op: &Op) -> bool {
    !prepare::shares(op) && !matches!(op, Op::Quantize { .. } | Op::Dequantize {})
}

/// Number and name of each layer.
fn layers(graph: &Graph) -> Vec<(usize, String, NodeId)> {
    let layers = graph.nodes().filter(|(_, node)| is_layer(&node.op)).enumerate();
    layers.map(|(k, (id, node))| (k + 1, graph.value(node.result).label().to_owned(), id)).collect()
}

/// The layers that stay in floats.
fn kept(graph: &Graph, names: &[String]) -> Result<Vec<NodeId>, Error> {
    let layers = layers(graph);
    let find = |name: &String| {
        let number = name.parse::<usize>().ok();
        let found: Vec<NodeId> = layers
            .iter()
            .filter(|(own, label, _)| label == name || number == Some(*own))
            .map(|(.., id)| *id)
            .collect();
        match found.is_empty() {
            false => Ok(found),
            true => {
                let list: Vec<String> =
                    layers.iter().map(|(number, label, _)| format!("{number} {label}")).collect();
                let help = format!("layers, by number or name: {}", list.join(", "));
                Err(Error::Options(Problem {
                    place: format!("keep-float = \"{name}\""),
                    what: "there is no such layer".into(),
                    help,
                }))
            }
        }
    };
    let found: Result<Vec<Vec<NodeId>>, Error> = names.iter().map(find).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// Refuses what cannot be calibrated.
fn check(graph: &Graph, samples: &[Vec<Data>]) -> Result<(), Error> {
    let refuse = |place: String, what: String, help: &str| {
        Err(Error::Options(Problem { place, what, help: help.into() }))
    };
    if samples.is_empty() {
        return refuse(
            "calibration set".into(),
            "it has no sample".into(),
            "give a hundred or more samples of real inputs",
        );
    }
    for (index, sample) in samples.iter().enumerate() {
        if sample.len() != graph.inputs.len() {
            let what = format!("{} arrays for {} inputs", sample.len(), graph.inputs.len());
            return refuse(format!("sample {index}"), what, "give an array for each input of the model");
        }
        for (data, &input) in sample.iter().zip(&graph.inputs) {
            let (ty, place) =
                (graph.ty(input), || format!("sample {index} of \"{}\"", graph.value(input).label()));
            if data.bytes().len() != ty.bytes() {
                let what = format!("{} bytes, the input is {ty}", data.bytes().len());
                return refuse(place(), what, "give samples in the shape and type of the input");
            }
            if ty.dtype == DType::F32 && data.to_f32().iter().any(|x| !x.is_finite()) {
                let help = "leave out samples with infinities and NaNs, or mend what made them";
                return refuse(place(), "not all numbers are finite".into(), help);
            }
        }
    }
    Ok(())
}
