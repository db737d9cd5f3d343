//! The graph of frames: samples in, features out.

use super::front::shaped;
use super::{filters, tflm, Features, Like, Mel};
use kiln_ir::{
    AddRescale, Binary, Clamp, DType, Data, Graph, Op, Padding, Reduction, Rescale, Type, Unary, ValueId,
    Window,
};
use std::ops::Range;

impl Features {
    /// The graph that computes the features of one frame, \[1, [`length`](Features::length)\] to \[1, [`count`](Features::count)\].
    pub fn graph(&self, name: &str) -> Graph {
        let mut graph = Graph::new(name);
        let samples = graph.add_input("samples", Type::plain(self.samples, &[1, self.length()]));
        if let Some(tflm) = &self.tflm {
            let noise = tflm.noise(&mut graph);
            let flat = shaped(&mut graph, samples, Op::Reshape {}, &[self.length()]);
            let (features, after) = tflm.frame(&mut graph, flat, noise);
            tflm::keep(&mut graph, noise, after);
            let features = tflm::converted(&mut graph, features, &Type::plain(tflm.values, &[]));
            let features = shaped(&mut graph, features, Op::Reshape {}, &[1, tflm.channels]);
            graph.outputs.push(features);
            return graph;
        }
        if self.fixed {
            let flat = shaped(&mut graph, samples, Op::Reshape {}, &[self.length()]);
            let features = self.in_fixed_point(&mut graph, flat);
            graph.outputs.push(features);
            return graph;
        }
        let mut frames = Frames { graph: &mut graph, lead: vec![1], hop: None };
        let features = self.of_samples(&mut frames, samples);
        graph.outputs.push(features);
        graph
    }

    /// The features of the frames of some samples.
    pub(super) fn of_samples(&self, frame: &mut Frames<'_>, samples: ValueId) -> ValueId {
        let samples = match self.samples {
            DType::F32 => samples,
            _ => frame.cast(samples),
        };
        let samples = match self.remove_dc {
            true => frame.less_mean(samples),
            false => samples,
        };
        let raw = samples;
        let samples = match self.preemphasis > 0.0 {
            true => self.emphasised(frame, samples),
            false => samples,
        };
        let filters = self.mel.as_ref().map(|mel| mel.filters(self.rate, self.n_fft));
        // Of frequencies that no band has, nothing is computed.
        let of_spectrum = self.energy && self.like == Like::PythonSpeechFeatures;
        let bins = filters.as_ref().filter(|_| !of_spectrum).map_or(0..self.n_fft / 2 + 1, |rows| used(rows));
        let spectrum = self.spectrum(frame, samples, bins.clone());
        let energy = self.energy.then(|| match of_spectrum {
            true => {
                let sum = frame.sum(spectrum);
                frame.log(sum, f64::EPSILON)
            }
            false => self.energy_of(frame, raw),
        });
        let mut features = spectrum;
        if let Some(filters) = &filters {
            let rows: Vec<&[f64]> = filters.iter().filter_map(|row| row.get(bins.clone())).collect();
            features = frame.dense(features, &rows, "mel");
        }
        self.of_bands(frame, features, energy)
    }

    /// What is computed of bands or frequencies, and of the logarithm of a frame's energy.
    pub(super) fn of_bands(
        &self,
        frame: &mut Frames<'_>,
        bands: ValueId,
        energy: Option<ValueId>,
    ) -> ValueId {
        let mut features = self.logarithms(frame, bands);
        if let Some(mel) = &self.mel {
            features = self.cepstrum(frame, features, mel);
        }
        if let Some(energy) = energy {
            // Of a cepstrum, it takes the place of the first coefficient.
            if self.mfcc.is_some() {
                features = frame.slice(features, 1, self.count() - 1);
            }
            features = frame.concat(&[energy, features], self.count());
        }
        features
    }

    /// What an integer sample is multiplied by.
    pub(super) fn scale(&self) -> f64 {
        match self.samples {
            DType::F32 => 1.0,
            _ => self.full_scale / 32768.0,
        }
    }

    /// x(t) − c·x(t − 1), as long as the window.
    fn emphasised(&self, frame: &mut Frames<'_>, samples: ValueId) -> ValueId {
        if frame.hop.is_some() {
            return frame.signal(samples, &[-self.preemphasis as f32, 1.0], 1, 1, "preemphasis");
        }
        let (at, before) = match self.takes_sample_before() {
            true => (frame.slice(samples, 1, self.win_length), frame.slice(samples, 0, self.win_length)),
            // In front of the first sample of each frame stands that sample.
            false => {
                let (first, rest) =
                    (frame.slice(samples, 0, 1), frame.slice(samples, 0, self.win_length - 1));
                (samples, frame.concat(&[first, rest], self.win_length))
            }
        };
        let before = frame.times(before, self.preemphasis);
        frame.like(Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[at, before], at)
    }

