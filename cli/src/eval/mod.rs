//! `cargo kiln eval`: a labelled set through a model, in every place.

mod data;
mod input;
mod metrics;
mod page;
mod picture;
mod results;
mod set;
mod sound;
mod text;

pub use data::*;
pub use input::Numbers;
pub use metrics::{ClassMeasures, Detection, Latency, Measures, Point, Quantiles, Top};
pub use set::Columns;

use crate::place::{Built, Place, Ran, Took};
use crate::progress::Progress;
use anyhow::{bail, Context, Result};
use input::{Feed, Window};
use kiln_boards::Board;
use kiln_codegen::ir::{Data, Graph, Type};
use kiln_codegen::{Input, Options};
use results::{Key, Outcome, Results};
use set::{Raw, Set};
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// A model with the inputs that it makes of samples.
struct Candidate {
    name: String,
    bytes: Vec<u8>,
    options: Options,
    graph: Graph,
    feed: Feed,
    /// Of a sliding model.
    window: Option<Window>,
}

/// What a model answers in one place.
struct Answers {
    /// The scores of each sample.
    scores: Vec<Vec<f32>>,
    took: Vec<Option<Took>>,
    /// How many of them were known before.
    resumed: usize,
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
    set.limit(settings.limit.unwrap_or(of_set));
    let scores = ty.shape.numel();
    let (names, labels) = set::classes(&set.samples, settings.classes.as_deref(), scores.max(2))?;
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
        let options = Options {
            float: options.float,
            reference: options.reference,
            qdq: options.qdq,
            ..Options::default()
        };
        let mut other = Candidate::read(path, &options, settings)?;
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

/// Most samples in one run, and most bytes of their inputs.
const MOST: (usize, usize) = (4096, 64 << 20);

/// Samples in the first run, which shows how long they take.
const FIRST: usize = 4;

/// How long a run is to take, so that there is something to see and to keep. On a real board, each run begins with flashing.
fn seconds_of_run(place: &Place) -> f64 {
    match place {
        Place::Real(..) => 60.0,
        _ => 3.0,
    }
}

impl Candidate {
    fn read(model: &Path, options: &Options, settings: &Settings) -> Result<Candidate> {
        let bytes = kiln_codegen::read_file(model)?;
        let name = kiln_codegen::model_name(model);
        let graph = kiln_codegen::import(&bytes, &name, options)?;
        let window = match options.input {
            Input::Sliding => {
                let compiled = kiln_codegen::compile(&bytes, &name, &Place::Interp.options(options))?;
                let fed = compiled.program.fed.and_then(|fed| Some((fed, fed.slide?)));
                fed.map(|(fed, slide)| Window { rows: fed.rows, row: fed.row, hop: slide.hop })
            }
            Input::Whole | Input::Rows => None,
        };
        let feed = Feed::new(&graph, settings.numbers.clone(), settings.fit, window);
        Ok(Candidate { name, bytes, options: options.clone(), graph, feed, window })
    }

    /// The type of the output with the scores: one axis of them.
    fn scores(&self, output: usize) -> Result<&Type> {
        let outputs = self.graph.outputs.len();
        let id = *self.graph.outputs.get(output).with_context(|| {
            format!("`{}` has {outputs} output(s), counted from 0: there is no output {output}", self.name)
        })?;
        let ty = self.graph.ty(id);
        if ty.shape.dims().iter().filter(|&&dim| dim != 1).count() > 1 {
            bail!(
                "`{}`: output {output} has the shape {:?}: `eval` takes models with one score for each class\n    help: --output-index names another one",
                self.name,
                ty.shape.dims()
            );
        }
        Ok(ty)
    }

