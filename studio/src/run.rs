//! A run of the model in the interpreter: cases from a NumPy file, of a picture or a recording, or of noise.
//!
//! The page asks for one case after the other, so that it can say how far it is, and stop.

use crate::made::{made, Made};
use crate::request::Request;
use kiln_codegen::ir::{Data, Graph, Type};
use kiln_codegen::{import, reference};
use kiln_tools::cases::compare::{compare, hint, verdict, Agreement};
use kiln_tools::cases::feed::picture::Picture;
use kiln_tools::cases::golden::{Golden, Side};
use kiln_tools::cases::run::{is_sequence, outputs, outputs_npz, Run, Start};
use kiln_tools::cases::values::{largest, numbers};
use serde_json::{json, Value};
use std::io::Cursor;

/// Most bytes of the arrays of a file, unpacked: a browser gives a page 4 GiB.
const MOST_BYTES: u64 = 1 << 28;
/// Elements that are shown of an output.
const SHOWN: usize = 5;

/// A model and its cases.
pub(crate) struct CaseRun {
    /// The model as imported.
    graph: Graph,
    golden: Golden,
    /// How the cases were made of a picture or a recording.
    says: String,
    /// What the model sees, of a picture.
    picture: Option<Picture>,
    in_sequence: bool,
    interpreter: Run,
    /// Those of the cases that have run.
    found: Vec<Vec<Data>>,
}

impl CaseRun {
    /// Before the first case. `file` is the content of a NumPy, PNG or WAV file; where it is empty, there is a case of noise.
    ///
    /// # Errors
    /// Where the model cannot be read, or the file is not of this model.
    pub(crate) fn new(model: &[u8], file: &[u8], request: &Request) -> Result<CaseRun, String> {
        let Request { name, options, .. } = request;
        let graph = import(model, name, options).map_err(|error| error.to_string())?;
        let meaning = reference(&graph, options).map_err(|error| error.to_string())?;
        let recorded = |golden| Made { cases: golden, says: String::new(), picture: None };
        let Made { cases: golden, says, picture } = match (file, made(&graph, file, request)?) {
            (_, Some(made)) => made,
            ([], None) => recorded(Golden::noise(&graph, 1)),
            _ => recorded(cases(&graph, file, &request.inputs).map_err(|error| error.to_string())?),
        };
        let in_sequence = Start::default().is_sequence(&graph, &golden);
        let interpreter = Run::new(&meaning, in_sequence);
        Ok(CaseRun { graph, golden, says, picture, in_sequence, interpreter, found: Vec::new() })
    }

    /// How many cases there are, and how they begin.
    pub(crate) fn about(&self) -> Value {
        let has_state = is_sequence(&self.graph);
        let picture = self.picture.as_ref().map(|picture| {
            json!({ "width": picture.width, "channels": picture.channels, "pixels": picture.pixels })
        });
        json!({
            "says": self.says,
            "picture": picture,
            "cases": self.golden.inputs.len(),
            "start": has_state.then_some(if self.in_sequence { "sequence" } else { "fresh" }),
        })
    }

    /// Runs the next case, if there is one; how many have run.
    ///
    /// # Errors
    /// Where the interpreter cannot.
    pub(crate) fn step(&mut self) -> Result<Value, String> {
        if let Some(inputs) = self.golden.inputs.get(self.found.len()) {
            self.found.push(self.interpreter.next(inputs).map_err(|error| error.to_string())?);
        }
        Ok(json!({ "ran": self.found.len() }))
    }

    /// The outputs, and how they compare with those of the file, as `cargo kiln validate` says it.
    pub(crate) fn outcome(&self) -> Value {
        let expected = &self.golden.outputs;
        let found = (!expected.is_empty()).then(|| Agreement::of("case", &self.graph, &self.found, expected));
        let outputs = self.graph.outputs.iter().enumerate().map(|(k, &id)| {
            let ty = self.graph.ty(id);
            json!({
                "name": self.graph.value(id).label(),
                "type": shape(ty),
                "quantization": ty.scale().map(|scale| format!("scale {scale}, zero point {}", ty.zero_point())),
                "difference": found.as_ref().map(|found| found.outputs[k].to_string()),
                "passes": found.as_ref().map(|found| found.outputs[k].passes()),
            })
        });
        let agreement = found.as_ref().map(|found| {
            let passes = found.passes();
            let help = (is_sequence(&self.graph) && !passes).then(|| hint(self.in_sequence).to_owned());
            json!({
                "passes": passes,
                "verdict": format!("{}: {}", verdict(passes), found.total()),
                "failures": found.failures.iter().cloned().chain(help).collect::<Vec<_>>(),
                "failed": found.failed,
            })
        });
        json!({ "outputs": outputs.collect::<Vec<_>>(), "agreement": agreement })
    }