    /// Powers or magnitudes of some frequencies.
    fn spectrum(&self, frame: &mut Frames<'_>, samples: ValueId, bins: Range<usize>) -> ValueId {
        let count = bins.len();
        let scaled: Vec<f64> = self.window.iter().map(|w| w * self.scale()).collect();
        let waves = filters::waves(&scaled, self.n_fft, bins);
        let transform = match frame.hop {
            Some(hop) => frame.signal(samples, &waves, 2 * count, hop, "transform"),
            None => frame.layer(samples, &waves, 2 * count, "transform"),
        };
        let squares = frame.unary(Unary::Square, transform);
        let (re, im) = (frame.slice(squares, 0, count), frame.slice(squares, count, count));
        let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
        let powers = frame.like(add, &[re, im], re);
        match self.power {
            1 => frame.unary(Unary::Sqrt, powers),
            _ => powers,
        }
    }

    /// Kaldi's energy of a frame, which is at least 1.
    fn energy_of(&self, frame: &mut Frames<'_>, samples: ValueId) -> ValueId {
        let squares = frame.unary(Unary::Square, samples);
        let sum = frame.sum(squares);
        let sum = match self.scale() {
            1.0 => sum,
            scale => frame.times(sum, scale * scale),
        };
        frame.log(sum, 1.0)
    }

    fn logarithms(&self, frame: &mut Frames<'_>, features: ValueId) -> ValueId {
        let Some(log) = &self.log else { return features };
        let moved = match log.offset {
            0.0 => features,
            offset => frame.plus(features, offset),
        };
        let logs = frame.log(moved, log.floor);
        // A cosine transform has the factor in its weights.
        match log.factor {
            1.0 => logs,
            _ if self.mfcc.is_some() => logs,
            factor => frame.times(logs, factor),
        }
    }

    fn cepstrum(&self, frame: &mut Frames<'_>, logs: ValueId, mel: &Mel) -> ValueId {
        let (Some(mfcc), Some(log)) = (&self.mfcc, &self.log) else { return logs };
        let mut rows = filters::cosines(mfcc.count, mel.bands, self.like != Like::TfSignal);
        // librosa counts coefficients from 1.
        let first = usize::from(self.like == Like::Librosa);
        for (k, row) in rows.iter_mut().enumerate() {
            let lift = match mfcc.lifter {
                0.0 => 1.0,
                lifter => 1.0 + lifter / 2.0 * (std::f64::consts::PI * (k + first) as f64 / lifter).sin(),
            };
            row.iter_mut().for_each(|weight| *weight *= lift * log.factor);
        }
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        frame.dense(logs, &rows, "cepstrum")
    }
}

/// The frequencies between the first and the last that a filter takes; all if there are none.
pub(super) fn used(filters: &[Vec<f64>]) -> Range<usize> {
    let taken = |bin: &usize| filters.iter().any(|row| row.get(*bin).is_some_and(|&weight| weight != 0.0));
    let bins = filters.first().map_or(0, Vec::len);
    let first = (0..bins).find(taken).unwrap_or(0);
    first..(0..bins).rfind(taken).map_or(bins, |last| last + 1)
}

/// The graph as far as it is there. Values are floats, one row for each frame: `lead`, and the row.
pub(super) struct Frames<'g> {
    pub(super) graph: &'g mut Graph,
    pub(super) lead: Vec<usize>,
    /// Samples from a frame to the next, where samples are those of a signal, \[1, samples, 1, 1\], and not those of one frame.
    pub(super) hop: Option<usize>,
}

