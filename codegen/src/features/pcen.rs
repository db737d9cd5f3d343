//! Per-channel energy normalisation (Wang et al., "Trainable frontend for robust and far-field keyword spotting", 2017), as `librosa.pcen` computes it: bands are divided by what they were on average, and compressed.
//!
//! M(t) = (1 − b)·M(t − 1) + b·S(t), and the result is (S / (eps + M)^gain + bias)^power − bias^power. The average goes on from frame to frame: it is a state, which begins with 1.

use super::graph::Frames;
use super::keys::{problem, Keys};
use super::tflm::keep;
use kiln_ir::error::Error;
use kiln_ir::{AddRescale, Clamp, DType, Data, Op, Type, Unary, ValueId};

/// The keys that only PCEN has.
const KEYS: [&str; 6] = ["pcen_gain", "pcen_bias", "pcen_power", "pcen_time_constant", "pcen_eps", "pcen_b"];

/// The normalisation, in which everything is decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pcen {
    gain: f64,
    bias: f64,
    power: f64,
    eps: f64,
    /// What the average takes of a frame.
    b: f64,
}

/// What a description says of it.
pub(super) fn of(keys: &Keys, rate: usize, hop: usize) -> Result<Option<Pcen>, Error> {
    if keys.word("log") != Some("pcen") {
        return match KEYS.into_iter().find(|key| keys.has(key)) {
            Some(key) => Err(problem(key, "there is no PCEN", "say log = \"pcen\", or leave it out")),
            None => Ok(None),
        };
    }
    for key in ["pcen_eps", "pcen_time_constant", "pcen_b"] {
        if keys.real(key) == Some(0.0) {
            return Err(problem(key, "it is 0", "it is a number of more than 0"));
        }
    }
    if keys.has("pcen_b") && keys.has("pcen_time_constant") {
        let what = "the time constant is that of another average";
        return Err(problem("pcen_b", what, "say one of pcen_b and pcen_time_constant"));
    }
    let frames = keys.real("pcen_time_constant").unwrap_or(0.4) * rate as f64 / hop as f64;
    let b =
        keys.real("pcen_b").unwrap_or(((1.0 + 4.0 * frames * frames).sqrt() - 1.0) / (2.0 * frames * frames));
    if b > 1.0 {
        return Err(problem("pcen_b", "it is a share of more than 1", "it is a number from 0 to 1"));
    }
    Ok(Some(Pcen {
        gain: keys.real("pcen_gain").unwrap_or(0.98),
        bias: keys.real("pcen_bias").unwrap_or(2.0),
        power: keys.real("pcen_power").unwrap_or(0.5),
        eps: keys.real("pcen_eps").unwrap_or(1e-6),
        b,
    }))
}

impl Pcen {
    /// The bands of some frames, normalised.
    pub(super) fn of_frames(&self, frame: &mut Frames<'_>, bands: ValueId) -> ValueId {
        let average = self.averages(frame, bands);
        let average = frame.plus(average, self.eps);
        let logs = frame.log(average, 0.0);
        let logs = frame.times(logs, -self.gain);
        let gain = frame.unary(Unary::Exp, logs);
        let bands = frame.product(bands, gain);
        let powers = |frame: &mut Frames<'_>, x| match self.power {
            0.5 => frame.unary(Unary::Sqrt, x),
            1.0 => x,
            power => {
                let logs = frame.log(x, 0.0);
                let logs = frame.times(logs, power);
                frame.unary(Unary::Exp, logs)
            }
        };
        match (self.power, self.bias) {
            (0.0, _) => {
                let bands = frame.plus(bands, 1.0);
                frame.log(bands, 0.0)
            }
            (_, 0.0) => powers(frame, bands),
            (power, bias) => {
                let bands = frame.plus(bands, bias);
                let bands = powers(frame, bands);
                frame.plus(bands, -bias.powf(power))
            }
        }
    }

    /// M(t) of each frame.
    fn averages(&self, frame: &mut Frames<'_>, bands: ValueId) -> ValueId {
        let shares = frame.times(bands, self.b);
        let dims = frame.graph.ty(bands).shape.dims().to_vec();
        let rows = if dims.len() > 2 { dims[1] } else { 1 };
        let row = Type::plain(DType::F32, &[&vec![1; dims.len() - 1][..], &dims[dims.len() - 1..]].concat());
        let origin = "features pcen";
        let before = Data::from_f32(&vec![1.0; row.shape.numel()]);
        let before = frame.graph.add_state("average", row.clone(), before);
        let mut average = before;
        let mut averages = Vec::new();
        for at in 0..rows {
            let lead = vec![1; dims.len() - 1];
            let mut one = Frames { graph: &mut *frame.graph, lead, hop: frame.hop };
            let held = one.times(average, 1.0 - self.b);
            let begin: Vec<usize> = (0..dims.len()).map(|axis| if axis == 1 { at } else { 0 }).collect();
            let slice = Op::Slice { step: vec![1; dims.len()], begin };
            let share = match rows {
                1 => shares,
                _ => frame.graph.add_node(slice, &[shares], "row", row.clone(), origin),
            };
            let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
            average = frame.graph.add_node(add, &[held, share], "average", row.clone(), origin);
            averages.push(average);
        }
        keep(frame.graph, before, average);
        match rows {
            1 => average,
            _ => {
                let ty = Type::plain(DType::F32, &dims);
                frame.graph.add_node(Op::Concat { axis: 1 }, &averages, "averages", ty, origin)
            }
        }
    }
}
