//! Front ends of integers only: that of TensorFlow Lite Micro's micro_speech example, by the operators of its audio preprocessors; TensorFlow Lite's microfrontend; and that of the package pymicro-features, with which micro-wake-word
//! models are trained.
//!
//! Windows become energies of frequencies, and these the loudness of channels that are as wide as the ear hears them (mel), less the noise, with an automatic gain (PCAN), as logarithms. The estimate of noise is a state of the graph.
//!
//! They compute the same with other constants. TensorFlow Lite Micro's come from Python tools, which cut off what the weights of channels have behind their last bit. The microfrontend rounds them.
//! pymicro-features computes them in float32. So some features differ by one.

use super::keys::{problem, Keys};
use super::{Features, Like, Start};
use kiln_ir::error::Error;
use kiln_ir::{
    AddRescale, Binary, Clamp, DType, Data, Graph, Op, Quant, Rescale, Rounding, Signal, Type, ValueId,
};
use std::f64::consts::PI;

/// Keys that only this front end has.
pub(super) const KEYS: [&str; 9] = [
    "values",
    "even_smoothing",
    "odd_smoothing",
    "min_signal_remaining",
    "clamping",
    "pcan",
    "pcan_strength",
    "pcan_offset",
    "pcan_gain_bits",
];
/// The keys that it shares with others.
const SHARED: [&str; 9] =
    ["like", "sample_rate", "samples", "n_fft", "win_length", "hop", "n_mels", "f_min", "f_max"];

/// Bits of fraction of the window, of the weights of channels, of smoothing factors and of estimates of noise.
const WINDOW_BITS: u32 = 12;
const WEIGHT_BITS: u32 = 12;
const SMOOTHING_BITS: u32 = 10;
const FACTOR_BITS: u32 = 14;
/// Bits of fraction behind the automatic gain, and of the logarithm.
const SNR_BITS: u32 = 12;
const LOG_BITS: u32 = 6;
/// The shortest transform that leaves energies the bits of fraction that roots take.
const SHORTEST: usize = 64;
/// What a feature is multiplied by where models take floats, so that they go from 0 to about 26: 1/25.6.
const FACTOR: f32 = 0.039_062_5;
/// The scale of int8 inputs that take 256/666 of a feature, and not the float divided by the scale.
const INT8_SCALE: f32 = 0.101_562_5;

/// The front end, in which everything is decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tflm {
    /// Whose constants these are.
    like: Like,
    rate: usize,
    length: usize,
    n_fft: usize,
    pub(super) channels: usize,
    lower: f32,
    upper: f32,
    smoothing: [f64; 2],
    min_signal_remaining: f64,
    clamping: bool,
    pcan: Option<Pcan>,
    /// The type of features.
    pub(super) values: DType,
}

/// The automatic gain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pcan {
    strength: f32,
    offset: f32,
    gain_bits: u32,
}

