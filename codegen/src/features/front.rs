//! Features in front of a model: the option `features`. Samples are the input then, and features and network one graph, which runs sample by sample where both do.

use super::graph::Frames;
use super::keys::problem;
use super::tflm;
use super::{Features, Keys};
use kiln_ir::error::{Error, Problem};
use kiln_ir::{DType, Data, Graph, Op, Rounding, Shape, Type, ValueId};

/// Most frames of an input.
const MOST_FRAMES: usize = 1 << 16;
/// Most frames that one inference takes behind features that remember something: each has operators of its own.
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

    /// Puts the features in front of a model, whose only input has as many of them for each of several frames. It is \[1, samples, 1, 1\] then: those of all frames, or the new ones where features remember the frames before.
    ///
    /// # Errors
    /// [`Error::Options`] where the input is none of frames.
    pub fn in_front_of(&self, graph: &mut Graph) -> Result<(), Error> {
        let &[input] = &graph.inputs[..] else {
            let what = format!("the model has {} inputs", graph.inputs.len());
            return Err(refused(
                &what,
                "leave the option out: features come in front of models with one input",
            ));
        };
        let wanted = graph.ty(input).clone();
        let (frames, turned) = self.frames(&wanted)?;
        // In fixed point, each frame has operators of its own. So a model that remembers is given new samples only.
        let goes_on = self.remembers().is_some() || self.fixed && !graph.states.is_empty();
        self.check_steps(graph, frames, goes_on)?;
        // Windows are inside of a stream: it has the frames beside them that deltas take, too.
        let taken = frames + 2 * self.delay();
        let samples = match goes_on {
            true => frames * self.hop,
            false => (taken - 1) * self.hop + self.length(),
        };
        // The samples are the same value, under the name that it has: what read it reads the features in the end.
        let model = std::mem::take(&mut graph.order);
        graph.value_mut(input).ty = Type::plain(self.samples, &[1, samples, 1, 1]);
        let signal = if goes_on { self.continued(graph, input, frames) } else { input };
        let mut y = match &self.tflm {
            Some(tflm) => {
                let before = tflm.noise(graph);
                let mut noise = before;
                let features = self.steps(graph, signal, frames, |graph, window| {
                    let (features, after) = tflm.frame(graph, window, noise);
                    noise = after;
                    features
                });
                tflm::keep(graph, before, noise);
                tflm::converted(graph, features, &wanted)
            }
            None => {
                let mut rows = Frames { graph, lead: vec![1, taken, 1], hop: Some(self.hop) };
                let features = match self.fixed {
                    true => {
                        let flat = self.steps(rows.graph, signal, taken, |graph, window| {
                            let features = self.in_fixed_point(graph, window);
                            shaped(graph, features, Op::Reshape {}, &[self.own()])
                        });
                        shaped(rows.graph, flat, Op::Reshape {}, &[1, taken, 1, self.own()])
                    }
                    false => self.of_samples(&mut rows, signal),
                };
                self.deltas.as_ref().map_or(features, |deltas| deltas.of_window(&mut rows, features))
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

    /// What goes on from frame to frame, so that a window that is computed anew would not have it.
    fn remembers(&self) -> Option<&'static str> {
        match (&self.tflm, &self.pcen) {
            (Some(_), _) => Some("the front end of TensorFlow Lite Micro remembers the noise"),
            (None, Some(_)) => Some("PCEN remembers the average of the frames before"),
            (None, None) => None,
        }
    }

    /// New samples behind those that the first of their frames shares with the frames before, which are a state: \[1, samples, 1, 1\]. A stream begins behind silence.
    fn continued(&self, graph: &mut Graph, samples: ValueId, frames: usize) -> ValueId {
        let [fresh, held] = [frames * self.hop, self.length().saturating_sub(self.hop)];
        if held == 0 {
            return samples;
        }
        let of = |len| Type::plain(self.samples, &[1, len, 1, 1]);
        let silence = Data::new(vec![0u8; held * self.samples.size()]);
        let before = graph.add_state("samples", of(held), silence);
        let op = Op::Concat { axis: 1 };
        let signal = graph.add_node(op, &[before, samples], "samples", of(held + fresh), "features samples");
        let slice = Op::Slice { begin: vec![0, fresh, 0, 0], step: vec![1; 4] };
        let after = graph.add_node(slice, &[signal], "samples", of(held), "features samples");
        tflm::keep(graph, before, after);
        signal
    }

    /// The features of each of some frames of a signal, one after the other.
    fn steps(
        &self,
        graph: &mut Graph,
        signal: ValueId,
        frames: usize,
        mut step: impl FnMut(&mut Graph, ValueId) -> ValueId,
    ) -> ValueId {
        let flat = |len| Type::plain(DType::I16, &[len]);
        let all = graph.ty(signal).shape.numel();
        let signal = shaped(graph, signal, Op::Reshape {}, &[all]);
        let slice = |begin| Op::Slice { begin: vec![begin], step: vec![1] };
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
                let ty = Type::plain(dtype, &[frames * self.own()]);
                graph.add_node(Op::Concat { axis: 0 }, &rows, "features", ty, "features")
            }
        }
    }

    /// Refuses a network that would take all of its frames anew each time, and frames that would be too many, or that are not there.
    fn check_steps(&self, graph: &Graph, frames: usize, goes_on: bool) -> Result<(), Error> {
        if goes_on && self.deltas.is_some() {
            let what = "deltas take frames beside those that are new";
            return Err(refused(what, "use kiln::features!, and give the frames to the model"));
        }
        if let Some(remembered) = self.remembers().filter(|_| frames > 1 && graph.states.is_empty()) {
            let what =
                format!("the model takes {frames} frames at once, and remembers nothing, but {remembered}");
            return Err(refused(
                &what,
                "use kiln::features! and give the frames to the model, which may slide",
            ));
        }
        if frames > MOST_STEPS && (goes_on || self.fixed) {
            let what = format!("the model takes {frames} new frames in each inference");
            return Err(refused(
                &what,
                &format!("they are at most {MOST_STEPS}: use kiln::features!, and give the frames to the model, which may slide"),
            ));
        }
        if self.fixed && self.pcen.is_some() && frames > 1 {
            let what = format!(
                "in fixed point, PCEN goes on for one frame in an inference, and the model takes {frames}"
            );
            return Err(refused(&what, "leave out arithmetic = fixed, or use kiln::features!"));
        }
        Ok(())
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

pub(super) fn shaped(graph: &mut Graph, x: ValueId, op: Op, dims: &[usize]) -> ValueId {
    let ty = Type { shape: Shape(dims.to_vec()), ..graph.ty(x).clone() };
    graph.add_node(op, &[x], "features", ty, "features")
}

fn refused(what: &str, help: &str) -> Error {
    Error::Options(Problem { place: "option `features`".into(), what: what.into(), help: help.into() })
}
