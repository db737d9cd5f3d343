//! What a compilation comes to, in numbers.

use crate::request::Request;
use crate::run::shape;
use kiln_codegen::front::inspect;
use kiln_codegen::ir::ValueId;
use kiln_codegen::{compile, Compiled, Error, Options, Target};
use kiln_tools::report::{macs, picture};
use serde_json::{json, Value};

/// A compiled model.
///
/// # Errors
/// Where the bytes are no sound model.
pub(crate) fn figures(model: &[u8], compiled: &Compiled) -> Result<Value, Error> {
    let summary = inspect(model)?;
    let graph = &compiled.graph;
    let tensor = |&id: &ValueId| {
        let (value, ty) = (graph.value(id), graph.ty(id));
        let stored = ty.scale().map(|scale| format!("scale {scale}, zero point {}", ty.zero_point()));
        json!({ "name": value.label(), "type": shape(ty), "quantization": stored })
    };
    let pipelines: Vec<String> = (0..compiled.schedule.pipelines.len())
        .filter_map(|index| picture::pipeline(compiled, index))
        .collect();
    let mut found = costs(compiled);
    let facts = json!({
        "format": summary.format,
        "description": summary.description.trim(),
        "file_bytes": summary.file_bytes,
        "weight_bytes": summary.weight_bytes,
        "operators": summary.operators.len(),
        "type": compiled.type_name(),
        "steps": compiled.schedule.steps.len(),
        "macs": graph.nodes().map(|(_, node)| macs(graph, node)).sum::<u64>(),
        "lower_bound": compiled.plan.lower_bound,
        "inputs": graph.inputs.iter().map(tensor).collect::<Vec<_>>(),
        "outputs": graph.outputs.iter().map(tensor).collect::<Vec<_>>(),
        "pipelines": pipelines,
    });
    if let (Value::Object(found), Value::Object(facts)) = (&mut found, facts) {
        found.extend(facts);
    }
    Ok(found)
}

/// What the model costs on a processor, or why it does not compile for it.
pub(crate) fn on(model: &[u8], request: &Request, target: Target) -> Value {
    let options = Options { target: Some(target), ..request.options.clone() };
    let mut found = match compile(model, &request.name, &options) {
        Ok(compiled) => costs(&compiled),
        Err(error) => json!({ "error": error.to_string() }),
    };
    found["target"] = target.name().into();
    found
}

/// Bytes and predicted cycles.
fn costs(compiled: &Compiled) -> Value {
    let predicted = compiled.kept().map(|kept| kept.predicted).unwrap_or_default();
    json!({
        "ram_bytes": compiled.plan.ram_bytes(),
        "arena_bytes": compiled.plan.scratch_bytes(),
        "state_bytes": compiled.plan.state_bytes,
        "constant_bytes": compiled.program.constant_bytes(),
        // For other processors there is nothing that they were compared with.
        "cycles": compiled.options.predicts_cycles().then_some(predicted.cycles),
        "steps_without_prediction": predicted.unknown,
    })
}