/// Decides what a description leaves open.
pub(super) fn of(keys: &Keys, like: Like, rate: usize) -> Result<Features, Error> {
    if let Some(key) = Keys::names().find(|key| keys.has(key) && !KEYS.contains(key) && !SHARED.contains(key))
    {
        let help = format!("the keys of {} are {}, {}", like.name(), SHARED.join(", "), KEYS.join(", "));
        return Err(problem(key, &format!("{} has no such key", like.name()), help));
    }
    if keys.word("samples") == Some("f32") {
        return Err(problem("samples", "the front end takes integers", "leave it out"));
    }
    let length = keys.count("win_length").or(like.win_length(rate, None)).unwrap_or(1);
    let n_fft = keys.count("n_fft").unwrap_or(like.n_fft(length));
    let key = if keys.has("n_fft") { "n_fft" } else { "win_length" };
    if !n_fft.is_power_of_two() || !(SHORTEST..=super::keys::MOST_SAMPLES).contains(&n_fft) || n_fft < length
    {
        let what = format!("windows have {length} samples, transforms {n_fft}");
        let most = super::keys::MOST_SAMPLES;
        return Err(problem(key, &what, format!("the transform has a power of two from {SHORTEST} to {most} samples, and at least those of the window")));
    }
    let (lower, upper) =
        (keys.real("f_min").unwrap_or(like.f_min()), keys.real("f_max").unwrap_or(like.f_max(rate)));
    let half = rate as f64 / 2.0;
    let of_band = ["f_max", "f_min"].into_iter().find(|key| keys.has(key)).unwrap_or("sample_rate");
    if upper >= half || lower >= upper {
        let what = format!("channels go from {lower} to {upper} Hz");
        return Err(problem(
            of_band,
            &what,
            format!("f_min is below f_max, and that below half of the sample rate, {half} Hz"),
        ));
    }
    let share = |key, default| match keys.real(key).unwrap_or(default) {
        share if share <= 1.0 => Ok(share),
        _ => Err(problem(key, "it is a share of more than 1", "it is a number from 0 to 1")),
    };
    let tflm = Tflm {
        like,
        rate,
        length,
        n_fft,
        channels: keys.count("n_mels").unwrap_or(like.n_mels()),
        lower: lower as f32,
        upper: upper as f32,
        smoothing: [share("even_smoothing", 0.025)?, share("odd_smoothing", 0.06)?],
        min_signal_remaining: share("min_signal_remaining", 0.05)?,
        clamping: keys.flag("clamping").unwrap_or(false),
        pcan: gain(keys, n_fft)?,
        values: match keys.word("values") {
            Some("i8") => DType::I8,
            Some("f32") => DType::F32,
            _ => DType::I16,
        },
    };
    if tflm.channels > n_fft / 2 {
        let what = format!("{} channels of {} frequencies", tflm.channels, n_fft / 2);
        return Err(problem("n_mels", &what, "take fewer channels, or a longer transform (n_fft)"));
    }
    if tflm.bank().weights.is_empty() {
        let what = format!("no frequency of the transform lies between {lower} and {upper} Hz");
        return Err(problem(of_band, &what, "take a wider range"));
    }
    Ok(Features {
        like,
        rate,
        samples: DType::I16,
        full_scale: like.full_scale(),
        n_fft,
        win_length: length,
        hop: keys.count("hop").or(like.hop(rate, length, "mel")).unwrap_or(1).max(1),
        start: Start::Skipped(0),
        window: Vec::new(),
        remove_dc: false,
        preemphasis: 0.0,
        power: like.power(),
        mel: None,
        log: None,
        pcen: None,
        mfcc: None,
        energy: false,
        deltas: None,
        fixed: true,
        tflm: Some(tflm),
    })
}

fn gain(keys: &Keys, n_fft: usize) -> Result<Option<Pcan>, Error> {
    let own = ["pcan_strength", "pcan_offset", "pcan_gain_bits"];
    if keys.flag("pcan") == Some(false) {
        return match own.into_iter().find(|key| keys.has(key)) {
            Some(key) => Err(problem(key, "there is no automatic gain", "leave it out, or say pcan = true")),
            None => Ok(None),
        };
    }
    let gain_bits = keys.count("pcan_gain_bits").unwrap_or(21) as u32;
    let least = correction_bits(n_fft) + SNR_BITS + 1;
    if !(least..32).contains(&gain_bits) {
        let what = format!("{gain_bits} bits with a transform of {n_fft} samples");
        return Err(problem("pcan_gain_bits", &what, format!("it is a number from {least} to 31")));
    }
    let (strength, offset) = (keys.real("pcan_strength"), keys.real("pcan_offset"));
    Ok(Some(Pcan {
        strength: strength.unwrap_or(0.95) as f32,
        offset: offset.unwrap_or(80.0) as f32,
        gain_bits,
    }))
}

