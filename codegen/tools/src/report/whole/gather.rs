//! From a compilation to a report.

use super::data::*;
use super::reads::{reads, steps_of_nodes};
use super::Run;
use crate::advice::advise;
use crate::report::certificate::{certificate, NOT_PROVEN};
use crate::report::kernels::{kernels, StepKernels};
use crate::report::{in_front, macs, memory, packed, passes, schedule};
use kiln_codegen::front::Summary;
use kiln_codegen::ir::{Graph, Op, Order, Type, ValueId};
use kiln_codegen::passes::qdq::drift::Drift;
use kiln_codegen::schedule::{BufferId, StepKind};
use kiln_codegen::{Compiled, Optimize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// All of a report.
pub(super) fn report(
    summary: &Summary,
    imported: &Graph,
    drift: Option<&Drift>,
    run: &Run,
    modes: Vec<Mode>,
) -> Report {
    let compiled = &run.compiled;
    let steps = steps(run);
    Report {
        kiln: env!("CARGO_PKG_VERSION"),
        model: model(summary, compiled),
        options: Chosen {
            optimize: compiled.options.optimize.name(),
            target: compiled.options.target().name(),
            input: compiled.options.input.name(),
            float: compiled.options.float.name(),
            ram: compiled.options.ram,
            flash: compiled.options.flash,
            measured_on: run.bench.as_ref().map(|bench| bench.on.clone()),
        },
        totals: totals(run),
        drift: drift.map(Drift::to_string),
        pipelines: compiled
            .schedule
            .pipelines
            .iter()
            .map(|p| Pipeline { first_step: p.steps.start, steps: p.steps.len(), ticks: p.ticks })
            .collect(),
        without_step: without_step(summary, compiled, &steps),
        steps,
        arena: arena(compiled),
        passes: compiled.log.entries.iter().map(pass).collect(),
        advice: advise(imported, compiled).into_iter().map(Advice::from).collect(),
        certificate: certificate(compiled)
            .into_iter()
            .map(|p| Claim { claim: p.claim, holds: p.holds, evidence: p.evidence })
            .collect(),
        not_proven: NOT_PROVEN.to_vec(),
        modes,
    }
}

/// A way to optimise that works.
pub(super) fn mode(run: &Run) -> Mode {
    let compiled = &run.compiled;
    Mode {
        optimize: compiled.options.optimize.name(),
        chosen: true,
        ram_bytes: compiled.plan.ram_bytes(),
        constant_bytes: compiled.program.constant_bytes(),
        kernel_calls: compiled.schedule.bands().count(),
        measured: measured(run),
        error: None,
    }
}

/// A way to optimise that does not.
pub(super) fn failed_mode(optimize: Optimize, error: &impl Display) -> Mode {
    Mode {
        optimize: optimize.name(),
        chosen: false,
        ram_bytes: 0,
        constant_bytes: 0,
        kernel_calls: 0,
        measured: None,
        error: Some(format!("{error:#}")),
    }
}

fn model(summary: &Summary, compiled: &Compiled) -> Model {
    let graph = &compiled.graph;
    let tensor = |&id: &ValueId| {
        let (value, ty) = (graph.value(id), graph.ty(id));
        let quantization = ty.scale().map(|scale| format!("scale {scale}, zero point {}", ty.zero_point()));
        Tensor { name: value.label().into(), ty: shape(ty), quantization }
    };
    Model {
        name: graph.name.clone(),
        description: summary.description.trim().into(),
        file_bytes: summary.file_bytes,
        operators: summary.operators.len(),
        macs: summary.macs,
        weight_bytes: summary.weight_bytes,
        in_front: in_front(compiled),
        inputs: graph.inputs.iter().map(tensor).collect(),
        outputs: graph.outputs.iter().map(tensor).collect(),
    }
}

fn totals(run: &Run) -> Totals {
    let Compiled { graph, plan, program, schedule, .. } = &run.compiled;
    Totals {
        type_name: run.compiled.type_name(),
        ram_bytes: plan.ram_bytes(),
        arena_bytes: plan.scratch_bytes(),
        arena_lower_bound: plan.lower_bound,
        state_bytes: plan.state_bytes,
        constant_bytes: program.constant_bytes(),
        packed_bytes: packed::saved(&run.compiled),
        macs: graph.nodes().map(|(_, node)| macs(graph, node)).sum(),
        kernel_calls: schedule.bands().count(),
        measured: measured(run),
        on_boards: run.bench.as_ref().map(|bench| bench.on_boards.clone()).unwrap_or_default(),
    }
}

fn measured(run: &Run) -> Option<Measured> {
    run.bench.as_ref().map(|bench| bench.total)
}

fn steps(run: &Run) -> Vec<Step> {
    let compiled = &run.compiled;
    let rows = memory::rows(compiled);
    let nodes = steps_of_nodes(compiled);
    let kernels: BTreeMap<usize, StepKernels> = kernels(compiled).into_iter().map(|k| (k.step, k)).collect();
    let step = |(line, row): (schedule::Line, &memory::Row)| {
        let index = line.step;
        let kind = &compiled.schedule.steps[index].kind;
        let (kernel, count) =
            (kernels.get(&index), run.bench.as_ref().and_then(|bench| bench.steps.get(&index)));
        Step {
            step: index,
            op: line.op,
            name: line.name,
            holds: holds(compiled, kind),
            reads: reads(compiled, &nodes, kind),
            result: result(compiled, kind),
            ring_rows: line.held.ring,
            in_place_of: line.in_place_of,
            pipeline: line.pipeline,
            kernels: kernel.map(|k| k.kernels.clone()).unwrap_or_default(),
            requantisation: kernel.map(|k| k.requantisation.to_string()).unwrap_or_default(),
            macs: kernel.map_or(0, |k| k.macs),
            ram_bytes: row.live_bytes,
            flash_bytes: kernel.map_or(0, |k| k.constant_bytes),
            workspace_bytes: kernel.map_or(0, |k| k.workspace_bytes),
            cycles: count.map(|count| count.cycles),
            instructions: count.map(|count| count.instructions),
        }
    };
    schedule::lines(compiled).into_iter().zip(&rows).map(step).collect()
}

fn holds(compiled: &Compiled, kind: &StepKind) -> Vec<String> {
    match kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => compiled.log.sources(*node).to_vec(),
        StepKind::Copy { .. } => Vec::new(),
    }
}

