//! `cargo kiln validate`: generated code against golden outputs, or the interpreter's.

use crate::compare::{compare, each, hint, verdict, Agreement, Difference, SHOWN};
use crate::golden::{Golden, Side};
use crate::limits::{Found, Limits};
use crate::place::{is_sequence, Built, Place};
use crate::slide::Sequence;
use anyhow::{bail, Context, Result};
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{Float, Options};
use kiln_tools::cases::run::interpret_as;
use serde_json::{json, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use kiln_tools::cases::run::Start;

/// What a validation found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model's name.
    pub model: String,
    /// Number of cases.
    pub cases: usize,
    /// Where they come from.
    pub source: Source,
    /// Number of frames that a sliding model was given one after the other.
    pub frames: usize,
    /// By place.
    pub places: Vec<PlaceReport>,
}

/// Where cases come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A golden file.
    Golden(PathBuf),
    /// So many cases of noise, and the interpreter.
    Noise(usize),
}

/// What was found in one place.
#[derive(Clone, Debug)]
pub struct PlaceReport {
    /// The place's name.
    pub place: String,
    /// All outputs of all cases and frames together.
    pub total: Difference,
    /// What decides instead, where there are limits: each output over all cases and frames.
    pub within: Option<(Limits, Vec<Found>)>,
    /// With reproducible floats: the same outputs beside the interpreter's, whose bits they have to have.
    pub bits: Option<Difference>,
    /// The cases, frames and outputs that differ: the first eight.
    pub failures: Vec<String>,
}

/// Runs a model on golden cases in every place and compares.
///
/// # Errors
/// Where the model does not compile, the golden file does not fit it, or a place cannot run it.
pub fn validate(model: &Path, options: &Options, golden: &Path, on: &[String]) -> Result<Report> {
    validate_on(model, options, Source::Golden(golden.to_owned()), Start::default(), Limits::default(), on)
}

/// Runs a model on cases in every place and compares: within the limits, or, where there are none, integers to the bit and floats nearly so. Of the interpreter's own cases it cannot be compared with itself: that place is left out.
///
/// # Errors
/// As [`validate`].
pub fn validate_on(
    model: &Path,
    options: &Options,
    source: Source,
    start: Start,
    limits: Limits,
    on: &[String],
) -> Result<Report> {
    let mut places = on.iter().map(|name| Ok((Place::find(name)?, name))).collect::<Result<Vec<_>>>()?;
    if let Source::Noise(_) = source {
        places.retain(|(place, _)| !matches!(place, Place::Interp));
        if places.is_empty() {
            bail!("the interpreter is what others are compared with: give recorded cases by --golden, or another place");
        }
    }
    let bytes = kiln_codegen::read_file(model)?;
    let name = kiln_codegen::model_name(model);
    let imported = kiln_codegen::import(&bytes, &name, options)?;
    let meaning = kiln_codegen::reference(&imported, options)?;
    let golden = match &source {
        Source::Golden(path) => Golden::read(path)?,
        Source::Noise(cases) => Golden::of_noise(&meaning, *cases)?,
    };
    golden.check(&imported, Side::In)?;
    golden.check(&imported, Side::Out)?;
    let in_sequence = start.is_sequence(&imported, &golden);
    let exact = match options.float {
        Float::Fast => None,
        Float::Reproducible => Some(interpret_as(&meaning, &golden.inputs, in_sequence)?),
    };
    let compiled = kiln_codegen::compile(&bytes, &name, &Place::Interp.options(options))?;
    let sequence = match compiled.program.fed.and_then(|fed| Some((fed.rows, fed.slide?))) {
        Some((rows, slide)) => Some(Sequence::new(&meaning, &golden.inputs, rows, slide.hop)?),
        None => None,
    };
    let frames = sequence.as_ref().map_or(0, |sequence| sequence.frames.len());
    let model_name = name.clone();
    let mut report = Report { model: name, cases: golden.inputs.len(), source, frames, places: Vec::new() };
    let mut last: Option<Built> = None;
    for (place, name) in &places {
        let run = || -> Result<(PlaceReport, Built)> {
            let built = match last.as_ref().and_then(|built| built.at(place)) {
                Some(built) => built,
                None => {
                    let compiled = kiln_codegen::compile(&bytes, &model_name, &place.options(options))?;
                    place.build(&meaning, &compiled)?
                }
            };
            let mut report = PlaceReport::new(name, limits, imported.outputs.len());
            let outputs = built.run(&golden.inputs, in_sequence)?;
            report.compare("case", &imported, &outputs, &golden.outputs);
            if let Some(exact) = &exact {
                report.compare_bits("case", &imported, &outputs, exact);
            }
            if is_sequence(&imported) && !report.passes() {
                report.failures.push(hint(in_sequence).into());
            }
            // The interpreter's own outputs are what frames are compared with.
            if let Some(sequence) = sequence.as_ref().filter(|_| !matches!(built, Built::Interp(_))) {
                let outputs = built.run(&sequence.frames, true)?;
                report.compare("frame", &imported, &outputs, &sequence.outputs);
                if exact.is_some() {
                    report.compare_bits("frame", &imported, &outputs, &sequence.outputs);
                }
            }
            Ok((report, built))
        };
        let (of_place, built) = run().with_context(|| format!("on {name}"))?;
        report.places.push(of_place);
        last = Some(built);
    }
    Ok(report)
}

