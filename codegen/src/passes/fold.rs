//! Constant folding: afterwards no node has only constant operands, but for those that are too costly.

use super::rewrite::{each_node, Rewrite};
use crate::interp;
use crate::ir::{Data, Graph, Node, Op, Type};

/// All folded constants together are at most so many times larger than what the graph holds ...
const GROWTH: usize = 4;
/// ... and this much more, in bytes.
const SMALL: usize = 1 << 16;
/// Most multiplications that all folding together may take.
const WORK: usize = 1 << 24;

/// What may still be spent. A small file can describe constants without bound; those are computed on the device.
struct Budget {
    bytes: usize,
    work: usize,
}

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let held: usize =
        graph.values().filter_map(|(id, _)| graph.const_data(id)).map(|data| data.bytes().len()).sum();
    let mut budget = Budget { bytes: held.saturating_mul(GROWTH).saturating_add(SMALL), work: WORK };
    each_node(graph, |graph, id| match folded(graph, graph.node(id), &mut budget) {
        Some(data) => {
            let value = graph.value(graph.node(id).result);
            let (name, ty) = (value.name.clone(), value.ty.clone());
            Rewrite::Same(graph.add_const(name, ty, data))
        }
        None => Rewrite::Keep,
    })
}

fn folded(graph: &Graph, node: &Node, budget: &mut Budget) -> Option<Data> {
    let constant = |&id| Some((graph.ty(id), graph.const_data(id)?));
    let operands: Vec<(&Type, &Data)> = node.operands.iter().map(constant).collect::<Option<_>>()?;
    let result = graph.ty(node.result);
    let left = Budget {
        bytes: budget.bytes.checked_sub(result.bytes())?,
        work: budget.work.checked_sub(multiplications(node, &operands, result))?,
    };
    *budget = left;
    interp::eval(&node.op, &operands, result).ok()
}

/// How many multiplications (or the like) an op takes, where it is not about one per element of its result or operands.
fn multiplications(node: &Node, operands: &[(&Type, &Data)], result: &Type) -> usize {
    let taps = match &node.op {
        Op::Conv2d { window, .. } | Op::ComputedConv2d { window, .. } => {
            let channels = operands.get(1).map_or(1, |(ty, _)| ty.shape.last());
            window.size[0].saturating_mul(window.size[1]).saturating_mul(channels)
        }
        Op::Dense { .. } => operands.get(1).map_or(1, |(ty, _)| ty.shape.last()),
        Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
            window.size[0].saturating_mul(window.size[1])
        }
        _ => 0,
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
    fn growth_is_bounded_over_all() {
        let mut text = String::from("const %a0: i8[1] q(1.0 : 0) = [4]\n");
        for i in 1..=30 {
            let (j, half, size) = (i - 1, 1u64 << (i - 1), 1u64 << i);
            text += &format!(
                "%a{i}: i8[{size}] q(1.0 : 0) = pad(%a{j}) {{before = [0], after = [{half}], value = 1}}\n"
            );
        }
        let mut graph = super::super::testing::parse(&(text + "return %a30"));
        assert!(run(&mut graph));
        let largest =
            graph.values().filter_map(|(id, _)| graph.const_data(id)).map(|data| data.bytes().len()).max();
        assert_eq!(largest, Some(SMALL / 2));
        assert_eq!(graph.order.len(), 15);
    }

    #[test]
    fn what_would_grow_too_much_is_computed_on_the_device() {
        keeps(
            run,
            "const %a: i8[1] q(1.0 : 0) = [4]
             %y: i8[70000] q(1.0 : 0) = pad(%a) {before = [0], after = [69999], value = 0}
             return %y",
        );
    }
}