/// Energies have `WEIGHT_BITS` more bits than the squares of the spectrum, which lost as many as the length of the transform has. Roots have half of these.
fn correction_bits(n_fft: usize) -> u32 {
    n_fft.trailing_zeros().saturating_sub(WEIGHT_BITS / 2)
}

impl Tflm {
    /// The features of a frame, `i16` \[length\] to `i16` \[channels\], and the estimate of noise behind it, `i32` \[channels\].
    pub(super) fn frame(&self, graph: &mut Graph, samples: ValueId, noise: ValueId) -> (ValueId, ValueId) {
        let (bins, channels) = (self.n_fft / 2 + 1, self.channels);
        let bank = self.bank();
        let [window, weights, rest, first, start, width] =
            [&self.window(), &bank.weights, &bank.rest, &bank.first, &bank.start, &bank.width]
                .map(|values| constant(graph, DType::I16, values));
        let gains = self.pcan.as_ref().map(|pcan| constant(graph, DType::I16, &self.gains(pcan)));
        let mut step = |function: Signal, operands: &[ValueId], dtype, dims: &[usize]| {
            node(graph, Op::Signal { function }, operands, Type::plain(dtype, dims))
        };
        let shift = WINDOW_BITS.into();
        let windowed = step(Signal::Window { shift }, &[samples, window], DType::I16, &[self.length]);
        let headroom = step(Signal::Headroom {}, &[windowed], DType::I32, &[]);
        let shifted = step(Signal::ShiftLeft {}, &[windowed, headroom], DType::I16, &[self.length]);
        let length = self.n_fft as i64;
        let spectrum = step(Signal::Rfft { length }, &[shifted], DType::I16, &[2 * bins]);
        let energy = Signal::Energy { start: bank.bins.0 as i64, end: bank.bins.1 as i64 };
        let energies = step(energy, &[spectrum], DType::I32, &[bins]);
        let operands = [energies, weights, rest, first, start, width];
        let sums = step(Signal::FilterBank {}, &operands, DType::I64, &[channels]);
        let levels = step(Signal::SquareRoot {}, &[sums, headroom], DType::I32, &[channels]);
        let [[smoothing, one_minus_smoothing], [alternate_smoothing, alternate_one_minus_smoothing]] =
            self.smoothing.map(|share| [factor_of(share), factor_of(1.0) - factor_of(share)]);
        let (smoothing_bits, bits) = (SMOOTHING_BITS.into(), FACTOR_BITS.into());
        let estimate = Signal::NoiseEstimate {
            smoothing,
            one_minus_smoothing,
            alternate_smoothing,
            alternate_one_minus_smoothing,
            smoothing_bits,
            bits,
            clamping: self.clamping.into(),
        };
        let noise = step(estimate, &[levels, noise], DType::I32, &[channels]);
        let min_signal_remaining = factor_of(self.min_signal_remaining);
        let subtract = Signal::SubtractNoise { min_signal_remaining, smoothing_bits, bits };
        let mut clean = step(subtract, &[levels, noise], DType::I32, &[channels]);
        if let (Some(pcan), Some(gains)) = (&self.pcan, gains) {
            let snr_shift = (pcan.gain_bits - correction_bits(self.n_fft) - SNR_BITS).into();
            clean = step(Signal::Pcan { snr_shift }, &[clean, noise, gains], DType::I32, &[channels]);
        }
        let log = Signal::Log { scale: 1 << LOG_BITS, correction_bits: correction_bits(self.n_fft).into() };
        (step(log, &[clean], DType::I16, &[channels]), noise)
    }

    /// The estimate of noise before any sample has come: a state.
    pub(super) fn noise(&self, graph: &mut Graph) -> ValueId {
        state(graph, "noise", DType::I32, self.channels)
    }

