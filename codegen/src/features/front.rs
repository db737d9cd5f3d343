//! Features in front of a model: the option `features`. Samples are the input then, and features and network one graph, which runs sample by sample where both do.

use super::graph::Frames;
use super::keys::problem;
use super::tflm;
use super::{Features, Keys, Like};
use kiln_ir::error::{Error, Problem};
use kiln_ir::{DType, Graph, Op, Rounding, Shape, Type, ValueId};

/// Most frames of an input.
const MOST_FRAMES: usize = 1 << 16;
/// Most frames of integers that one inference takes: each has operators of its own.
const MOST_STEPS: usize = 16;

impl Features {
    /// Reads the option: the package, and keys with their values: `librosa, sample_rate = 16000, hop = 160`.
    ///
    /// # Errors
    /// [`Error::Options`] of the option, with the key that is missing or does not fit.
    pub fn of_text(text: &str) -> Result<Features, Error> {
        Features::read(text).map_err(|error| match error {
            Error::Options(problem) => {
                Error::Options(Problem { place: format!("option `features`, {}", problem.place), ..problem })
            }
            other => other,
        })
    }

    fn read(text: &str) -> Result<Features, Error> {
        let mut keys = Keys::default();
        for (at, part) in text.split(',').map(str::trim).enumerate() {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                None if at == 0 => ("like", part),
                None => {
                    let help =
                        "write keys and values behind the package: librosa, sample_rate = 16000, hop = 160";
                    return Err(problem(part, "it has no value", help));
                }
            };
            keys.set(key, value.trim_matches('"'))?;
        }
        Features::of(&keys)
    }

    /// Puts the features in front of a model, whose only input has as many of them for each of several frames. It is \[1, samples, 1, 1\] then: those of all frames, or behind TensorFlow Lite Micro's front end the new ones.
    ///
    /// # Errors
    /// [`Error::Options`] where the input is none of frames, or features change each frame before its window.
    pub fn in_front_of(&self, graph: &mut Graph) -> Result<(), Error> {
        self.check_stream()?;
        let &[input] = &graph.inputs[..] else {
            let what = format!("the model has {} inputs", graph.inputs.len());
            return Err(refused(
                &what,
                "leave the option out: features come in front of models with one input",
            ));
        };
        let wanted = graph.ty(input).clone();
        let (frames, turned) = self.frames(&wanted)?;
        // In fixed point, each frame has operators of its own. A model that remembers takes new samples only.
        let remembers = self.tflm.is_some() || self.fixed && !graph.states.is_empty();
        if self.fixed {
            check_steps(graph, self, frames)?;
        }
        let samples = match remembers {
            true => frames * self.hop,
            false => (frames - 1) * self.hop + self.length(),
        };
        // The samples are the same value, under the name that it has: what read it reads the features in the end.
        let model = std::mem::take(&mut graph.order);
        graph.value_mut(input).ty = Type::plain(self.samples, &[1, samples, 1, 1]);
        let mut y = match &self.tflm {
            Some(tflm) => {
                let before = tflm.noise(graph);
                let mut noise = before;
                let features = self.steps(graph, input, frames, remembers, |graph, window| {
                    let (features, after) = tflm.frame(graph, window, noise);
                    noise = after;
                    features
                });
                tflm::keep(graph, before, noise);
                tflm::converted(graph, features, &wanted)
            }
            None if self.fixed => self.steps(graph, input, frames, remembers, |graph, window| {
                let features = self.in_fixed_point(graph, window);
                shaped(graph, features, Op::Reshape {}, &[self.count()])
            }),
            None => {
                let mut rows = Frames { graph, lead: vec![1, frames, 1], hop: Some(self.hop) };
                self.of_samples(&mut rows, input)
            }
        };
        let dims = wanted.shape.dims();
        if turned {
            let [frames, count] = [frames, self.count()];
            y = shaped(graph, y, Op::Reshape {}, &[frames, count]);
            y = shaped(graph, y, Op::Transpose { perm: vec![1, 0] }, &[count, frames]);
        }
        if graph.ty(y).shape.dims() != dims {
            y = shaped(graph, y, Op::Reshape {}, dims);
        }
        if graph.ty(y).dtype != wanted.dtype {
            let op = Op::Quantize { rounding: Rounding::Away };
            y = graph.add_node(op, &[y], "quantized", wanted.clone(), "features quantize");
        }
        let used = |id: &mut ValueId| {
            if *id == input {
                *id = y;
            }
        };
        model.iter().for_each(|&id| graph.node_mut(id).operands.iter_mut().for_each(used));
        graph.outputs.iter_mut().for_each(used);
        graph.states.iter_mut().for_each(|state| used(&mut state.next));
        graph.order.extend(model);
        Ok(())
    }

    /// The features of each of some frames, one after the other. If only samples come that complete new frames, what the next frames share with these is a state; a stream begins behind silence.
    fn steps(
        &self,
        graph: &mut Graph,
        samples: ValueId,
        frames: usize,
        remembers: bool,
        mut step: impl FnMut(&mut Graph, ValueId) -> ValueId,
    ) -> ValueId {
        let fresh = graph.ty(samples).shape.dims().iter().product();
        let held = if remembers { self.length().saturating_sub(self.hop) } else { 0 };
        let flat = |len| Type::plain(DType::I16, &[len]);
        let mut signal = shaped(graph, samples, Op::Reshape {}, &[fresh]);
        let slice = |begin| Op::Slice { begin: vec![begin], step: vec![1] };
        if held > 0 {
            let before = tflm::state(graph, "samples", DType::I16, held);
            let op = Op::Concat { axis: 0 };
            signal = graph.add_node(op, &[before, signal], "samples", flat(held + fresh), "features samples");
            let after = graph.add_node(slice(fresh), &[signal], "samples", flat(held), "features samples");
            tflm::keep(graph, before, after);
        }
        let mut rows = Vec::new();
        for frame in 0..frames {
            let ty = flat(self.length());
            let window = graph.add_node(slice(frame * self.hop), &[signal], "frame", ty, "features frame");
            rows.push(step(graph, window));
        }
        match rows[..] {
            [only] => only,
            _ => {
                let dtype = rows.first().map_or(DType::F32, |&row| graph.ty(row).dtype);
                let ty = Type::plain(dtype, &[frames * self.count()]);
                graph.add_node(Op::Concat { axis: 0 }, &rows, "features", ty, "features")
            }
        }
    }

    /// Refuses what a stream of samples does not have.
    fn check_stream(&self) -> Result<(), Error> {
        let per_frame = self.remove_dc || self.preemphasis > 0.0 && !self.takes_sample_before();
        if self.fixed {
            return Ok(());
        }
        let help = "use kiln::features! and give the model its frames";
        match () {
            () if per_frame => Err(refused(
                "it changes the samples of each frame before the window (remove_dc, preemphasis)",
                help,
            )),
            () if self.energy && self.like == Like::Kaldi => {
                Err(refused("the energy of samples is a feature", help))
            }
            () => Ok(()),
        }
    }

    /// How many frames an input has, and whether features come before frames.
    fn frames(&self, input: &Type) -> Result<(usize, bool), Error> {
        let long: Vec<usize> = input.shape.dims().iter().copied().filter(|&dim| dim != 1).collect();
        let count = self.count();
        let is_number = input.dtype == DType::F32 || input.quant.is_some();
        let allowed = |frames: usize| (1..=MOST_FRAMES).contains(&frames);
        match long[..] {
            [frames, own] if own == count && is_number && allowed(frames) => Ok((frames, false)),
            [own, frames] if own == count && is_number && allowed(frames) => Ok((frames, true)),
            [own] if own == count && is_number => Ok((1, false)),
            _ => {
                let what = format!("the input {input} is none of frames of {count} features");
                Err(refused(&what, "set n_mels, n_mfcc or output as in training"))
            }
        }
    }
}

/// Refuses a network that would take all of its frames anew each time where the estimate of noise goes on from frame to frame, and one with too many frames.
fn check_steps(graph: &Graph, features: &Features, frames: usize) -> Result<(), Error> {
    if features.tflm.is_some() && frames > 1 && graph.states.is_empty() {
        let what = format!("the model takes {frames} frames at once, and remembers nothing, but the front end of TensorFlow Lite Micro remembers the noise");
        return Err(refused(&what, "use kiln::features! and give the frames to the model, which may slide"));
    }
    if frames > MOST_STEPS {
        let what = format!("the model takes {frames} new frames in each inference");
        return Err(refused(
            &what,
            &format!("in integers they are at most {MOST_STEPS}: use kiln::features!, and give the frames to the model, which may slide"),
        ));
    }
    Ok(())
}

pub(super) fn shaped(graph: &mut Graph, x: ValueId, op: Op, dims: &[usize]) -> ValueId {
    let ty = Type { shape: Shape(dims.to_vec()), ..graph.ty(x).clone() };
    graph.add_node(op, &[x], "features", ty, "features")
}

fn refused(what: &str, help: &str) -> Error {
    Error::Options(Problem { place: "option `features`".into(), what: what.into(), help: help.into() })
}
