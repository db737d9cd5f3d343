//! Kernels of floats in vectors, of hosts: what they compute, and the workspace that they need.

use super::integers::{ring, BLOCK};
use crate::ir::{DType, Data, Graph, Layout, Node, Op};
use crate::select::Shape;

/// A kernel of floats in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::select) enum Floats {
    /// Convolution with all channels.
    Conv(Shape),
    /// Convolution of each channel with one filter.
    Depthwise(Shape),
    /// Product of so many rows of so many elements with filters.
    Dense(usize, usize),
    /// Product of two matrices, of which the second one has so many rows of so many elements.
    MatMul(usize, usize),
}

/// Runs of taps, and taps of a depthwise filter.
const MOST_RUNS: usize = 64;

/// Elements of operands that are computed together.
const NEAR: usize = 6144;

/// Elements that may be read behind the last row, and what alignment takes.
const SLACK: usize = 256;

/// Blocks whose channels are those of several pixels.
const MOST_FLAT: usize = 15;

impl Floats {
    /// The kernel of a node of floats, in a step that computes all rows at once (`whole`) or not; `None` where there is none.
    pub(super) fn of(graph: &Graph, node: &Node, whole: bool) -> Option<Floats> {
        if let Op::MatMul { .. } = node.op {
            let [x, w] = node.operands[..] else { return None };
            let types = [x, w, node.result].map(|id| graph.ty(id).dtype);
            let (k, n) = (graph.ty(w).shape.last(), graph.ty(node.result).shape.last());
            return (types == [DType::F32; 3]).then_some(Floats::MatMul(n, k));
        }
        if !matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. }) || node.op.layout() != Layout::default() {
            return None;
        }
        let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
        let types = [x, w, node.result].map(|id| graph.ty(id).dtype);
        if types != [DType::F32; 3] || node.operands[1..].iter().any(|&id| graph.const_data(id).is_none()) {
            return None;
        }
        // Padding is added, as products of 0, which are no 0 where weights are not finite.
        if !graph.const_data(w).is_some_and(Data::is_finite) {
            return None;
        }
        if let Op::Dense { .. } = node.op {
            let shape = Shape::of_dense(graph, node)?;
            return Some(Floats::Dense(shape.in_w, shape.in_c));
        }
        let shape = Shape::of(graph, node)?;
        if shape.groups == 1 {
            // A column is a row whose pixels share weights. Where filters are points, the kernel takes rows together.
            let elements = shape.images * shape.in_h * shape.in_w * shape.in_c;
            let shape = if whole && shape.k_h > 1 && elements <= NEAR { shape.as_row() } else { shape };
            let joined = shape.dilation_w == 1 || shape.k_w == 1;
            let runs = shape.k_h * if joined { 1 } else { shape.k_w };
            return (runs <= MOST_RUNS).then_some(Floats::Conv(shape));
        }
        let depthwise = shape.groups == shape.in_c && shape.out_c == shape.in_c;
        (depthwise && shape.k_h * shape.k_w <= MOST_RUNS).then_some(Floats::Depthwise(shape))
    }

    /// Images that it computes one after the other.
    pub(super) fn images(&self) -> usize {
        match self {
            Floats::Conv(shape) | Floats::Depthwise(shape) => shape.images,
            Floats::Dense(..) | Floats::MatMul(..) => 1,
        }
    }

    /// Bytes of its workspace.
    pub(super) fn workspace(&self) -> usize {
        let elements = match self {
            Floats::Conv(shape) if shape.is_points() => together(shape.in_h, shape.in_w * shape.in_c),
            Floats::Dense(rows, k) => together(*rows, *k),
            Floats::MatMul(n, k) => n.next_multiple_of(BLOCK) * (k + 1) + BLOCK,
            Floats::Conv(shape) => held(shape, 1),
            Floats::Depthwise(shape) => {
                held(shape, if flat_blocks(shape.in_c).is_some() { shape.stride_w } else { 1 })
            }
        };
        4 * elements
    }
}

/// Elements of the rows that a filter covers.
fn held(shape: &Shape, phases: usize) -> usize {
    let (row, rows) = ring(shape, phases.max(1));
    row * rows + SLACK
}

/// Elements of the rows that are computed together, copied where the result lies over them.
fn together(rows: usize, row: usize) -> usize {
    match rows.min(NEAR / row.max(1)) {
        0 | 1 => 0,
        rows => rows * row + BLOCK,
    }
}

/// Blocks that channels fill together with those of the next pixels, until they begin again; `None` where each pixel has blocks of its own.
pub(super) fn flat_blocks(channels: usize) -> Option<usize> {
    let blocks = channels >> channels.trailing_zeros().min(BLOCK.trailing_zeros());
    (blocks > 1 && blocks <= MOST_FLAT).then_some(blocks)
}
