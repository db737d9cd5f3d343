//! A layer of integers in numbers, and the proofs that its requantisation has a cheap form.

use crate::ir::{DType, Graph, Node, NodeId, Op, Rescale};
use crate::requant::{choose, folded_bias, reachable, Channel, Choice, Interval, Reference};
use std::collections::HashMap;
use std::rc::Rc;

/// A layer of int8.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    /// Of one filter after the other.
    pub(super) weights: Vec<i8>,
    /// Of each filter, with the operand's zero point folded in.
    pub(super) bias: Vec<i32>,
    /// What becomes of the sums of each filter.
    pub(super) references: Vec<Reference>,
    /// Smallest and largest result.
    pub(super) clamp: (i32, i32),
    /// Whether processors have kernels with the reference's arithmetic, as they do where sums are rounded twice. Portable kernels have all.
    pub(super) has_reference_kernel: bool,
}

impl Layer {
    /// The layer of a node; `None` where operands are no int8, or computed while the model runs.
    pub(super) fn of(graph: &Graph, node: &Node) -> Option<Layer> {
        let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else {
            return None;
        };
        let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
        let (tw, zero_point) = (graph.ty(w), graph.ty(node.result).zero_point());
        let symmetric = tw.quant.as_ref().is_none_or(|q| q.zero_points.iter().all(|&z| z == 0));
        if [x, w].map(|id| graph.ty(id).dtype) != [DType::I8; 2] || !symmetric {
            return None;
        }
        let weights = graph.const_data(w)?.to_i8();
        let filters = tw.shape.dims().first().copied().unwrap_or(1);
        let bias = match node.operands.get(2) {
            Some(&b) => graph.const_data(b)?.to_i32(),
            None => vec![0; filters],
        };
        let bias = folded_bias(&weights, &bias, graph.ty(x).zero_point(), filters);
        let references = (0..filters).map(|o| Reference::of(rescale, o, zero_point, clamp.int_bounds()));
        Some(Layer {
            references: references.collect::<Option<_>>()?,
            weights,
            bias,
            clamp: clamp.int_bounds(),
            has_reference_kernel: matches!(rescale, Rescale::FixedPoint(_)),
        })
    }

    /// The weights of filter `o`; none where there is no such filter.
    pub(super) fn filter(&self, o: usize) -> &[i8] {
        let taps = self.weights.len().checked_div(self.bias.len()).unwrap_or(0);
        self.weights.get(o * taps..(o + 1) * taps).unwrap_or(&[])
    }

    /// The accumulators that filter `o` can reach.
    pub(super) fn range(&self, o: usize) -> Interval {
        reachable(self.filter(o).iter().copied(), self.bias[o], (i8::MIN.into(), i8::MAX.into()))
    }
}

/// By how much the sums of a kernel come shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Gains {
    /// Not at all.
    None,
    /// Those of every other filter by 8 bits.
    Alternating,
}

impl Gains {
    fn bits(self, o: usize) -> u32 {
        match self {
            Gains::Alternating if o % 2 == 1 => 8,
            _ => 0,
        }
    }
}

/// A layer and the cheap form in which all its filters are requantised: without one, as the reference does.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    pub(super) layer: Rc<Layer>,
    pub(super) form: Option<Rc<Choice>>,
}

/// The layers of a graph, and the cheap forms that were looked for: a search takes a while.
#[derive(Debug)]
pub(super) struct Fits {
    layers: HashMap<NodeId, Option<Rc<Layer>>>,
    /// Shifts so far: layers with the same one share code.
    shifts: Vec<u32>,
    found: HashMap<(NodeId, Gains), Option<Rc<Choice>>>,
}

/// The shift that is tried first: small enough for nearly all layers, large enough to keep the bits that exactness needs.
const COMMON_SHIFT: u32 = 4;

impl Default for Fits {
    fn default() -> Self {
        Fits { layers: HashMap::new(), shifts: vec![COMMON_SHIFT], found: HashMap::new() }
    }
}

impl Fits {
    /// A node's layer.
    pub(super) fn layer(&mut self, node: NodeId, of: impl Fn() -> Option<Layer>) -> Option<Rc<Layer>> {
        self.layers.entry(node).or_insert_with(|| of().map(Rc::new)).clone()
    }

    /// The cheap form of a node's layer.
    pub(super) fn form(&mut self, node: NodeId, layer: &Layer, gains: Gains) -> Option<Rc<Choice>> {
        if let Some(found) = self.found.get(&(node, gains)) {
            return found.clone();
        }
        let channel = |(o, reference): (usize, &Reference)| Channel {
            reference: *reference,
            range: layer.range(o),
            gain_bits: gains.bits(o),
        };
        let channels: Vec<Channel> = layer.references.iter().enumerate().map(channel).collect();
        let form = choose(&channels, &self.shifts).ok().map(Rc::new);
        if let Some(form) = form.as_ref().filter(|form| !self.shifts.contains(&form.form.shift)) {
            self.shifts.push(form.form.shift);
        }
        self.found.insert((node, gains), form.clone());
        form
    }
}
