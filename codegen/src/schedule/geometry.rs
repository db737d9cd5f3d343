//! Which rows of an operand a row of a result needs: the geometry behind pipelines and overlays.

use super::rows;
use crate::ir::{DType, Graph, Layout, Node, Op, Padding, Rescale, Rows, ValueId, Window};
use std::ops::Range;

/// The rows of an operand (see [`rows`]) that row `row` of the node's result is computed from; `None` where the op does not go
/// row by row in that operand, so that it needs all of it. Constants and values of a single row that every row needs are not
/// row by row either.
///
/// Only tensors with one image have rows here: the first of at least three axes is 1.
pub fn needs(graph: &Graph, node: &Node, operand: usize, row: usize) -> Option<Range<usize>> {
    let (x, y) = (graph.ty(*node.operands.get(operand)?), graph.ty(node.result));
    let one_image = |dims: &[usize]| dims.len() >= 3 && dims[0] == 1;
    if !one_image(x.shape.dims()) || !one_image(y.shape.dims()) {
        return None;
    }
    let height = rows(&x.shape);
    let same = (row < height).then_some(row..row + 1);
    match node.op.facts().rows {
        // A slice of the first rows leaves out the rest.
        Rows::Same | Rows::Part => same.filter(|_| rows(&y.shape) == height),
        Rows::Window(window) => (operand == 0).then(|| taps(window, height, row)),
        Rows::Behind(before) => {
            let lead = *before.get(1)?;
            (before.first() == Some(&0)).then(|| match row.checked_sub(lead) {
                Some(row) if row < height => row..row + 1,
                Some(_) => height..height,
                None => 0..0,
            })
        }
        // Within a row, elements may be repeated.
        Rows::All if operand < node.op.elementwise_operands() && x.shape.rank() == y.shape.rank() => {
            same.filter(|_| rows(&y.shape) == height)
        }
        Rows::All => None,
    }
}

/// The rows inside the image that a window touches.
fn taps(window: &Window, height: usize, row: usize) -> Range<usize> {
    let start = row * window.stride[0];
    let reach = (window.size[0].max(1) - 1) * window.dilation[0] + 1;
    let first = start.saturating_sub(window.pad.top).min(height);
    let end = (start + reach).saturating_sub(window.pad.top).min(height);
    first..end.max(first)
}

/// Whether the kernel of the node, asked for all rows in one call, computes them one after the other: row `r` is written when the
/// rows of the operands that earlier rows need have been read, and before those that only later rows need are.
pub fn in_order(graph: &Graph, node: &Node) -> bool {
    let by_row = (0..node.operands.len()).any(|k| needs(graph, node, k, 0).is_some());
    // Several calls, each over the whole result.
    by_row && !matches!(node.op.facts().rows, Rows::Behind(_) | Rows::Part)
}

/// Whether an elementwise op repeats elements of the operand. Kernels are asked for several rows at once: all of these rows have to be there until the last one is written.
pub fn repeats(graph: &Graph, node: &Node, operand: usize) -> bool {
    let dims = |id| graph.ty(id).shape.dims();
    let id = node.operands.get(operand).filter(|_| operand < node.op.elementwise_operands());
    id.is_some_and(|&id| dims(id) != dims(node.result))
}

/// Whether the node can absorb its operand row by row: its result is one row, made of all rows of the operand.
pub fn absorbs(graph: &Graph, node: &Node) -> bool {
    let Some(&operand) = node.operands.first() else { return false };
    let (x, y) = (&graph.ty(operand).shape, &graph.ty(node.result).shape);
    let one_image = x.rank() == 4 && x.dims()[0] == 1;
    match &node.op {
        Op::AvgPool2d { window, .. } => {
            let reach = window.size[0] >= rows(x) && window.pad.top == 0;
            one_image && rows(y) == 1 && reach
        }
        Op::Mean { axes, .. } => one_image && axes == &[1, 2],
        Op::Conv2d { .. } => one_image && multiplies_all(graph, node),
        _ => false,
    }
}

/// Whether a convolution is a matrix product: of filters as large as the image, of which there are kernels that take row by row.
fn multiplies_all(graph: &Graph, node: &Node) -> bool {
    let Op::Conv2d { window, groups: 1, rescale, layout, .. } = &node.op else { return false };
    let &[x, w, ref bias @ ..] = node.operands.as_slice() else { return false };
    let [of_x, of_y] = [x, node.result].map(|id| graph.ty(id).shape.dims());
    let whole =
        Window { size: [of_x[1], of_x[2]], stride: window.stride, dilation: [1, 1], pad: Padding::default() };
    let is_scaled = matches!(rescale, Rescale::FixedPoint(_) | Rescale::Once(_) | Rescale::Float(_));
    let has_kernel = match [x, w, node.result].map(|id| graph.ty(id).dtype) {
        [DType::I8, DType::I8, DType::I8] => is_scaled,
        types => types == [DType::F32; 3],
    };
    let constant = |id: &ValueId| graph.const_data(*id).is_some();
    *window == whole
        && *layout == Layout::default()
        && of_x[1] > 1
        && of_y[1..3] == [1, 1]
        && has_kernel
        && constant(&w)
        && bias.iter().all(constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_pads_and_concats() {
        let graph = Graph::parse(
            "graph \"g\" {
               input %x: f32[1,5,4,2]
               %p: f32[1,7,4,2] = pad(%x) {before = [0, 1, 0, 0], after = [0, 1, 0, 0], value = 0}
               %m: f32[1,3,2,2] = max_pool2d(%x) {window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], clamp = -inf..=inf}
               %c: f32[1,5,4,4] = concat(%x, %x) {axis = 3}
               %t: f32[1,10,4,2] = concat(%x, %x) {axis = 1}
               %g: f32[1,1,1,2] = mean(%x) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
               return %p, %m, %c, %t, %g
             }",
        )
        .unwrap();
        let nodes: Vec<&Node> = graph.nodes().map(|(_, node)| node).collect();
        let all = |k: usize, rows: usize| -> Vec<Option<Range<usize>>> {
            (0..rows).map(|row| needs(&graph, nodes[k], 0, row)).collect()
        };
        assert_eq!(
            all(0, 7).iter().flatten().cloned().collect::<Vec<_>>(),
            [0..0, 0..1, 1..2, 2..3, 3..4, 4..5, 5..5]
        );
        assert_eq!(all(1, 3), [Some(0..2), Some(1..4), Some(3..5)]);
        assert_eq!(needs(&graph, nodes[2], 1, 4), Some(4..5));
        assert_eq!((needs(&graph, nodes[3], 0, 0), needs(&graph, nodes[4], 0, 0)), (None, None));
        assert_eq!([0, 1, 2, 3, 4].map(|k| in_order(&graph, nodes[k])), [false, true, false, false, false]);
        assert_eq!([1, 4].map(|k| absorbs(&graph, nodes[k])), [false, true]);
    }
}
