//! Kernels in vectors, of hosts: what they compute, and the workspace that they need.

use crate::ir::{DType, Graph, Layout, Node, Op, Rescale};
use crate::select::Shape;

/// Filters in a block.
pub(super) const BLOCK: usize = 16;

/// A kernel in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::select) enum Vectors {
    /// Convolution with all channels.
    Conv(Shape),
    /// Convolution of each channel with one filter.
    Depthwise(Shape),
    /// Product of one row.
    Dense(usize),
}

/// Bytes of an image that is computed as one row.
pub(super) const MOST_AS_ROW: usize = 32 * 1024;

/// Runs of taps, and groups of four of them in a depthwise filter.
const MOST_RUNS: usize = 64;
const MOST_GROUPS: usize = 32;

/// Elements that may be read behind the last row.
pub(super) const SLACK: usize = 256;

impl Vectors {
    /// The kernel of a node of integers; `None` where there is none.
    pub(super) fn of(graph: &Graph, node: &Node, whole: bool) -> Option<Vectors> {
        let (Op::Conv2d { rescale, .. } | Op::Dense { rescale, .. }) = &node.op else { return None };
        if !matches!(rescale, Rescale::FixedPoint(_) | Rescale::Once(_) | Rescale::Float(_))
            || node.op.layout() != Layout::default()
        {
            return None;
        }
        let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
        let types = [x, w, node.result].map(|id| graph.ty(id).dtype);
        let symmetric = graph.ty(w).quant.as_ref().is_none_or(|q| q.zero_points.iter().all(|&z| z == 0));
        if types != [DType::I8; 3] || !symmetric || graph.const_data(w).is_none() {
            return None;
        }
        if let Op::Dense { .. } = node.op {
            let shape = Shape::of_dense(graph, node)?;
            return Some(match shape.in_w {
                1 => Vectors::Dense(shape.in_c),
                _ => Vectors::Conv(shape),
            });
        }
        let shape = Shape::of(graph, node)?;
        let bytes = shape.images * shape.in_h * shape.in_w * shape.in_c;
        let shape = if whole && bytes <= MOST_AS_ROW { shape.as_row() } else { shape };
        if shape.groups == 1 {
            let joined = shape.dilation_w == 1 || shape.k_w == 1;
            let runs = shape.k_h * if joined { 1 } else { shape.k_w };
            return (runs <= MOST_RUNS).then_some(Vectors::Conv(shape));
        }
        let depthwise = shape.groups == shape.in_c && shape.out_c == shape.in_c;
        (depthwise && groups(&shape) <= MOST_GROUPS).then_some(Vectors::Depthwise(shape))
    }

    /// Images that it computes one after the other.
    pub(super) fn images(&self) -> usize {
        match self {
            Vectors::Conv(shape) | Vectors::Depthwise(shape) => shape.images,
            Vectors::Dense(_) => 1,
        }
    }

    /// Bytes of its workspace.
    pub(super) fn workspace(&self) -> usize {
        match self {
            Vectors::Conv(shape) => {
                let (row, rows) = ring(shape, 1);
                rows * row + SLACK
            }
            Vectors::Depthwise(shape) => {
                let (row, rows) = ring(shape, phases(shape));
                rows * row + SLACK + 4 * (parts(shape) * row + SLACK)
            }
            Vectors::Dense(k) => k.next_multiple_of(32),
        }
    }
}

/// Elements of a row with padding, in so many phases, and how many rows a filter covers.
pub(super) fn ring(shape: &Shape, phases: usize) -> (usize, usize) {
    let reach = shape.out_w.saturating_sub(1) * shape.stride_w + (shape.k_w - 1) * shape.dilation_w + 1;
    let columns = reach.max(shape.in_w + shape.pad_left);
    let phase = columns.div_ceil(phases) * shape.in_c;
    ((phase * phases).next_multiple_of(64), (shape.k_h - 1) * shape.dilation_h + 1)
}

/// Phases of the columns of a depthwise convolution.
pub(super) fn phases(shape: &Shape) -> usize {
    if shape.in_c % BLOCK == 0 {
        1
    } else {
        shape.stride_w.max(1)
    }
}

/// Fours of rows of a depthwise filter; of columns, if it has one row.
fn parts(shape: &Shape) -> usize {
    if shape.k_h == 1 {
        shape.k_w.div_ceil(4)
    } else {
        shape.k_h.div_ceil(4)
    }
}

/// Groups of four taps of a depthwise filter.
fn groups(shape: &Shape) -> usize {
    if shape.k_h == 1 {
        parts(shape)
    } else {
        parts(shape) * shape.k_w
    }
}

/// The taps `(ky, kx)` of the groups of four of a depthwise filter.
pub(super) fn depthwise_taps(shape: &Shape) -> Vec<[(usize, usize); 4]> {
    let four = |part: usize, kx: usize| match shape.k_h {
        1 => [0, 1, 2, 3].map(|i| (0, 4 * part + i)),
        _ => [0, 1, 2, 3].map(|i| (4 * part + i, kx)),
    };
    let columns = if shape.k_h == 1 { 1 } else { shape.k_w };
    (0..parts(shape)).flat_map(|part| (0..columns).map(move |kx| four(part, kx))).collect()
}

/// Blocks of a row's elements until channels begin again.
pub(super) fn period(channels: usize) -> usize {
    channels >> channels.trailing_zeros().min(4)
}
