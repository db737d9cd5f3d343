//! What things cost, about, in cycles. For ranking only.

use crate::report::macs;
use kiln_codegen::Target;
use kiln_ir::{Graph, Isa, Node, Op};
use kiln_kernel_table::{Format, Formats, KernelId, Op as Family};

/// Cycles of a layer of int8 in the fastest kernel of its kind that a target runs.
pub fn fast_layer(graph: &Graph, node: &Node, target: Target) -> u64 {
    layer(graph, node, target, |isa| target.runs(isa))
}

/// Cycles of a layer of int8 in plain Rust on a target.
pub fn portable_layer(graph: &Graph, node: &Node, target: Target) -> u64 {
    layer(graph, node, target, |isa| isa == Isa::Portable)
}

/// Cycles of a layer in the fastest kernel of its kind, of those for certain processors, as the table of kernels predicts them.
fn layer(graph: &Graph, node: &Node, target: Target, runs: impl Fn(Isa) -> bool) -> u64 {
    const INT8: Formats = Formats { operands: &[Format::I8; 2], result: Format::I8 };
    let family = match node.op {
        Op::Dense { .. } => Family::Dense,
        _ if is_depthwise(node) => Family::Depthwise,
        _ => Family::Conv,
    };
    let products = macs(graph, node);
    if products == 0 {
        return 0;
    }
    let kernels = KernelId::ALL.iter().filter(|kernel| kernel.op() == family && kernel.formats() == INT8);
    let cycles =
        kernels.filter(|kernel| runs(kernel.isa())).filter_map(|kernel| kernel.cycles(target.core()));
    let work = kiln_codegen::select::work(graph, node, products as usize);
    let predicted = cycles.map(|cycles| cycles.of(&work)).min();
    // Of hosts it says nothing about plain Rust, which takes two cycles for a product.
    predicted.unwrap_or(2 * products)
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
