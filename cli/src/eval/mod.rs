//! `cargo kiln eval`: a labelled set through a model, in every place.

mod candidate;
mod data;
mod judge;
mod metrics;
mod page;
mod results;
mod set;
mod text;

pub use data::*;
pub use kiln_tools::cases::feed::Numbers;
pub use metrics::{ClassMeasures, Detection, Latency, Measures, Point, Quantiles, Top};
pub use set::Columns;

use crate::place::Place;
use crate::progress::Progress;
use anyhow::{bail, Context, Result};
use candidate::{Answers, Candidate};
use judge::Judge;
use kiln_boards::Board;
use kiln_codegen::ir::Graph;
use kiln_codegen::Options;
use kiln_tools::cases::feed::Raw;
use results::Results;
use set::Set;
use std::path::{Path, PathBuf};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The labelled set: a folder of folders, a table or an archive.
    pub data: PathBuf,
    /// Where in a table or archive labels and inputs are.
    pub columns: Columns,
    /// The places.
    pub on: Vec<String>,
    /// How numbers become real values.
    pub numbers: Numbers,
    /// Whether files of another size are made to fit.
    pub fit: bool,
    /// Names of the classes, in the order of the model's output.
    pub classes: Option<Vec<String>>,
    /// The output with the scores.
    pub output: usize,
    /// Of a model with state: which of the outputs of a sample's steps counts.
    pub pool: Pool,
    /// From which score on a model with one output says yes.
    pub threshold: Option<f32>,
    /// Also, how often the label is among so many best classes.
    pub top: Option<usize>,
    /// The class that a detector is to detect.
    pub detect: Option<String>,
    /// Thresholds to try.
    pub thresholds: Vec<f32>,
    /// How long a sample lasts; recordings know that themselves.
    pub seconds_per_sample: Option<f64>,
    /// Evaluate so many samples, spread over the set.
    pub limit: Option<usize>,
    /// The file of results.
    pub resume: Option<PathBuf>,
    /// Another model to compare with.
    pub against: Option<PathBuf>,
}

/// Which scores are those of a sample of several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pool {
    /// Those after the last step.
    #[default]
    Last,
    /// The largest of each class.
    Max,
    /// The mean of each class.
    Mean,
}

/// What an evaluation found: the report, and what pictures are made from.
#[derive(Debug)]
pub struct Evaluation {
    /// The figures.
    pub report: Report,
    set: Set,
    graph: Graph,
}

