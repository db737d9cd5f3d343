//! What things cost, about: cycles in round numbers, as `cargo kiln bench --per-layer` shows them of the MLPerf Tiny models. For ranking only.

use crate::report::macs;
use kiln_codegen::Target;
use kiln_ir::{Graph, Node, Op};

/// Cycles of a multiplication in tenths: in the kernels made for a processor, and in plain Rust.
struct PerMac {
    conv: u64,
    depthwise: u64,
    portable: u64,
}

fn per_mac(target: Target) -> PerMac {
    match target {
        Target::CortexMDsp => PerMac { conv: 12, depthwise: 25, portable: 80 },
        Target::CortexM0 => PerMac { conv: 42, depthwise: 140, portable: 200 },
        Target::Portable => PerMac { conv: 80, depthwise: 100, portable: 80 },
        // A sixteenth of a cycle would be less than the unit.
        Target::Vectors => PerMac { conv: 1, depthwise: 2, portable: 20 },
    }
}

/// Cycles of a layer in the kernel made for its kind on a processor.
pub fn fast_layer(graph: &Graph, node: &Node, target: Target) -> u64 {
    let each = per_mac(target);
    let each = if is_depthwise(node) { each.depthwise } else { each.conv };
    macs(graph, node) * each / 10
}

/// Cycles of a layer in plain Rust on a processor.
pub fn portable_layer(graph: &Graph, node: &Node, target: Target) -> u64 {
    macs(graph, node) * per_mac(target).portable / 10
}

/// Whether a node is a convolution of each channel by itself.
pub fn is_depthwise(node: &Node) -> bool {
    matches!(node.op, Op::Conv2d { groups, .. } if groups > 1)
}

/// Cycles of an element that is requantised as the reference does it, beyond those of a fitted form.
pub const REFERENCE: u64 = 10;
/// Cycles of an element that is copied, clamped or rescaled by an op of its own.
pub const ELEMENT: u64 = 6;
/// Cycles of an element that goes from float to integer or back.
pub const CONVERT: u64 = 14;

/// Cycles of an element of a float op, with a floating-point unit.
pub fn float_element(op: &Op) -> u64 {
    match op {
        Op::Logistic {} | Op::Tanh {} | Op::Softmax { .. } | Op::Unary { .. } => 120,
        Op::Quantize { .. } | Op::Dequantize {} => CONVERT,
        _ => 8,
    }
}
