//! Questions and answers.

use crate::request::{choices, Request};
use crate::run::CaseRun;
use crate::{figures, project};
use kiln_codegen::{compile, import, Error, Target};
use kiln_tools::pareto;
use kiln_tools::report::whole::{report, Run};
use quote::quote;
use serde_json::{json, Value};

/// What questions are about.
pub(crate) struct Studio {
    /// The model.
    pub(crate) model: Vec<u8>,
    /// A file with inputs of it; empty where there is none.
    pub(crate) inputs: Vec<u8>,
    run: Option<CaseRun>,
}

impl Studio {
    /// Nothing yet.
    pub(crate) const fn new() -> Studio {
        Studio { model: Vec::new(), inputs: Vec::new(), run: None }
    }

    /// Answers a question: JSON, but for files, which are zip files. What goes wrong is the field `error` of an object, in the
    /// compiler's words.
    pub(crate) fn answer(&mut self, question: &str) -> Vec<u8> {
        let answered = Request::read(question).and_then(|request| match request.about.as_str() {
            "project" => project::archive(&self.model, &request),
            "outputs" => self.run()?.npz(),
            _ => self.about(&request).map(|found| found.to_string().into_bytes()),
        });
        answered.unwrap_or_else(|error| json!({ "error": error }).to_string().into_bytes())
    }

    fn about(&mut self, request: &Request) -> Result<Value, String> {
        match request.about.as_str() {
            "run" => {
                // Two at a time would take twice the memory.
                self.run = None;
                Ok(self.run.insert(CaseRun::new(&self.model, &self.inputs, request)?).about())
            }
            "step" => self.run()?.step(),
            "outcome" => Ok(self.run()?.outcome()),
            "case" => self.run()?.case(request.case),
            _ => about(&self.model, request),
        }
    }

    fn run(&mut self) -> Result<&mut CaseRun, String> {
        self.run.as_mut().ok_or_else(|| "the model has not run".into())
    }
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
