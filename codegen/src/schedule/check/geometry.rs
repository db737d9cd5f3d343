//! What a row of a result is made of, as the checkers derive it from the definitions of the ops.

use crate::ir::{Graph, Node, Op, Shape, ValueId, Window};
use std::ops::Range;

/// A value as a run of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// How many. A value whose rows are not adjacent (of several images) is a single one.
    pub(crate) rows: usize,
    /// Bytes of each.
    pub(crate) bytes: usize,
}

impl Extent {
    pub(crate) fn of(graph: &Graph, id: ValueId) -> Self {
        let ty = graph.ty(id);
        let bytes = ty.bytes();
        match count(&ty.shape) {
            rows if !adjacent(&ty.shape) || rows == 1 => Extent { rows: 1, bytes },
            0 => Extent { rows: 0, bytes: 0 },
            rows => Extent { rows, bytes: bytes / rows },
        }
    }
}

/// The axis whose indices are rows.
fn axis(shape: &Shape) -> Option<usize> {
    match shape.rank() {
        0 | 1 => None,
        2 => Some(0),
        _ => Some(1),
    }
}

/// How many rows a tensor has.
pub(crate) fn count(shape: &Shape) -> usize {
    axis(shape).and_then(|axis| shape.dims().get(axis).copied()).unwrap_or(1)
}

/// Whether the rows of a tensor lie one after the other.
pub(crate) fn adjacent(shape: &Shape) -> bool {
    axis(shape).is_none_or(|axis| shape.dims().iter().take(axis).all(|&d| d == 1))
}

/// What a row of a result is computed from, of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// All of it.
    All,
    /// Of the rows from `start + row · stride` on, `reach` of them, those that there are.
    Rows { start: i64, stride: i64, reach: i64 },
}

impl Need {
    /// The row of the same index.
    pub(crate) const SAME: Need = Need::Rows { start: 0, stride: 1, reach: 1 };

    /// The rows that a row of the result needs, of an operand with that many.
    pub(crate) fn rows(self, row: usize, height: usize) -> Range<usize> {
        match self {
            Need::All => 0..height,
            Need::Rows { start, stride, reach } => {
                let inside = |row: i64| usize::try_from(row).unwrap_or(0).min(height);
                let first = start.saturating_add(stride.saturating_mul(to_i64(row)));
                inside(first)..inside(first.saturating_add(reach))
            }
        }
    }
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// In which order the kernel of a node writes what it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In no order: it may write anything before it has read everything.
    None,
    /// Row by row: it writes a row when it has read all that the row is computed from.
    Rows,
    /// Element by element, each when the elements it is computed from have been read.
    Elements,
}

/// The order of a node's kernel; of an op that is not mentioned, none.
pub(crate) fn order(graph: &Graph, node: &Node) -> Order {
    match node.op {
        Op::Conv2d { .. } | Op::AvgPool2d { .. } | Op::MaxPool2d { .. } | Op::Softmax { .. } => {
            let one_image = |&id: &ValueId| adjacent(&graph.ty(id).shape);
            match node.operands.first().is_some_and(one_image) && one_image(&node.result) {
                true => Order::Rows,
                false => Order::None,
            }
        }
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. } => Order::Elements,
        Op::Unary { .. } => Order::Elements,
        Op::Clip { .. } | Op::LeakyRelu { .. } | Op::Logistic {} | Op::Tanh {} => Order::Elements,
        Op::Quantize { .. } | Op::Dequantize {} | Op::Requantize { .. } | Op::Cast {} => Order::Elements,
        Op::Lookup {} | Op::Interpolate {} => Order::Elements,
        _ => Order::None,
    }
}

/// Whether element `i` of the result is computed from element `i` of the operand, and from no other of it.
pub(crate) fn pointwise(graph: &Graph, node: &Node, operand: usize) -> bool {
    let Some(&id) = node.operands.get(operand) else { return false };
    let unary = !matches!(node.op, Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. });
    let same = graph.ty(id).shape.numel() == graph.ty(node.result).shape.numel();
    order(graph, node) == Order::Elements && same && !(unary && operand > 0)
}

