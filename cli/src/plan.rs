//! `cargo kiln plan`: the arena, step by step.

use kiln_codegen::report::memory;
use kiln_codegen::Compiled;
use serde_json::{json, Value};
use std::fmt::Write;

/// One line about a compiled model.
pub fn summary(compiled: &Compiled) -> String {
    format!(
        "type {}, {} steps, arena {} B (lower bound {} B), state {} B, constants {} B",
        compiled.type_name(),
        compiled.schedule.steps.len(),
        compiled.plan.arena_bytes,
        compiled.plan.lower_bound,
        compiled.plan.state_bytes,
        compiled.program.constant_bytes(),
    )
}

/// The plan as a table.
pub fn text(compiled: &Compiled) -> String {
    let mut out = summary(compiled) + "\n\n";
    let rows = memory::rows(compiled);
    let width = rows.iter().map(|r| r.op.len()).max().unwrap_or(0);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "step  {:<width$}  live bytes  buffers (offset..end name)", "op");
    for row in rows {
        let mark = if row.live_bytes == compiled.plan.lower_bound { '*' } else { ' ' };
        let buffers: Vec<String> = row
            .buffers
            .iter()
            .map(|b| format!("{}..{} {:?}", b.offset, b.offset + b.bytes, short(&b.name)))
            .collect();
        let _ = writeln!(
            out,
            "{:>4}  {:<width$}  {:>9}{mark}  {}",
            row.step,
            row.op,
            row.live_bytes,
            buffers.join("  ")
        );
    }
    let _ = writeln!(out, "\n* the peak: no arena can be smaller with this schedule");
    out
}

/// The plan as JSON.
pub fn json(compiled: &Compiled) -> Value {
    let steps: Vec<Value> = memory::rows(compiled)
        .iter()
        .map(|row| {
            let buffers: Vec<Value> = row
                .buffers
                .iter()
                .map(|b| json!({ "name": b.name, "offset": b.offset, "bytes": b.bytes }))
                .collect();
            json!({ "step": row.step, "op": row.op, "name": row.name, "live_bytes": row.live_bytes, "buffers": buffers })
        })
        .collect();
    json!({
        "model": compiled.graph.name,
        "arena_bytes": compiled.plan.arena_bytes,
        "lower_bound": compiled.plan.lower_bound,
        "state_bytes": compiled.plan.state_bytes,
        "constant_bytes": compiled.program.constant_bytes(),
        "steps": steps,
    })
}

/// The last part of a long name.
fn short(name: &str) -> &str {
    name.rsplit(['/', ';']).find(|part| !part.is_empty()).unwrap_or(name)
}
