//! Channels that need not be there: afterwards no channel is left that a convolution computes and whose readers know what it is, or do not use it.
//!
//! Behind [`constant_channels`](super::constant_channels), a channel whose weights are zero is constant. Layers that keep channels apart (depthwise convolutions,
//! pooling, elementwise operations) pass it on; the convolution or dense layer that reads it adds what it contributes to its biases. Of the values that
//! such operations join, a *region*, a channel goes from all or from none.
//!
//! As many stay as make a multiple of four, which kernels like.

use super::constant_channels::Layer;
use crate::ir::{DType, Data, Graph, Layout, Node, NodeId, Op, Padding, Rescale, Type, ValueId};

/// The number of channels that remain is a multiple of this, if there were as many.
const LANES: usize = 4;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut changed = false;
    let constants = constants(graph);
    for region in regions(graph) {
        let Some(keep) = region.kept(graph, &constants) else { continue };
        region.shrink(graph, &constants, &keep);
        changed = true;
    }
    changed
}

/// By value: of each channel (its last axis), the stored value that all its elements have.
fn constants(graph: &Graph) -> Vec<Vec<Option<i32>>> {
    let mut known: Vec<Vec<Option<i32>>> = vec![Vec::new(); graph.values().count()];
    for &id in &graph.order {
        let node = graph.node(id);
        let Some(&x) = node.operands.first() else { continue };
        let before = known[x.0 as usize].clone();
        let each = |f: &dyn Fn(i32) -> Option<i32>| before.iter().map(|k| k.and_then(f)).collect();
        known[node.result.0 as usize] = match (&node.op, keeps_channels(graph, node)) {
            (Op::Conv2d { .. } | Op::Dense { .. }, _) => layer_constants(graph, node, &before),
            (Op::Reshape {}, true) => before,
            (Op::AvgPool2d { clamp, .. } | Op::MaxPool2d { clamp, .. } | Op::Clip { clamp }, true) => {
                let (lo, hi) = clamp.int_bounds();
                each(&|k| Some(k.clamp(lo, hi)))
            }
            (Op::Lookup {}, true) => {
                let table = node.operands.get(1).and_then(|&t| graph.const_data(t)).map(Data::to_i8);
                each(&|k| table.as_ref()?.get(usize::from(k as u8)).map(|&y| y.into()))
            }
            _ => Vec::new(),
        };
    }
    known
}

fn layer_constants(graph: &Graph, node: &Node, operand: &[Option<i32>]) -> Vec<Option<i32>> {
    let Some(layer) = Layer::of(graph, node) else { return Vec::new() };
    let constant = |o: usize| {
        let filter = layer.filter(o);
        let mut acc = i64::from(layer.bias[o]);
        if filter.iter().any(|&w| w != 0) {
            // Of a depthwise convolution, what its own channel contributes.
            let k = operand.get(o).copied().flatten().filter(|_| is_depthwise(graph, node))?;
            if k != layer.operand_zero && padded(node) {
                return None;
            }
            let sum: i64 = filter.iter().map(|&w| i64::from(w)).sum();
            acc += sum * i64::from(k - layer.operand_zero);
        }
        layer.result(o, acc)
    };
    (0..layer.bias.len()).map(constant).collect()
}

fn padded(node: &Node) -> bool {
    node.op.window().is_some_and(|window| window.pad != Padding::default())
}

/// A convolution of every channel on its own.
fn is_depthwise(graph: &Graph, node: &Node) -> bool {
    let Op::Conv2d { groups, .. } = node.op else { return false };
    let channels = node.operands.first().map(|&x| graph.ty(x).shape.last());
    groups > 1 && channels == Some(groups) && graph.ty(node.result).shape.last() == groups
}

