//! States that hold integers as floats: afterwards there is no float state that only QUANTIZEs of one type read and a DEQUANTIZE of that type writes.
//! It holds the integers, in a quarter of the memory.
//!
//! Exact where each integer comes back from its float as it was, which is tried for all 256 of them.

use super::rewrite::{each_node, Rewrite};
use crate::interp;
use crate::ir::{DType, Data, Graph, Op, Type, ValueId};
use std::collections::BTreeSet;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let found: Vec<(usize, Integers)> =
        (0..graph.states.len()).filter_map(|index| Some((index, integers(graph, index)?))).collect();
    let mut states = BTreeSet::new();
    for (index, Integers { next, init }) in found {
        let ty = graph.ty(next).clone();
        let Some(state) = graph.states.get_mut(index) else { continue };
        (state.next, state.init) = (next, init);
        let current = state.current;
        graph.value_mut(current).ty = ty;
        states.insert(current);
    }
    let read = |graph: &Graph, id| {
        let node = graph.node(id);
        node.operands
            .first()
            .copied()
            .filter(|x| matches!(node.op, Op::Quantize { .. }) && states.contains(x))
    };
    each_node(graph, |graph, id| read(graph, id).map_or(Rewrite::Keep, Rewrite::Same))
}

/// What a state holds in place of floats.
struct Integers {
    next: ValueId,
    init: Data,
}

fn integers(graph: &Graph, index: usize) -> Option<Integers> {
    let state = graph.states.get(index)?;
    let written = graph.producer(state.next).map(|id| graph.node(id))?;
    let Op::Dequantize {} = written.op else { return None };
    let &next = written.operands.first()?;
    let (ty, float) = (graph.ty(next), graph.ty(state.current));
    let mut readers = graph.nodes().filter(|(_, node)| node.operands.contains(&state.current)).peekable();
    let ends = graph.outputs.contains(&state.current) || graph.states.iter().any(|s| s.next == state.current);
    let fits = ty.shape == float.shape && ty.quant.as_ref().is_some_and(|q| q.axis.is_none());
    if readers.peek().is_none() || ends || !fits {
        return None;
    }
    let quantize = readers.peek().map(|(_, node)| node.op.clone())?;
    let quantizes = |node: &crate::ir::Node| {
        matches!(node.op, Op::Quantize { .. }) && node.op == quantize && graph.ty(node.result) == ty
    };
    if !readers.all(|(_, node)| quantizes(node)) || !comes_back(&quantize, ty) {
        return None;
    }
    let init = interp::eval(&quantize, &[(float, &state.init)], ty).ok()?;
    Some(Integers { next, init })
}

/// Whether every 8-bit integer of a type is the same again after it was a float.
fn comes_back(quantize: &Op, ty: &Type) -> bool {
    let (ty, float) = (ty.with_shape(&[256]), Type::plain(DType::F32, &[256]));
    let all = Data::new((0..=255).collect::<Vec<u8>>());
    let floats = interp::eval(&Op::Dequantize {}, &[(&ty, &all)], &float);
    let back = floats.and_then(|floats| interp::eval(quantize, &[(&float, &floats)], &ty));
    back == Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;
    use crate::ir::Rounding;

    fn history(next: &str, outputs: &str) -> String {
        format!(
            "state %s: f32[1,2,1] = [0.5, 100.0]
             input %x: i8[1,1,1] q(0.5 : -3)
             %q: i8[1,2,1] q(0.5 : -3) = quantize(%s)
             %c: i8[1,3,1] q(0.5 : -3) = concat(%q, %x) {{axis = 1}}
             %k: i8[1,2,1] q(0.5 : -3) = slice(%c) {{begin = [0, 1, 0], step = [1, 1, 1]}}
             %n: f32[1,2,1] = {next}
             next %s = %n
             return {outputs}"
        )
    }

    #[test]
    fn the_state_holds_integers() {
        rewrites(
            run,
            &history("dequantize(%k)", "%c"),
            "state %s: i8[1,2,1] q(0.5 : -3) = [-2, 127]
             input %x: i8[1,1,1] q(0.5 : -3)
             %c: i8[1,3,1] q(0.5 : -3) = concat(%s, %x) {axis = 1}
             %k: i8[1,2,1] q(0.5 : -3) = slice(%c) {begin = [0, 1, 0], step = [1, 1, 1]}
             %n: f32[1,2,1] = dequantize(%k)
             next %s = %k
             return %c",
        );
    }

    #[test]
    fn floats_that_are_used_stay() {
        keeps(run, &history("dequantize(%k)", "%c, %s"));
        keeps(run, &history("tanh(%s)", "%c"));
    }

    #[test]
    fn integers_that_do_not_come_back_stay() {
        // Twice the scale is no finite float.
        keeps(run, &history("dequantize(%k)", "%c").replace("q(0.5", "q(3e38"));
        let back = |scale, zero| {
            comes_back(
                &Op::Quantize { rounding: Rounding::Away },
                &Type::quantized(DType::I8, &[1], scale, zero),
            )
        };
        assert_eq!(
            [1.0, f32::from_bits(1), 0.1, 3e38].map(|scale| back(scale, 100)),
            [true, true, true, false]
        );
    }
}
