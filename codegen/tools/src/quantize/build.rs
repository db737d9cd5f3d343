//! The quantised graph: quantise and dequantise ops around every layer.

use super::cheap;
use super::format::{self, Format};
use super::prepare::shares;
use super::state::Place;
use super::Settings;
use kiln_ir::error::Error;
use kiln_ir::verify;
use kiln_ir::{DType, Graph, Node, NodeId, Op, Rounding, Type, ValueId};
use std::collections::{BTreeMap, HashMap};

/// By what scales of weights are multiplied that make sums dear to rescale, and how often at most: by one percent in all.
const MOVE: f32 = 1.001;
const MOST_MOVES: usize = 10;

/// How a layer computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// With activations of 8 bits.
    I8,
    /// With activations of 16 bits.
    I16,
    /// In floats.
    Float,
}

/// What a graph is quantised by.
pub(super) struct Plan<'a> {
    pub(super) settings: &'a Settings,
    /// Ranges of computed values, those that share a format joined.
    pub(super) ranges: &'a Ranges,
    /// Of each quantisable node.
    pub(super) precision: &'a BTreeMap<NodeId, Precision>,
    /// What is added to the biases of layers.
    pub(super) corrections: &'a BTreeMap<NodeId, Vec<f32>>,
    /// Whether scales of weights are moved a little where that makes sums cheaper to rescale ([`cheap`](super::cheap)). It takes time, and hardly changes what is computed.
    pub(super) cheap: bool,
}

/// Ranges of the values of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: HashMap<ValueId, (f32, f32)>,
    /// The op whose arithmetic implies the format.
    implied: HashMap<ValueId, Op>,
}

impl Ranges {
    /// Joins the ranges of values that share a format: those of ops that move them, and those of states before and after a call.
    pub(super) fn new(
        graph: &Graph,
        of: &HashMap<ValueId, (f32, f32)>,
        nodes: &[NodeId],
        states: &[Place],
    ) -> Ranges {
        let mut group: HashMap<ValueId, ValueId> = of.keys().map(|&id| (id, id)).collect();
        let mut implied: HashMap<ValueId, Op> = HashMap::new();
        fn root(group: &HashMap<ValueId, ValueId>, mut id: ValueId) -> ValueId {
            while let Some(&next) = group.get(&id).filter(|&&next| next != id) {
                id = next;
            }
            id
        }
        for &id in nodes {
            let node = graph.node(id);
            if Format::implied(&node.op, false).is_some() {
                implied.insert(root(&group, node.result), node.op.clone());
            }
            if !shares(&node.op) {
                continue;
            }
            let data =
                if matches!(node.op, Op::Gather { .. }) { &node.operands[..1] } else { &node.operands[..] };
            let computed: Vec<ValueId> = data.iter().copied().filter(|id| of.contains_key(id)).collect();
            for &operand in &computed {
                let (own, result) = (root(&group, operand), root(&group, node.result));
                // Where one of several has a format of its own, it is rescaled.
                let bound = implied.contains_key(&own) && node.operands.len() > 1;
                if !bound && own != result {
                    group.insert(result, own);
                    if let Some(op) = implied.remove(&result) {
                        implied.insert(own, op);
                    }
                }
            }
        }
        for place in states {
            let (before, after) = (graph.inputs[place.input], graph.outputs[place.output]);
            let (own, result) = (root(&group, before), root(&group, after));
            if own != result
                && of.contains_key(&before)
                && of.contains_key(&after)
                && !implied.contains_key(&own)
            {
                group.insert(own, result);
            }
        }
        let mut joined: HashMap<ValueId, (f32, f32)> = HashMap::new();
        for (&id, &(lo, hi)) in of {
            let range = joined.entry(root(&group, id)).or_insert((lo, hi));
            *range = (range.0.min(lo), range.1.max(hi));
        }
        let mut ranges = Ranges::default();
        for &id in of.keys() {
            let root = root(&group, id);
            ranges.ranges.insert(id, joined[&root]);
            if let Some(op) = implied.get(&root) {
                ranges.implied.insert(id, op.clone());
            }
        }
        ranges
    }

    /// The format of a computed value.
    fn format(&self, id: ValueId, wide: bool) -> Option<Format> {
        if let Some(implied) = self.implied.get(&id).and_then(|op| Format::implied(op, wide)) {
            return Some(implied);
        }
        let &range = self.ranges.get(&id)?;
        Some(if wide { Format::of_16_bits(range) } else { Format::of_8_bits(range) })
    }
}