/// Whether channel `c` of the result comes from channel `c` of the operands that vary, and from no other.
fn keeps_channels(graph: &Graph, node: &Node) -> bool {
    let (shape, last) = (&graph.ty(node.result).shape, graph.ty(node.result).shape.last());
    let same_last = |id: &ValueId| graph.ty(*id).shape.last() == last && graph.ty(*id).dtype == DType::I8;
    let varying = || node.operands.iter().filter(|&&id| graph.const_data(id).is_none());
    match node.op {
        Op::Conv2d { .. } => is_depthwise(graph, node) && Layer::of(graph, node).is_some(),
        Op::AvgPool2d { .. } | Op::MaxPool2d { .. } | Op::Reshape {} => varying().all(same_last),
        Op::Clip { .. } | Op::Lookup {} => varying().count() == 1 && varying().all(same_last),
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } => {
            let alike = |id: &ValueId| graph.ty(*id).shape == *shape && graph.const_data(*id).is_none();
            node.operands.iter().all(same_last) && node.operands.iter().all(alike)
        }
        _ => false,
    }
}

/// Whether a node mixes all channels of its first operand: a convolution over all of them, or a dense layer.
fn mixes(graph: &Graph, node: &Node) -> bool {
    match node.op {
        Op::Conv2d { groups: 1, layout, .. } => {
            layout == Layout::default() && Layer::of(graph, node).is_some()
        }
        Op::Dense { .. } => Layer::of(graph, node).is_some(),
        _ => false,
    }
}

/// Values that have their channels in common.
#[derive(Default)]
struct Region {
    values: Vec<ValueId>,
    /// The nodes that make them from others: mixing all channels of those.
    entries: Vec<NodeId>,
    /// The nodes between them.
    inner: Vec<NodeId>,
    /// The nodes that read them and mix their channels.
    readers: Vec<NodeId>,
}

