//! Constant folding: afterwards no node has only constant operands, but for those that are too costly.

use super::rewrite::{each_node, Rewrite};
use crate::interp;
use crate::ir::{Data, Graph, Node, Op, Type};

/// A folded constant is at most so many times larger than what it was computed from ...
const GROWTH: usize = 16;
/// ... or at most this large, in bytes.
const SMALL: usize = 4096;
/// Most multiplications that folding one node may take.
const WORK: usize = 1 << 24;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| match folded(graph, graph.node(id)) {
        Some(data) => {
            let value = graph.value(graph.node(id).result);
            let (name, ty) = (value.name.clone(), value.ty.clone());
            Rewrite::Same(graph.add_const(name, ty, data))
        }
        None => Rewrite::Keep,
    })
}

fn folded(graph: &Graph, node: &Node) -> Option<Data> {
    let constant = |&id| Some((graph.ty(id), graph.const_data(id)?));
    let operands: Vec<(&Type, &Data)> = node.operands.iter().map(constant).collect::<Option<_>>()?;
    let result = graph.ty(node.result);
    let given: usize = operands.iter().map(|(_, data)| data.bytes().len()).sum();
    if result.bytes() > SMALL.max(given.saturating_mul(GROWTH)) || work(node, &operands, result) > WORK {
        return None;
    }
    interp::eval(&node.op, &operands, result).ok()
}

/// How many multiplications (or the like) the op takes.
fn work(node: &Node, operands: &[(&Type, &Data)], result: &Type) -> usize {
    let taps = match &node.op {
        Op::Conv2d { window, .. } => {
            let channels = operands.get(1).map_or(1, |(ty, _)| ty.shape.last());
            window.size[0].saturating_mul(window.size[1]).saturating_mul(channels)
        }
        Op::Dense { .. } => operands.get(1).map_or(1, |(ty, _)| ty.shape.last()),
        Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
            window.size[0].saturating_mul(window.size[1])
        }
        _ => 1,
    };
    result.shape.numel().saturating_mul(taps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    #[test]
    fn chains_of_constants_become_one() {
        rewrites(
            run,
            "input %x: i32[2]
             const %a: i32[2] = [1, 2]
             const %b: i32[1] = [10]
             %c: i32[2] = add(%a, %b) {rescale = real, clamp = -2147483648..=2147483647}
             %d: i32[1] = slice(%c) {begin = [1], step = [1]}
             %y: i32[2] = mul(%x, %d) {rescale = real, clamp = -2147483648..=2147483647}
             return %y",
            "input %x: i32[2]
             const %d: i32[1] = [12]
             %y: i32[2] = mul(%x, %d) {rescale = real, clamp = -2147483648..=2147483647}
             return %y",
        );
    }

    #[test]
    fn quantised_weights_become_floats() {
        rewrites(
            run,
            "input %x: f32[1,2]
             const %q: i8[1,2] q(0.5 : 1) = [3, -1]
             %w: f32[1,2] = dequantize(%q)
             %y: f32[1,1] = dense(%x, %w) {rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[1,2]
             const %w: f32[1,2] = [1.0, -1.0]
             %y: f32[1,1] = dense(%x, %w) {rescale = real, clamp = -inf..=inf}
             return %y",
        );
    }

    #[test]
    fn a_folded_output_is_a_constant() {
        rewrites(
            run,
            "const %a: f32[1] = [4.0]
             %y: f32[1] = clip(%a) {clamp = 0.0..=1.0}
             return %y",
            "const %y: f32[1] = [1.0]
             return %y",
        );
    }

    #[test]
    fn what_would_grow_too_much_is_computed_on_the_device() {
        keeps(
            run,
            "const %a: i8[1] q(1.0 : 0) = [4]
             %y: i8[100000] q(1.0 : 0) = pad(%a) {before = [0], after = [99999], value = 0}
             return %y",
        );
    }
}
