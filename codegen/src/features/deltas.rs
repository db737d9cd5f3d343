//! Deltas: how features change from frame to frame, and how that changes. They are sums over frames before and behind, so that those of a frame are known some frames later.
//!
//! A whole window of frames has them where all frames that they are made of are inside of it. A stream remembers frames. In front of its first one stands that frame, as often as packages repeat it there.

use super::graph::Frames;
use super::keys::{problem, Keys};
use super::Like;
use kiln_ir::error::Error;
use kiln_ir::{
    AddRescale, Binary, Clamp, CompareRescale, Comparison, DType, Data, Graph, Op, Rescale, Type, ValueId,
};

/// Deltas of features, which follow them in each frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Deltas {
    /// Velocity, or velocity and acceleration.
    orders: usize,
    /// Frames on either side that one sum takes.
    reach: usize,
    acceleration: Acceleration,
}

/// What acceleration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acceleration {
    /// The velocity of velocities, of which the first one is repeated in front of a signal.
    OfVelocities,
    /// The same of features that are repeated.
    OfFeatures,
    /// That of a parabola through features: the filter of Savitzky and Golay.
    Parabola,
}

/// What a description says of deltas.
pub(super) fn of(keys: &Keys, like: Like) -> Result<Option<Deltas>, Error> {
    let Some(orders) = keys.count("deltas") else {
        return match keys.has("delta_width") {
            true => {
                Err(problem("delta_width", "there are no deltas", "say deltas = 1 or 2, or leave it out"))
            }
            false => Ok(None),
        };
    };
    let (width, acceleration) = match like {
        Like::Librosa => (9, Acceleration::Parabola),
        Like::Kaldi => (5, Acceleration::OfFeatures),
        Like::Torchaudio | Like::PythonSpeechFeatures => (5, Acceleration::OfVelocities),
        _ => return Err(problem("deltas", &format!("{} has none", like.name()), "leave it out")),
    };
    let width = keys.count("delta_width").unwrap_or(width);
    if width < 3 || width % 2 == 0 {
        let what = format!("a delta of {width} frames");
        return Err(problem(
            "delta_width",
            &what,
            "they are an odd number of at least 3: as many before a frame as behind it",
        ));
    }
    Ok(Some(Deltas { orders, reach: width / 2, acceleration }))
}

impl Deltas {
    /// How many times as many features a frame has with them.
    pub(super) fn times(&self) -> usize {
        1 + self.orders
    }

    /// Frames behind a frame without which its deltas are not known.
    pub(super) fn delay(&self) -> usize {
        match self.acceleration {
            Acceleration::Parabola => self.reach,
            _ => self.orders * self.reach,
        }
    }

    /// Σ n·x(t + n) / Σ n².
    fn velocity(&self) -> Vec<f64> {
        let places = self.places();
        let squares: f64 = places.iter().map(|n| n * n).sum();
        places.iter().map(|n| n / squares).collect()
    }

    fn places(&self) -> Vec<f64> {
        (0..=2 * self.reach).map(|at| at as f64 - self.reach as f64).collect()
    }

    fn acceleration(&self) -> Vec<f64> {
        if self.acceleration == Acceleration::Parabola {
            // What a parabola of these squares has, less its mean, is the part of it that features take.
            let squares: Vec<f64> = self.places().iter().map(|n| n * n).collect();
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            let sum: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
            return squares.iter().map(|square| 2.0 * (square - mean) / sum).collect();
        }
        let velocity = self.velocity();
        let mut both = vec![0.0; 2 * velocity.len() - 1];
        for (at, first) in velocity.iter().enumerate() {
            both.iter_mut().skip(at).zip(&velocity).for_each(|(sum, second)| *sum += first * second);
        }
        both
    }

    /// What features and their deltas take of the frames around them, in order: filters of as many taps.
    fn filters(&self) -> Vec<Vec<f64>> {
        let taps = 2 * self.delay() + 1;
        let filters = [vec![1.0], self.velocity(), self.acceleration()];
        filters.iter().take(self.times()).map(|filter| middle(filter, taps)).collect()
    }

    /// Those of the frames of a window, \[1, frames, 1, features\], that have as many frames in front of them and behind them as they need.
    pub(super) fn of_window(&self, frames: &mut Frames<'_>, features: ValueId) -> ValueId {
        let parts: Vec<ValueId> =
            self.filters().iter().map(|filter| frames.along(features, filter, "deltas")).collect();
        frames.joined(&parts)
    }