/// What a row of a node's result needs of an operand; of an op that is not mentioned, all.
pub(crate) fn need(graph: &Graph, node: &Node, operand: usize) -> Need {
    let Some(&id) = node.operands.get(operand) else { return Need::All };
    let (x, y) = (&graph.ty(id).shape, &graph.ty(node.result).shape);
    if !adjacent(x) || !adjacent(y) {
        return Need::All;
    }
    let one_to_one = |holds: bool| if holds && count(x) == count(y) { Need::SAME } else { Need::All };
    let (Some(of_x), Some(of_y)) = (axis(x), axis(y)) else { return one_to_one(count(x) == 1) };
    match &node.op {
        Op::Conv2d { window, .. } | Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
            if operand == 0 {
                taps(window)
            } else {
                Need::All
            }
        }
        // The filters and the bias are needed for every row.
        Op::Dense { .. } => one_to_one(operand == 0 && x.rank() == y.rank()),
        // Broadcast shapes are aligned at their ends.
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. } => {
            one_to_one(x.rank() - of_x == y.rank() - of_y)
        }
        Op::Unary { .. } => one_to_one(true),
        Op::Clip { .. } | Op::LeakyRelu { .. } | Op::Logistic {} | Op::Tanh {} => one_to_one(true),
        Op::Quantize { .. } | Op::Dequantize {} | Op::Requantize { .. } | Op::Cast {} => one_to_one(true),
        Op::Lookup {} | Op::Interpolate {} => one_to_one(operand == 0),
        Op::Softmax { .. } => one_to_one(true),
        // What is left of the axes up to the rows stays in front.
        Op::Mean { axes, .. } => one_to_one(of_x == of_y && axes.iter().all(|&axis| axis > of_x)),
        Op::Pad { before, .. } => match before.get(of_x) {
            Some(&before) => Need::Rows { start: -to_i64(before), stride: 1, reach: 1 },
            None => Need::All,
        },
        Op::Concat { axis } if *axis == of_x => {
            let rows = |&id: &ValueId| count(&graph.ty(id).shape);
            let before: usize = node.operands.iter().take(operand).map(rows).sum();
            Need::Rows { start: -to_i64(before), stride: 1, reach: 1 }
        }
        Op::Concat { axis } => one_to_one(*axis > of_x),
        Op::Slice { begin, step } => match (begin.get(of_x), step.get(of_x)) {
            (Some(&begin), Some(&step)) => Need::Rows { start: to_i64(begin), stride: step, reach: 1 },
            _ => Need::All,
        },
        Op::Transpose { perm } => one_to_one((0..=of_x).all(|axis| perm.get(axis) == Some(&axis))),
        // The elements of a row stay a row.
        Op::Reshape {} => one_to_one(true),
        _ => Need::All,
    }
}

fn taps(window: &Window) -> Need {
    let (Some(&size), Some(&stride), Some(&dilation)) =
        (window.size.first(), window.stride.first(), window.dilation.first())
    else {
        return Need::All;
    };
    let reach = to_i64(size).saturating_sub(1).saturating_mul(to_i64(dilation)).saturating_add(1);
    Need::Rows { start: -to_i64(window.pad.top), stride: to_i64(stride), reach }
}

/// Whether a node folds all rows of its first operand into a result of one row, so that they can be taken into sums one after the other: rows that count alike, or with
/// constant weights.
pub(crate) fn sums_up(graph: &Graph, node: &Node) -> bool {
    let Some(&id) = node.operands.first() else { return false };
    let (x, y) = (&graph.ty(id).shape, &graph.ty(node.result).shape);
    if !adjacent(x) || count(y) != 1 || !adjacent(y) {
        return false;
    }
    match &node.op {
        Op::Mean { axes, .. } => axis(x).is_some_and(|rows| axes.contains(&rows)),
        Op::AvgPool2d { window, .. } => taps(window).rows(0, count(x)) == (0..count(x)),
        Op::Conv2d { window, .. } => {
            let constant = |&id: &ValueId| graph.const_data(id).is_some();
            taps(window).rows(0, count(x)) == (0..count(x)) && node.operands.iter().skip(1).all(constant)
        }
        _ => false,
    }
}

/// Where the elements of a concat's operand lie inside each row of the result, in bytes from its start, if they are adjacent there.
pub(crate) fn part_of_row(graph: &Graph, node: &Node, operand: usize) -> Option<usize> {
    let Op::Concat { axis: joined } = node.op else { return None };
    let y = &graph.ty(node.result).shape;
    let rows = axis(y)?;
    if !adjacent(y) || joined < rows {
        return None;
    }
    if joined == rows {
        return Some(0);
    }
    let adjacent = y.dims().get(rows + 1..joined)?.iter().all(|&d| d == 1);
    let bytes = |&id: &ValueId| Extent::of(graph, id).bytes;
    adjacent.then(|| node.operands.iter().take(operand).map(bytes).sum())
}