    /// What all results in a place depend on.
    fn key(&self, place: &str, settings: &Settings) -> Key {
        let options = format!("{:?} {} {}", self.options, settings.output, std::env::consts::ARCH);
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), &self.bytes, options.as_bytes(), place.as_bytes()];
        parts.iter().fold(Key::START, |key, part| key.with(part))
    }

    /// The answers to all samples: those that are known, and those of runs of the others.
    fn answers(
        &self,
        set: &Set,
        place: &Place,
        name: &str,
        settings: &Settings,
        results: &mut Results,
        progress: &Progress,
    ) -> Result<Answers> {
        let base = self.key(name, settings);
        let mut keys = Vec::new();
        for sample in &set.samples {
            let steps = self.feed.inputs(set.read(sample)?)?.steps;
            keys.push(steps.iter().flatten().fold(base, |key, data| key.with(data.bytes())));
        }
        let missing: Vec<usize> =
            (0..keys.len()).filter(|&index| results.get(keys[index]).is_none()).collect();
        if !missing.is_empty() {
            let of_place = place.options(&self.options);
            let compiled = kiln_codegen::compile(&self.bytes, &self.name, &of_place)?;
            let meaning = kiln_codegen::reference(&self.graph, &self.options)?;
            progress.show(&format!("{name}, building"), 0, missing.len());
            let built = place.build(&meaning, &compiled)?;
            let bytes: usize = self.graph.inputs.iter().map(|&id| self.graph.ty(id).bytes()).sum();
            let most = MOST.0.min(MOST.1 / bytes.max(1)).max(1);
            let (mut done, mut size) = (0, FIRST.min(most));
            while done < missing.len() {
                let batch = &missing[done..(done + size).min(missing.len())];
                let start = Instant::now();
                let steps =
                    batch.iter().map(|&index| Ok(self.feed.inputs(set.read(&set.samples[index])?)?.steps));
                let outcomes = run(&built, steps.collect::<Result<_>>()?, settings.output, self.window)?;
                results.add(batch.iter().map(|&index| keys[index]).zip(outcomes).collect())?;
                done += batch.len();
                progress.show(name, done, missing.len());
                let factor =
                    (seconds_of_run(place) / start.elapsed().as_secs_f64().max(1e-3)).clamp(0.25, 4.0);
                size = ((batch.len() as f64 * factor) as usize).clamp(1, most);
            }
        }
        let ty = self.scores(settings.output)?;
        let outcomes = keys.iter().map(|&key| results.get(key).context("a result is missing"));
        let outcomes = outcomes.collect::<Result<Vec<_>>>()?;
        Ok(Answers {
            scores: outcomes.iter().map(|outcome| pooled(ty, &outcome.outputs, settings.pool)).collect(),
            took: outcomes.iter().map(|outcome| outcome.took).collect(),
            resumed: keys.len() - missing.len(),
        })
    }
}

/// Runs samples, each from a reset: in one run, or in one each where they have several steps.
fn run(
    built: &Built<'_>,
    samples: Vec<Vec<Vec<Data>>>,
    output: usize,
    window: Option<Window>,
) -> Result<Vec<Outcome>> {
    let pick = |ran: &Ran| ran.outputs.get(output).map_or(Vec::new(), |data| data.bytes().to_vec());
    if samples.iter().all(|steps| steps.len() == 1) {
        let cases: Vec<Vec<Data>> = samples.into_iter().flatten().collect();
        let ran = built.run_measured(&cases, false)?;
        return Ok(ran.iter().map(|ran| Outcome { outputs: vec![pick(ran)], took: ran.took }).collect());
    }
    let mut outcomes = Vec::new();
    for steps in samples {
        let ran = match (built, window) {
            (Built::Interp(_), Some(window)) => built.run_measured(&windows(&steps, window), false)?,
            _ => built.run_measured(&steps, true)?,
        };
        outcomes.push(Outcome { outputs: ran.iter().map(pick).collect(), took: mean(&ran) });
    }
    Ok(outcomes)
}

