//! Layouts for processors whose depthwise kernel wants the pixels of a channel side by side: afterwards an image that only such kernels read, and whose
//! producer can write it so, is planar.
//!
//! Values that elementwise operations join are planar or channel-last together, as those operations need their operands in one layout, whichever: they are
//! a *region*. A region becomes planar if
//!
//! - all that compute its values can write planar rows and all that read them can read those: [`planar_result`], [`planar_operand`]. No conversions are
//!   inserted: one would read and write each byte once, about as many cycles as a depthwise kernel saves on it. Inputs, outputs and states keep
//!   the layout that the caller knows;
//! - a depthwise convolution reads one of them. That is the gain, and writing planar rows takes a kernel as long as writing others.
//!
//! The type of a value says which layout it has: its shape is \[n, h, c, w\] then. So its rows stay rows, and whatever asks for sizes need not know.
//! Runs behind all other passes, which look for channel-last images.

use crate::ir::{Graph, Layout, Node, Order, ValueId};
use crate::select::{planar_operand, planar_result};
use crate::{Options, Target};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let regions = Regions::of(graph);
    let planar: Vec<ValueId> = graph.values().map(|(id, _)| id).filter(|&id| regions.planar(id)).collect();
    for &id in &planar {
        let ty = &mut graph.value_mut(id).ty;
        if let Some(image) = Order::ChannelLast.image(ty.shape.dims()) {
            *ty = ty.with_shape(&Order::Planar.stored(image));
        }
    }
    for id in graph.order.clone() {
        let node = graph.node_mut(id);
        let (x, y) = (node.operands.first().copied(), node.result);
        let Some(layout) = node.op.attr_mut::<Layout>() else { continue };
        if x.is_some_and(|x| regions.planar(x)) {
            layout.x = Order::Planar;
        }
        if regions.planar(y) {
            layout.y = Order::Planar;
        }
    }
    !planar.is_empty()
}

/// Whether an op computes each element of an image from those at the same place, so that it works in any layout.
fn any_order(graph: &Graph, node: &Node) -> bool {
    let count = node.op.elementwise_operands();
    let fits = |&id: &ValueId| alike(graph, id, node.result) || graph.ty(id).shape.numel() == 1;
    count > 0 && node.operands.iter().take(count).all(fits)
}

/// Whether a value that is computed has the shape of another.
fn alike(graph: &Graph, id: ValueId, result: ValueId) -> bool {
    graph.const_data(id).is_none() && graph.ty(id).shape == graph.ty(result).shape
}

/// Values that are planar or channel-last together.
struct Regions {
    /// By value: another one of its region, which leads to the one that stands for all; that one itself.
    parent: Vec<usize>,
    /// By value that stands for a region: what is known of it.
    facts: Vec<Facts>,
}

#[derive(Clone, Copy, Default)]
struct Facts {
    /// Something that computes or reads a value needs it channel-last.
    fixed: bool,
    /// A depthwise convolution reads a value.
    gain: bool,
}

impl Regions {
    fn of(graph: &Graph) -> Regions {
        let count = graph.values().count();
        let mut regions = Regions { parent: (0..count).collect(), facts: vec![Facts::default(); count] };
        for (_, node) in graph.nodes().filter(|(_, node)| any_order(graph, node)) {
            node.operands.iter().for_each(|&operand| {
                if alike(graph, operand, node.result) {
                    regions.join(operand, node.result);
                }
            });
        }
        let mut ends: Vec<ValueId> = graph.inputs.iter().chain(&graph.outputs).copied().collect();
        ends.extend(graph.states.iter().flat_map(|state| [state.current, state.next]));
        ends.into_iter().for_each(|id| regions.facts(id).fixed = true);
        // The pass runs for the processors that have such kernels.
        let options = Options { target: Some(Target::CortexMDsp), ..Options::default() };
        for (id, node) in graph.nodes().filter(|(_, node)| !any_order(graph, node)) {
            regions.facts(node.result).fixed |= !planar_result(graph, id, &options);
            for (k, &operand) in node.operands.iter().enumerate() {
                let reads = k == 0 && planar_operand(graph, id, &options);
                let facts = regions.facts(operand);
                facts.fixed |= !reads;
                facts.gain |= reads;
            }
        }
        for (id, value) in graph.values() {
            // What is planar already has been decided.
            let planar =
                graph.producer(id).map(|id| graph.node(id)).is_some_and(|n| n.op.layout().y == Order::Planar);
            let image =
                value.ty.shape.rank() == 4 && value.ty.quant.as_ref().is_none_or(|q| q.axis.is_none());
            regions.facts(id).fixed |= !image || planar;
        }
        regions
    }

