//! `cargo kiln plan`: the schedule, the arena step by step, and what else was tried.

mod json;
mod pareto;
mod text;

pub use json::json;
pub use kiln_tools::report::in_front;
pub use pareto::{pareto_json, pareto_text};
pub use text::{schedule_text, summary, text};

use kiln_codegen::Compiled;
use kiln_tools::report::picture;

/// Pictures with the names of their files: the arena over time, and each pipeline.
pub fn pictures(compiled: &Compiled) -> Vec<(String, String)> {
    let model = &compiled.graph.name;
    let mut all = vec![(format!("{model}.arena.svg"), picture::arena(compiled))];
    all.extend((0..compiled.schedule.pipelines.len()).filter_map(|index| {
        Some((format!("{model}.pipeline-{index}.svg"), picture::pipeline(compiled, index)?))
    }));
    all
}