/// The windows of a sample that is given row by row. The interpreter takes no rows.
fn windows(rows: &[Vec<Data>], window: Window) -> Vec<Vec<Data>> {
    if rows.len() < window.rows {
        return rows.to_vec();
    }
    let whole = |rows: &[Vec<Data>]| {
        let bytes: Vec<&[u8]> = rows.iter().flatten().map(Data::bytes).collect();
        vec![Data::new(bytes.concat())]
    };
    rows.windows(window.rows).step_by(window.hop.max(1)).map(whole).collect()
}

/// What a step took, on average.
fn mean(steps: &[Ran]) -> Option<Took> {
    let number = |took: Took| match took {
        Took::Nanos(number) | Took::Cycles(number) => number,
    };
    let sum: u64 = steps.iter().map(|ran| ran.took.map(number)).sum::<Option<u64>>()?;
    let mean = sum / steps.len().max(1) as u64;
    Some(match steps.first()?.took? {
        Took::Nanos(_) => Took::Nanos(mean),
        Took::Cycles(_) => Took::Cycles(mean),
    })
}

/// The real scores of a sample.
fn pooled(ty: &Type, outputs: &[Vec<u8>], pool: Pool) -> Vec<f32> {
    let real = |bytes: &Vec<u8>| -> Vec<f32> {
        let data = Data::new(bytes.clone());
        let (scale, zero) = (ty.scale().unwrap_or(1.0), i64::from(ty.zero_point()));
        match ty.dtype {
            kiln_codegen::ir::DType::F32 => data.to_f32(),
            dtype => data.to_ints(dtype).into_iter().map(|stored| scale * (stored - zero) as f32).collect(),
        }
    };
    // A sliding model has no outputs before its first window is complete.
    let steps: Vec<Vec<f32>> = outputs.iter().filter(|bytes| !bytes.is_empty()).map(real).collect();
    let count = steps.len() as f32;
    let over = |fold: fn(f32, f32) -> f32| {
        let pairs = |a: Vec<f32>, b: Vec<f32>| a.into_iter().zip(b).map(|(a, b)| fold(a, b)).collect();
        steps.clone().into_iter().reduce(pairs).unwrap_or_default()
    };
    match pool {
        Pool::Last => steps.last().cloned().unwrap_or_default(),
        Pool::Max => over(f32::max),
        Pool::Mean => over(|a, b| a + b).into_iter().map(|sum| sum / count).collect(),
    }
}

/// What answers are judged by.
struct Judge<'a> {
    names: &'a [String],
    labels: &'a [usize],
    set: &'a Set,
    settings: &'a Settings,
    detect: Option<usize>,
    seconds: &'a [Option<f64>],
}

