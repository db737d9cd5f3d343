//! Layer by layer.

use kiln_boards::cycles::Count;
use kiln_codegen::select::Call;
use kiln_codegen::Compiled;
use kiln_tools::number::grouped;
use kiln_tools::report::{self, memory};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) step: usize,
    op: String,
    name: String,
    /// The kernels it calls.
    kernels: String,
    /// Multiply-accumulates; `None` for a hop of a sliding model, which computes a part of them.
    macs: Option<u64>,
    pub(super) took: Took,
    /// Cycles that the compiler predicted for a whole input, where it did.
    predicted: Option<u64>,
}

/// What a step takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Took {
    /// Counted, and cycles estimated of that.
    Counted(Count),
    /// Cycles measured by a counter of the processor.
    Measured(u64),
}

impl Took {
    pub(super) fn cycles(self) -> u64 {
        match self {
            Took::Counted(count) => count.cycles,
            Took::Measured(cycles) => cycles,
        }
    }
}

/// Counts of steps, in any order and of some several times, by step.
pub(super) fn counted(compiled: &Compiled, counts: impl IntoIterator<Item = (usize, Count)>) -> Vec<Layer> {
    let mut sums: BTreeMap<usize, Count> = BTreeMap::new();
    for (step, count) in counts {
        let sum = sums.entry(step).or_default();
        sum.instructions += count.instructions;
        sum.cycles += count.cycles;
    }
    sums.into_iter().map(|(step, sum)| Layer::new(compiled, step, Took::Counted(sum))).collect()
}

/// Measured cycles of all steps, in order.
pub(super) fn measured(compiled: &Compiled, cycles: Vec<u64>) -> Vec<Layer> {
    let cycles = cycles.into_iter().enumerate();
    cycles.map(|(step, cycles)| Layer::new(compiled, step, Took::Measured(cycles))).collect()
}

/// Multiply-accumulates of a step for a whole input, 0 for what copies; `None` of a sliding model, a hop of which computes a part of them.
pub(super) fn macs(compiled: &Compiled, step: usize) -> Option<u64> {
    let slides = compiled.program.fed.is_some_and(|fed| fed.slide.is_some());
    let node = compiled.schedule.steps[step].kind.node();
    (!slides).then(|| node.map_or(0, |id| report::macs(&compiled.graph, compiled.graph.node(id))))
}

/// Names of the kernels that a step calls, each once.
fn kernels(compiled: &Compiled, step: usize) -> String {
    let calls = compiled.program.calls.iter().filter(|call| call.step == step);
    let mut names: Vec<&str> = calls.map(Call::name).collect();
    names.dedup();
    names.join(", ")
}

/// A table for people; empty where there are no layers.
pub(super) fn table(layers: &[Layer]) -> String {
    if layers.is_empty() {
        return String::new();
    }
    let width = |text: fn(&Layer) -> &str| layers.iter().map(|l| text(l).len()).max().unwrap_or(0);
    let (ops, names) = (width(|l| &l.op), width(|l| &l.kernels).max("kernel".len()));
    let mut out = format!(
        "\n{:>4}  {:<ops$}  {:<names$}  {:>13}  {:>13}      %  {:>11}  {:>6}  name\n",
        "step", "op", "kernel", "instructions", "cycles", "MACs", "c/MAC"
    );
    let all: u64 = layers.iter().map(|l| l.took.cycles()).sum();
    for layer in layers {
        let Layer { step, op, name, kernels, macs, took, .. } = layer;
        let cycles = took.cycles();
        let share = 100.0 * cycles as f64 / all.max(1) as f64;
        let instructions = match took {
            Took::Counted(count) => grouped(count.instructions),
            Took::Measured(_) => "–".into(),
        };
        let (macs, each) = match macs.filter(|macs| *macs > 0) {
            Some(macs) => (grouped(macs), per_mac(cycles, macs)),
            None => ("–".into(), "–".into()),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{step:>4}  {op:<ops$}  {kernels:<names$}  {instructions:>13}  {:>13}  {share:>5.1}  {macs:>11}  {each:>6}  {name}",
            grouped(cycles)
        );
    }
    out
}

/// Cycles for each multiply-accumulate.
pub(super) fn per_mac(cycles: u64, macs: u64) -> String {
    format!("{:.2}", cycles as f64 / macs.max(1) as f64)
}

impl Layer {
    fn new(compiled: &Compiled, step: usize, took: Took) -> Layer {
        let (op, name) = memory::computed(compiled, step);
        let (kernels, macs) = (kernels(compiled, step), macs(compiled, step));
        let predicted = compiled.program.chosen(step).and_then(|chosen| chosen.cycles);
        Layer { step, op: op.into(), name: name.into(), kernels, macs, took, predicted }
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let mut layer =
            json!({ "op": self.op, "name": self.name, "kernels": self.kernels, "macs": self.macs });
        match self.took {
            Took::Counted(count) => {
                layer["instructions"] = count.instructions.into();
                layer["cycles_estimated"] = count.cycles.into();
            }
            Took::Measured(cycles) => layer["cycles_measured"] = cycles.into(),
        }
        if let Some(cycles) = self.predicted {
            layer["cycles_predicted"] = cycles.into();
        }
        layer
    }
}
