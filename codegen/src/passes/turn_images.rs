//! Images whose height and width were exchanged: afterwards no convolution and no pooling reads one, if its filters are constants. It reads the image as it was, with a window
//! that is turned as well, and its result is exchanged instead. Where that meets a flattening, a mean or its inverse, other passes end it ([`TURNED`](super::TURNED)).
//!
//! For models whose input comes by rows: frames of features are rows, and PyTorch's models often see time as the width of an image.
//!
//! Exact for integers. Floats are added in another order: [`run_exact`] leaves them as they are.

use super::rewrite::{each_split, first_producer, node_before};
use super::sink_transposes::permuted;
use crate::ir::{DType, Graph, Layout, NodeId, Op, Padding, Shape, Type, ValueId, Window};

/// Height for width, of an image that is channel-last.
const EXCHANGE: [usize; 4] = [0, 2, 1, 3];

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    turn(graph, |_| true)
}

/// Runs the pass on what computes with integers.
pub fn run_exact(graph: &mut Graph) -> bool {
    turn(graph, |ty| ty.dtype != DType::F32)
}

fn turn(graph: &mut Graph, of: impl Fn(&Type) -> bool) -> bool {
    each_split(graph, |graph, order, id| {
        let node = graph.node(id);
        if !of(graph.ty(node.result)) {
            return false;
        }
        let Some((source, ty)) = exchanged(graph, id) else { return false };
        // A mean over height and width is the same of both.
        let sums = matches!(&node.op, Op::Mean { axes, .. } if *axes == [1, 2]);
        let turned = if sums { None } else { turned(graph, id) };
        if !sums && turned.is_none() {
            return false;
        }
        let image = match graph.ty(source).shape == ty.shape {
            true => source,
            false => node_before(graph, order, id, Op::Reshape {}, &[source], ty),
        };
        match turned {
            None => graph.node_mut(id).operands[0] = image,
            Some(Turned { op, mut operands, result }) => {
                operands[0] = image;
                let value = node_before(graph, order, id, op, &operands, result);
                let node = graph.node_mut(id);
                (node.op, node.operands) = (Op::Transpose { perm: EXCHANGE.to_vec() }, vec![value]);
            }
        }
        true
    })
}

/// What was transposed so that height and width of a node's first operand are exchanged, and the type of the image before: axes of one element may have been anywhere.
fn exchanged(graph: &Graph, id: NodeId) -> Option<(ValueId, Type)> {
    let transpose = first_producer(graph, graph.node(id))?;
    let Op::Transpose { perm } = &transpose.op else { return None };
    let ty = graph.ty(transpose.result);
    let dims = ty.shape.dims();
    let long = |axis: &usize| dims.get(*axis).is_some_and(|&dim| dim != 1);
    let places = EXCHANGE.into_iter().filter(long).map(|axis| perm.get(axis));
    if dims.len() != 4 || !long(&1) || !long(&2) || !places.is_sorted() {
        return None;
    }
    Some((*transpose.operands.first()?, ty.with_shape(&permuted(dims, &EXCHANGE)?)))
}

/// A node on the image as it was, but for that operand.
struct Turned {
    op: Op,
    operands: Vec<ValueId>,
    result: Type,
}

fn turned(graph: &mut Graph, id: NodeId) -> Option<Turned> {
    let node = graph.node(id);
    let (mut op, mut operands) = (node.op.clone(), node.operands.clone());
    let ty = graph.ty(node.result);
    let result = ty.with_shape(&permuted(ty.shape.dims(), &EXCHANGE)?);
    match &mut op {
        Op::Conv2d { window, layout, .. } => {
            if *layout != Layout::default() {
                return None;
            }
            *window = turned_window(window);
            let weights = *operands.get(1)?;
            let (name, ty) = (graph.value(weights).name.clone(), graph.ty(weights));
            let data = graph.const_data(weights)?.transposed(&ty.shape, ty.dtype.size(), &EXCHANGE)?;
            let shape = Shape(permuted(ty.shape.dims(), &EXCHANGE)?);
            // The scales stay with the first axis.
            let ty = Type { shape, ..ty.clone() };
            operands[1] = graph.add_const(name, ty, data);
        }
        Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => *window = turned_window(window),
        Op::Slice { begin, step } => {
            (*begin, *step) = (permuted(begin, &EXCHANGE)?, permuted(step, &EXCHANGE)?);
        }
        _ => return None,
    }
    Some(Turned { op, operands, result })
}