/// Runs every sample of a set through a model in every place.
///
/// # Errors
/// Where the model does not compile, the set does not fit it, or a place cannot run it.
pub fn evaluate(model: &Path, options: &Options, settings: &Settings) -> Result<Evaluation> {
    let progress = Progress::default();
    let places = settings.on.iter().map(|name| Ok((Place::find(name)?, name.as_str())));
    let places = places.collect::<Result<Vec<_>>>()?;
    let candidate = Candidate::read(model, options, settings)?;
    let ty = candidate.scores(settings.output)?.clone();
    let mut set = Set::open(&settings.data, &settings.columns, candidate.graph.inputs.len())?;
    let of_set = set.samples.len();
    let scores = ty.shape.numel();
    // Classes are those of the whole set: a part of it may lack one.
    let (names, mut labels) = set::classes(&set.samples, settings.classes.as_deref(), scores.max(2))?;
    set.limit(settings.limit.unwrap_or(of_set), &mut labels);
    let detect = settings.detect.as_deref().map(|class| detected(class, &names, scores)).transpose()?;
    let checked = check(&set, &candidate, &progress)?;
    let mut results = match &settings.resume {
        Some(path) => Results::open(path)?,
        None => Results::default(),
    };
    let mut report = Report {
        model: candidate.name.clone(),
        data: settings.data.display().to_string(),
        samples: set.samples.len(),
        of_set,
        left_out: set.left_out,
        classes: names.clone(),
        input: checked.rule,
        clipped: checked.clipped,
        places: Vec::new(),
        against: None,
    };
    let judge =
        Judge { names: &names, labels: &labels, set: &set, settings, detect, seconds: &checked.seconds };
    let mut first: Option<Answers> = None;
    for (place, name) in &places {
        let answers = candidate.answers(&set, place, name, settings, &mut results, &progress);
        let answers = answers.with_context(|| format!("on {name}"))?;
        report.places.push(judge.place(name, board(place), &answers, first.as_ref()));
        first.get_or_insert(answers);
    }
    if let (Some(path), Some(first)) = (&settings.against, &first) {
        let mut other = Candidate::beside(&candidate, path, options, settings)?;
        other.feed.follow(&candidate.feed);
        let count = other.scores(settings.output)?.shape.numel();
        if count != scores {
            bail!(
                "`{}` has {count} scores, the model {scores}: they do not answer the same question",
                path.display()
            );
        }
        let context = || format!("--against {}", path.display());
        check(&set, &other, &progress).with_context(context)?;
        let here =
            places.iter().find(|(place, _)| matches!(place, Place::Interp | Place::Host | Place::HostAt(_)));
        let (place, name) = here.map_or((Place::Host, "host"), |(place, name)| (place.clone(), *name));
        let answers = other.answers(&set, &place, name, settings, &mut results, &progress);
        report.against = Some(judge.against(&other.name, name, &answers.with_context(context)?, first));
    }
    Ok(Evaluation { report, set, graph: candidate.graph })
}

/// The class that is to be detected, by name.
fn detected(class: &str, names: &[String], scores: usize) -> Result<usize> {
    let index = names.iter().position(|name| name == class);
    let index = index.with_context(|| format!("--detect {class}: the classes are {}", names.join(", ")))?;
    if scores == 1 && index != 1 {
        bail!("--detect {class}: the one score of the model is that of `{}`", names[1]);
    }
    Ok(index)
}

/// What is known of a set before anything is run.
struct Checked {
    rule: String,
    /// Which share of the numbers the input cannot store.
    clipped: f64,
    /// How long each sample lasts, if it is a recording.
    seconds: Vec<Option<f64>>,
}

/// Reads all samples once, so that what is wrong with one is known before hours of work.
fn check(set: &Set, candidate: &Candidate, progress: &Progress) -> Result<Checked> {
    let mut checked = Checked { rule: String::new(), clipped: 0.0, seconds: Vec::new() };
    let (mut clipped, mut numbers) = (0, 0);
    let (mut rate, mut lasts) = (None, Vec::new());
    for (index, sample) in set.samples.iter().enumerate() {
        let mut read = || -> Result<Option<f64>> {
            let raw = set.read(sample)?;
            if index == 0 {
                checked.rule = candidate.feed.rule(&raw)?;
            }
            let seconds = match &raw {
                Raw::Sound(sound) => {
                    let (rate, name) = rate.get_or_insert((sound.rate, &sample.name));
                    candidate.check_rate(sound.rate)?;
                    if *rate != sound.rate {
                        bail!(
                            "it has {} samples per second, {name} has {rate}: a set has files of one rate",
                            sound.rate
                        );
                    }
                    Some(sound.seconds())
                }
                _ => None,
            };
            let inputs = candidate.feed.inputs(raw)?;
            clipped += inputs.clipped;
            numbers += inputs.numbers;
            Ok(seconds)
        };
        lasts.push(read().with_context(|| sample.name.clone())?);
        progress.show("reading", index + 1, set.samples.len());
    }
    Ok(Checked { clipped: clipped as f64 / numbers.max(1) as f64, seconds: lasts, ..checked })
}

fn board(place: &Place) -> Option<&'static Board> {
    match place {
        Place::Emulated(board) | Place::Real(board, _) => Some(board),
        _ => None,
    }
}
