//! Which steps several threads compute, and the workspaces that they need.
//!
//! Threads wait for each other at the end of each step that they share. This takes about a microsecond, and as long as the last part takes longer. So small steps are computed by one thread.

use super::integers::{MOST_AS_ROW, SLACK};
use super::{Floats, Kernel, Vectors};
use crate::ir::{Graph, Node};
use crate::select::kernel::WORKSPACE_ALIGNMENT;
use crate::select::{Choice, Shape};

/// Predicted cycles of one thread from which on a step is shared: ten microseconds.
const WORTH: u64 = 30_000;

/// Bytes of weights that a core reads from memory in 1,000 cycles, where each is used once.
const STREAMED: u64 = 6_667;

/// Whether threads that share a step are done sooner than one.
pub(in crate::select) fn is_worth_sharing(choice: &Choice, graph: &Graph, node: &Node) -> bool {
    let streamed = match node.operands.get(1) {
        Some(&weights) => graph.ty(weights).bytes() as u64 * 1000 / STREAMED,
        None => 0,
    };
    choice.cycles.max(streamed) >= WORTH
}

/// The workspaces of the threads that share a step, all together, in bytes; `None` where it has no parts.
pub(in crate::select) fn workspaces(
    kernel: &Kernel,
    choice: &Choice,
    graph: &Graph,
    node: &Node,
    cores: usize,
) -> Option<usize> {
    if choice.images > 1 || parts(kernel, graph, node) < 2 {
        return None;
    }
    let each = match kernel {
        Kernel::Integers(Vectors::Conv(shape), _) if shape.is_points() => {
            let pixels = (shape.in_h * shape.in_w).div_ceil(cores);
            let near =
                (pixels * shape.in_c).min(MOST_AS_ROW).max(shape.in_c).next_multiple_of(WORKSPACE_ALIGNMENT)
                    + SLACK;
            near.max(choice.workspace.div_ceil(cores))
        }
        // Results lie over no operand, so that nothing is copied.
        Kernel::Floats(Floats::Conv(shape)) if shape.is_points() => 0,
        Kernel::Floats(Floats::Dense(..)) => 0,
        _ => choice.workspace,
    };
    Some(cores * each.next_multiple_of(WORKSPACE_ALIGNMENT))
}

/// How many parts a step has.
fn parts(kernel: &Kernel, graph: &Graph, node: &Node) -> usize {
    let of_image = |shape: &Shape| if shape.is_points() { shape.out_h * shape.out_w } else { shape.out_h };
    let of_matrix = |rows: usize| match rows {
        1 => graph.ty(node.result).shape.last().div_ceil(super::integers::BLOCK),
        _ => rows,
    };
    match kernel {
        Kernel::Integers(Vectors::Conv(shape) | Vectors::Depthwise(shape), _)
        | Kernel::Floats(Floats::Conv(shape) | Floats::Depthwise(shape)) => of_image(shape),
        Kernel::Integers(Vectors::Dense(_), _) => of_matrix(1),
        Kernel::Floats(Floats::Dense(rows, _)) => of_matrix(*rows),
        Kernel::Floats(Floats::MatMul(..)) | Kernel::Add(_) | Kernel::Means(_) => 0,
    }
}