/// A quantised graph.
pub(super) struct Built {
    pub(super) graph: Graph,
    /// Of its values, those that are values of the float graph as long as nothing before them is quantised.
    pub(super) same: HashMap<ValueId, ValueId>,
}

struct Builder<'a> {
    from: &'a Graph,
    plan: &'a Plan<'a>,
    to: Graph,
    /// What readers of a value are given, and its format if it was stored.
    given: HashMap<ValueId, (ValueId, Option<Format>)>,
    /// Values that were stored in a format, dequantised.
    stored: Vec<(ValueId, Format, ValueId)>,
    same: HashMap<ValueId, ValueId>,
}

/// Builds the quantised graph.
///
/// # Errors
/// Where the graph is not sound: a bug in Kiln.
pub(super) fn build(graph: &Graph, plan: &Plan<'_>) -> Result<Built, Error> {
    let to = Graph::new(graph.name.clone());
    let mut builder =
        Builder { from: graph, plan, to, given: HashMap::new(), stored: Vec::new(), same: HashMap::new() };
    for &id in &graph.inputs {
        let value = graph.value(id);
        let input = builder.to.add_input(value.name.clone(), value.ty.clone());
        builder.given.insert(id, (input, None));
        builder.same.insert(input, id);
    }
    for (id, node) in graph.nodes() {
        match plan.precision.get(&id) {
            None | Some(Precision::Float) => builder.float(node)?,
            Some(precision) => builder.layer(id, node, *precision == Precision::I16)?,
        }
    }
    let outputs: Result<Vec<ValueId>, Error> = graph.outputs.iter().map(|&id| builder.value(id)).collect();
    builder.to.outputs = outputs?;
    verify::after_stage("quantize", &builder.to)?;
    Ok(Built { graph: builder.to, same: builder.same })
}

