//! Questions and answers.

use crate::request::{choices, Request};
use crate::{figures, project};
use kiln_codegen::{compile, import, Error, Target};
use kiln_tools::pareto;
use kiln_tools::report::whole::{report, Run};
use quote::quote;
use serde_json::{json, Value};

/// Answers a question about a model: JSON, but for a project, which is a zip file. What goes wrong is the field `error` of an object, in the
/// compiler's words.
pub(crate) fn answer(model: &[u8], question: &str) -> Vec<u8> {
    let answered = Request::read(question).and_then(|request| match request.about.as_str() {
        "project" => project::archive(model, &request),
        _ => about(model, &request).map(|found| found.to_string().into_bytes()),
    });
    answered.unwrap_or_else(|error| json!({ "error": error }).to_string().into_bytes())
}

/// What is asked, by its name.
fn about(model: &[u8], request: &Request) -> Result<Value, String> {
    let Request { about, name, options, .. } = request;
    let said = |error: Error| error.to_string();
    match about.as_str() {
        "choices" => Ok(choices()),
        "figures" => {
            let compiled = compile(model, name, options).map_err(said)?;
            figures::figures(model, &compiled).map_err(said)
        }
        "chips" => Ok(Target::all().map(|target| figures::on(model, request, target)).collect()),
        "report" => {
            let run = |options: &_, _| Ok(Run { compiled: compile(model, name, options)?, bench: None });
            let (report, _) = report::<Error>(model, name, options, run).map_err(said)?;
            Ok(json!({ "html": report.sections() }))
        }
        "front" => {
            if !options.predicts_cycles() {
                return Ok(json!({ "points": [] }));
            }
            let graph = import(model, name, options).map_err(said)?;
            let points = pareto::front(&graph, options).map_err(said)?;
            Ok(json!({ "points": points.iter().map(pareto::Point::json).collect::<Vec<_>>() }))
        }
        "rust" => {
            let code =
                compile(model, name, options).and_then(|compiled| compiled.source_file(&quote!(pub), None));
            Ok(json!({ "rust": code.map_err(said)? }))
        }
        _ => Err(format!("there is no question `{about}`")),
    }
}
