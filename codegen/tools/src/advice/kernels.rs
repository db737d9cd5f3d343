//! Layers whose kernel is not the fastest of its kind: in plain Rust, requantised as the reference, or of filters that fill no group.

use super::{cost, place, Advice, Topic};
use crate::report::kernels::{kernels, Requantisation, StepKernels};
use kiln_codegen::schedule::StepKind;
use kiln_codegen::{Compiled, Target};
use kiln_ir::{Clamp, DType, Graph, Node, Op};
use kiln_kernel_table::{Arithmetic, Format, Isa};

pub(super) fn advise(compiled: &Compiled) -> Vec<Advice> {
    let target = compiled.options.target();
    if target.isas().is_empty() {
        // There is nothing faster.
        return Vec::new();
    }
    let mut all = Vec::new();
    for step in kernels(compiled) {
        let Some(StepKind::Compute(id)) = compiled.schedule.steps.get(step.step).map(|step| &step.kind)
        else {
            continue;
        };
        let (graph, node) = (&compiled.graph, compiled.graph.node(*id));
        if !matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. })
            || graph.ty(node.result).dtype != DType::I8
        {
            continue;
        }
        all.extend(plain(graph, node, &step, target).or_else(|| reference(graph, node, &step)));
        all.extend(rounded_up(graph, node, &step, target));
    }
    all
}

/// Plain Rust, or a kernel of a lesser core, where the processor has something better.
fn plain(graph: &Graph, node: &Node, step: &StepKernels, target: Target) -> Option<Advice> {
    // Weights that are packed or wide, and other arithmetic, have plain kernels only.
    let kernel = step.ids.first().filter(|kernel| kernel.formats().operands == [Format::I8; 2])?;
    let (kind, slow) = match (kernel.isa(), kernel.arithmetic()) {
        (Isa::Portable, Some(Arithmetic::Reference)) => {
            ("the portable kernel".into(), cost::portable_layer(graph, node, target))
        }
        // The first is the best.
        (isa, _) if isa != Isa::Portable && target.isas().first() != Some(&isa) => {
            (format!("the {} kernel", isa.title()), step.cycles?)
        }
        _ => return None,
    };
    let (why, help) = reason(node, step);
    Some(Advice {
        topic: Topic::Kernel,
        place: place(graph, node),
        what: format!("it gets {kind} {kernel}: {why}"),
        help,
        cycles: slow.saturating_sub(cost::fast_layer(graph, node, target)),
        bytes: 0,
    })
}

/// Why no faster kernel takes a layer, as far as shapes tell.
fn reason(node: &Node, step: &StepKernels) -> (String, String) {
    let Op::Conv2d { window, groups, .. } = &node.op else {
        return ("its weights or clamp do not fit the packed form".into(), narrow());
    };
    if window.dilation != [1, 1] {
        return (
            "the window is dilated".into(),
            "use a larger window or a stride instead of a dilation".into(),
        );
    }
    if *groups > 1 {
        return (
            format!("it has {groups} groups"),
            "use a depthwise convolution (one channel and one filter per group), or one group".into(),
        );
    }
    match step.requantisation {
        Requantisation::Reference | Requantisation::Halves | Requantisation::Upper => {
            ("its weights or clamp do not fit the packed form".into(), narrow())
        }
        _ => (
            "its rows are too long for the instructions of the fast kernel".into(),
            "use fewer channels or a narrower image".into(),
        ),
    }
}

fn narrow() -> String {
    "keep weights above −128 (narrow range, as TensorFlow Lite's converter does), and biases below 2^23"
        .into()
}

/// A requantisation of a dozen instructions.
fn reference(graph: &Graph, node: &Node, step: &StepKernels) -> Option<Advice> {
    if step.requantisation != Requantisation::Reference {
        return None;
    }
    let (Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. }) = &node.op else { return None };
    let (what, help) = match clamp {
        Clamp::Int { lo, hi } if *hi < 127 || *lo > graph.ty(node.result).zero_point().max(-128) => (
            format!("results are clamped to {lo}..={hi}, a part of the 8-bit range, so saturation cannot replace the clamp"),
            "use RELU instead of RELU6, or quantise the result so that its range ends at 6",
        ),
        _ => ("no cheaper requantisation fits all channels".to_string(), "scale the weights so that accumulators stay below 2^23"),
    };
    Some(Advice {
        topic: Topic::Requantisation,
        place: place(graph, node),
        what: format!("it keeps the reference requantisation, which is slow: {what}"),
        help: help.into(),
        cycles: graph.ty(node.result).shape.numel() as u64 * cost::REFERENCE,
        bytes: 0,
    })
}

/// Whether a layer's filters are what the model gives: the number of classes is not for choosing.
fn ends(graph: &Graph, layer: &Node) -> bool {
    let mut value = layer.result;
    for (_, node) in graph.nodes().skip_while(|(_, node)| node.result != layer.result).skip(1) {
        let last =
            matches!(node.op, Op::Softmax { .. } | Op::Reshape {}) || node.op.elementwise_operands() == 1;
        if node.operands.contains(&value) && last {
            value = node.result;
        } else if node.operands.contains(&value) {
            return false;
        }
    }
    graph.outputs.contains(&value)
}

/// Filters that are added so that they fill groups.
fn rounded_up(graph: &Graph, node: &Node, step: &StepKernels, target: Target) -> Option<Advice> {
    let at_once = step.ids.iter().find_map(|kernel| kernel.filters_at_once())?;
    let filters = graph.ty(*node.operands.get(1)?).shape.dims().first().copied()?;
    let more = filters.next_multiple_of(at_once) - filters;
    let taps: usize = graph.ty(*node.operands.get(1)?).shape.dims().iter().skip(1).product();
    (more > 0 && filters > at_once && !ends(graph, node)).then(|| Advice {
        topic: Topic::Padding,
        place: place(graph, node),
        what: format!(
            "it has {filters} filters, but {at_once} are computed at a time: {more} zero filters are added"
        ),
        help: format!("train the layer with {} filters, or {}", filters + more, filters - (at_once - more)),
        cycles: cost::fast_layer(graph, node, target) * more as u64 / filters.max(1) as u64,
        bytes: (more * taps) as u64,
    })
}
