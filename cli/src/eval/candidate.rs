//! Models and their answers: what is known already, and runs of the rest.

use super::results::{Key, Outcome, Results};
use super::set::Set;
use super::{Pool, Settings};
use crate::place::{Built, Place, Ran, Took};
use crate::progress::Progress;
use anyhow::{bail, Context, Result};
use kiln_codegen::features::Features;
use kiln_codegen::ir::options::StatePair;
use kiln_codegen::ir::{DType, Data, Graph, Type, ValueId};
use kiln_codegen::{Input, Options};
use kiln_tools::cases::feed::{Feed, Window};
use std::path::Path;
use std::time::Instant;

/// A model with the inputs that it makes of samples.
pub(super) struct Candidate {
    pub(super) name: String,
    bytes: Vec<u8>,
    options: Options,
    pub(super) graph: Graph,
    pub(super) feed: Feed,
    /// Of a sliding model.
    window: Option<Window>,
}

/// What a model answers in one place.
pub(super) struct Answers {
    /// The scores of each sample.
    pub(super) scores: Vec<Vec<f32>>,
    pub(super) took: Vec<Option<Took>>,
    /// How many of them were known before.
    pub(super) resumed: usize,
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
    pub(super) fn read(model: &Path, options: &Options, settings: &Settings) -> Result<Candidate> {
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

    /// Another model that answers the same samples. It keeps the same states, if it has them, and gets the same features in front of it, unless it takes as much as the first model with them.
    pub(super) fn beside(
        first: &Candidate,
        model: &Path,
        options: &Options,
        settings: &Settings,
    ) -> Result<Candidate> {
        let mut own = Options {
            float: options.float,
            reference: options.reference,
            qdq: options.qdq,
            input: if options.input == Input::Sliding { Input::Sliding } else { Input::Whole },
            ..Options::default()
        };
        let import = |own: &Options| -> Result<Graph> {
            Ok(kiln_codegen::import(&kiln_codegen::read_file(model)?, &kiln_codegen::model_name(model), own)?)
        };
        let graph = import(&own)?;
        let has = |ids: &[ValueId], name: &str| ids.iter().any(|&id| graph.value(id).name == name);
        let kept = |pair: &&StatePair| has(&graph.outputs, &pair.output) && has(&graph.inputs, &pair.input);
        own.states = options.states.iter().filter(kept).cloned().collect();
        let graph = import(&own)?;
        let sizes = |graph: &Graph| -> Vec<usize> {
            graph.inputs.iter().map(|&id| graph.ty(id).shape.numel()).collect()
        };
        if sizes(&graph) != sizes(&first.graph) {
            own.features.clone_from(&options.features);
        }
        Candidate::read(model, &own, settings)
    }

    /// The type of the output with the scores: one axis of them.
    pub(super) fn scores(&self, output: usize) -> Result<&Type> {
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

    /// Refuses recordings whose rate is not that of the features in front of the model.
    pub(super) fn check_rate(&self, rate: u32) -> Result<()> {
        let Some(features) = &self.options.features else { return Ok(()) };
        let wanted = Features::of_text(features)?.sample_rate();
        if usize::try_from(rate)? != wanted {
            bail!("it has {rate} samples per second, the features in front of the model are made for {wanted}\n    help: resample the files, for example with `ffmpeg -i IN.wav -ar {wanted} OUT.wav`");
        }
        Ok(())
    }

    /// What all results in a place depend on.
    fn key(&self, place: &str, settings: &Settings) -> Key {
        let options = format!("{:?} {} {}", self.options, settings.output, std::env::consts::ARCH);
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), &self.bytes, options.as_bytes(), place.as_bytes()];
        parts.iter().fold(Key::START, |key, part| key.with(part))
    }

    /// The answers to all samples: those that are known, and those of runs of the others.
    pub(super) fn answers(
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
            DType::F32 => data.to_f32(),
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
