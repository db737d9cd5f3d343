//! By how many steps integer layers drift from the floats that a file in QDQ format describes.
//!
//! * Each layer has a bound that is proven: by how many steps its result may differ on the same operands (`error.rs`, `pairs.rs`). 0 is exact.
//! * The layers behind it see the difference. What it may come to there is a bound of weights and slopes: proven too, and mostly far from what happens. Where floats are computed for which no slope is
//!   known there is none.
//! * What happens is measured: both forms run on the same random inputs, the same ones in each compilation.
//!
//! The limit ([`Options::qdq_drift`](crate::Options)) holds for outputs. One within it by the bound is within it whatever the input is. Otherwise what was measured counts. An output in floats is
//! counted in steps of the integers that it is made of; where it is made of floats, in 255ths of its largest magnitude.

use super::Record;
use crate::interp::{Machine, Values};
use crate::ir::{macs, DType, Data, Graph, Op, Type, ValueDef, ValueId};
use kiln_ir::error::{Error, Problem};
use std::fmt;

/// Most inputs that are drawn.
const MOST_INPUTS: u64 = 32;

/// Multiplications and elements that all inputs together may take.
const WORK: u64 = 16_000_000;

/// What one input may take: of larger models nothing is measured.
const MOST_WORK: u64 = 256_000_000;

/// Bytes that all values of both forms may take, likewise; besides [`PER_CONSTANT`] times those of the model's constants.
const MOST_BYTES: usize = 4 << 20;

/// See [`MOST_BYTES`].
const PER_CONSTANT: usize = 4;

/// The drift of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// Integer layers that stand for floats, in the order of evaluation.
    pub layers: Vec<Layer>,
    /// The outputs, in the order of the model.
    pub outputs: Vec<Output>,
    /// How many inputs were drawn; 0 where the model is too large, or has operators that the interpreter does not know.
    pub inputs: u64,
}

/// An integer layer that stands for floats.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The operator of the file.
    pub origin: String,
    /// By how many steps its result differs at most, on the same operands: 0 is exact.
    pub own: u32,
    /// By how many steps its result differs at most, with what came before it.
    pub bound: Option<f64>,
    /// By how many steps its result differed.
    pub measured: Option<u64>,
}

/// An output of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// By how many steps it differs at most.
    pub bound: Option<f64>,
    /// By how many steps it differed.
    pub measured: Option<f64>,
}

/// Runs the pass, and finds out by how much the result drifts; `None` where it changes nothing.
pub fn run(graph: &mut Graph) -> Option<Drift> {
    let before = graph.clone();
    let mut record = Record::default();
    super::run_recorded(graph, &mut record).then(|| Drift::of(&before, graph, &record))
}

impl Drift {
    fn of(before: &Graph, after: &Graph, record: &Record) -> Drift {
        let (apart, owns) = bounds(after, record);
        let of = |id: ValueId| apart.get(id.0 as usize).copied().filter(|bound| bound.is_finite());
        let mut layers = Vec::new();
        let mut pairs = Vec::new();
        for ((_, node), own) in after.nodes().zip(owns) {
            let Some(own) = own else { continue };
            layers.push(Layer { origin: node.origin.clone(), own, bound: of(node.result), measured: None });
            pairs.push(partner(before, after, node.result).map(|value| (value, node.result)));
        }
        let output = |&id: &ValueId| {
            let unit = unit(after, id);
            let bound = of(id).and_then(|bound| if bound == 0.0 { Some(0.0) } else { Some(bound / unit?) });
            Output { name: after.value(id).name.clone(), bound, measured: None }
        };
        let outputs = after.outputs.iter().map(output).collect();
        let mut drift = Drift { layers, outputs, inputs: 0 };
        if drift.outputs.iter().any(|output| output.bound != Some(0.0)) {
            drift.measure(before, after, &pairs);
        }
        drift
    }

    /// Runs both forms.
    fn measure(&mut self, before: &Graph, after: &Graph, pairs: &[Option<(ValueId, ValueId)>]) {
        let work = work(before) + work(after);
        let constants = before.values().filter(|(_, value)| matches!(value.def, ValueDef::Const(_)));
        let constants: usize = constants.map(|(_, value)| value.ty.bytes()).sum();
        let most = MOST_BYTES.saturating_add(PER_CONSTANT.saturating_mul(constants));
        if work > MOST_WORK || bytes(before).saturating_add(bytes(after)) > most {
            return;
        }
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut machines = (Machine::new(before), Machine::new(after));
        let mut layers = vec![0u64; self.layers.len()];
        let mut outputs = vec![(0f64, 0f64); self.outputs.len()];
        let count = (WORK / work.max(1)).clamp(1, MOST_INPUTS);
        for _ in 0..count {
            let inputs: Vec<Data> = before.inputs.iter().map(|&id| random.input(before, id)).collect();
            let (Ok(wanted), Ok(given)) = (machines.0.run_values(&inputs), machines.1.run_values(&inputs))
            else {
                return;
            };
            for (worst, pair) in layers.iter_mut().zip(pairs) {
                let Some((float, own)) = *pair else { continue };
                let (apart, _) = apart((before, float, &wanted), (after, own, &given));
                *worst = (*worst).max(apart as u64);
            }
            for ((worst, &float), &own) in outputs.iter_mut().zip(&before.outputs).zip(&after.outputs) {
                let (apart, largest) = apart((before, float, &wanted), (after, own, &given));
                *worst = (worst.0.max(apart), worst.1.max(largest));
            }
        }
        self.inputs = count;
        for ((layer, worst), pair) in self.layers.iter_mut().zip(layers).zip(pairs) {
            layer.measured = pair.map(|_| worst);
        }
        for ((output, (worst, largest)), &id) in self.outputs.iter_mut().zip(outputs).zip(&after.outputs) {
            let unit = unit(after, id).unwrap_or(largest / 255.0);
            output.measured = Some(if worst == 0.0 { 0.0 } else { worst / unit });
        }
    }

