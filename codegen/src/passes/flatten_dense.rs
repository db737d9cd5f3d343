//! Dense layers on flattened images: afterwards no dense layer reads all rows of one image as a vector; it is a convolution whose window
//! is the whole image, with the same weights.
//!
//! So what comes before can slide, or be summed up row by row: of a convolution it is known which rows it reads. For callers who ask for it, since a dense kernel
//! reads its operand faster.

use super::rewrite::{each_reshaped, Reshaped};
use crate::ir::{Graph, Layout, NodeId, Op, Padding, Window};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_reshaped(graph, |graph, _, id| as_convolution(graph, id))
}

fn as_convolution(graph: &mut Graph, id: NodeId) -> Option<Reshaped> {
    let node = graph.node(id);
    let Op::Dense { rescale, clamp } = &node.op else { return None };
    let &[vector, weights, ..] = node.operands.as_slice() else { return None };
    let flat = graph.producer(vector).map(|id| graph.node(id)).filter(|n| matches!(n.op, Op::Reshape {}))?;
    let &image = flat.operands.first()?;
    let (from, to, result) = (graph.ty(image), graph.ty(vector), graph.ty(node.result));
    let &[1, height, width, channels] = from.shape.dims() else { return None };
    let (&[1, inputs], &[1, outputs]) = (to.shape.dims(), result.shape.dims()) else { return None };
    if height < 2 || inputs != height * width * channels || from.quant != to.quant {
        return None;
    }
    let window = Window { size: [height, width], stride: [1, 1], dilation: [1, 1], pad: Padding::default() };
    let layout = Layout::default();
    let op = Op::Conv2d { window, groups: 1, rescale: rescale.clone(), clamp: *clamp, layout };
    let result = result.with_shape(&[1, 1, 1, outputs]);
    let mut operands = node.operands.clone();
    operands[0] = image;
    let (value, data) = (graph.value(weights).clone(), graph.const_data(weights)?.clone());
    // The scales stay with the first axis.
    let ty = value.ty.with_shape(&[outputs, height, width, channels]);
    operands[1] = graph.add_const(value.name, ty, data);
    Some(Reshaped { op, operands, result })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    const WEIGHTS: &str =
        "const %w: i8[2,6] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6]
             const %b: i32[2] = [100, -100]";
    const REST: &str = "rescale = [1073741824 * 2^0, 1273741824 * 2^-2], clamp = -128..=127}";

    #[test]
    fn the_window_is_the_image() {
        for rest in [REST.into(), REST.replace("= [", "= once [")] {
            rewrites(
                run,
                &format!(
                    "input %x: i8[1,3,1,2] q(0.5 : -3)
                     {WEIGHTS}
                     %v: i8[1,6] q(0.5 : -3) = reshape(%x)
                     %y: i8[1,2] q(0.5 : 0) = dense(%v, %w, %b) {{{rest}
                     return %y"
                ),
                &format!(
                    "input %x: i8[1,3,1,2] q(0.5 : -3)
                     {WEIGHTS}
                     const %k: i8[2,3,1,2] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6]
                     %v: i8[1,6] q(0.5 : -3) = reshape(%x)
                     %c: i8[1,1,1,2] q(0.5 : 0) = conv2d(%x, %k, %b) {{window = [3, 1], groups = 1, {rest}
                     %y: i8[1,2] q(0.5 : 0) = reshape(%c)
                     return %y"
                ),
            );
        }
    }

    #[test]
    fn one_row_and_two_images_stay() {
        for (image, vector, result) in [("1,1,3,2", "1,6", "1,2"), ("2,3,1,2", "2,6", "2,2")] {
            keeps(
                run,
                &format!(
                    "input %x: i8[{image}] q(0.5 : -3)
                     {WEIGHTS}
                     %v: i8[{vector}] q(0.5 : -3) = reshape(%x)
                     %y: i8[{result}] q(0.5 : 0) = dense(%v, %w, %b) {{{REST}
                     return %y"
                ),
            );
        }
    }
}
