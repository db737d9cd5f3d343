//! Which steps several threads compute, and the workspaces that they need.
//!
//! Threads wait for each other at the end of each step that they share: about a microsecond, and what the last part takes longer. So small steps are computed by one. What a step takes is
//! estimated from what cores of servers do a few years old; it need not be near.

use super::vectors::{MOST_AS_ROW, SLACK};
use super::{Floats, Kernel, Shape, Vectors};
use crate::ir::{Graph, Node};

/// Nanoseconds that one thread takes, from which on a step is shared.
const WORTH: usize = 10_000;

/// Multiplications in a nanosecond.
const INTEGERS: usize = 100;
const INTEGERS_DEPTHWISE: usize = 20;
const FLOATS: usize = 40;
const FLOATS_DEPTHWISE: usize = 8;

/// Bytes of weights in a nanosecond, where each is used once.
const STREAMED: usize = 20;

/// The workspaces of a node that the threads of a crew compute in a step of all rows, all together, in bytes; `None` where one thread computes it.
pub fn workspaces(kernel: &Kernel, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
    let worth = cores > 1 && nanoseconds(kernel, graph, node)? >= WORTH;
    worth.then(|| bytes(kernel, cores))
}

/// As [`workspaces`], whether it is worth it or not.
pub fn workspaces_of_any(kernel: &Kernel, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
    nanoseconds(kernel, graph, node).map(|_| bytes(kernel, cores))
}

/// Bytes of all workspaces.
fn bytes(kernel: &Kernel, cores: usize) -> usize {
    let each = match kernel {
        Kernel::Vectors(Vectors::Conv(shape)) if shape.is_points() => {
            let pixels = (shape.in_h * shape.in_w).div_ceil(cores);
            let near = (pixels * shape.in_c).min(MOST_AS_ROW).max(shape.in_c).next_multiple_of(LINE) + SLACK;
            near.max(kernel.workspace().div_ceil(cores))
        }
        // Results lie over no operand, so that nothing is copied.
        Kernel::Floats(Floats::Conv(shape)) if shape.is_points() => 0,
        Kernel::Floats(Floats::Dense(..)) => 0,
        _ => kernel.workspace(),
    };
    cores * each.next_multiple_of(LINE)
}

/// Each thread's workspace begins where no other one's line of a cache ends.
const LINE: usize = 64;

/// What a step takes, roughly; `None` where it has no parts.
fn nanoseconds(kernel: &Kernel, graph: &Graph, node: &Node) -> Option<usize> {
    if kernel.images() > 1 {
        return None;
    }
    let of_image = |shape: &Shape, rate: usize| {
        let parts = if shape.is_points() { shape.out_h * shape.out_w } else { shape.out_h };
        (parts > 1).then(|| shape.macs() / rate)
    };
    let of_matrix = |rows: usize, k: usize, rate: usize, bytes: usize| {
        let weights = k * graph.ty(node.result).shape.last();
        let parts =
            if rows > 1 { rows } else { graph.ty(node.result).shape.last().div_ceil(super::vectors::BLOCK) };
        (parts > 1).then(|| (rows * weights / rate).max(bytes * weights / STREAMED))
    };
    match kernel {
        Kernel::Vectors(Vectors::Conv(shape)) => of_image(shape, INTEGERS),
        Kernel::Vectors(Vectors::Depthwise(shape)) => of_image(shape, INTEGERS_DEPTHWISE),
        Kernel::Vectors(Vectors::Dense(k)) => of_matrix(1, *k, INTEGERS, 1),
        Kernel::Floats(Floats::Conv(shape)) => of_image(shape, FLOATS),
        Kernel::Floats(Floats::Depthwise(shape)) => of_image(shape, FLOATS_DEPTHWISE),
        Kernel::Floats(Floats::Dense(rows, k)) => of_matrix(*rows, *k, FLOATS, 4),
        _ => None,
    }
}