impl Judge<'_> {
    fn place(
        &self,
        name: &str,
        board: Option<&Board>,
        answers: &Answers,
        first: Option<&Answers>,
    ) -> PlaceReport {
        let threshold = self.threshold();
        let answer = |scores: &Vec<f32>| metrics::answer(scores, threshold);
        let same = |of: &dyn Fn(&Vec<f32>, &Vec<f32>) -> bool| {
            first.map(|first| first.scores.iter().zip(&answers.scores).filter(|(a, b)| of(a, b)).count())
        };
        PlaceReport {
            place: name.into(),
            measures: self.measures(answers),
            detection: self.detect.map(|class| self.detection(class, answers)),
            latency: latency(&answers.took, board),
            same_answers: same(&|a, b| answer(a) == answer(b)),
            same_scores: same(&|a, b| a.iter().map(|s| s.to_bits()).eq(b.iter().map(|s| s.to_bits()))),
            resumed: answers.resumed,
            wrong: self.wrong(answers),
        }
    }

    fn threshold(&self) -> f32 {
        self.settings.threshold.unwrap_or(0.5)
    }

    fn measures(&self, answers: &Answers) -> Measures {
        Measures::new(self.names, self.labels, &answers.scores, self.threshold(), self.settings.top)
    }

    fn detection(&self, class: usize, answers: &Answers) -> Detection {
        let score = |scores: &Vec<f32>| scores.get(class).or(scores.last()).copied().unwrap_or(f32::NAN);
        let scores: Vec<f32> = answers.scores.iter().map(score).collect();
        let seconds = |index: usize| self.settings.seconds_per_sample.or(self.seconds[index]);
        let samples: Vec<_> =
            scores.iter().enumerate().map(|(k, &s)| (s, self.labels[k] == class, seconds(k))).collect();
        let mut thresholds = self.settings.thresholds.clone();
        if thresholds.is_empty() {
            thresholds = metrics::thresholds(&scores);
        }
        thresholds.sort_by(f32::total_cmp);
        Detection::new(&self.names[class], &samples, &thresholds)
    }

    fn wrong(&self, answers: &Answers) -> Vec<Wrong> {
        let judged = answers.scores.iter().enumerate().map(|(index, scores)| {
            (index, self.labels[index], metrics::answer(scores, self.threshold()), scores)
        });
        let wrong =
            judged.filter(|(_, label, answer, _)| label != answer).map(|(index, label, answer, scores)| {
                Wrong {
                    index,
                    sample: self.set.samples[index].name.clone(),
                    label: self.names[label].clone(),
                    answer: self.names[answer].clone(),
                    score: score_of(scores, answer),
                    label_score: (scores.len() > 1).then(|| score_of(scores, label)),
                }
            });
        wrong.collect()
    }

    /// Another model beside this one, whose answers in its first place these are.
    fn against(&self, model: &str, place: &str, other: &Answers, own: &Answers) -> Against {
        let answer = |scores: &Vec<f32>| metrics::answer(scores, self.threshold());
        let mut against = Against {
            model: model.into(),
            place: place.into(),
            measures: self.measures(other),
            detection: self.detect.map(|class| self.detection(class, other)),
            same_answers: 0,
            both_right: 0,
            only_this: 0,
            only_other: 0,
            both_wrong: 0,
            differing: Vec::new(),
        };
        for (index, (own, other)) in own.scores.iter().zip(&other.scores).enumerate() {
            let (label, own_answer, other_answer) = (self.labels[index], answer(own), answer(other));
            match (own_answer == label, other_answer == label) {
                (true, true) => against.both_right += 1,
                (true, false) => against.only_this += 1,
                (false, true) => against.only_other += 1,
                (false, false) => against.both_wrong += 1,
            }
            if own_answer == other_answer {
                against.same_answers += 1;
                continue;
            }
            against.differing.push(Differing {
                index,
                sample: self.set.samples[index].name.clone(),
                label: self.names[label].clone(),
                answer: self.names[own_answer].clone(),
                score: score_of(own, own_answer),
                other_answer: self.names[other_answer].clone(),
                other_score: score_of(other, other_answer),
            });
        }
        against
    }
}

/// The score of a class; a single one is that of the second.
fn score_of(scores: &[f32], class: usize) -> f32 {
    match scores {
        [score] => *score,
        scores => scores.get(class).copied().unwrap_or(f32::NAN),
    }
}

/// How long samples took, where that is known of all.
fn latency(took: &[Option<Took>], board: Option<&Board>) -> Option<Latency> {
    let cycles = |took: &Option<Took>| match took {
        Some(Took::Cycles(cycles)) => Some(*cycles as f64),
        _ => None,
    };
    let micros = |took: &Option<Took>| match took {
        Some(Took::Nanos(nanos)) => Some(*nanos as f64 / 1e3),
        _ => None,
    };
    if let (Some(cycles), Some(board)) = (took.iter().map(cycles).collect::<Option<Vec<_>>>(), board) {
        return Latency::estimated(cycles, board.clock_hz);
    }
    Latency::measured(took.iter().map(micros).collect::<Option<Vec<_>>>()?)
}
