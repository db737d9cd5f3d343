//! A report for people.

use super::{Layer, Report};
use kiln_boards::cycles::Count;
use kiln_codegen::select::{Fed, Slide};
use std::fmt::Write;

// Writing to a string cannot fail: the results of `write!` and `writeln!` are dropped below.

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{} on {}, optimize = {:?}{}\n",
            self.compiled.graph.name,
            self.board,
            self.compiled.options.optimize.name(),
            self.what()
        );
        for (what, number, note) in self.lines() {
            let line = format!("  {what:<17} {number:>13}  {note}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
        if let Some(window) = self.window {
            let percent = |hop: u64, window: u64| 100.0 * hop as f64 / window.max(1) as f64;
            let _ = writeln!(
                out,
                "without sliding, a window takes {} instructions and {} cycles: a hop is {:.1} % and {:.1} % of it",
                window.instructions,
                window.cycles,
                percent(self.result.total.instructions, window.instructions),
                percent(self.result.total.cycles, window.cycles),
            );
        }
        out + &self.table()
    }

    /// What was measured: name, number, note.
    fn lines(&self) -> Vec<(&str, u64, String)> {
        let (result, plan) = (&self.result, &self.compiled.plan);
        let Count { instructions, cycles } = result.total;
        let mut lines = vec![("instructions", instructions, String::new())];
        lines.push(("cycles, estimated", cycles, format!("({})", result.core.estimate())));
        if let Some([slow, cortex_m0]) = result.small_cores() {
            lines.push(("", slow, "(with a multiplier of 32 cycles)".into()));
            lines.push(("", cortex_m0, "(Cortex-M0 with single-cycle multiplier)".into()));
        }
        if result.unaligned_cycles > 0 {
            let note = "more, for loads from unaligned addresses".into();
            lines.push(("cycles, unaligned", result.unaligned_cycles, note));
        }
        if let Some(macs) = self.macs().filter(|macs| *macs > 0) {
            lines.push(("MACs", macs, format!("{} cycles each", per_mac(cycles, macs))));
        }
        if let Some(bytes) = plan.fast_bytes {
            lines.push(("fast arena", bytes as u64, "bytes (scratch)".into()));
        }
        let flash = &result.flash;
        let code = format!(
            "bytes: {} of the model and its kernels, {} of start-up and harness",
            flash.model_code,
            flash.code.saturating_sub(flash.model_code)
        );
        let stack = "bytes (painted before, high-water mark after)";
        lines.extend([
            ("arena", plan.arena_bytes as u64, "bytes (scratch)".into()),
            ("state", plan.state_bytes as u64, "bytes (retained)".into()),
            ("stack, measured", result.stack_bytes, stack.into()),
            ("flash: code", flash.code, code),
            ("flash: constants", flash.constants, "bytes".into()),
            ("flash: weights", flash.weights, "bytes".into()),
        ]);
        lines
    }

    /// Layer by layer; empty where they were not measured.
    fn table(&self) -> String {
        if self.layers.is_empty() {
            return String::new();
        }
        let width = |text: fn(&Layer) -> &str| self.layers.iter().map(|l| text(l).len()).max().unwrap_or(0);
        let (ops, kernels) = (width(|l| &l.op), width(|l| &l.kernels).max("kernel".len()));
        let mut out = format!(
            "\n{:>4}  {:<ops$}  {:<kernels$}  {:>12}  {:>12}      %  {:>10}  {:>6}  name\n",
            "step", "op", "kernel", "instructions", "cycles", "MACs", "c/MAC"
        );
        let all: u64 = self.layers.iter().map(|l| l.cycles).sum();
        for (step, layer) in self.layers.iter().enumerate() {
            let share = 100.0 * layer.cycles as f64 / all.max(1) as f64;
            let (macs, each) = match layer.macs.filter(|macs| *macs > 0) {
                Some(macs) => (macs.to_string(), per_mac(layer.cycles, macs)),
                None => ("–".into(), "–".into()),
            };
            let Layer { op, name, kernels: called, instructions, cycles, .. } = layer;
            let _ = writeln!(
                out,
                "{step:>4}  {op:<ops$}  {called:<kernels$}  {instructions:>12}  {cycles:>12}  {share:>5.1}  {macs:>10}  {each:>6}  {name}"
            );
        }
        out
    }

    /// What was measured, if not an inference on a whole input.
    fn what(&self) -> String {
        match self.compiled.program.fed {
            None => String::new(),
            Some(Fed { slide: Some(Slide { hop: 1, .. }), .. }) => ", each frame".into(),
            Some(Fed { slide: Some(Slide { hop, .. }), .. }) => format!(", each hop of {hop} frames"),
            Some(Fed { rows, .. }) => format!(", {rows} rows"),
        }
    }
}

/// Cycles for each multiply-accumulate.
pub(super) fn per_mac(cycles: u64, macs: u64) -> String {
    format!("{:.2}", cycles as f64 / macs.max(1) as f64)
}
