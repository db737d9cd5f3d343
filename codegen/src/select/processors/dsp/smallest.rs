//! Kernels where code is to be small.
//!
//! The rule: of all sets of kernels that can compute a model, the one with the fewest bytes of code. A kernel that another one could stand in for is in the set only
//! if it is what the model needs instead of that one, however many cycles it would spare.

use super::*;
use crate::ir::Layout;

/// Bytes of code of the kernels that `optimize = "size"` shares among layers: on Cortex-M4 at `opt-level = "s"`, with what only
/// they call, where several layers share them. (Of a kernel with one layer the compiler knows all sizes, and it is smaller.) `host-tests/tests/code_bytes.rs` measures them.
pub const CODE_BYTES: [(KernelId, usize); 5] = [
    (KernelId::Conv2dI8DspCompact, CONV),
    (KernelId::DenseI8DspCompact, DENSE),
    (KernelId::Depthwise2dI8DspCompact, 1350),
    (KernelId::MeanPool2dI8DspCompact, 438),
    (KernelId::AddI8DspCompact, 80),
];

const CONV: usize = 1874;
const DENSE: usize = 510;

/// The kernel of a layer.
pub(super) fn kernel(asked: &Asked<'_>) -> Option<Kernel> {
    let (graph, node, whole) = (asked.graph, asked.node, asked.whole);
    let kernel = match (&node.op, Sizes::of(graph, node)) {
        (_, Some(shape)) if planar::by_fours(graph, node, &shape) => {
            Kernel::Depthwise(shape, asked.proof(Gains::None)?)
        }
        (Op::Conv2d { groups: 1, .. }, Some(shape)) if serves(&shape) && packs(asked) => {
            tiled(if whole { shape.as_row() } else { shape }.as_column(), asked)?
        }
        (Op::Dense { .. }, _) if packs(asked) => dense(asked)?,
        _ => return None,
    };
    // There are none without a cheap form.
    let (Kernel::Depthwise(_, proof) | Kernel::Tiled(_, _, proof) | Kernel::Dense(_, proof)) = &kernel else {
        return None;
    };
    proof.form.is_some().then_some(kernel)
}

/// Whether the one kernel for convolutions computes such a one.
fn serves(shape: &Sizes) -> bool {
    shape.layout == Layout::default() && (shape.dilation_w == 1 || shape.k_w == 1)
}

fn tiled(shape: Sizes, asked: &Asked<'_>) -> Option<Kernel> {
    let pixels = super::window_pixels(&shape, asked.options).min(shape.out_w);
    Some(Kernel::Tiled(shape, pixels, asked.proof(Gains::Alternating)?))
}

/// Products of matrices are computed as convolutions, if there is code for those, or if their own kernel does not know some of them.
fn dense(asked: &Asked<'_>) -> Option<Kernel> {
    let graph = asked.graph;
    let own = graph.nodes().all(|(_, other)| match other.op {
        Op::Dense { .. } => graph.ty(other.operands[0]).shape.last() % 4 == 0,
        _ => true,
    });
    let conv = graph.nodes().any(|(_, other)| Sizes::of(graph, other).is_some_and(|shape| shape.groups == 1));
    // Bytes that either kernel adds.
    let by_conv = if conv { 0 } else { CONV };
    let rows = Sizes::of_dense(graph, asked.node);
    match rows.filter(|shape| asked.whole || shape.out_w == 1) {
        Some(shape) if !own || by_conv <= DENSE => tiled(shape, asked),
        _ if own => Some(Kernel::Dense(Tiling::Quads, asked.proof(Gains::Alternating)?)),
        _ => None,
    }
}