    /// Refuses a drift above a limit.
    ///
    /// # Errors
    /// [`Error::Unsupported`], naming the layer from which on the model is beyond it.
    pub fn check(&self, limit: u32) -> Result<(), Error> {
        let beyond = |of: Option<f64>| of.filter(|&steps| steps.round() > f64::from(limit));
        let refused = self.outputs.iter().filter_map(|output| {
            let proven = output.bound.is_some() && beyond(output.bound).is_none();
            let measured = beyond(output.measured).filter(|_| !proven)?;
            let first = |layer: &&Layer| layer.measured.is_some_and(|steps| steps > u64::from(limit));
            let own = |layer: &&Layer| layer.own > 0;
            let mut layers = self.layers.iter();
            let layer = layers.clone().find(first).or_else(|| layers.find(own));
            let place = layer.map(|layer| layer.origin.clone()).unwrap_or_default();
            let what = format!(
                "as integers, output {:?} is up to {measured:.0} steps away from what the floats of the file give: more than the {limit} that are allowed",
                output.name
            );
            let help = format!(
                "keep the floats: qdq = \"float\"; or allow more: qdq_drift = {:.0}; `cargo kiln explain` with that option lists the layers",
                measured.ceil()
            );
            Some(Problem { place, what, help })
        });
        let refused: Vec<Problem> = refused.collect();
        if refused.is_empty() {
            Ok(())
        } else {
            Err(Error::Unsupported(refused))
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.layers.iter().filter(|layer| layer.own == 0).count();
        let (all, inputs) = (self.layers.len(), self.inputs);
        write!(f, "integers for the floats of the file: {all} layers, {exact} of them exact")?;
        let steps = |steps: f64| {
            if steps < 10.0 {
                format!("{steps:.1}").replace(".0", "")
            } else {
                format!("{steps:.0}")
            }
        };
        for Output { name, bound, measured } in &self.outputs {
            write!(f, "\n  output {name:?}: ")?;
            match (bound, measured) {
                (Some(0.0), _) => write!(f, "exact")?,
                (bound, measured) => {
                    match measured {
                        Some(measured) => {
                            write!(f, "up to {} steps away on {inputs} random inputs", steps(*measured))?
                        }
                        None => write!(f, "not measured")?,
                    }
                    match bound {
                        Some(bound) => write!(f, ", {} at most on any", steps(*bound))?,
                        None => write!(f, ", no bound is known")?,
                    }
                }
            }
        }
        let differing =
            self.layers.iter().filter(|layer| layer.own > 0 || layer.measured.is_some_and(|m| m > 0));
        for Layer { origin, own, bound, measured } in differing {
            write!(f, "\n  {origin}: by {own} of its own")?;
            if let Some(measured) = measured {
                write!(f, ", measured {measured}")?;
            }
            if let Some(bound) = bound {
                write!(f, ", with the layers before it {} at most", steps(*bound))?;
            }
        }
        Ok(())
    }
}

/// The value of the graph before that a value of the graph behind is. `None` where axes of the same size may have changed places: passes move transposes.
fn partner(before: &Graph, after: &Graph, id: ValueId) -> Option<ValueId> {
    let value = after.value(id);
    let mut sizes: Vec<usize> = value.ty.shape.dims().iter().copied().filter(|&dim| dim > 1).collect();
    sizes.sort_unstable();
    if sizes.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let mut same = before.nodes().map(|(_, node)| node.result).filter(|&own| {
        let own = before.value(own);
        own.name == value.name && own.ty == value.ty && !own.name.is_empty()
    });
    same.next().filter(|_| same.next().is_none())
}

/// The scale of the integers that an output is, or that it is made of by moving elements.
fn unit(graph: &Graph, mut id: ValueId) -> Option<f64> {
    loop {
        if graph.ty(id).dtype != DType::F32 {
            return Some(1.0);
        }
        let node = graph.node(graph.producer(id)?);
        let first = *node.operands.first()?;
        match node.op {
            Op::Dequantize {} => return graph.ty(first).scale().map(f64::from),
            Op::Reshape {} | Op::Transpose { .. } | Op::Slice { .. } | Op::Concat { .. } => id = first,
            _ => return None,
        }
    }
}

/// Bytes of all inputs and computed values.
fn bytes(graph: &Graph) -> usize {
    let computed = graph.nodes().map(|(_, node)| node.result).chain(graph.inputs.iter().copied());
    computed.fold(0, |sum, id| sum.saturating_add(graph.ty(id).bytes()))
}

/// About what an evaluation takes.
fn work(graph: &Graph) -> u64 {
    let of = |node: &crate::ir::Node| -> u64 {
        let elements = graph.ty(node.result).shape.numel() as u64;
        let each = match node.op {
            Op::MatMul { .. } => node.operands.first().map_or(1, |&x| graph.ty(x).shape.last() as u64),
            Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
                (window.size[0] * window.size[1]) as u64
            }
            _ => 1,
        };
        let read = node.operands.iter().map(|&x| graph.ty(x).shape.numel() as u64).sum::<u64>();
        macs(graph, node).saturating_add(elements.saturating_mul(each)).saturating_add(read)
    };
    graph.nodes().fold(0u64, |sum, (_, node)| sum.saturating_add(of(node)))
}

