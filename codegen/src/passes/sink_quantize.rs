//! Joined floats that become integers: afterwards no QUANTIZE reads a concat that nothing else reads, if all parts of it but one at most are constants or
//! integers of the same quantisation made floats. Each part is quantised by itself, and those that were integers stay what they were.
//!
//! Exact: QUANTIZE works element by element. Streaming models keep their histories as floats in front of integer layers; this and
//! [`integer_states`](super::integer_states) make integers of them.

use super::rewrite::{each_split, node_before};
use crate::ir::{Graph, Node, NodeId, Op, Type, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_split(graph, |graph, order, id| {
        let Some((axis, parts)) = joined(graph, &uses, id) else { return false };
        let Node { op, result, .. } = graph.node(id).clone();
        let quantized = parts.iter().map(|&part| {
            let ty = graph.ty(result).with_shape(graph.ty(part).shape.dims());
            node_before(graph, order, id, op.clone(), &[part], ty)
        });
        let operands = quantized.collect();
        let node = graph.node_mut(id);
        (node.op, node.operands) = (Op::Concat { axis }, operands);
        true
    })
}

/// The axis and the parts of the concat that a node quantises.
fn joined(graph: &Graph, uses: &[usize], id: NodeId) -> Option<(usize, Vec<ValueId>)> {
    let node = graph.node(id);
    let Op::Quantize { .. } = node.op else { return None };
    let &floats = node.operands.first()?;
    let concat = graph.producer(floats).map(|id| graph.node(id))?;
    let Op::Concat { axis } = concat.op else { return None };
    let ty = graph.ty(node.result);
    let integers = concat.operands.iter().filter(|&&part| was_integer(graph, part, ty)).count();
    let others = concat
        .operands
        .iter()
        .filter(|&&part| !was_integer(graph, part, ty) && graph.const_data(part).is_none());
    let alone = uses.get(floats.0 as usize) == Some(&1);
    // Quantisation along an axis would have to be divided.
    let whole = ty.quant.as_ref().is_some_and(|q| q.axis.is_none());
    (alone && whole && integers > 0 && others.count() <= 1).then(|| (axis, concat.operands.clone()))
}

/// Whether a value is made of integers of that element and quantisation.
fn was_integer(graph: &Graph, id: ValueId, ty: &Type) -> bool {
    let Some(Node { op: Op::Dequantize {}, operands, .. }) = graph.producer(id).map(|id| graph.node(id))
    else {
        return false;
    };
    operands.first().is_some_and(|&x| {
        let from = graph.ty(x);
        from.dtype == ty.dtype && from.quant == ty.quant
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    /// `more`: another operand; `outputs`: what is returned.
    fn history(more: &str, outputs: &str) -> String {
        format!(
            "state %s: f32[1,2,1] = [0.5, 1.0]
             input %x: i8[1,1,1] q(0.5 : -3)
             input %z: f32[1,1,1]
             const %k: f32[1,1,1] = [2.0]
             %f: f32[1,1,1] = dequantize(%x)
             %c: f32[1,5,1] = concat(%s, %f, {more}, %k) {{axis = 1}}
             %q: i8[1,5,1] q(0.5 : -3) = quantize(%c)
             %n: f32[1,2,1] = concat(%f, %k) {{axis = 1}}
             next %s = %n
             return {outputs}"
        )
    }

    #[test]
    fn each_part_is_quantised() {
        rewrites(
            run,
            &history("%f", "%q"),
            "state %s: f32[1,2,1] = [0.5, 1.0]
             input %x: i8[1,1,1] q(0.5 : -3)
             input %z: f32[1,1,1]
             const %k: f32[1,1,1] = [2.0]
             %f: f32[1,1,1] = dequantize(%x)
             %c: f32[1,5,1] = concat(%s, %f, %f, %k) {axis = 1}
             %1: i8[1,2,1] q(0.5 : -3) = quantize(%s)
             %2: i8[1,1,1] q(0.5 : -3) = quantize(%f)
             %3: i8[1,1,1] q(0.5 : -3) = quantize(%f)
             %4: i8[1,1,1] q(0.5 : -3) = quantize(%k)
             %q: i8[1,5,1] q(0.5 : -3) = concat(%1, %2, %3, %4) {axis = 1}
             %n: f32[1,2,1] = concat(%f, %k) {axis = 1}
             next %s = %n
             return %q",
        );
    }

    #[test]
    fn several_floats_and_other_readers_stay() {
        keeps(run, &history("%z", "%q"));
        keeps(run, &history("%f", "%q, %c"));
    }

    #[test]
    fn other_scales_stay() {
        keeps(run, &history("%f", "%q").replace("%x: i8[1,1,1] q(0.5 : -3)", "%x: i8[1,1,1] q(0.25 : -3)"));
    }
}
