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
        let mut features = match self.fixed {
            true => {
                let flat = shaped(&mut graph, samples, Op::Reshape {}, &[self.length()]);
                self.in_fixed_point(&mut graph, flat)
            }
            false => {
                let mut frames = Frames { graph: &mut graph, lead: vec![1], hop: None };
                self.of_samples(&mut frames, samples)
            }
        };
        if let Some(deltas) = &self.deltas {
            features = deltas.of_stream(&mut graph, features);
        }
        graph.outputs.push(features);
        graph
    }

    /// The features of the frames of some samples.
    pub(super) fn of_samples(&self, frame: &mut Frames<'_>, samples: ValueId) -> ValueId {
        let samples = match self.samples {
            DType::F32 => samples,
            _ => frame.cast(samples),
        };
        let (raw, samples) = self.changed(frame, samples);
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
        let mut features = match &self.pcen {
            Some(pcen) => pcen.of_frames(frame, bands),
            None => self.logarithms(frame, bands),
        };
        if let Some(mel) = &self.mel {
            features = self.cepstrum(frame, features, mel);
        }
        if let Some(energy) = energy {
            // Of a cepstrum, it takes the place of the first coefficient.
            if self.mfcc.is_some() {
                features = frame.slice(features, 1, self.own() - 1);
            }
            features = frame.concat(&[energy, features], self.own());
        }
        features
    }

    /// Whether the samples of a frame are changed in front of the window, or their energy is a feature.
    fn changes_frames(&self) -> bool {
        self.remove_dc || self.preemphasis > 0.0 || self.energy && self.like == Like::Kaldi
    }

    /// What an integer sample is multiplied by.
    pub(super) fn scale(&self) -> f64 {
        match self.samples {
            DType::F32 => 1.0,
            _ => self.full_scale / 32768.0,
        }
    }

    /// The samples of a frame in front of pre-emphasis, and those of the window, or the signal that windows are of.
    fn changed(&self, frame: &mut Frames<'_>, samples: ValueId) -> (ValueId, ValueId) {
        match frame.hop {
            Some(hop) if self.changes_frames() => self.changed_apart(frame, samples, hop),
            Some(_) => (samples, samples),
            None => {
                let raw = if self.remove_dc { frame.less_mean(samples) } else { samples };
                (raw, if self.preemphasis > 0.0 { self.emphasised(frame, raw) } else { raw })
            }
        }
    }

    /// The same of frames of a signal: each sample of a frame is a filter of the signal.
    fn changed_apart(&self, frame: &mut Frames<'_>, signal: ValueId, hop: usize) -> (ValueId, ValueId) {
        let (length, emphasis) = (self.length(), self.emphasis());
        // Behind pre-emphasis, the mean counts as much less as it is itself emphasised.
        let less_mean = |frame: &mut Frames<'_>, x, part: f64| match self.remove_dc {
            true => {
                let mean = frame.signal(signal, &vec![(part / length as f64) as f32; length], 1, hop, "mean");
                frame.like(Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, mean], x)
            }
            false => x,
        };
        if self.energy && self.like == Like::Kaldi {
            let mut taken = vec![0.0; length * length];
            taken.iter_mut().step_by(length + 1).for_each(|weight| *weight = 1.0);
            let frames = frame.signal(signal, &taken, length, hop, "frames");
            let raw = less_mean(frame, frames, 1.0);
            return (raw, frame.layer(raw, &emphasis, self.win_length, "preemphasis"));
        }
        let frames = frame.signal(signal, &emphasis, self.win_length, hop, "frames");
        let frames = less_mean(frame, frames, 1.0 - self.preemphasis);
        (frames, frames)
    }

    /// What each sample of a window takes of a frame: x(t) − c·x(t − 1).
    fn emphasis(&self) -> Vec<f32> {
        let (length, before) = (self.length(), usize::from(self.takes_sample_before()));
        let row = |t: usize| {
            let mut row = vec![0.0; length];
            // In front of the first sample of each frame stands that sample.
            for (at, weight) in [(t + before, 1.0), ((t + before).saturating_sub(1), -self.preemphasis)] {
                row.iter_mut().skip(at).take(1).for_each(|sum| *sum += weight);
            }
            row
        };
        (0..self.win_length).flat_map(row).map(|weight: f64| weight as f32).collect()
    }

    /// x(t) − c·x(t − 1) of the samples of a frame, as long as the window.
    fn emphasised(&self, frame: &mut Frames<'_>, samples: ValueId) -> ValueId {
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
            Some(hop) if !self.changes_frames() => frame.signal(samples, &waves, 2 * count, hop, "transform"),
            _ => frame.layer(samples, &waves, 2 * count, "transform"),
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
        self.add(convolution(window, 1), &[x, weights], &dims, name)
    }

    /// A sum over the rows of each feature, \[1, rows, 1, features\].
    pub(super) fn along(&mut self, x: ValueId, taps: &[f64], name: &str) -> ValueId {
        let (rows, count) = (self.graph.ty(x).shape.dims()[1], self.len(x));
        let weights: Vec<f32> = (0..count).flat_map(|_| taps.iter().map(|&tap| tap as f32)).collect();
        let weights = self.constant(&[count, taps.len(), 1, 1], &weights, name);
        let (size, stride, dilation) = ([taps.len(), 1], [1, 1], [1, 1]);
        let window = Window { size, stride, dilation, pad: Padding::default() };
        let dims = [1, (rows + 1).saturating_sub(taps.len()), 1, count];
        self.add(convolution(window, count), &[x, weights], &dims, name)
    }

    /// Features side by side, of as many rows.
    pub(super) fn joined(&mut self, parts: &[ValueId]) -> ValueId {
        let dims = parts.first().map(|&part| self.graph.ty(part).shape.dims().to_vec());
        let mut dims = dims.unwrap_or_default();
        if let Some(last) = dims.last_mut() {
            *last = parts.iter().map(|&part| self.len(part)).sum();
        }
        self.add(Op::Concat { axis: dims.len().saturating_sub(1) }, parts, &dims, "concat")
    }

    pub(super) fn unary(&mut self, function: Unary, x: ValueId) -> ValueId {
        self.like(Op::Unary { function }, &[x], x)
    }

    pub(super) fn times(&mut self, x: ValueId, factor: f64) -> ValueId {
        let factor = self.constant(&[1], &[factor as f32], "factor");
        self.like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, factor], x)
    }

    pub(super) fn product(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, y], x)
    }

    pub(super) fn plus(&mut self, x: ValueId, offset: f64) -> ValueId {
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
        if self.hop.is_some() {
            return self.layer(x, &vec![1.0; self.len(x)], 1, "sum");
        }
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
            return self.node(convolution(window, 1), &[x, weights], rows, name);
        }
        let weights = self.constant(&[rows, columns], weights, name);
        self.node(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, weights], rows, name)
    }
}

fn convolution(window: Window, groups: usize) -> Op {
    let (rescale, clamp) = (Rescale::Real, Clamp::NO_FLOAT);
    Op::Conv2d { window, groups, rescale, clamp, layout: Default::default() }
}
