//! A report for terminals.

use super::data::{Advice, Measured, Mode, Read, Report, Step};
use crate::number::grouped;
use crate::report::on_board;
use std::fmt::Write;

// Writing to a string cannot fail: the results of `write!` and `writeln!` are dropped below.

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        let mut out = self.overview();
        out += &self.graph();
        out += &self.layers();
        out += &self.arena_text();
        out += &self.passes_text();
        out += &advice(&self.advice, self.options.target);
        out += &self.certificate_text();
        out + &self.modes_text()
    }

    fn overview(&self) -> String {
        let (model, totals) = (&self.model, &self.totals);
        let mut out =
            format!("{}, compiled by Kiln {}: {}\n", model.name, self.kiln, self.options.describe());
        for (what, value) in self.facts() {
            let _ = writeln!(out, "  {what:<18} {value}");
        }
        for front in &model.in_front {
            let _ = writeln!(out, "  {:<18} {front}", "in front");
        }
        for (what, tensors) in [("input", &model.inputs), ("output", &model.outputs)] {
            for tensor in tensors {
                let quantization = tensor.quantization.as_ref().map_or(String::new(), |q| format!(", {q}"));
                let _ = writeln!(out, "  {what:<18} {:?} {}{quantization}", tensor.name, tensor.ty);
            }
        }
        let _ = writeln!(out, "  {:<18} {}", "type", totals.type_name);
        out
    }

    /// The totals in words: what, and how much.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let (model, totals) = (&self.model, &self.totals);
        let bytes = |bytes: usize| format!("{} B", grouped(bytes as u64));
        let bound = match totals.arena_bytes.saturating_sub(totals.arena_lower_bound) {
            0 => "the least possible with this schedule".to_string(),
            more => format!("{more} B above the lower bound"),
        };
        let mut facts = vec![
            (
                "RAM",
                format!(
                    "{}: arena {} and state {}",
                    bytes(totals.ram_bytes),
                    grouped(totals.arena_bytes as u64),
                    grouped(totals.state_bytes as u64)
                ),
            ),
            ("arena", bound),
            (
                "flash, constants",
                match totals.packed_bytes {
                    0 => bytes(totals.constant_bytes),
                    saved => {
                        format!("{}, {} saved by packed weights", bytes(totals.constant_bytes), bytes(saved))
                    }
                },
            ),
            (
                "MACs",
                match totals.macs == model.macs {
                    true => grouped(totals.macs),
                    false => format!("{}, the file's {}", grouped(totals.macs), grouped(model.macs)),
                },
            ),
            (
                "steps",
                format!(
                    "{} of {} operators, {} kernel calls",
                    self.steps.len(),
                    model.operators,
                    grouped(totals.kernel_calls as u64)
                ),
            ),
        ];
        if let Some(drift) = &self.drift {
            facts.push(("drift", drift.replace("\n  ", "; ")));
        }
        if let Some(measured) = &totals.measured {
            facts.push(("cycles, estimated", grouped(measured.cycles)));
            facts.extend(on_board::facts(&totals.on_boards));
            facts.push(("instructions", grouped(measured.instructions)));
            facts.push(("flash, code", bytes(measured.code_bytes as usize)));
            facts.push(("stack, measured", bytes(measured.stack_bytes as usize)));
        }
        facts
    }

    fn graph(&self) -> String {
        let mut out = String::from("\ngraph as compiled: step, op, result, what it reads; below, the operators of the file that it does\n");
        for step in &self.steps {
            let reads: Vec<String> = step.reads.iter().map(Read::to_string).collect();
            let pipeline = step.pipeline.map_or(String::new(), |p| format!(", in pipeline {p}"));
            let _ = writeln!(
                out,
                "{:>4}  {} {}, from {}{pipeline}",
                step.step,
                step.op,
                step.result,
                reads.join(", ")
            );
            if !step.holds.is_empty() {
                let _ = writeln!(out, "      = {}", step.holds.join(" + "));
            }
        }
        for pipeline in &self.pipelines {
            let last = pipeline.first_step + pipeline.steps - 1;
            let _ =
                writeln!(out, "steps {} to {last} take turns, {} times", pipeline.first_step, pipeline.ticks);
        }
        if !self.without_step.is_empty() {
            let _ = writeln!(out, "without a step:");
        }
        for operator in &self.without_step {
            let _ = writeln!(out, "      {}: {}", operator.operator, operator.why);
        }
        out
    }

    fn layers(&self) -> String {
        let name = |step: &Step| step.kernels.join(", ");
        let width = self.steps.iter().map(|step| name(step).chars().count()).max().unwrap_or(0);
        let wide = self.steps.iter().map(|step| step.requantisation.len()).max().unwrap_or(0).max(14);
        let mut out = format!(
            "\n{:>4}  {:<width$}  {:>11}  {:>11}  {:>8}  {:>8}  {:<wide$}  of\n",
            "step", "kernel", "MACs", "cycles", "RAM B", "flash B", "requantisation"
        );
        for step in &self.steps {
            let cycles = step.cycles.map_or("–".into(), grouped);
            let _ = writeln!(
                out,
                "{:>4}  {:<width$}  {:>11}  {cycles:>11}  {:>8}  {:>8}  {:<wide$}  {:?}",
                step.step,
                name(step),
                grouped(step.macs),
                grouped(step.ram_bytes as u64),
                grouped(step.flash_bytes as u64),
                step.requantisation,
                step.name
            );
        }
        out
    }

    fn arena_text(&self) -> String {
        let mut out = format!("\narena of {} B, by offset\n", grouped(self.arena.bytes as u64));
        let mut buffers: Vec<_> = self.arena.buffers.iter().collect();
        buffers.sort_by_key(|b| (b.offset, b.first));
        for buffer in buffers {
            let _ = writeln!(out, "  {}", buffer.describe(self.arena.times));
        }
        if let Some(step) = self.arena.peak_step {
            let _ = writeln!(out, "  most of it is in use at step {step}");
        }
        out
    }

    fn passes_text(&self) -> String {
        let mut out = String::from("\npasses that changed something\n");
        for pass in &self.passes {
            let _ = writeln!(out, "  {}: {}", pass.pass, pass.effect());
            for (why, operators) in pass.fates() {
                let _ = writeln!(out, "      {why}: {}", operators.join(", "));
            }
            if !pass.changed.is_empty() {
                let _ = writeln!(out, "      changed: {}", pass.changed.join(", "));
            }
        }
        out
    }

    fn certificate_text(&self) -> String {
        let mut out = String::from("\ncertificate\n");
        for claim in &self.certificate {
            let mark = if claim.holds { "proven" } else { "NOT SO" };
            let _ = writeln!(out, "  {mark}  {}\n          {}", claim.claim, claim.evidence);
        }
        let _ = writeln!(out, "not proven:");
        for what in &self.not_proven {
            let _ = writeln!(out, "  {what}");
        }
        out
    }

    fn modes_text(&self) -> String {
        let mut out = format!(
            "\n  {:<8}  {:>9}  {:>11}  {:>12}  {:>12}  {:>8}\n",
            "optimize", "RAM B", "constants B", "kernel calls", "cycles", "code B"
        );
        for mode in &self.modes {
            let mark = if mode.chosen { '>' } else { ' ' };
            let Mode { optimize, ram_bytes, constant_bytes, kernel_calls, .. } = mode;
            if let Some(error) = &mode.error {
                let _ = writeln!(out, "{mark} {optimize:<8}  {error}");
                continue;
            }
            let measured =
                |of: fn(&Measured) -> u64| mode.measured.as_ref().map_or("–".into(), |m| grouped(of(m)));
            let [ram_bytes, constant_bytes, kernel_calls] =
                [ram_bytes, constant_bytes, kernel_calls].map(|number| grouped(*number as u64));
            let (cycles, code) = (measured(|m| m.cycles), measured(|m| m.code_bytes));
            let _ = writeln!(
                out,
                "{mark} {optimize:<8}  {ram_bytes:>9}  {constant_bytes:>11}  {kernel_calls:>12}  {cycles:>12}  {code:>8}"
            );
        }
        out
    }
}

/// What could be better, for terminals.
pub fn advice(list: &[Advice], target: &str) -> String {
    if list.is_empty() {
        return format!("\nno advice: nothing is known that would make it faster or smaller on {target}\n");
    }
    let mut out = format!("\nwhat could be better, by estimates of what it costs on {target}:\n");
    for advice in list {
        let place = if advice.place.is_empty() { String::new() } else { format!("{}: ", advice.place) };
        let _ = writeln!(out, "  - {}: {place}{}", advice.topic, advice.what);
        let _ = writeln!(out, "    help: {}{}", advice.help, advice.saves());
    }
    out
}
