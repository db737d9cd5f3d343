//! Reshapes move towards the outputs: afterwards no elementwise op reads reshapes of computed values of one shape (and, besides, a single number or a number for each
//! channel). What reads a convolution over time, whose kernels are those of images, meets the convolution again, and becomes part of it.
//!
//! Exact: every element is computed from the same elements, which are stored in the same order.

use super::rewrite::{each_reshaped, Reshaped};
use crate::ir::{Graph, NodeId, Op, Shape, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_reshaped(graph, |graph, _, id| sunk(graph, id))
}

/// The node under the shape that its operands had before they were reshaped.
fn sunk(graph: &Graph, id: NodeId) -> Option<Reshaped> {
    let node = graph.node(id);
    let along = node.op.elementwise_operands();
    let result = graph.ty(node.result);
    if result.is_per_axis() {
        return None;
    }
    let mut shape: Option<&Shape> = None;
    let mut operands = node.operands.clone();
    for operand in operands.iter_mut().take(along) {
        if graph.const_data(*operand).is_some() {
            continue;
        }
        if graph.ty(*operand).shape != result.shape {
            return None;
        }
        let source = reshaped(graph, *operand)?;
        let own = &graph.ty(source).shape;
        if *shape.get_or_insert(own) != own {
            return None;
        }
        *operand = source;
    }
    let shape = shape?;
    let constants = node.operands.iter().take(along).filter(|id| graph.const_data(**id).is_some());
    let fits = |&id: &ValueId| {
        let dims = graph.ty(id).shape.dims();
        let channels = dims.len() == 1 && shape.rank() > 0 && shape.last() == result.shape.last();
        channels || dims.iter().all(|&dim| dim == 1) && dims.len() <= shape.rank()
    };
    if !constants.into_iter().all(fits) {
        return None;
    }
    Some(Reshaped { op: node.op.clone(), operands, result: result.with_shape(shape.dims()) })
}

/// What a reshape made a value of, if that is computed: inputs, and what is only moved, are taken as they come.
fn reshaped(graph: &Graph, id: ValueId) -> Option<ValueId> {
    let node = graph.node(graph.producer(id)?);
    let source = *node.operands.first()?;
    let op = &graph.node(graph.producer(source)?).op;
    let computed = op.window().is_some() || op.elementwise_operands() > 0 || matches!(op, Op::Dense { .. });
    // A reshape may see the same integers as other numbers: then they stand for others in front of it.
    let same = graph.ty(source).quant == graph.ty(id).quant;
    (matches!(node.op, Op::Reshape {}) && computed && same).then_some(source)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn they_move_behind_elementwise_ops() {
        rewrites_used(
            run,
            "input %x: f32[1,1,3,4]
             const %c: f32[4] = [1.0, 2.0, 3.0, 4.0]
             %t: f32[1,1,3,4] = tanh(%x)
             %l: f32[1,1,3,4] = logistic(%x)
             %a: f32[1,3,4] = reshape(%t)
             %b: f32[1,3,4] = reshape(%l)
             %s: f32[1,3,4] = add(%a, %b) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,3,4] = mul(%s, %c) {rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[1,1,3,4]
             const %c: f32[4] = [1.0, 2.0, 3.0, 4.0]
             %t: f32[1,1,3,4] = tanh(%x)
             %l: f32[1,1,3,4] = logistic(%x)
             %s: f32[1,1,3,4] = add(%t, %l) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,1,3,4] = mul(%s, %c) {rescale = real, clamp = -inf..=inf}
             %r: f32[1,3,4] = reshape(%y)
             return %r",
        );
    }

    #[test]
    fn others_stay() {
        keeps(
            run,
            "input %x: f32[]
             const %c: f32[1] = [2.0]
             %t: f32[] = tanh(%x)
             %a: f32[1] = reshape(%t)
             %y: f32[1] = mul(%a, %c) {rescale = real, clamp = -inf..=inf}
             return %y",
        );
        // An input is taken as it comes; another shape; numbers for each row; another value.
        keeps(
            run,
            "input %x: f32[1,1,3,4]
             input %z: f32[1,3,4]
             input %w: f32[4,3]
             const %c: f32[1,3,1] = [1.0, 2.0, 3.0]
             %i: f32[1,3,4] = reshape(%x)
             %j: f32[1,3,4] = tanh(%i)
             %t: f32[1,1,3,4] = tanh(%x)
             %l: f32[4,3] = logistic(%w)
             %a: f32[1,3,4] = reshape(%t)
             %b: f32[1,3,4] = reshape(%l)
             %p: f32[1,3,4] = add(%a, %b) {rescale = real, clamp = -inf..=inf}
             %q: f32[1,3,4] = mul(%a, %c) {rescale = real, clamp = -inf..=inf}
             %r: f32[1,3,4] = add(%b, %z) {rescale = real, clamp = -inf..=inf}
             return %j, %p, %q, %r",
        );
        // The reshape gives the integers another zero point.
        keeps(
            run,
            "input %x: u8[2,4] q(0.5 : 2)
             %a: i8[2,4] q(0.5 : -126) = requantize(%x) {rescale = [1073741824 * 2^1], clamp = -128..=127}
             %b: i8[8] q(0.5 : 36) = reshape(%a)
             %y: u8[8] q(0.5 : 164) = requantize(%b) {rescale = [1073741824 * 2^1], clamp = 0..=255}
             return %y",
        );
    }
}
