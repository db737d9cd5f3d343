//! `cargo kiln plan`: the schedule, the arena step by step, and what else was tried.

mod json;
mod text;

pub use json::json;
pub use text::{schedule_text, text};

use kiln_codegen::{Compiled, Float};
use kiln_tools::report::{packed, picture};

/// One line about a compiled model.
pub fn summary(compiled: &Compiled) -> String {
    let fast = compiled.plan.fast_bytes.map_or(String::new(), |bytes| format!("fast arena {bytes} B, "));
    let packed = match packed::saved(compiled) {
        0 => String::new(),
        saved => format!(" ({saved} B saved by packed weights)"),
    };
    let floats = match compiled.options.float {
        Float::Fast => "",
        Float::Reproducible => ", reproducible floats",
    };
    format!(
        "type {}, {} steps, {fast}arena {} B ({}), state {} B, constants {} B{packed}{floats}",
        compiled.type_name(),
        compiled.schedule.steps.len(),
        compiled.plan.arena_bytes,
        bound(compiled),
        compiled.plan.state_bytes,
        compiled.program.constant_bytes(),
    )
}

/// Pictures with the names of their files: the arena over time, and each pipeline.
pub fn pictures(compiled: &Compiled) -> Vec<(String, String)> {
    let model = &compiled.graph.name;
    let mut all = vec![(format!("{model}.arena.svg"), picture::arena(compiled))];
    all.extend((0..compiled.schedule.pipelines.len()).filter_map(|index| {
        Some((format!("{model}.pipeline-{index}.svg"), picture::pipeline(compiled, index)?))
    }));
    all
}

/// How good the packing is.
fn bound(compiled: &Compiled) -> String {
    let (bytes, least) = (compiled.plan.scratch_bytes(), compiled.plan.lower_bound);
    let together = if compiled.plan.fast_bytes.is_some() { "together " } else { "" };
    match bytes <= least {
        true => format!("{together}the least possible with this schedule"),
        false => format!(
            "{together}{:.1} % above the lower bound of {least} B",
            100.0 * (bytes - least) as f64 / least.max(1) as f64
        ),
    }
}