    /// A window of von Hann, between samples.
    fn window(&self) -> Vec<i16> {
        let turn = 2.0 * PI / self.length as f64;
        let weight = |i: usize| {
            let at = i as f64 + 0.5;
            match self.like {
                Like::Microfrontend => f64::from((0.5 - 0.5 * (f64::from(turn as f32) * at).cos()) as f32),
                Like::PymicroFeatures => {
                    f64::from(0.5 - 0.5 * f64::from(turn as f32 * at as f32).cos() as f32)
                }
                _ => 0.5 - 0.5 * (turn * at).cos(),
            }
        };
        (0..self.length).map(|i| rounded(weight(i) * f64::from(1 << WINDOW_BITS)) as i16).collect()
    }

    /// The pitch of a frequency, in mel.
    fn mel(&self, hertz: f32) -> f32 {
        match self.like {
            Like::Microfrontend => (1127.0 * (f64::from(hertz) / 700.0).ln_1p()) as f32,
            Like::PymicroFeatures => 1127.0 * f64::from(hertz / 700.0).ln_1p() as f32,
            _ => 1127.0 * (1.0 + f64::from(hertz / 700.0)).ln() as f32,
        }
    }

    /// A weight of a channel, or what is left of it for the next one.
    fn weight(&self, share: f32) -> i16 {
        let weight = share * (1 << WEIGHT_BITS) as f32;
        match self.like {
            Like::Microfrontend | Like::PymicroFeatures => rounded(weight.into()) as i16,
            _ => weight as i16,
        }
    }

    /// Channels that are equally wide in mel, each a triangle that overlaps with its neighbours: a frequency counts for the channel that it lies in as much less as it is near its end, and the rest of it for the next channel.
    fn bank(&self) -> Bank {
        let last = self.n_fft / 2;
        let step = self.rate as f64 / 2.0 / last as f64;
        let (lowest, highest) = (self.mel(self.lower), self.mel(self.upper));
        let width = (highest - lowest) / (self.channels + 1) as f32;
        // The frequency 0 does not count.
        let start = rounded(1.0 + f64::from(self.lower) / step) as usize;
        let (mut bin, mut begin) = (start, lowest);
        let mut bank = Bank::default();
        for channel in 0..=self.channels {
            let end = lowest + width * (channel + 1) as f32;
            bank.first.push(bin as i16);
            bank.start.push(bank.weights.len() as i16);
            let from = bin;
            let mut pitch = self.mel((bin as f64 * step) as f32);
            while pitch <= end && bin < last {
                let share = (end - pitch) / (end - begin);
                bank.weights.push(self.weight(share));
                bank.rest.push(self.weight(1.0 - share));
                bin += 1;
                pitch = self.mel((bin as f64 * step) as f32);
            }
            bank.width.push((bin - from) as i16);
            begin = end;
        }
        bank.bins = (start.min(bin), bin);
        bank
    }

    /// Gains of noises 0 and 1, then for each number of bits the parabola through the gains of its first, its middle and the next one's first noise.
    fn gains(&self, pcan: &Pcan) -> Vec<i16> {
        let bits = SMOOTHING_BITS - correction_bits(self.n_fft);
        let gain = |noise: u32| {
            let noise = noise as f32 / (1u32 << bits) as f32 + pcan.offset;
            let power = (-f64::from(pcan.strength) * f64::from(noise).ln()).exp() as f32;
            let gain = (1u32 << pcan.gain_bits) as f32 * power;
            if gain > f32::from(i16::MAX) {
                i32::from(i16::MAX)
            } else {
                (gain + 0.5) as i32
            }
        };
        let mut gains = vec![gain(0) as i16, gain(1) as i16];
        for interval in 2..=32u32 {
            let first = 1u32 << (interval - 1);
            let next = if interval == 32 { u32::MAX } else { 2 * first };
            let low = gain(first);
            let (half, whole) = (gain(first + first / 2) - low, gain(next) - low);
            let slope = 4 * half - whole;
            gains.extend([low, slope, whole - slope, 0].map(|number| number as i16));
        }
        gains.truncate(GAINS);
        gains
    }
}

