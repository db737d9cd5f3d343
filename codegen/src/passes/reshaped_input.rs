//! Inputs that are only reshaped: afterwards such an input has the shape that its one reader gives it.
//!
//! For models that take their input row by row: converters add axes of size 1 behind the input, or unfold a flat one, and rows are
//! those of the image that comes out. The elements stay as they are, in the same order. A reshape may see them as other numbers; what callers are told of
//! an input's quantisation is what the model declares (`lower` in `lib.rs`).

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Graph, Op, ValueDef, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    let once = |id: ValueId| uses.get(id.0 as usize) == Some(&1);
    each_node(graph, |graph, id| {
        let node = graph.node(id);
        let (&Op::Reshape {}, &[input]) = (&node.op, node.operands.as_slice()) else { return Rewrite::Keep };
        let reshaped = graph.ty(node.result).clone();
        if graph.value(input).def != ValueDef::Input || !once(input) || graph.outputs.contains(&node.result) {
            return Rewrite::Keep;
        }
        graph.value_mut(input).ty = reshaped;
        Rewrite::Same(input)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, parse};
    use super::*;

    #[test]
    fn the_input_takes_the_shape_of_the_image() {
        let mut graph = parse(
            "input %x: i8[1,12] q(0.5 : -3)
             %i: i8[1,3,2,2] q(0.5 : -3) = reshape(%x)
             %y: i8[1,1,1,2] q(0.5 : -3) = max_pool2d(%i) {window = [3, 2], clamp = -128..=127}
             return %y",
        );
        assert!(run(&mut graph));
        crate::verify::verify(&graph).unwrap();
        assert_eq!(graph.ty(graph.inputs[0]).shape.dims(), [1, 3, 2, 2]);
        assert_eq!(graph.order.len(), 1);
        assert!(!run(&mut graph));
    }

    #[test]
    fn inputs_with_other_readers_keep_their_shape() {
        keeps(
            run,
            "input %x: f32[1,12]
             %i: f32[1,3,2,2] = reshape(%x)
             %y: f32[1,1,1,2] = max_pool2d(%i) {window = [3, 2], clamp = -inf..=inf}
             %z: f32[1,12] = add(%x, %x) {rescale = real, clamp = -inf..=inf}
             return %y, %z",
        );
        keeps(run, "input %x: f32[1,12] %i: f32[1,3,2,2] = reshape(%x) return %i");
    }
}