impl Builder<'_> {
    /// What readers in floats are given.
    fn value(&mut self, id: ValueId) -> Result<ValueId, Error> {
        if let Some(&(given, _)) = self.given.get(&id) {
            return Ok(given);
        }
        let value = self.from.value(id);
        let Some(data) = self.from.const_data(id) else {
            return Err(Error::internal("quantize", format!("value %{} is not computed", id.0)));
        };
        let constant = self.to.add_const(value.name.clone(), value.ty.clone(), data.clone());
        self.given.insert(id, (constant, None));
        Ok(constant)
    }

    fn float(&mut self, node: &Node) -> Result<(), Error> {
        let operands: Result<Vec<ValueId>, Error> = node.operands.iter().map(|&id| self.value(id)).collect();
        let value = self.from.value(node.result);
        let result =
            self.to.add_node(node.op.clone(), &operands?, &value.name, value.ty.clone(), &node.origin);
        self.given.insert(node.result, (result, None));
        self.same.insert(result, node.result);
        Ok(())
    }

    fn layer(&mut self, id: NodeId, node: &Node, wide: bool) -> Result<(), Error> {
        let missing = || Error::internal("quantize", format!("no range of {}", node.origin));
        let own = self.plan.ranges.format(node.result, wide).ok_or_else(missing)?;
        let common = shares(&node.op).then_some(own);
        let mut operands = Vec::new();
        let weighted = matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. });
        for (k, &operand) in node.operands.iter().enumerate() {
            let float = self.from.ty(operand).dtype == DType::F32;
            operands.push(match self.from.const_data(operand) {
                _ if !float => self.value(operand)?,
                _ if weighted && k > 0 => continue,
                Some(data) => {
                    let numbers = data.to_f32();
                    let bounds = numbers.iter().fold((0f32, 0f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
                    let format = if wide { Format::of_16_bits(bounds) } else { Format::of_8_bits(bounds) };
                    let format = common.unwrap_or(format);
                    let ty = format.ty(self.from.ty(operand).shape.dims());
                    self.constant(operand, ty, format.store(&numbers))
                }
                None => {
                    let wanted = self.plan.ranges.format(operand, wide).ok_or_else(missing)?;
                    self.stored_as(operand, common.unwrap_or(wanted))?
                }
            });
        }
        if weighted {
            let from = operands.first().and_then(|&x| self.format_of(x)).ok_or_else(missing)?;
            self.weights(id, node, [from, own], &mut operands);
        }
        let value = self.from.value(node.result);
        let result =
            self.to.add_node(node.op.clone(), &operands, &value.name, value.ty.clone(), &node.origin);
        let stored = self.store(result, &value.name, own, &node.origin);
        self.given.insert(node.result, (stored, Some(own)));
        Ok(())
    }

    /// The format from which a value was dequantised.
    fn format_of(&self, id: ValueId) -> Option<Format> {
        let node = self.to.node(self.to.producer(id)?);
        let ty = self.to.ty(*node.operands.first()?);
        Some(Format { dtype: ty.dtype, scale: ty.scale()?, zero: ty.zero_point() })
    }

    /// A computed value, dequantised from a format.
    fn stored_as(&mut self, id: ValueId, format: Format) -> Result<ValueId, Error> {
        let (given, own) = match self.given.get(&id) {
            Some(&given) => given,
            None => (self.value(id)?, None),
        };
        if own == Some(format) {
            return Ok(given);
        }
        if let Some((.., found)) = self.stored.iter().find(|(of, as_, _)| *of == id && *as_ == format) {
            return Ok(*found);
        }
        let name = self.from.value(id).label().to_owned();
        let stored = self.store(given, &name, format, "quantize");
        self.stored.push((id, format, stored));
        Ok(stored)
    }

    /// Quantises and dequantises.
    fn store(&mut self, id: ValueId, name: &str, format: Format, origin: &str) -> ValueId {
        let ty = self.to.ty(id).clone();
        let short = name.split(';').next().unwrap_or_default();
        let as_integers = format.ty(ty.shape.dims());
        let integers = self.to.add_node(
            Op::Quantize { rounding: Rounding::Even },
            &[id],
            format!("{short}_quantized"),
            as_integers,
            origin,
        );
        self.to.add_node(Op::Dequantize {}, &[integers], name, ty, origin)
    }

    /// A quantised constant, dequantised.
    fn constant(&mut self, from: ValueId, ty: Type, data: kiln_ir::Data) -> ValueId {
        let value = self.from.value(from);
        let integers = self.to.add_const(format!("{}_quantized", value.label()), ty, data);
        let float = Type::plain(DType::F32, value.ty.shape.dims());
        self.to.add_node(Op::Dequantize {}, &[integers], value.label(), float, "quantize")
    }

    fn weights(&mut self, id: NodeId, node: &Node, [x, y]: [Format; 2], operands: &mut Vec<ValueId>) {
        let floats = |id: ValueId| self.from.const_data(id).map(kiln_ir::Data::to_f32).unwrap_or_default();
        let dims = self.from.ty(node.operands[1]).shape.dims();
        let numbers = floats(node.operands[1]);
        let mut bias = node.operands.get(2).map(|&bias| floats(bias));
        if let Some(correction) = self.plan.corrections.get(&id) {
            let bias = bias.get_or_insert_with(|| vec![0.0; correction.len()]);
            bias.iter_mut().zip(correction).for_each(|(bias, more)| *bias += more);
        }
        let settings = self.plan.settings;
        let four = settings.weights == super::Bits::Four;
        let filters = if settings.per_channel { dims.first().copied().unwrap_or(1) } else { 1 };
        let mut least = vec![0.0; filters];
        let store = |least: &[f32]| {
            let floats = (&numbers[..], bias.as_deref());
            format::weights(dims, floats, x.scale, four, settings.per_channel, least)
        };
        let mut stored = store(&least);
        if self.plan.cheap && y.dtype == DType::I8 {
            for _ in 0..MOST_MOVES {
                let dear = cheap::dear(&stored, &node.op, x, y);
                if dear.is_empty() {
                    break;
                }
                for filter in dear {
                    least[filter] = stored.scale(filter) * MOVE;
                }
                stored = store(&least);
            }
        }
        operands.push(self.constant(node.operands[1], stored.ty, stored.data));
        if let Some((ty, data)) = stored.bias {
            let value = match node.operands.get(2) {
                Some(&bias) => self.constant(bias, ty, data),
                None => {
                    let name = format!("{}_bias", self.from.value(node.result).label());
                    let float = Type::plain(DType::F32, ty.shape.dims());
                    let integers = self.to.add_const(format!("{name}_quantized"), ty, data);
                    self.to.add_node(Op::Dequantize {}, &[integers], name, float, "quantize")
                }
            };
            operands.push(value);
        }
    }
}