/// Features as elements of a type, or as a model's input stores them.
pub(super) fn converted(graph: &mut Graph, features: ValueId, to: &Type) -> ValueId {
    let dims = graph.ty(features).shape.dims().to_vec();
    let of = |dtype| Type { dtype, quant: to.quant.clone(), ..Type::plain(dtype, &dims) };
    let takes_parts = |quant: &Quant| *quant == Quant::per_tensor(INT8_SCALE, -128);
    match to.dtype {
        DType::I16 if to.quant.is_none() => features,
        DType::I8 if to.quant.as_ref().is_none_or(takes_parts) => {
            let [unit, half, whole, least, most] =
                [256, 333, 666, -128, 127].map(|number| constant(graph, DType::I32, &[number]));
            let mut step =
                |op, operands: &[ValueId]| node(graph, op, operands, Type::plain(DType::I32, &dims));
            let clamp = Clamp::Int { lo: i32::MIN, hi: i32::MAX };
            let add = Op::Add { rescale: AddRescale::Real, clamp };
            let binary = |function| Op::Binary { function, rescale: Rescale::Real, clamp };
            let x = step(Op::Cast {}, &[features]);
            let x = step(Op::Mul { rescale: Rescale::Real, clamp }, &[x, unit]);
            let x = step(add.clone(), &[x, half]);
            let x = step(binary(Binary::Div), &[x, whole]);
            let x = step(add, &[x, least]);
            let x = step(binary(Binary::Min), &[x, most]);
            let x = step(binary(Binary::Max), &[x, least]);
            node(graph, Op::Cast {}, &[x], of(DType::I8))
        }
        dtype => {
            let floats = Type::plain(DType::F32, &dims);
            let factor = graph.add_const("factor", Type::plain(DType::F32, &[1]), Data::from_f32(&[FACTOR]));
            let x = node(graph, Op::Cast {}, &[features], floats.clone());
            let mul = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
            let x = node(graph, mul, &[x, factor], floats);
            match dtype {
                DType::F32 => x,
                _ => node(graph, Op::Quantize { rounding: Rounding::Away }, &[x], of(dtype)),
            }
        }
    }
}

/// Two gains, and four numbers for each number of bits from 2 to 32, but for the last, which is 0.
const GAINS: usize = 125;

/// Of one channel more than there are sums, first frequency, first weight and the number of both.
#[derive(Default)]
struct Bank {
    weights: Vec<i16>,
    /// What is left of each weight for the next channel.
    rest: Vec<i16>,
    first: Vec<i16>,
    start: Vec<i16>,
    width: Vec<i16>,
    /// The frequencies that count: the first, and the one behind the last.
    bins: (usize, usize),
}

/// Rounded to the nearest; upwards where there are two.
fn rounded(x: f64) -> f64 {
    (x + 0.5).floor()
}

fn factor_of(share: f64) -> i64 {
    (share * f64::from(1u32 << FACTOR_BITS)) as i64
}

/// A state of zeros.
pub(super) fn state(graph: &mut Graph, name: &str, dtype: DType, len: usize) -> ValueId {
    let zeros = Data::new(vec![0u8; len * dtype.size()]);
    graph.add_state(name, Type::plain(dtype, &[len]), zeros)
}

/// Has a state take a value.
pub(super) fn keep(graph: &mut Graph, state: ValueId, next: ValueId) {
    graph.states.iter_mut().filter(|each| each.current == state).for_each(|each| each.next = next);
}

fn constant<T: Copy + Into<i64>>(graph: &mut Graph, dtype: DType, values: &[T]) -> ValueId {
    let data = Data::from_ints(dtype, values.iter().map(|&value| value.into()));
    graph.add_const("tflm", Type::plain(dtype, &[values.len()]), data)
}

fn node(graph: &mut Graph, op: Op, operands: &[ValueId], ty: Type) -> ValueId {
    let name = op.info().name;
    graph.add_node(op, operands, name, ty, format!("features {name}"))
}