impl PlaceReport {
    fn new(place: &str, limits: Limits, outputs: usize) -> Self {
        let within = (!limits.are_none()).then(|| (limits, vec![Found::default(); outputs]));
        PlaceReport {
            place: place.into(),
            total: Difference::default(),
            within,
            bits: None,
            failures: Vec::new(),
        }
    }

    /// Compares the outputs of cases, or of frames: `what` they are. Where no outputs are expected, there have to be none.
    fn compare(&mut self, what: &str, graph: &Graph, actual: &[Vec<Data>], expected: &[Vec<Data>]) {
        let found = Agreement::of(what, graph, actual, expected);
        self.total.merge(found.total());
        match &mut self.within {
            Some((limits, outputs)) => each(graph, actual, expected, |_, k, ty, found, data| {
                outputs.iter_mut().skip(k).take(1).for_each(|output| output.add(limits, ty, found, data));
            }),
            None => {
                let room = SHOWN.saturating_sub(self.failures.len());
                self.failures.extend(found.failures.into_iter().take(room));
            }
        }
    }

    /// The same with the interpreter's outputs: every bit has to be the same.
    fn compare_bits(&mut self, what: &str, graph: &Graph, actual: &[Vec<Data>], exact: &[Vec<Data>]) {
        let bits = self.bits.get_or_insert_default();
        each(graph, actual, exact, |case, k, ty, found, data| {
            let difference = compare(ty.dtype, found, data);
            bits.merge(difference);
            if !difference.is_none() && self.failures.len() < SHOWN {
                let Difference { other_bits, floats, relative, .. } = difference;
                self.failures.push(format!(
                    "{what} {case}, output {k}: {other_bits} of {floats} floats have other bits than the interpreter's, by at most {relative:.1e} of the largest magnitude"
                ));
            }
        });
    }

    /// Whether the place gave the golden outputs, or those within the limits, and with reproducible floats the interpreter's bits.
    pub fn passes(&self) -> bool {
        let agrees = match &self.within {
            Some((limits, outputs)) => outputs.iter().all(|output| output.passes(limits)),
            None => self.total.passes(),
        };
        agrees && self.bits.is_none_or(|bits| bits.is_none())
    }
}

/// What was found of an output, for programs.
fn of_output(found: &Found) -> Value {
    json!({
        "snr": Some(found.snr()).filter(|snr| snr.is_finite()),
        "top1": found.top1(),
        "beyond_tolerance": found.beyond,
        "largest_difference": Some(found.largest).filter(|largest| largest.is_finite()),
    })
}

impl Report {
    /// Whether every place gave the golden outputs.
    pub fn passes(&self) -> bool {
        self.places.iter().all(PlaceReport::passes)
    }

    /// For people.
    pub fn text(&self) -> String {
        let frames = match self.frames {
            0 => String::new(),
            frames => format!(", a sequence of {frames} frames"),
        };
        let noise = match self.source {
            Source::Golden(_) => "",
            Source::Noise(_) => " of noise, answered by the interpreter",
        };
        let mut out = format!("{}: {} cases{noise}{frames}\n", self.model, self.cases);
        for place in &self.places {
            let verdict = verdict(place.passes());
            let bits = match &place.bits {
                Some(bits) if bits.floats > 0 && bits.is_none() => "; all bits are the interpreter's",
                _ => "",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {:<16} {verdict}: {}{bits}", place.place, place.total);
            if let Some((limits, outputs)) = &place.within {
                for (k, output) in outputs.iter().enumerate() {
                    let _ = writeln!(out, "    output {k}: {}", output.describe(limits));
                }
            }
            for failure in &place.failures {
                let _ = writeln!(out, "    {failure}");
            }
        }
        out
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let places: Vec<Value> = self
            .places
            .iter()
            .map(|p| {
                json!({
                    "place": p.place,
                    "passes": p.passes(),
                    "elements": p.total.elements,
                    "mismatches": p.total.mismatches,
                    "largest_difference": p.total.largest,
                    "relative_difference": p.total.relative,
                    "outputs": p.within.as_ref().map(|(_, outputs)| outputs.iter().map(of_output).collect::<Vec<_>>()),
                    "floats_with_other_bits": p.bits.map(|bits| bits.other_bits),
                    "failures": p.failures,
                })
            })
            .collect();
        let golden = match &self.source {
            Source::Golden(path) => json!(path),
            Source::Noise(_) => Value::Null,
        };
        json!({
            "model": self.model,
            "golden": golden,
            "cases": self.cases,
            "frames": self.frames,
            "passes": self.passes(),
            "places": places,
        })
    }
}
