//! The graph of a frame: samples in, features out.

use super::{filters, Features, Like, Mel};
use kiln_ir::{AddRescale, Binary, Clamp, DType, Data, Graph, Op, Reduction, Rescale, Type, Unary, ValueId};
use std::ops::Range;

impl Features {
    /// The graph that computes the features of one frame, \[1, [`length`](Features::length)\] to \[1, [`count`](Features::count)\].
    pub fn graph(&self, name: &str) -> Graph {
        let mut graph = Graph::new(name);
        let input = graph.add_input("samples", Type::plain(self.samples, &[1, self.length()]));
        let mut frame = Frame { graph };
        let samples = match self.samples {
            DType::F32 => input,
            _ => frame.like(Op::Cast {}, &[input], input),
        };
        let samples = match self.remove_dc {
            true => frame.less_mean(samples),
            false => samples,
        };
        let raw = samples;
        let samples = match self.preemphasis > 0.0 {
            true => self.emphasised(&mut frame, samples),
            false => samples,
        };
        let filters = self.mel.as_ref().map(|mel| mel.filters(self.rate, self.n_fft));
        // Of frequencies that no band has, nothing is computed.
        let of_spectrum = self.energy && self.like == Like::PythonSpeechFeatures;
        let bins = filters.as_ref().filter(|_| !of_spectrum).map_or(0..self.n_fft / 2 + 1, |rows| used(rows));
        let spectrum = self.spectrum(&mut frame, samples, bins.clone());
        let energy = self.energy.then(|| match of_spectrum {
            true => {
                let sum = frame.sum(spectrum);
                frame.log(sum, f64::EPSILON)
            }
            false => self.energy_of(&mut frame, raw),
        });
        let mut features = spectrum;
        if let Some(filters) = &filters {
            let rows: Vec<&[f64]> = filters.iter().filter_map(|row| row.get(bins.clone())).collect();
            features = frame.dense(features, &rows, "mel");
        }
        features = self.logarithms(&mut frame, features);
        if let Some(mel) = &self.mel {
            features = self.cepstrum(&mut frame, features, mel);
        }
        if let Some(energy) = energy {
            // Of a cepstrum, it takes the place of the first coefficient.
            if self.mfcc.is_some() {
                features = frame.slice(features, 1, self.count() - 1);
            }
            features = frame.concat(&[energy, features], self.count());
        }
        frame.graph.outputs.push(features);
        frame.graph
    }

    /// What an integer sample is multiplied by.
    fn scale(&self) -> f64 {
        match self.samples {
            DType::F32 => 1.0,
            _ => self.full_scale / 32768.0,
        }
    }

    /// x(t) − c·x(t − 1), as long as the window.
    fn emphasised(&self, frame: &mut Frame, samples: ValueId) -> ValueId {
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
    fn spectrum(&self, frame: &mut Frame, samples: ValueId, bins: Range<usize>) -> ValueId {
        let count = bins.len();
        let scaled: Vec<f64> = self.window.iter().map(|w| w * self.scale()).collect();
        let waves = filters::waves(&scaled, self.n_fft, bins);
        let transform = frame.layer(samples, &waves, 2 * count, "transform");
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
    fn energy_of(&self, frame: &mut Frame, samples: ValueId) -> ValueId {
        let squares = frame.unary(Unary::Square, samples);
        let sum = frame.sum(squares);
        let sum = match self.scale() {
            1.0 => sum,
            scale => frame.times(sum, scale * scale),
        };
        frame.log(sum, 1.0)
    }

    fn logarithms(&self, frame: &mut Frame, features: ValueId) -> ValueId {
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

    fn cepstrum(&self, frame: &mut Frame, logs: ValueId, mel: &Mel) -> ValueId {
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
fn used(filters: &[Vec<f64>]) -> Range<usize> {
    let taken = |bin: &usize| filters.iter().any(|row| row.get(*bin).is_some_and(|&weight| weight != 0.0));
    let bins = filters.first().map_or(0, Vec::len);
    let first = (0..bins).find(taken).unwrap_or(0);
    first..(0..bins).rfind(taken).map_or(bins, |last| last + 1)
}

/// The graph as far as it is there. All values are rows of floats, [1, n].
struct Frame {
    graph: Graph,
}

impl Frame {
    fn len(&self, value: ValueId) -> usize {
        self.graph.ty(value).shape.last()
    }

    fn node(&mut self, op: Op, operands: &[ValueId], len: usize, name: &str) -> ValueId {
        let origin = format!("features {name}");
        self.graph.add_node(op, operands, name, Type::plain(DType::F32, &[1, len]), origin)
    }

    /// An op whose result has the shape of a value.
    fn like(&mut self, op: Op, operands: &[ValueId], shape: ValueId) -> ValueId {
        let name = op.info().name;
        self.node(op, operands, self.len(shape), name)
    }

    fn constant(&mut self, dims: &[usize], values: &[f32], name: &str) -> ValueId {
        self.graph.add_const(name, Type::plain(DType::F32, dims), Data::from_f32(values))
    }

    fn unary(&mut self, function: Unary, x: ValueId) -> ValueId {
        self.like(Op::Unary { function }, &[x], x)
    }

    fn times(&mut self, x: ValueId, factor: f64) -> ValueId {
        let factor = self.constant(&[1], &[factor as f32], "factor");
        self.like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, factor], x)
    }

    fn plus(&mut self, x: ValueId, offset: f64) -> ValueId {
        let offset = self.constant(&[1], &[offset as f32], "offset");
        self.like(Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, offset], x)
    }

    /// The natural logarithm of what is at least that floor.
    fn log(&mut self, x: ValueId, floor: f64) -> ValueId {
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
        let sum = Op::Reduce { function: Reduction::Sum, axes: vec![1], rescale: Rescale::Real };
        self.node(sum, &[x], 1, "sum")
    }

    fn less_mean(&mut self, x: ValueId) -> ValueId {
        let mean = Op::Mean { axes: vec![1], rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let mean = self.node(mean, &[x], 1, "mean");
        self.like(Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[x, mean], x)
    }

    fn slice(&mut self, x: ValueId, begin: usize, len: usize) -> ValueId {
        self.node(Op::Slice { begin: vec![0, begin], step: vec![1, 1] }, &[x], len, "slice")
    }

    fn concat(&mut self, parts: &[ValueId], len: usize) -> ValueId {
        self.node(Op::Concat { axis: 1 }, parts, len, "concat")
    }

    fn dense(&mut self, x: ValueId, rows: &[&[f64]], name: &str) -> ValueId {
        let weights: Vec<f32> = rows.iter().flat_map(|row| row.iter().map(|&weight| weight as f32)).collect();
        self.layer(x, &weights, rows.len(), name)
    }

    fn layer(&mut self, x: ValueId, weights: &[f32], rows: usize, name: &str) -> ValueId {
        let weights = self.constant(&[rows, self.len(x)], weights, name);
        self.node(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, weights], rows, name)
    }
}
