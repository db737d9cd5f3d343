//! What every benchmark says, wherever the model ran: for people and for programs.

use super::layers::{self, per_mac, Layer};
use kiln_boards::image::FlashSizes;
use kiln_codegen::select::{Fed, Slide};
use kiln_codegen::Compiled;
use kiln_tools::number::grouped;
use kiln_tools::report::on_board::{self, OnBoard};
use serde_json::{json, Map, Value};
use std::fmt::Write;

/// A line for people: what, how many, a note.
pub(super) type Line = (&'static str, u64, String);

/// What one inference costs.
#[derive(Clone, Debug)]
pub struct Costs<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) board: &'a str,
    /// `None` where nobody counted them.
    pub(super) instructions: Option<u64>,
    /// Estimated or measured.
    pub(super) cycles: u64,
    /// How cycles were found, in words.
    pub(super) clock: String,
    pub(super) stack_bytes: u64,
    pub(super) flash: &'a FlashSizes,
    /// Empty where they were not measured one by one.
    pub(super) layers: &'a [Layer],
    /// The cycles as time and energy.
    pub(super) on_boards: Vec<OnBoard>,
    /// What they are, for people: a title.
    pub(super) on_boards_title: &'static str,
}

/// A benchmark, on a board of either kind.
pub trait Benchmark {
    /// What one inference costs.
    fn costs(&self) -> Costs<'_>;

    /// For people.
    fn text(&self) -> String;

    /// For programs.
    fn json(&self) -> Value;
}

impl Costs<'_> {
    /// Multiply-accumulates of one inference; `None` of a sliding model, a hop of which computes a part of them.
    pub(super) fn macs(&self) -> Option<u64> {
        let steps = 0..self.compiled.schedule.steps.len();
        steps.map(|step| layers::macs(self.compiled, step)).sum()
    }

    /// For people: first what was said about time, and after the memories what else there is to say.
    pub(super) fn text(&self, time: Vec<Line>, behind: &str) -> String {
        let Costs { compiled, board, flash, .. } = self;
        let optimize = compiled.options.optimize.name();
        let mut out = format!("{} on {board}, optimize = {optimize:?}{}\n", compiled.graph.name, self.what());
        let mut lines = time;
        if let Some(macs) = self.macs().filter(|macs| *macs > 0) {
            lines.push(("MACs", macs, format!("{} cycles each", per_mac(self.cycles, macs))));
        }
        if let Some(bytes) = compiled.plan.fast_bytes {
            lines.push(("fast arena", bytes as u64, "bytes (scratch)".into()));
        }
        let code = format!(
            "bytes: {} of the model and its kernels, {} of start-up and harness",
            grouped(flash.model_code),
            grouped(flash.code.saturating_sub(flash.model_code))
        );
        let stack = "bytes (painted before, high-water mark after)";
        lines.extend([
            ("arena", compiled.plan.arena_bytes as u64, "bytes (scratch)".into()),
            ("state", compiled.plan.state_bytes as u64, "bytes (retained)".into()),
            ("stack, measured", self.stack_bytes, stack.into()),
            ("flash: code", flash.code, code),
            ("flash: constants", flash.constants, "bytes".into()),
            ("flash: weights", flash.weights, "bytes".into()),
        ]);
        for (what, number, note) in lines {
            let line = format!("  {what:<17} {:>13}  {note}", grouped(number));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", line.trim_end());
        }
        let boards = on_board::table(&[("", self.on_boards.clone())]);
        format!("{out}{behind}{}:\n{boards}{}", self.on_boards_title, layers::table(self.layers))
    }

    /// For programs: what is said of time, and what every benchmark says.
    pub(super) fn json(&self, time: Value) -> Value {
        let Costs { compiled, board, stack_bytes, flash, .. } = self;
        let common = json!({
            "model": compiled.graph.name,
            "board": board,
            "optimize": compiled.options.optimize.name(),
            "input": compiled.options.input.name(),
            "macs": self.macs(),
            "arena_bytes": compiled.plan.arena_bytes,
            "fast_bytes": compiled.plan.fast_bytes,
            "state_bytes": compiled.plan.state_bytes,
            "stack_bytes": stack_bytes,
            "flash_code_bytes": flash.code,
            "flash_model_code_bytes": flash.model_code,
            "flash_const_bytes": flash.constants,
            "flash_weights_bytes": flash.weights,
            "on_boards": self.on_boards,
            "layers": self.layers.iter().map(Layer::json).collect::<Value>(),
        });
        let fields = [time, common].into_iter().filter_map(|part| match part {
            Value::Object(fields) => Some(fields),
            _ => None,
        });
        Value::Object(fields.flatten().collect::<Map<_, _>>())
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
