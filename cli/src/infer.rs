//! `cargo kiln infer`: what a model says about recorded inputs.

use crate::golden::{Golden, Side};
use crate::npz::Array;
use crate::place::Place;
use crate::validate::Start;
use anyhow::{Context, Result};
use kiln_codegen::ir::Data;
use kiln_codegen::Options;
use kiln_tools::cases::run::{outputs, outputs_npz};
use std::path::Path;

/// The outputs of a model for a file of inputs.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The model's name.
    pub model: String,
    /// Cases in the file.
    pub cases: usize,
    /// The k-th output of all cases, which the first axis counts.
    pub outputs: Vec<Array>,
}

impl Answers {
    /// A NumPy archive with the arrays `out_0`, `out_1` …
    ///
    /// # Errors
    /// Where the archive cannot be written.
    pub fn npz(&self) -> Result<Vec<u8>> {
        Ok(outputs_npz(&self.outputs)?)
    }
}

/// Runs a model in a place on the inputs of a NumPy archive: `in_0`, `in_1` …, in the model's own types, whose first axis counts cases.
///
/// # Errors
/// Where the model does not compile, the file does not fit it, or the place cannot run it.
pub fn infer(model: &Path, options: &Options, inputs: &Path, start: Start, on: &str) -> Result<Answers> {
    let place = Place::find(on)?;
    let bytes = kiln_codegen::read_file(model)?;
    let name = kiln_codegen::model_name(model);
    let imported = kiln_codegen::import(&bytes, &name, options)?;
    let meaning = kiln_codegen::reference(&imported, options)?;
    let golden = Golden::read_inputs(inputs)?;
    golden.check(&imported, Side::In)?;
    let in_sequence = start.is_sequence(&imported, &golden);
    let run = || -> Result<Vec<Vec<Data>>> {
        let compiled = kiln_codegen::compile(&bytes, &name, &place.options(options))?;
        place.build(&meaning, &compiled)?.run(&golden.inputs, in_sequence)
    };
    let found = run().with_context(|| format!("on {on}"))?;
    let outputs = outputs(&imported, &found)?;
    Ok(Answers { model: name, cases: found.len(), outputs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npz;

    #[test]
    fn answers_are_those_of_the_golden_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits");
        let model = format!("{folder}/models/digits_int8.tflite");
        let golden = format!("{folder}/golden/digits_int8.npz");
        let (model, golden) = (Path::new(&model), Path::new(&golden));
        let answers = infer(model, &Options::default(), golden, Start::default(), "interp").unwrap();
        let written = std::env::temp_dir().join(format!("kiln-infer-{}.npz", std::process::id()));
        std::fs::write(&written, answers.npz().unwrap()).unwrap();
        let (found, expected) = (npz::read(&written).unwrap(), npz::read(golden).unwrap());
        assert_eq!(found.len(), 1);
        let (found, expected) = (&found["out_0"], &expected["out_0"]);
        assert_eq!((found.dtype, found.shape[0]), (expected.dtype, expected.shape[0]));
        assert_eq!(found.data.bytes(), expected.data.bytes());
        // What was written has no inputs.
        let error = infer(model, &Options::default(), &written, Start::default(), "interp").unwrap_err();
        std::fs::remove_file(&written).unwrap();
        assert!(error.to_string().contains("lacks `in_0`"), "{error:#}");
    }
}