    /// The largest elements of each output of a case, and those that differ from the file's.
    ///
    /// # Errors
    /// Where it has not run.
    pub(crate) fn case(&self, case: usize) -> Result<Value, String> {
        let outputs = self.found.get(case).ok_or_else(|| format!("case {case} has not run"))?;
        let expected = self.golden.outputs.get(case);
        let outputs = self.graph.outputs.iter().zip(outputs).enumerate().map(|(k, (&id, data))| {
            let ty = self.graph.ty(id);
            output(ty, data, expected.and_then(|outputs| outputs.get(k)))
        });
        Ok(json!({ "outputs": outputs.collect::<Vec<_>>() }))
    }

    /// The file that `cargo kiln infer` writes.
    ///
    /// # Errors
    /// Where no case has run.
    pub(crate) fn npz(&self) -> Result<Vec<u8>, String> {
        if self.found.len() < self.golden.inputs.len() {
            return Err("the model has not run".into());
        }
        outputs(&self.graph, &self.found)
            .and_then(|outputs| outputs_npz(&outputs))
            .map_err(|error| error.to_string())
    }
}

/// The cases of a file, which are those of this model.
fn cases(graph: &Graph, file: &[u8], name: &str) -> kiln_tools::cases::Result<Golden> {
    let golden = Golden::read_from(Cursor::new(file), name, MOST_BYTES)?;
    golden.check(graph, Side::In)?;
    if !golden.outputs.is_empty() {
        golden.check(graph, Side::Out)?;
    }
    Ok(golden)
}

/// An output of a case.
fn output(ty: &Type, data: &Data, expected: Option<&Data>) -> Value {
    let found = Elements::of(ty, data);
    // Elements are marked where the output does not pass: floats that do may differ in their last bits.
    let wanted = expected.map(|expected| Elements::of(ty, expected));
    let differing = match expected {
        Some(expected) if !compare(ty.dtype, data, expected).passes() => found.differing(wanted.as_ref()),
        _ => Vec::new(),
    };
    let show = |index: usize| {
        json!({
            "place": place(ty, index),
            "number": found.numbers[index],
            "says": found.says(index),
            "expected": wanted.as_ref().map(|wanted| wanted.says(index)),
            "differs": differing.contains(&index),
        })
    };
    let top = largest(&found.numbers, SHOWN);
    let finite = || found.numbers.iter().copied().filter(|number| number.is_finite());
    let others = differing.iter().copied().filter(|index| !top.contains(index)).take(SHOWN);
    json!({
        "low": finite().fold(0.0, f64::min),
        "high": finite().fold(0.0, f64::max),
        "elements": found.numbers.len(),
        "top": top.iter().copied().map(show).collect::<Vec<_>>(),
        "differing": others.map(show).collect::<Vec<_>>(),
    })
}

/// Where an element is: its index along each axis that has several.
fn place(ty: &Type, index: usize) -> String {
    let axes = ty.shape.dims().iter().zip(ty.shape.strides()).filter(|(&dim, _)| dim > 1);
    let along: Vec<String> = axes.map(|(dim, stride)| (index / stride % dim).to_string()).collect();
    if along.is_empty() {
        "0".into()
    } else {
        along.join(", ")
    }
}

/// The elements of an output.
struct Elements {
    /// The numbers that they stand for.
    numbers: Vec<f64>,
    /// What is stored, of integers.
    stored: Vec<i64>,
    is_quantised: bool,
}

impl Elements {
    fn of(ty: &Type, data: &Data) -> Elements {
        Elements {
            numbers: numbers(ty, data),
            stored: data.to_ints(ty.dtype),
            is_quantised: ty.quant.is_some(),
        }
    }

    /// Where others are, the largest difference first.
    fn differing(&self, others: Option<&Elements>) -> Vec<usize> {
        let others = others.map_or(&[][..], |others| &others.numbers);
        let pairs = self.numbers.iter().zip(others).enumerate();
        let differences = pairs.map(|(index, (a, b))| (index, if a == b { 0.0 } else { (a - b).abs() }));
        let mut all: Vec<(usize, f64)> = differences.filter(|(_, difference)| *difference != 0.0).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.into_iter().map(|(index, _)| index).collect()
    }

    /// In words: the number, and what is stored.
    fn says(&self, index: usize) -> String {
        let number = self.numbers.get(index).copied().unwrap_or(f64::NAN) as f32;
        let number = match number.abs() {
            0.0 | 1e-4..1e6 => number.to_string(),
            _ => format!("{number:e}"),
        };
        match self.stored.get(index) {
            Some(stored) if self.is_quantised => format!("{number} ({stored})"),
            Some(stored) => stored.to_string(),
            None => number,
        }
    }
}

/// Type and dimensions: `i8[1,10]`.
pub(crate) fn shape(ty: &Type) -> String {
    let dims: Vec<String> = ty.shape.dims().iter().map(usize::to_string).collect();
    format!("{}[{}]", ty.dtype.name(), dims.join(","))
}
