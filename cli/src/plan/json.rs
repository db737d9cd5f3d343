//! The plan for programs.

use crate::on_board::predicted;
use kiln_codegen::schedule::{Feed, Role};
use kiln_codegen::Compiled;
use kiln_tools::report::{memory, schedule};
use serde_json::{json, Value};

/// The plan as JSON.
pub fn json(compiled: &Compiled) -> Value {
    let (schedule, plan) = (&compiled.schedule, &compiled.plan);
    let pipelines: Vec<Value> = schedule
        .pipelines
        .iter()
        .map(|p| json!({ "first_step": p.steps.start, "steps": p.steps.len(), "ticks": p.ticks, "feed": feed(p.feed) }))
        .collect();
    let state: Vec<Value> = memory::retained(compiled)
        .iter()
        .map(|b| json!({ "name": b.name, "offset": b.offset, "bytes": b.bytes, "ring_rows": b.ring }))
        .collect();
    let overlaps: Vec<Value> = memory::overlaps(compiled)
        .iter()
        .map(|o| {
            json!({
                "first_step": o.steps.start, "steps": o.steps.len(),
                "lower": o.lower, "upper": o.upper, "gap": o.gap, "bytes": o.bytes,
            })
        })
        .collect();
    let alternatives: Vec<Value> = compiled
        .alternatives
        .iter()
        .map(|a| {
            let pipelines: Vec<Value> = a
                .pipelines
                .iter()
                .map(|(first, count)| json!({ "first_step": first, "steps": count }))
                .collect();
            json!({
                "arena_bytes": a.arena_bytes, "state_bytes": a.state_bytes, "calls": a.calls,
                "cycles": a.predicted.cycles, "steps_without_prediction": a.predicted.unknown,
                "kept": a.kept, "pipelines": pipelines,
            })
        })
        .collect();
    json!({
        "model": compiled.graph.name,
        "feed": feed(schedule.feed()),
        "arena_bytes": plan.arena_bytes,
        "fast_bytes": plan.fast_bytes,
        "lower_bound": plan.lower_bound,
        "state_bytes": plan.state_bytes,
        "constant_bytes": compiled.program.constant_bytes(),
        "packed_bytes": kiln_tools::report::packed::saved(compiled),
        "pipelines": pipelines,
        "steps": steps(compiled),
        "state": state,
        "overlaps": overlaps,
        "alternatives": alternatives,
        "on_boards": predicted(compiled).0,
    })
}

fn steps(compiled: &Compiled) -> Vec<Value> {
    let rows = memory::rows(compiled);
    schedule::lines(compiled)
        .iter()
        .zip(&rows)
        .map(|(line, row)| {
            let buffers: Vec<Value> = row
                .buffers
                .iter()
                .map(|b| {
                    json!({
                        "name": b.name, "fast": b.fast, "offset": b.offset, "bytes": b.bytes, "ring_rows": b.ring,
                    })
                })
                .collect();
            json!({
                "step": line.step,
                "op": line.op,
                "name": line.name,
                "pipeline": line.pipeline,
                "rows": line.rows,
                "band": line.beat.band,
                "first_tick": line.beat.first,
                "every_ticks": line.beat.every,
                "rows_computed": line.computed,
                "sum_bytes": line.absorbs,
                "result": { "bytes": line.held.bytes, "ring_rows": line.held.ring, "memory": memory(line.held.role) },
                "in_place_of": line.in_place_of,
                "live_bytes": row.live_bytes,
                "buffers": buffers,
            })
        })
        .collect()
}

fn feed(feed: Feed) -> &'static str {
    match feed {
        Feed::Whole => "whole",
        Feed::Rows => "rows",
        Feed::Sliding => "sliding",
    }
}

fn memory(role: Role) -> &'static str {
    match role {
        Role::Scratch | Role::Transient => "arena",
        Role::State(_) | Role::Retained => "state",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::significant;
    use kiln_codegen::{compile_file, Input, Optimize, Options, Target};

    /// Text and JSON have the same time and energy, by the cycles of what was kept.
    #[test]
    fn predicted_cycles_are_time_and_energy_on_boards() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
        let options = Options { target: Some(Target::CortexMDsp), ..Options::default() };
        let compiled = compile_file(model.as_ref(), &options).unwrap();
        let (plan, text) = (json(&compiled), crate::plan::text(&compiled));
        let kept = plan["alternatives"].as_array().unwrap().iter().find(|a| a["kept"] == true).unwrap();
        let cycles = kept["cycles"].as_f64().unwrap();
        let on = |name| plan["on_boards"].as_array().unwrap().iter().find(|on| on["board"] == name).unwrap();
        let (known, unknown) = (on("stm32l4r5zi-nucleo"), on("nrf52840-dk"));
        assert_eq!(unknown["milliseconds"], cycles / 64e3);
        assert_eq!(unknown["millijoules"], Value::Null);
        let milliseconds = significant(known["milliseconds"].as_f64().unwrap());
        let millijoules = significant(known["millijoules"].as_f64().unwrap());
        let row = text.lines().find(|line| line.contains("stm32l4r5zi-nucleo")).unwrap();
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["stm32l4r5zi-nucleo", "120", &milliseconds, &millijoules]
        );
        assert!(
            text.contains(known["energy_from"].as_str().unwrap()) && text.contains("estimated"),
            "{text}"
        );
    }

    /// What programs read is what the compiler planned: pipelines cover their steps, and every buffer lies in the arena.
    #[test]
    fn the_plan_of_a_pipeline() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
        let options = Options { optimize: Optimize::Memory, input: Input::Rows, ..Options::default() };
        let compiled = compile_file(model.as_ref(), &options).unwrap();
        let plan = json(&compiled);
        let number = |value: &Value| value.as_u64().unwrap();
        assert_eq!(plan["feed"], "rows");
        let steps = plan["steps"].as_array().unwrap();
        assert_eq!(steps.len(), compiled.schedule.steps.len());
        let in_first = steps.iter().filter(|step| step["pipeline"] == 0).count() as u64;
        assert_eq!(in_first, number(&plan["pipelines"][0]["steps"]));
        let arena = number(&plan["arena_bytes"]);
        for step in steps {
            assert!(number(&step["live_bytes"]) <= arena);
            for buffer in step["buffers"].as_array().unwrap() {
                assert!(number(&buffer["offset"]) + number(&buffer["bytes"]) <= arena);
            }
        }
        let kept: Vec<&Value> =
            plan["alternatives"].as_array().unwrap().iter().filter(|a| a["kept"] == true).collect();
        assert_eq!(kept.iter().map(|a| number(&a["arena_bytes"])).collect::<Vec<_>>(), [arena]);
    }
}