impl Frames<'_> {
    fn len(&self, value: ValueId) -> usize {
        self.graph.ty(value).shape.last()
    }

    fn dims(&self, len: usize) -> Vec<usize> {
        [&self.lead[..], &[len]].concat()
    }

    fn add(&mut self, op: Op, operands: &[ValueId], dims: &[usize], name: &str) -> ValueId {
        let origin = format!("features {name}");
        self.graph.add_node(op, operands, name, Type::plain(DType::F32, dims), origin)
    }

    fn node(&mut self, op: Op, operands: &[ValueId], len: usize, name: &str) -> ValueId {
        let dims = self.dims(len);
        self.add(op, operands, &dims, name)
    }

    /// An op whose result has the shape of a value.
    fn like(&mut self, op: Op, operands: &[ValueId], shape: ValueId) -> ValueId {
        let name = op.info().name;
        self.node(op, operands, self.len(shape), name)
    }

    fn cast(&mut self, samples: ValueId) -> ValueId {
        let dims = self.graph.ty(samples).shape.dims().to_vec();
        self.add(Op::Cast {}, &[samples], &dims, "cast")
    }

    fn constant(&mut self, dims: &[usize], values: &[f32], name: &str) -> ValueId {
        self.graph.add_const(name, Type::plain(DType::F32, dims), Data::from_f32(values))
    }

    /// A convolution of a signal, without padding.
    fn signal(&mut self, x: ValueId, weights: &[f32], filters: usize, step: usize, name: &str) -> ValueId {
        let taps = weights.len() / filters;
        let samples = self.graph.ty(x).shape.dims()[1];
        let dims = [1, (samples - taps) / step + 1, 1, filters];
        let weights = self.constant(&[filters, taps, 1, 1], weights, name);
        let (size, stride, dilation) = ([taps, 1], [step, 1], [1, 1]);
        let window = Window { size, stride, dilation, pad: Padding::default() };
        self.add(convolution(window), &[x, weights], &dims, name)
    }

    fn unary(&mut self, function: Unary, x: ValueId) -> ValueId {
        self.like(Op::Unary { function }, &[x], x)
    }

    pub(super) fn times(&mut self, x: ValueId, factor: f64) -> ValueId {
        let factor = self.constant(&[1], &[factor as f32], "factor");
        self.like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, factor], x)
    }

    fn plus(&mut self, x: ValueId, offset: f64) -> ValueId {
        let offset = self.constant(&[1], &[offset as f32], "offset");
        self.like(Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, offset], x)
    }

    /// The natural logarithm of what is at least that floor.
    pub(super) fn log(&mut self, x: ValueId, floor: f64) -> ValueId {
        let x = match floor {
            0.0 => x,
            floor => {
                let floor = self.constant(&[1], &[floor as f32], "floor");
                let max =
                    Op::Binary { function: Binary::Max, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
                self.like(max, &[x, floor], x)
            }
        };
        self.unary(Unary::Log, x)
    }

    fn sum(&mut self, x: ValueId) -> ValueId {
        let axes = vec![self.lead.len()];
        let sum = Op::Reduce { function: Reduction::Sum, axes, rescale: Rescale::Real };
        self.node(sum, &[x], 1, "sum")
    }

    fn less_mean(&mut self, x: ValueId) -> ValueId {
        let axes = vec![self.lead.len()];
        let mean = Op::Mean { axes, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let mean = self.node(mean, &[x], 1, "mean");
        self.like(Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, mean], x)
    }

    fn slice(&mut self, x: ValueId, begin: usize, len: usize) -> ValueId {
        let begin = [vec![0; self.lead.len()], vec![begin]].concat();
        self.node(Op::Slice { step: vec![1; begin.len()], begin }, &[x], len, "slice")
    }

    fn concat(&mut self, parts: &[ValueId], len: usize) -> ValueId {
        self.node(Op::Concat { axis: self.lead.len() }, parts, len, "concat")
    }

    fn dense(&mut self, x: ValueId, rows: &[&[f64]], name: &str) -> ValueId {
        let weights: Vec<f32> = rows.iter().flat_map(|row| row.iter().map(|&weight| weight as f32)).collect();
        self.layer(x, &weights, rows.len(), name)
    }

    fn layer(&mut self, x: ValueId, weights: &[f32], rows: usize, name: &str) -> ValueId {
        let columns = self.len(x);
        if self.hop.is_some() {
            // Rows of frames are pixels.
            let weights = self.constant(&[rows, 1, 1, columns], weights, name);
            let (size, stride, dilation) = ([1, 1], [1, 1], [1, 1]);
            let window = Window { size, stride, dilation, pad: Padding::default() };
            return self.node(convolution(window), &[x, weights], rows, name);
        }
        let weights = self.constant(&[rows, columns], weights, name);
        self.node(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, weights], rows, name)
    }
}

fn convolution(window: Window) -> Op {
    let (rescale, clamp) = (Rescale::Real, Clamp::NO_FLOAT);
    Op::Conv2d { window, groups: 1, rescale, clamp, layout: Default::default() }
}