fn result(compiled: &Compiled, kind: &StepKind) -> String {
    let graph = &compiled.graph;
    match kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => {
            let node = graph.node(*node);
            let planar = if node.op.layout().y == Order::Planar { ", planar" } else { "" };
            shape(graph.ty(node.result)) + planar
        }
        StepKind::Copy { value, .. } => shape(graph.ty(*value)),
    }
}

/// Element type and dimensions: `i8[1,49,10,1]`.
fn shape(ty: &Type) -> String {
    let dims: Vec<String> = ty.shape.dims().iter().map(usize::to_string).collect();
    format!("{}[{}]", ty.dtype.name(), dims.join(","))
}

/// The operators of the file that are in no step.
fn without_step(summary: &Summary, compiled: &Compiled, steps: &[Step]) -> Vec<WithoutStep> {
    let held: BTreeSet<&String> = steps.iter().flat_map(|step| &step.holds).collect();
    let mut why: BTreeMap<&str, String> = BTreeMap::new();
    for (origin, fate) in compiled.log.entries.iter().flat_map(|entry| &entry.gone) {
        why.insert(origin, fate.to_string());
    }
    for (id, node) in compiled.graph.nodes() {
        let nothing = match node.op {
            Op::Concat { .. } => "its operands are computed in their places",
            _ => "a view: its result is memory that is there already",
        };
        why.extend(compiled.log.sources(id).iter().map(|origin| (origin.as_str(), nothing.to_string())));
    }
    let operators = summary.operators.iter().map(|operator| format!("{} {}", operator.index, operator.name));
    operators
        .filter(|operator| !held.contains(operator))
        .map(|operator| {
            let why = why.get(operator.as_str()).cloned();
            WithoutStep { why: why.unwrap_or_else(|| "no op is needed for it".into()), operator }
        })
        .collect()
}

fn arena(compiled: &Compiled) -> Arena {
    let (plan, storage) = (&compiled.plan, &compiled.schedule.storage);
    let (names, rings) = (memory::buffer_names(compiled), memory::buffer_rings(compiled));
    let buffers = names.into_iter().zip(rings).enumerate().filter_map(|(index, (name, ring_rows))| {
        let buffer = storage.buffer(BufferId(index as u32));
        let fast = plan.fast[index];
        let behind = if fast { plan.arena_bytes } else { 0 };
        let life = plan.lifetimes[index];
        (buffer.role.in_arena() && buffer.bytes > 0).then_some(Buffer {
            name,
            offset: behind + plan.offsets[index],
            bytes: buffer.bytes,
            fast,
            ring_rows,
            first: life.first,
            last: life.last,
        })
    });
    Arena {
        bytes: plan.scratch_bytes(),
        times: compiled.schedule.steps.len() + 2,
        peak_step: memory::peak(compiled).map(|row| row.step),
        buffers: buffers.collect(),
    }
}

fn pass(entry: &passes::Entry) -> Pass {
    let (before, after) = (entry.before, entry.after);
    let gone = entry.gone.iter();
    Pass {
        pass: entry.pass.clone(),
        ops: [before.ops, after.ops],
        macs: [before.macs, after.macs],
        constant_bytes: [before.constant_bytes, after.constant_bytes],
        gone: gone
            .map(|(origin, fate)| WithoutStep { operator: origin.clone(), why: fate.to_string() })
            .collect(),
        changed: entry.changed.clone(),
    }
}