/// The regions that may shrink.
fn regions(graph: &Graph) -> Vec<Region> {
    let count = graph.values().count();
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &[usize], mut at: usize) -> usize {
        while parent[at] != at {
            at = parent[at];
        }
        at
    }
    for &id in &graph.order {
        let node = graph.node(id);
        if keeps_channels(graph, node) {
            for &x in node.operands.iter().filter(|&&x| graph.const_data(x).is_none()) {
                let (a, b) = (root(&parent, x.0 as usize), root(&parent, node.result.0 as usize));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut fixed = vec![false; count];
    let mut regions: Vec<Region> = (0..count).map(|_| Region::default()).collect();
    let ends = graph.inputs.iter().chain(&graph.outputs);
    let states = graph.states.iter().flat_map(|state| [&state.current, &state.next]);
    ends.chain(states).for_each(|id| fixed[root(&parent, id.0 as usize)] = true);
    for &id in &graph.order {
        let node = graph.node(id);
        let result = root(&parent, node.result.0 as usize);
        regions[result].values.push(node.result);
        let per_tensor = graph.ty(node.result).quant.as_ref().is_some_and(|q| q.axis.is_none());
        if keeps_channels(graph, node) {
            regions[result].inner.push(id);
        } else if mixes(graph, node) {
            regions[result].entries.push(id);
        } else {
            fixed[result] = true;
        }
        fixed[result] |= !per_tensor;
        for (k, &x) in node.operands.iter().enumerate().filter(|_| !keeps_channels(graph, node)) {
            let x = root(&parent, x.0 as usize);
            match k == 0 && mixes(graph, node) {
                true => regions[x].readers.push(id),
                false => fixed[x] = true,
            }
        }
    }
    let free = regions.into_iter().zip(fixed).filter(|(region, fixed)| !fixed && !region.readers.is_empty());
    free.map(|(region, _)| region).collect()
}

impl Region {
    /// The channels that stay; `None` if all do.
    fn kept(&self, graph: &Graph, constants: &[Vec<Option<i32>>]) -> Option<Vec<usize>> {
        let channels = graph.ty(*self.values.first()?).shape.last();
        if self.values.iter().any(|&id| graph.ty(id).shape.last() != channels) {
            return None;
        }
        let readers: Vec<(&Node, Layer)> = self
            .readers
            .iter()
            .map(|&id| Some((graph.node(id), Layer::of(graph, graph.node(id))?)))
            .collect::<Option<_>>()?;
        let removable = |&c: &usize| {
            readers.iter().all(|(node, layer)| {
                let known = constants[node.operands[0].0 as usize].get(c).copied().flatten();
                let plain = known.is_some_and(|k| k == layer.operand_zero || !padded(node));
                plain || layer.weights.iter().skip(c).step_by(channels).all(|&w| w == 0)
            })
        };
        let mut keep: Vec<usize> = (0..channels).filter(|c| !removable(c)).collect();
        let more = keep.len().max(1).next_multiple_of(LANES).min(channels) - keep.len();
        keep.extend((0..channels).filter(removable).take(more).collect::<Vec<_>>());
        keep.sort_unstable();
        (keep.len() < channels).then_some(keep)
    }

    fn shrink(&self, graph: &mut Graph, constants: &[Vec<Option<i32>>], keep: &[usize]) {
        for &id in &self.readers {
            absorb(graph, constants, id, keep);
        }
        for &id in self.entries.iter().chain(&self.inner) {
            let node = graph.node_mut(id);
            match &mut node.op {
                Op::Conv2d { rescale, groups, .. } => {
                    gather_factors(rescale, keep);
                    if *groups > 1 {
                        *groups = keep.len();
                    }
                }
                Op::Dense { rescale, .. } => gather_factors(rescale, keep),
                _ => continue,
            }
            for operand in [1, 2] {
                gather(graph, id, operand, 0, keep);
            }
        }
        for &id in &self.values {
            let ty = &mut graph.value_mut(id).ty;
            let mut dims = ty.shape.dims().to_vec();
            dims.iter_mut().last().into_iter().for_each(|last| *last = keep.len());
            *ty = ty.with_shape(&dims);
        }
    }
}

/// Takes what the channels contribute that go to the biases of a layer that reads them, and their weights away.
fn absorb(graph: &mut Graph, constants: &[Vec<Option<i32>>], id: NodeId, keep: &[usize]) {
    let node = graph.node(id);
    let (Some(layer), x) = (Layer::of(graph, node), node.operands[0]) else { return };
    let channels = graph.ty(x).shape.last();
    let mut bias = layer.bias.clone();
    for (o, bias) in bias.iter_mut().enumerate() {
        for (tap, &w) in layer.filter(o).iter().enumerate() {
            let c = tap % channels.max(1);
            if let (Err(_), Some(&Some(k))) = (keep.binary_search(&c), constants[x.0 as usize].get(c)) {
                // As the accumulator: modulo 2³².
                *bias = bias.wrapping_add(i32::from(w).wrapping_mul(k.wrapping_sub(layer.operand_zero)));
            }
        }
    }
    let old = node.operands[2];
    let (name, ty) = (graph.value(old).name.clone(), graph.ty(old).clone());
    let bias = graph.add_const(name, ty, Data::from_i32(&bias));
    graph.node_mut(id).operands[2] = bias;
    let last = graph.ty(graph.node(id).operands[1]).shape.rank().saturating_sub(1);
    gather(graph, id, 1, last, keep);
}

pub(super) fn gather_factors(rescale: &mut Rescale, keep: &[usize]) {
    match rescale {
        Rescale::FixedPoint(factors) | Rescale::Once(factors) if factors.len() > 1 => {
            *factors = keep.iter().filter_map(|&o| factors.get(o).copied()).collect();
        }
        Rescale::Float(factors) if factors.len() > 1 => {
            *factors = keep.iter().filter_map(|&o| factors.get(o).copied()).collect();
        }
        _ => {}
    }
}

/// Replaces a constant operand by some of its slices along an axis.
pub(super) fn gather(graph: &mut Graph, id: NodeId, operand: usize, axis: usize, keep: &[usize]) {
    let Some(&old) = graph.node(id).operands.get(operand) else { return };
    let (Some(data), ty) = (graph.const_data(old), graph.ty(old)) else { return };
    let dims = ty.shape.dims();
    let inner = ty.dtype.size() * dims.iter().skip(axis + 1).product::<usize>();
    let outer = inner * dims.get(axis).copied().unwrap_or(1);
    let mut bytes = Vec::with_capacity(data.bytes().len());
    for block in data.bytes().chunks(outer.max(1)) {
        keep.iter()
            .filter_map(|&i| block.get(i * inner..(i + 1) * inner))
            .for_each(|part| bytes.extend_from_slice(part));
    }
    let mut dims = dims.to_vec();
    dims.iter_mut().skip(axis).take(1).for_each(|dim| *dim = keep.len());
    let mut quant = ty.quant.clone();
    if let Some(quant) = quant.as_mut().filter(|quant| quant.axis == Some(axis)) {
        quant.scales = keep.iter().filter_map(|&i| quant.scales.get(i).copied()).collect();
        quant.zero_points = keep.iter().filter_map(|&i| quant.zero_points.get(i).copied()).collect();
    }
    let ty = Type { quant, ..Type::plain(ty.dtype, &dims) };
    let name = graph.value(old).name.clone();
    let new = graph.add_const(name, ty, Data::new(bytes));
    graph.node_mut(id).operands[operand] = new;
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, parse};
    use super::*;
    use crate::verify::verify;

    /// Eight channels, of which the last four are constant: computed by a convolution, passed on by a depthwise one and a pooling, and read by a dense
    /// layer.
    fn chain(pad: &str, bias: &str, more: &str) -> String {
        let list =
            |f: &dyn Fn(i32) -> i32, n: i32| (0..n).map(|i| f(i).to_string()).collect::<Vec<_>>().join(", ");
        let size = if pad.is_empty() { 2 } else { 4 };
        format!(
            "input %x: i8[1,4,4,1] q(0.5 : -3)
             const %w: i8[8,1,1,1] q(0.5 : 0) = [{}]
             const %b: i32[8] = [1, 2, 3, 4, {bias}]
             const %d: i8[8,3,3,1] q(0.5 : 0) = [{}]
             const %e: i32[8] = [{}]
             const %v: i8[2,8] q(0.5 : 0) = [{}]
             const %f: i32[2] = [5, -6]
             %c: i8[1,4,4,8] q(0.5 : -128) = conv2d(%x, %w, %b) {{window = [1, 1], groups = 1, rescale = [1073741824 * 2^1], clamp = -128..=127}}
             %p: i8[1,{size},{size},8] q(0.5 : -128) = conv2d(%c, %d, %e) {{window = [3, 3]{pad}, groups = 8, rescale = [1073741824 * 2^-3], clamp = -128..=127}}
             %a: i8[1,1,1,8] q(0.5 : -128) = avg_pool2d(%p) {{window = [{size}, {size}], clamp = -128..=127}}
             %r: i8[1,8] q(0.5 : -128) = reshape(%a)
             %y: i8[1,2] q(0.5 : 4) = dense(%r, %v, %f) {{rescale = [1073741824 * 2^-4], clamp = -128..=127}}
             return %y{more}",
            list(&|i| if i < 4 { 20 * i + 11 } else { 0 }, 8),
            list(&|i| i * 37 % 19 - 9, 72),
            list(&|i| 100 * i, 8),
            list(&|i| i * 53 % 101 - 50, 16),
        )
    }

    fn channels(graph: &Graph) -> Vec<usize> {
        graph.order.iter().map(|&id| graph.ty(graph.node(id).result).shape.last()).collect()
    }

    #[test]
    fn known_channels_go_from_the_whole_chain() {
        // The zero point, which padding reads as, may go; where nothing is padded, everything may.
        for (pad, bias, left) in [
            (" pad [1, 1, 1, 1]", "0, 0, 0, 0", 4),
            (" pad [1, 1, 1, 1]", "0, 7, 0, 0", 8),
            ("", "1, 7, 0, 200", 4),
        ] {
            let before = parse(&chain(pad, bias, ""));
            let mut graph = before.clone();
            assert_eq!(run(&mut graph), left < 8);
            verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
            assert_eq!(channels(&graph), [left, left, left, left, 2]);
            assert_equivalent(&before, &graph);
            assert!(!run(&mut graph), "fires twice");
        }
    }

    #[test]
    fn what_a_caller_sees_stays() {
        for more in [", %c", ", %r"] {
            let mut graph = parse(&chain("", "0, 0, 0, 0", more));
            assert!(!run(&mut graph), "{more}");
        }
    }
}
