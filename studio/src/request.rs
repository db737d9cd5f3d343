//! Questions of the page, and what there is to choose from.

use kiln_codegen::{model_name, Input, Io, Optimize, Options, Target, Weights};
use serde_json::{json, Value};
use std::path::Path;

/// A question, as the page asks it: `{"about": "figures", "file": "kws.tflite", "options": {"optimize": "memory"}}`.
#[derive(Debug)]
pub(crate) struct Request {
    /// What is asked.
    pub(crate) about: String,
    /// The name of the model's file.
    pub(crate) file: String,
    /// The name of the model.
    pub(crate) name: String,
    /// The name of the file with inputs.
    pub(crate) inputs: String,
    /// What pixels and samples of it become: a choice of the page; nothing leaves it to the model.
    pub(crate) values: String,
    /// The case that the question is about.
    pub(crate) case: usize,
    /// The options as they were written: names and values of `include_model!`.
    pub(crate) written: Vec<(String, String)>,
    /// The options.
    pub(crate) options: Options,
}

impl Request {
    /// Reads a question.
    ///
    /// # Errors
    /// Where it is no JSON, or an option does not exist or has no such value.
    pub(crate) fn read(text: &str) -> Result<Request, String> {
        let asked: Value = serde_json::from_str(text).map_err(|error| format!("no question: {error}"))?;
        let word = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
        let mut options = Options::default();
        let mut written = Vec::new();
        for (option, value) in asked["options"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().trim();
            if !value.is_empty() {
                options.set(option, value).map_err(|error| error.to_string())?;
                written.push((option.clone(), value.to_owned()));
            }
        }
        let file = word("file");
        let name = model_name(Path::new(&file));
        let case = asked["case"].as_u64().and_then(|case| case.try_into().ok()).unwrap_or(0);
        let (inputs, values) = (word("inputs"), word("values"));
        Ok(Request { about: word("about"), file, name, inputs, values, case, written, options })
    }
}

/// The values of options, and the version. Targets are lists of names for the same code, the usual name first.
pub(crate) fn choices() -> Value {
    let names =
        |target: Target| -> Vec<&str> { Target::names().filter(|name| name.parse() == Ok(target)).collect() };
    let inputs = [Input::Whole, Input::Rows, Input::Sliding].map(Input::name);
    json!({
        "kiln": env!("CARGO_PKG_VERSION"),
        "optimize": Optimize::NAMES,
        "input": inputs,
        "io": Io::NAMES,
        "weights": Weights::NAMES,
        "target": Target::all().map(names).collect::<Vec<_>>(),
    })
}
