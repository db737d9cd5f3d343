//! Multiply-accumulates of a step.

use kiln_codegen::ir::Op;
use kiln_codegen::schedule::StepKind;
use kiln_codegen::Compiled;

/// Multiply-accumulates of a step for a whole input: of every element of the result of a convolution or matrix product, one for each weight of its
/// filter, also where that lies in the padding. 0 for anything else.
pub(crate) fn macs(compiled: &Compiled, step: usize) -> u64 {
    let StepKind::Compute(id) = compiled.schedule.steps[step].kind else { return 0 };
    let (graph, node) = (&compiled.graph, compiled.graph.node(id));
    let (Op::Conv2d { .. } | Op::Dense { .. }, Some(weights)) = (&node.op, node.operands.get(1)) else {
        return 0;
    };
    // The filters come first.
    let weights = &graph.value(*weights).ty.shape.0;
    let filter: usize = weights.iter().skip(1).product();
    (graph.value(node.result).ty.shape.numel() * filter) as u64
}
