//! `cargo kiln compile --emit`: what a stage of the compiler left, for those who work on it.

use crate::plan;
use anyhow::Result;
use kiln_codegen::{compile, import, model_name, passes, read_file, Options};
use quote::quote;
use std::path::Path;

/// The names of what can be emitted.
pub const STAGES: [&str; 5] = ["ir", "ir-after-each-pass", "schedule", "plan", "rust"];

/// What a stage left of a model, as text.
///
/// - `ir`: the graph after all passes; parses back.
/// - `ir-after-each-pass`: the graph as it was read, and after each pass that changed it; long data is elided.
/// - `schedule`: which steps run when, and where their results are held.
/// - `plan`: the schedule, the arena step by step, and what else was tried.
/// - `rust`: the generated code.
///
/// # Errors
/// Where the model does not compile as far as that.
pub fn emit(path: &Path, options: &Options, stage: &str) -> Result<String> {
    let (bytes, name) = (read_file(path)?, model_name(path));
    if stage == "ir-after-each-pass" {
        let mut graph = import(&bytes, &name, options)?;
        let mut out = format!("// as read\n{}", graph.print_short());
        passes::run_observed(&mut graph, options, &mut |pass, graph| {
            out += &format!("\n// after {pass}\n{}", graph.print_short());
        })?;
        return Ok(out);
    }
    let compiled = compile(&bytes, &name, options)?;
    Ok(match stage {
        "ir" => compiled.graph.compact().to_string(),
        "schedule" => plan::schedule_text(&compiled),
        "plan" => plan::text(&compiled),
        _ => compiled.file(&quote!(pub))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::ir::Graph;

    const MODEL: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/tflite/residual_int8.tflite");

    fn emitted(stage: &str) -> String {
        emit(MODEL.as_ref(), &Options::default(), stage).unwrap()
    }

    #[test]
    fn the_graph_parses_back() {
        let text = emitted("ir");
        assert_eq!(Graph::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn each_pass_that_fired_has_its_graph() {
        let text = emitted("ir-after-each-pass");
        let graphs = text.matches("\ngraph \"").count();
        let compiled =
            compile(&read_file(MODEL.as_ref()).unwrap(), "residual_int8", &Options::default()).unwrap();
        assert_eq!(graphs, 1 + compiled.log.entries.len());
        for entry in &compiled.log.entries {
            assert!(text.contains(&format!("\n// after {}\ngraph", entry.pass)), "{}", entry.pass);
        }
    }

    #[test]
    fn the_schedule_is_a_part_of_the_plan() {
        let (schedule, plan) = (emitted("schedule"), emitted("plan"));
        assert!(plan.contains(&schedule) && plan.len() > schedule.len());
        assert!(emitted("rust").contains("impl"));
    }
}