/// The largest difference of a value in two evaluations, and its largest magnitude in the first.
fn apart(wanted: (&Graph, ValueId, &Values), given: (&Graph, ValueId, &Values)) -> (f64, f64) {
    let numbers = |(graph, id, values): (&Graph, ValueId, &Values)| -> Vec<f64> {
        let dtype = graph.ty(id).dtype;
        let Ok(data) = values.get(id) else { return Vec::new() };
        match dtype {
            DType::F32 => data.to_f32().into_iter().map(f64::from).collect(),
            _ => data.to_ints(dtype).into_iter().map(|x| x as f64).collect(),
        }
    };
    let (wanted, given) = (numbers(wanted), numbers(given));
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    let apart = wanted.iter().zip(&given).map(|(a, b)| finite((a - b).abs())).fold(0.0, f64::max);
    (apart, wanted.iter().map(|x| finite(x.abs())).fold(0.0, f64::max))
}

/// Marsaglia's xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Elements of an input: all that a QUANTIZE behind it does not clamp, in equal shares.
    fn input(&mut self, graph: &Graph, id: ValueId) -> Data {
        let ty = graph.ty(id);
        let count = ty.shape.numel();
        if ty.dtype != DType::F32 {
            let choices = if ty.dtype.size() == 1 && ty.dtype != DType::Bool { 256 } else { 2 };
            let wide = if ty.dtype == DType::I16 { 65_536 } else { choices };
            let lo = ty.dtype.int_range().map_or(0, |(lo, _)| if wide > 2 { lo } else { 0 });
            let drawn: Vec<i64> = (0..count).map(|_| lo + (self.next() % wide) as i64).collect();
            return Data::from_ints(ty.dtype, drawn);
        }
        let (lo, hi) = range(graph, id).unwrap_or((-3.0, 3.0));
        let drawn: Vec<f32> = (0..count)
            .map(|_| {
                let share = (self.next() % (1 << 24)) as f64 / f64::from(1 << 24);
                (lo + share * (hi - lo)) as f32
            })
            .collect();
        Data::from_f32(&drawn)
    }
}

/// The range of the QUANTIZE that reads a value, also what was moved of it.
fn range(graph: &Graph, id: ValueId) -> Option<(f64, f64)> {
    let mut own = vec![id];
    for (_, node) in graph.nodes() {
        if !node.operands.iter().any(|operand| own.contains(operand)) {
            continue;
        }
        let ty = graph.ty(node.result);
        match node.op {
            Op::Quantize { .. } => return real_range(ty),
            Op::Transpose { .. } | Op::Reshape {} | Op::Pad { .. } => own.push(node.result),
            _ => {}
        }
    }
    None
}

fn real_range(ty: &Type) -> Option<(f64, f64)> {
    let ((lo, hi), scale) = (ty.dtype.int_range()?, f64::from(ty.scale()?));
    let zero = i64::from(ty.zero_point());
    Some(((lo - zero) as f64 * scale, (hi - zero) as f64 * scale))
}

/// By how much each value differs at most, stored ones in steps, floats as such; infinite where no bound is known. And of each node what it adds itself.
fn bounds(graph: &Graph, record: &Record) -> (Vec<f64>, Vec<Option<u32>>) {
    super::slopes::bounds(graph, |node| {
        let name = &graph.value(node.result).name;
        let integer = graph.ty(node.result).scale().is_some() && !matches!(node.op, Op::Quantize { .. });
        let mut noted = record
            .layers
            .iter()
            .filter(|noted| integer && noted.origin == node.origin && noted.name == *name);
        noted.next().map(|noted| noted.steps)
    })
}