    /// The value that stands for a region.
    fn root(&self, id: ValueId) -> usize {
        let mut at = id.0 as usize;
        while let Some(&up) = self.parent.get(at).filter(|&&up| up != at) {
            at = up;
        }
        at
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn facts(&mut self, id: ValueId) -> &mut Facts {
        let root = self.root(id);
        &mut self.facts[root]
    }

    fn planar(&self, id: ValueId) -> bool {
        let Facts { fixed, gain } = self.facts[self.root(id)];
        gain && !fixed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    const WEIGHTS: &str = "const %w: i8[2,1,1,3] q(0.5 : 0) = [1, 2, 3, -4, -5, -6]
         const %d: i8[2,3,3,1] q(0.5 : 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, -8, -9]";
    const REST: &str = "rescale = [1073741824 * 2^-1, 1473741824 * 2^-2], clamp = -128..=127";

    /// A pointwise convolution, what `between` makes %a of its result %p, and a depthwise convolution of %a.
    fn separable(pointwise: &str, shape: &str, between: &str, depthwise: &str, outputs: &str) -> String {
        let q = "q(0.5 : -3)";
        let between = between.replace("TYPE", &format!("i8[{shape}] {q}"));
        format!(
            "input %x: i8[1,5,6,3] {q}
             {WEIGHTS}
             %p: i8[{shape}] {q} = conv2d(%x, %w) {{window = [1, 1], groups = 1, {REST}{pointwise}}}
             {between}
             %y: i8[1,3,3,2] {q} = conv2d(%a, %d) {{window = [3, 3] stride [2, 2] pad [1, 1, 0, 1], groups = 2, {REST}{depthwise}}}
             return {outputs}"
        )
    }

    const WRITES: &str = ", layout = channel_last to planar";
    const READS: &str = ", layout = planar to channel_last";

    #[test]
    fn what_a_depthwise_convolution_reads_is_planar() {
        let simple = |shape: &str, writes: &str, reads: &str| {
            separable(writes, shape, "", reads, "%y").replace("%a", "%p")
        };
        rewrites(run, &simple("1,5,6,2", "", ""), &simple("1,5,2,6", WRITES, READS));
    }

    #[test]
    fn elementwise_operations_between_follow() {
        let between = "const %t: i8[256] = splat 7
             const %s: i8[1] q(0.5 : -3) = [100]
             %l: TYPE = lookup(%p, %t)
             %m: TYPE = mul(%l, %s) {rescale = [1073741824 * 2^0], clamp = -128..=127}
             %a: TYPE = add(%m, %p) {rescale = (left_shift 20, x 1073741824 * 2^0, y 1073741824 * 2^0, out 1073741824 * 2^-18), clamp = -128..=127}";
        let joined = |shape: &str, writes: &str, reads: &str| separable(writes, shape, between, reads, "%y");
        rewrites(run, &joined("1,5,6,2", "", ""), &joined("1,5,2,6", WRITES, READS));
    }

    #[test]
    fn what_anything_else_reads_or_writes_is_not() {
        let shape = "1,5,6,2";
        // An output, through an elementwise operation too.
        let clip = "%a: TYPE = clip(%p) {clamp = -5..=6}";
        keeps(run, &separable("", shape, clip, "", "%y, %p"));
        // A constant of each channel.
        let channels = "const %s: i8[2] q(0.5 : -3) = [100, 50]
             %a: TYPE = mul(%p, %s) {rescale = [1073741824 * 2^0], clamp = -128..=127}";
        keeps(run, &separable("", shape, channels, "", "%y"));
        // Another reader, and another writer.
        let pool = "%a: TYPE = clip(%p) {clamp = -5..=6}
             %m: TYPE = max_pool2d(%a) {window = [1, 1], clamp = -128..=127}";
        keeps(run, &separable("", shape, pool, "", "%y, %m"));
        let pool = "%a: TYPE = max_pool2d(%p) {window = [1, 1], clamp = -128..=127}";
        keeps(run, &separable("", shape, pool, "", "%y"));
    }

    #[test]
    fn without_depthwise_convolutions_nothing_is_gained() {
        keeps(
            run,
            &format!(
                "input %x: i8[1,5,6,3] q(0.5 : -3)
                 {WEIGHTS}
                 %p: i8[1,5,6,2] q(0.5 : -3) = conv2d(%x, %w) {{window = [1, 1], groups = 1, {REST}}}
                 %y: i8[1,5,6,2] q(0.5 : -3) = conv2d(%p, %d) {{window = [3, 3] dilation [1, 2] pad [1, 1, 2, 2], groups = 2, {REST}}}
                 return %y"
            ),
        );
    }
}