/// Where a concat's operand lies in the result, in bytes from its start, if its elements are adjacent there.
pub(crate) fn part_of_all(graph: &Graph, node: &Node, operand: usize) -> Option<usize> {
    let Op::Concat { axis } = node.op else { return None };
    let outer: usize = graph.ty(node.result).shape.dims().iter().take(axis).product();
    let bytes = |&id: &ValueId| graph.ty(id).bytes();
    (outer == 1).then(|| node.operands.iter().take(operand).map(bytes).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(lines: &str) -> Vec<Vec<Need>> {
        let graph = Graph::parse(&format!("graph \"g\" {{ {lines} }}")).unwrap();
        crate::verify::verify(&graph).unwrap();
        let of = |(_, node): (_, &Node)| (0..node.operands.len()).map(|k| need(&graph, node, k)).collect();
        graph.nodes().map(of).collect()
    }

    fn rows(start: i64, stride: i64, reach: i64) -> Need {
        Need::Rows { start, stride, reach }
    }

    #[test]
    fn windows() {
        let found = needs(
            "input %x: f32[1,9,4,2] input %w: f32[3,3,1,2] input %b: f32[2,4,4,2]
             %c: f32[1,4,4,3] = conv2d(%x, %w) {window = [3, 1] stride [2, 1] dilation [2, 1] pad [1, 1, 0, 0], groups = 1, rescale = real, clamp = -inf..=inf}
             %m: f32[1,4,2,2] = max_pool2d(%x) {window = [3, 2] stride [2, 2], clamp = -inf..=inf}
             %n: f32[2,2,2,2] = max_pool2d(%b) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}
             return %c, %m, %n",
        );
        assert_eq!(found, [vec![rows(-1, 2, 5), Need::All], vec![rows(0, 2, 3)], vec![Need::All]]);
        let of = |row| rows(-1, 2, 5).rows(row, 9);
        assert_eq!((of(0), of(1), of(3), of(5)), (0..4, 1..6, 5..9, 9..9));
    }

    #[test]
    fn elements() {
        let found = needs(
            "input %x: f32[1,3,4,2] input %r: f32[1,3,1,1] input %c: f32[2] input %o: f32[3,4,2] input %s: f32[3,1]
             %1: f32[1,3,4,2] = add(%x, %r) {rescale = real, clamp = -inf..=inf}
             %2: f32[1,3,4,2] = add(%c, %x) {rescale = real, clamp = -inf..=inf}
             %3: f32[1,3,4,2] = add(%x, %o) {rescale = real, clamp = -inf..=inf}
             %4: f32[1,3,2] = mean(%x) {axes = [2], rescale = real, clamp = -inf..=inf}
             %5: f32[1,2] = mean(%x) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
             %6: f32[3,1] = tanh(%s)
             return %1, %2, %3, %4, %5, %6",
        );
        let (same, all) = (Need::SAME, Need::All);
        // A value of three axes has its rows elsewhere.
        let wanted = [vec![same, same], vec![all, same], vec![same, all], vec![same], vec![all], vec![same]];
        assert_eq!(found, wanted);
    }

    #[test]
    fn movement() {
        let found = needs(
            "input %x: f32[1,3,4,2] input %z: f32[1,2,4,2]
             %p: f32[1,6,4,3] = pad(%x) {before = [0, 2, 0, 1], after = [0, 1, 0, 0], value = 0}
             %c: f32[1,5,4,2] = concat(%x, %z) {axis = 1}
             %d: f32[1,3,4,4] = concat(%x, %x) {axis = 3}
             %s: f32[1,2,4,1] = slice(%x) {begin = [0, 2, 0, 1], step = [1, -2, 1, 1]}
             %t: f32[1,3,2,4] = transpose(%x) {perm = [0, 1, 3, 2]}
             %u: f32[1,4,3,2] = transpose(%x) {perm = [0, 2, 1, 3]}
             %r: f32[1,3,8] = reshape(%x)
             %v: f32[1,24] = reshape(%x)
             return %p, %c, %d, %s, %t, %u, %r, %v",
        );
        let (same, all) = (Need::SAME, Need::All);
        let wanted = [
            vec![rows(-2, 1, 1)],
            vec![rows(0, 1, 1), rows(-3, 1, 1)],
            vec![same, same],
            vec![rows(2, -2, 1)],
            vec![same],
            vec![all],
            vec![same],
            vec![all],
        ];
        assert_eq!(found, wanted);
        assert_eq!((rows(-3, 1, 1).rows(2, 2), rows(-3, 1, 1).rows(4, 2)), (0..0, 1..2));
    }
}