    /// Those of a stream of frames, \[1, features\], of which one comes at a time: of the frame that was there [`delay`](Self::delay) frames before.
    pub(super) fn of_stream(&self, graph: &mut Graph, features: ValueId) -> ValueId {
        let (count, delay) = (graph.ty(features).shape.last(), self.delay());
        let frame = graph.add_node(
            Op::Reshape {},
            &[features],
            "frame",
            Type::plain(DType::F32, &[1, 1, 1, count]),
            "features deltas",
        );
        let heard = heard(graph, delay + 1);
        let all = history(graph, frame, 2 * delay, heard, 1);
        let mut frames = Frames { graph, lead: vec![1, 1, 1], hop: Some(1) };
        let twice = self.orders == 2 && self.acceleration == Acceleration::OfVelocities;
        let parts: Vec<ValueId> = match twice {
            false => self.filters().iter().map(|filter| frames.along(all, filter, "deltas")).collect(),
            true => {
                let taps = 2 * delay + 1;
                let own = frames.along(all, &middle(&[1.0], taps), "deltas");
                // The velocity of a frame that is as far back as one sum reaches.
                let velocity = self.velocity();
                let latest = [vec![0.0; taps - velocity.len()], velocity.clone()].concat();
                let latest = frames.along(all, &latest, "velocity");
                let velocities = history(frames.graph, latest, 2 * self.reach, heard, self.reach + 1);
                let at = frames.along(velocities, &middle(&[1.0], velocity.len()), "deltas");
                vec![own, at, frames.along(velocities, &velocity, "deltas")]
            }
        };
        let all = frames.joined(&parts);
        let ty = Type::plain(DType::F32, &[1, self.times() * count]);
        graph.add_node(Op::Reshape {}, &[all], "deltas", ty, "features deltas")
    }
}

/// A filter in the middle of so many taps.
fn middle(filter: &[f64], taps: usize) -> Vec<f64> {
    let aside = vec![0.0; taps.saturating_sub(filter.len()) / 2];
    [&aside[..], filter, &aside[..]].concat()
}

/// How many frames there were before this one: a state, which counts up to that number.
fn heard(graph: &mut Graph, most: usize) -> ValueId {
    let number = |number: usize| Data::from_f32(&[number as f32]);
    let ty = Type::plain(DType::F32, &[1]);
    let before = graph.add_state("heard", ty.clone(), number(0));
    let [one, most] = [1, most].map(|count| graph.add_const("frames", ty.clone(), number(count)));
    let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
    let next = graph.add_node(add, &[before, one], "heard", ty.clone(), "features deltas");
    let min = Op::Binary { function: Binary::Min, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    let next = graph.add_node(min, &[next, most], "heard", ty, "features deltas");
    super::tflm::keep(graph, before, next);
    before
}

/// The rows before this one, as many as that, and the row itself. As long as fewer than `filled` frames were heard, those before are the row, too.
fn history(graph: &mut Graph, row: ValueId, rows: usize, heard: ValueId, filled: usize) -> ValueId {
    let count = graph.ty(row).shape.last();
    let of = |rows| Type::plain(DType::F32, &[1, rows, 1, count]);
    let origin = "features deltas";
    let before = graph.add_state("frames", of(rows), Data::from_f32(&vec![0.0; rows * count]));
    let limit = Data::from_f32(&[filled as f32]);
    let limit = graph.add_const("filled", Type::plain(DType::F32, &[1]), limit);
    let less = Op::Compare { function: Comparison::Less, rescale: CompareRescale::Stored };
    let early = graph.add_node(less, &[heard, limit], "early", Type::plain(DType::Bool, &[1]), origin);
    let known = graph.add_node(Op::Select {}, &[early, row, before], "frames", of(rows), origin);
    let all = graph.add_node(Op::Concat { axis: 1 }, &[known, row], "frames", of(rows + 1), origin);
    let slice = Op::Slice { begin: vec![0, 1, 0, 0], step: vec![1; 4] };
    let next = graph.add_node(slice, &[all], "frames", of(rows), origin);
    super::tflm::keep(graph, before, next);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(orders: usize, reach: usize, acceleration: Acceleration) -> Deltas {
        Deltas { orders, reach, acceleration }
    }

    /// Of parabolas, both are exact.
    #[test]
    fn filters_are_derivatives() {
        for acceleration in [Acceleration::OfVelocities, Acceleration::OfFeatures, Acceleration::Parabola] {
            let deltas = deltas(2, 3, acceleration);
            let delay = deltas.delay() as f64;
            let parabola = |at: usize| 5.0 + 3.0 * (at as f64 - delay) + 0.5 * (at as f64 - delay).powi(2);
            let applied = |filter: &Vec<f64>| {
                filter.iter().enumerate().map(|(at, weight)| weight * parabola(at)).sum::<f64>()
            };
            let values: Vec<f64> = deltas.filters().iter().map(applied).collect();
            let expected = [5.0, 3.0, 1.0];
            assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{values:?}");
        }
    }
}