fn turned_window(window: &Window) -> Window {
    let other = |[height, width]: [usize; 2]| [width, height];
    let Padding { top, bottom, left, right } = window.pad;
    Window {
        size: other(window.size),
        stride: other(window.stride),
        dilation: other(window.dilation),
        pad: Padding { top: left, bottom: right, left: top, right: bottom },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, keeps, parse, rewrites};
    use super::super::{run_each, TURNED};
    use super::*;

    const CONV: &str = "groups = 1, rescale = [1073741824 * 2^-3], clamp = -128..=127}";

    #[test]
    fn windows_turn_with_their_filters() {
        rewrites(
            run,
            &format!(
                "input %x: i8[1,5,4,1] q(0.5 : -3)
                 const %w: i8[2,2,3,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6]
                 %t: i8[1,4,5,1] q(0.5 : -3) = transpose(%x) {{perm = [0, 2, 1, 3]}}
                 %c: i8[1,4,2,2] q(0.5 : 0) = conv2d(%t, %w) {{window = [2, 3] stride [1, 2] pad [0, 1, 0, 0], {CONV}
                 %m: i8[1,3,2,2] q(0.5 : 0) = max_pool2d(%c) {{window = [2, 1], clamp = -128..=127}}
                 %y: i8[1,3,1,2] q(0.5 : 0) = slice(%m) {{begin = [0, 0, 1, 0], step = [1, 1, 1, 1]}}
                 return %y"
            ),
            &format!(
                "input %x: i8[1,5,4,1] q(0.5 : -3)
                 const %w: i8[2,2,3,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6]
                 const %v: i8[2,3,2,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 4, 2, 5, 3, 6, -1, -4, -2, -5, -3, -6]
                 %t: i8[1,4,5,1] q(0.5 : -3) = transpose(%x) {{perm = [0, 2, 1, 3]}}
                 %c: i8[1,2,4,2] q(0.5 : 0) = conv2d(%x, %v) {{window = [3, 2] stride [2, 1] pad [0, 0, 0, 1], {CONV}
                 %ct: i8[1,4,2,2] q(0.5 : 0) = transpose(%c) {{perm = [0, 2, 1, 3]}}
                 %m: i8[1,2,3,2] q(0.5 : 0) = max_pool2d(%c) {{window = [1, 2], clamp = -128..=127}}
                 %mt: i8[1,3,2,2] q(0.5 : 0) = transpose(%m) {{perm = [0, 2, 1, 3]}}
                 %s: i8[1,1,3,2] q(0.5 : 0) = slice(%m) {{begin = [0, 1, 0, 0], step = [1, 1, 1, 1]}}
                 %y: i8[1,3,1,2] q(0.5 : 0) = transpose(%s) {{perm = [0, 2, 1, 3]}}
                 return %y"
            ),
        );
    }

    /// A network of residual blocks on an exchanged image, with a dense layer behind: nothing is exchanged any more.
    #[test]
    fn networks_turn_as_a_whole() {
        let before = parse(&format!(
            "input %x: i8[1,6,4,2] q(0.5 : -3)
             const %v: i8[2,3,2,1] q(0.5 : 0) = [1, 2, -3, 4, 5, -6, 7, 1, 2, -3, 4, 5]
             const %w: i8[2,3,3,2] q(0.5 : 0) = splat 3
             const %d: i8[2,20] q(0.5 : 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, -1, 2, -3, 4, -5, 6, -7, 8, -9, 10, -11, 12, -13, 14, -15, 16, -17, 18, -19, 20]
             %t: i8[1,4,6,2] q(0.5 : -3) = transpose(%x) {{perm = [0, 2, 1, 3]}}
             %a: i8[1,2,5,2] q(0.5 : -3) = conv2d(%t, %v) {{window = [3, 2], groups = 2, rescale = [1073741824 * 2^-2], clamp = -128..=127}}
             %b: i8[1,2,5,2] q(0.5 : -3) = conv2d(%a, %w) {{window = [3, 3] pad [1, 1, 1, 1], {CONV}
             %r: i8[1,2,5,2] q(0.5 : -3) = max_pool2d(%a) {{window = [1, 3] pad [0, 0, 1, 1], clamp = -128..=127}}
             %c: i8[1,2,5,4] q(0.5 : -3) = concat(%b, %r) {{axis = 3}}
             %l: i8[1,2,5,4] q(0.5 : -3) = clip(%c) {{clamp = -20..=100}}
             %s: i8[1,2,5,2] q(0.5 : -3) = slice(%l) {{begin = [0, 0, 0, 1], step = [1, 1, 1, 1]}}
             %f: i8[1,20] q(0.5 : -3) = reshape(%s)
             %y: i8[1,2] q(0.5 : 0) = dense(%f, %d) {{rescale = [1073741824 * 2^-2], clamp = -128..=127}}
             return %y"
        ));
        let mut graph = before.clone();
        while run_each(TURNED, &mut graph, &mut |_, _| {}).unwrap() {}
        assert_equivalent(&before, &graph);
        let ops: Vec<&str> = graph.nodes().map(|(_, node)| node.op.name()).collect();
        assert!(ops.contains(&"conv2d") && !ops.contains(&"transpose"), "{graph}");
    }

    #[test]
    fn means_of_the_whole_image_read_it_as_it_was() {
        rewrites(
            |graph: &mut Graph| run(graph),
            "input %x: i8[1,5,4,2] q(0.5 : -3)
             %t: i8[1,4,5,2] q(0.5 : -3) = transpose(%x) {perm = [0, 2, 1, 3]}
             %y: i8[1,2] q(0.5 : -3) = mean(%t) {axes = [1, 2], rescale = [1717986918 * 2^-5], clamp = -128..=127}
             return %y",
            "input %x: i8[1,5,4,2] q(0.5 : -3)
             %t: i8[1,4,5,2] q(0.5 : -3) = transpose(%x) {perm = [0, 2, 1, 3]}
             %y: i8[1,2] q(0.5 : -3) = mean(%x) {axes = [1, 2], rescale = [1717986918 * 2^-5], clamp = -128..=127}
             return %y",
        );
    }

    /// As features come: the frames of a signal, transposed to channel-first, to channel-last.
    #[test]
    fn axes_of_one_element_may_be_anywhere() {
        rewrites(
            run,
            "input %x: f32[1,1,5,4]
             %t: f32[1,4,5,1] = transpose(%x) {perm = [0, 3, 2, 1]}
             %y: f32[1,2,5,1] = max_pool2d(%t) {window = [3, 1], clamp = -inf..=inf}
             return %y",
            "input %x: f32[1,1,5,4]
             %t: f32[1,4,5,1] = transpose(%x) {perm = [0, 3, 2, 1]}
             %r: f32[1,5,4,1] = reshape(%x)
             %p: f32[1,5,2,1] = max_pool2d(%r) {window = [1, 3], clamp = -inf..=inf}
             %y: f32[1,2,5,1] = transpose(%p) {perm = [0, 2, 1, 3]}
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        // Channels are exchanged; filters that are computed; floats, where their bits count.
        let pool = "window = [2, 1], clamp = -inf..=inf";
        keeps(
            run,
            &format!(
                "input %x: f32[1,3,4,2]
             %t: f32[1,4,2,3] = transpose(%x) {{perm = [0, 2, 3, 1]}}
             %y: f32[1,3,2,3] = max_pool2d(%t) {{{pool}}}
             return %y"
            ),
        );
        keeps(run, "input %x: f32[1,3,4,2] input %w: f32[1,1,1,2]
             %t: f32[1,4,3,2] = transpose(%x) {perm = [0, 2, 1, 3]}
             %y: f32[1,4,3,1] = conv2d(%t, %w) {window = [1, 1], groups = 1, rescale = real, clamp = -inf..=inf}
             return %y");
        keeps(
            run_exact,
            &format!(
                "input %x: f32[1,3,4,2]
             %t: f32[1,4,3,2] = transpose(%x) {{perm = [0, 2, 1, 3]}}
             %y: f32[1,3,3,2] = avg_pool2d(%t) {{{pool}}}
             return %y"
            ),
        );
    }
}
