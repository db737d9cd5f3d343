//! From what a set has of a sample to the model's input.
//!
//! A number of the set becomes a real value, and that what the input stores: `round(value / scale) + zero point`, halves away from zero, saturated, as
//! `kiln::quantize`. Which real value that is:
//!
//! - With `--mean` and `--scale`: `(number − mean) · scale`, of each channel its own where there are several.
//! - A float or a number of a table: itself.
//! - A pixel, or a sample of a recording: what the quantisation of the input says. If it reaches from 0 to 1, that is `pixel / 255`; from −1 to 1,
//!   `(pixel − 127.5) / 127.5` and `sample / 32768`; over the numbers themselves, they. Elsewhere the user has to say it.
//! - An array in the type of the input is taken as it is. Other arrays of bytes are pixels, others of 16 bits samples.

pub mod picture;
pub mod sound;

use crate::cases::{Error, Result};
use kiln_ir::{DType, Data, Graph, Op, Type, ValueId};
use picture::Picture;
use sound::Sound;

/// What a set has of a sample.
#[derive(Debug)]
pub enum Raw {
    /// A picture.
    Picture(Picture),
    /// A recording.
    Sound(Sound),
    /// A row of a table.
    Numbers(Vec<f64>),
    /// The inputs in order.
    Tensors(Vec<Tensor>),
}

/// One case of an array.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Type of the elements.
    pub dtype: DType,
    /// The elements.
    pub data: Data,
}

impl Tensor {
    /// The elements as numbers.
    pub fn numbers(&self) -> Vec<f64> {
        match self.dtype {
            DType::F32 => self.data.to_f32().into_iter().map(f64::from).collect(),
            dtype => self.data.to_ints(dtype).into_iter().map(|value| value as f64).collect(),
        }
    }
}

/// What cannot be taken, and why.
fn refuse<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::new(text))
}

/// Refuses with a text, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return refuse(format!($($text)+));
        }
    };
}

/// How numbers become real values: `(number − mean) · scale`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// One for all, or one for each channel; none is 0.
    pub mean: Vec<f64>,
    /// One for all, or one for each channel; none is 1, or for pixels and samples what the model's input says.
    pub scale: Vec<f64>,
}

/// Makes inputs of samples.
#[derive(Debug)]
pub struct Feed {
    inputs: Vec<Input>,
    numbers: Numbers,
    fit: bool,
    has_state: bool,
    window: Option<Window>,
}

/// How a sliding model takes rows.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Rows of a window.
    pub rows: usize,
    /// Elements of a row.
    pub row: usize,
    /// Rows from one window to the next.
    pub hop: usize,
}

#[derive(Debug)]
struct Input {
    ty: Type,
    /// Type, scale and zero point with which it is quantised, at once or by the first operator.
    stored: Option<(DType, f64, i32)>,
}

/// The inputs of a sample.
#[derive(Debug)]
pub struct Inputs {
    /// Of each step: a model without state has one.
    pub steps: Vec<Vec<Data>>,
    /// How many numbers were outside of what the input can store.
    pub clipped: usize,
    /// How many there were.
    pub numbers: usize,
}

/// What numbers of a set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pixel,
    Sample,
    Value,
}

/// An input as a picture.
struct Frame {
    width: usize,
    height: usize,
    channels: usize,
    planar: bool,
}

impl Feed {
    /// `window`: that of a sliding model.
    pub fn new(graph: &Graph, numbers: Numbers, fit: bool, window: Option<Window>) -> Feed {
        let inputs =
            graph.inputs.iter().map(|&id| Input { ty: graph.ty(id).clone(), stored: stored(graph, id) });
        Feed { inputs: inputs.collect(), numbers, fit, has_state: !graph.states.is_empty(), window }
    }

    /// Has numbers become the real values that they are for another model, where this one does not say which they are.
    pub fn follow(&mut self, other: &Feed) {
        for (input, other) in self.inputs.iter_mut().zip(&other.inputs) {
            input.stored = input.stored.or(other.stored);
        }
    }

    /// The inputs of a sample.
    ///
    /// # Errors
    /// Says what does not fit, and what would help.
    pub fn inputs(&self, raw: Raw) -> Result<Inputs> {
        match raw {
            Raw::Picture(picture) => {
                let (pixels, channels) = self.pixels(&picture)?;
                self.check_numbers(channels)?;
                self.one(Kind::Pixel, pixels)
            }
            Raw::Sound(sound) => {
                self.check_numbers(1)?;
                self.one(Kind::Sample, self.samples(sound)?)
            }
            Raw::Numbers(numbers) => self.one(Kind::Value, numbers),
            Raw::Tensors(tensors) => {
                let each = self.inputs.iter().zip(&tensors).map(|(input, tensor)| self.tensor(input, tensor));
                let mut each = each.collect::<Result<Vec<_>>>()?.into_iter();
                let first = each.next().ok_or_else(|| Error::new("the model has no input"))?;
                each.try_fold(first, |mut all, next| {
                    ensure!(
                        all.steps.len() == next.steps.len(),
                        "its inputs have {} and {} steps",
                        all.steps.len(),
                        next.steps.len()
                    );
                    all.steps.iter_mut().zip(next.steps).for_each(|(step, more)| step.extend(more));
                    Ok(Inputs {
                        clipped: all.clipped + next.clipped,
                        numbers: all.numbers + next.numbers,
                        ..all
                    })
                })
            }
        }
    }

    /// In words, how numbers of such a sample become real values.
    pub fn rule(&self, raw: &Raw) -> Result<String> {
        let Some(input) = self.inputs.first() else { return Ok(String::new()) };
        let (kind, word) = match raw {
            Raw::Picture(_) => (Kind::Pixel, "pixel"),
            Raw::Sound(_) => (Kind::Sample, "sample"),
            Raw::Numbers(_) => (Kind::Value, "value"),
            Raw::Tensors(tensors) => match tensors.first() {
                Some(tensor) if self.is_stored(input, tensor) => return Ok("taken as it is".into()),
                Some(tensor) => (kind(tensor.dtype), "number"),
                None => return Ok(String::new()),
            },
        };
        let Numbers { mean, scale } = self.affine(input, kind)?;
        let list = |numbers: &[f64]| match numbers {
            [] => "0".into(),
            [one] => one.to_string(),
            several => format!("{several:?}"),
        };
        let value = match (&mean[..], &scale[..]) {
            ([] | [0.0], [] | [1.0]) => word.to_owned(),
            ([] | [0.0], [scale]) => format!("{word} {}", times(*scale)),
            ([] | [0.0], _) => format!("{word} × {}", list(&scale)),
            (_, [] | [1.0]) => format!("{word} − {}", list(&mean)),
            (_, [scale]) => format!("({word} − {}) {}", list(&mean), times(*scale)),
            _ => format!("({word} − {}) × {}", list(&mean), list(&scale)),
        };
        Ok(match (input.ty.dtype, input.ty.quant.is_some().then_some(input.stored).flatten()) {
            (_, Some((dtype, scale, zero))) => {
                format!("{value}, stored as {} with scale {scale:.6} and zero point {zero}", dtype.name())
            }
            (dtype, None) => format!("{value}, as {}", dtype.name()),
        })
    }

    /// Refuses means and scales that are neither one for all nor one for each channel.
    fn check_numbers(&self, channels: usize) -> Result<()> {
        for list in [&self.numbers.mean, &self.numbers.scale] {
            ensure!(
                list.len() <= 1 || list.len() == channels,
                "{} means or scales are given for {channels} channel(s): one for all, or one for each channel",
                list.len()
            );
        }
        Ok(())
    }

    /// Numbers for the one input.
    fn one(&self, kind: Kind, numbers: Vec<f64>) -> Result<Inputs> {
        let [input] = &self.inputs[..] else {
            return refuse(format!("the model has {} inputs: save them in an archive, numpy.savez(\"set.npz\", in_0=…, in_1=…, y=…)", self.inputs.len()));
        };
        self.stored(input, kind, &numbers)
    }

    fn tensor(&self, input: &Input, tensor: &Tensor) -> Result<Inputs> {
        if self.is_stored(input, tensor) {
            let bytes = tensor.data.bytes();
            let elements = bytes.len() / tensor.dtype.size();
            let size = self.step(input, elements)? * tensor.dtype.size();
            let steps = bytes.chunks(size.max(1)).map(|step| vec![Data::new(step)]).collect();
            return Ok(Inputs { steps, clipped: 0, numbers: elements });
        }
        self.stored(input, kind(tensor.dtype), &tensor.numbers())
    }

    /// Whether an array holds what the input stores.
    fn is_stored(&self, input: &Input, tensor: &Tensor) -> bool {
        tensor.dtype == input.ty.dtype && self.numbers == Numbers::default()
    }

    fn stored(&self, input: &Input, kind: Kind, numbers: &[f64]) -> Result<Inputs> {
        let step = self.step(input, numbers.len())?.max(1);
        let each = input.ty.shape.numel().max(1);
        let Numbers { mean, scale } = self.affine(input, kind)?;
        let planar = frame(&input.ty).is_some_and(|frame| frame.planar);
        let channel = |index: usize, of: usize| match planar {
            true => index % each / (each / of.max(1)).max(1),
            false => index % of.max(1),
        };
        for list in [&mean, &scale] {
            ensure!(
                each % list.len().max(1) == 0,
                "{} means or scales are given: one for all, or one for each channel",
                list.len()
            );
        }
        let get = |list: &[f64], index: usize| list.get(channel(index, list.len())).copied();
        let mut clipped = 0;
        let mut store = |(index, &number): (usize, &f64)| -> Result<i64> {
            let real = (number - get(&mean, index).unwrap_or(0.0)) * get(&scale, index).unwrap_or(1.0);
            let (value, is_clipped) = element(&input.ty, real)?;
            clipped += usize::from(is_clipped);
            Ok(value)
        };
        let stored = numbers.iter().enumerate().map(&mut store).collect::<Result<Vec<_>>>()?;
        let steps =
            stored.chunks(step).map(|step| vec![Data::from_ints(input.ty.dtype, step.iter().copied())]);
        Ok(Inputs { steps: steps.collect(), clipped, numbers: numbers.len() })
    }

    /// How many of so many numbers are one step: all of an input; of a longer sample a row, if the model slides, or an input, if it has state.
    fn step(&self, input: &Input, count: usize) -> Result<usize> {
        let (each, dims) = (input.ty.shape.numel(), input.ty.shape.dims());
        match self.window {
            _ if count == each => Ok(each),
            Some(Window { row, .. }) if count > each && count % row.max(1) == 0 => Ok(row),
            None if self.has_state && count > 0 && count % each.max(1) == 0 => Ok(each),
            Some(Window { row, .. }) => {
                refuse(format!("it has {count} values, the model's window {dims:?} takes {each}, and each row more {row}"))
            }
            None if self.has_state => {
                refuse(format!("it has {count} values, the model's input {dims:?} takes {each}, or a multiple of it for several steps"))
            }
            None => refuse(format!("it has {count} values, the model's input {dims:?} takes {each}")),
        }
    }

    /// The pixels of a picture in the order of the input, and how many channels they have.
    fn pixels(&self, picture: &Picture) -> Result<(Vec<f64>, usize)> {
        let [input] = &self.inputs[..] else { return Ok((Vec::new(), picture.channels)) };
        let elements = input.ty.shape.numel();
        let &Picture { width, height, channels, .. } = picture;
        let Some(frame) = frame(&input.ty) else {
            // A list of all pixels.
            let channels = match elements {
                all if all == width * height => 1,
                all if all == width * height * 3 => 3,
                _ => return refuse(format!(
                    "it is a picture of {width} × {height} pixels in {channels} channel(s), the model's input {:?} takes {elements} values\n    help: the pictures need the size of those in training",
                    input.ty.shape.dims()
                )),
            };
            let picture = picture.clone().with_channels(channels)?;
            return Ok((picture.pixels.into_iter().map(f64::from).collect(), channels));
        };
        let mut picture = picture.clone().with_channels(frame.channels)?;
        if (width, height) != (frame.width, frame.height) {
            ensure!(
                self.fit,
                "it is a picture of {width} × {height} pixels, the model takes {} × {}\n    help: resize the files as in training; --fit resizes them by nearest neighbours",
                frame.width,
                frame.height
            );
            picture = picture.resized(frame.width, frame.height);
        }
        let pixels = picture.pixels.iter().map(|&pixel| f64::from(pixel));
        let pixels = match frame.planar {
            false => pixels.collect(),
            true => {
                (0..frame.channels).flat_map(|c| pixels.clone().skip(c).step_by(frame.channels)).collect()
            }
        };
        Ok((pixels, frame.channels))
    }

    /// The samples of a recording, as many as the input takes.
    fn samples(&self, sound: Sound) -> Result<Vec<f64>> {
        let [input] = &self.inputs[..] else { return Ok(Vec::new()) };
        let (elements, dims) = (input.ty.shape.numel(), input.ty.shape.dims());
        let count = sound.samples.len();
        let mut samples: Vec<f64> = sound.samples.into_iter().map(f64::from).collect();
        if self.step(input, count).is_ok() {
            return Ok(samples);
        }
        let takes_samples = dims.iter().filter(|&&dim| dim != 1).count() <= 1;
        ensure!(
            takes_samples,
            "it has {count} samples, the model's input {dims:?} takes {elements} values: features, as it seems\n    help: name those of training in the option `features`; or compute them, and save them: numpy.savez(\"set.npz\", x=features, y=labels)"
        );
        ensure!(
            self.fit || !self.has_state,
            "it has {count} samples, the model takes {elements} at a time\n    help: --fit fills the last step with silence"
        );
        ensure!(
            self.fit,
            "it has {count} samples, the model's input {dims:?} takes {elements}\n    help: cut the files as in training; --fit cuts them, or fills them with silence, at the end"
        );
        let whole = match self.window {
            Some(Window { row, .. }) => count.max(elements).next_multiple_of(row.max(1)),
            None if self.has_state => count.max(1).next_multiple_of(elements.max(1)),
            None => elements,
        };
        samples.resize(whole, 0.0);
        Ok(samples)
    }

    /// How numbers of a kind become real values.
    fn affine(&self, input: &Input, kind: Kind) -> Result<Numbers> {
        if self.numbers != Numbers::default() || kind == Kind::Value {
            return Ok(self.numbers.clone());
        }
        let numbers = |mean: f64, scale: f64| Numbers { mean: vec![mean], scale: vec![scale] };
        let (what, known) = match kind {
            Kind::Sample => (
                "samples of a recording",
                vec![((-1.0, 1.0), numbers(0.0, 1.0 / 32768.0)), ((-32768.0, 32767.0), numbers(0.0, 1.0))],
            ),
            _ => (
                "pixels",
                vec![
                    ((0.0, 1.0), numbers(0.0, 1.0 / 255.0)),
                    ((-1.0, 1.0), numbers(127.5, 1.0 / 127.5)),
                    ((0.0, 255.0), numbers(0.0, 1.0)),
                    ((-128.0, 127.0), numbers(128.0, 1.0)),
                ],
            ),
        };
        let help = match kind {
            Kind::Sample => "--scale 1/32768 gives values from -1 to 1, --scale 1 the samples themselves",
            _ => "--scale 1/255 gives values from 0 to 1, --mean 127.5 --scale 1/127.5 from -1 to 1, --scale 1 the pixels themselves",
        };
        let Some((dtype, scale, zero)) = input.stored else {
            return refuse(format!("the model takes {}, and does not say which values {what} have\n    help: say it as it was in training: {help}", input.ty.dtype.name()));
        };
        let (low, high) = dtype.int_range().unwrap_or_default();
        let real = |stored: i64| (stored - i64::from(zero)) as f64 * scale;
        let (low, high) = (real(low), real(high));
        let near = |a: f64, b: f64, width: f64| (a - b).abs() <= width / 50.0;
        let found = known
            .into_iter()
            .find(|((from, to), _)| near(low, *from, to - from) && near(high, *to, to - from));
        match found {
            Some((_, numbers)) => Ok(numbers),
            None => refuse(format!("the model takes values from {low:.4} to {high:.4}, which says not how {what} become such values\n    help: say it as it was in training: {help}")),
        }
    }
}

/// A factor in words: as a quotient, where that is a round number or a half.
fn times(scale: f64) -> String {
    let inverse = 1.0 / scale;
    let round = (2.0 * inverse).round() / 2.0;
    match (inverse - round).abs() < 1e-9 * inverse.abs() {
        true => format!("/ {round}"),
        false => format!("× {scale}"),
    }
}

/// What numbers of an array are that is not of the input's type.
fn kind(dtype: DType) -> Kind {
    match dtype {
        DType::U8 => Kind::Pixel,
        DType::I16 => Kind::Sample,
        _ => Kind::Value,
    }
}

/// How an input is quantised: by its own type, or by the first operator.
fn stored(graph: &Graph, id: ValueId) -> Option<(DType, f64, i32)> {
    let of = |ty: &Type| Some((ty.dtype, f64::from(ty.scale()?), ty.zero_point()));
    let ty = graph.ty(id);
    if ty.dtype != DType::F32 {
        // Integers without a scale stand for themselves.
        return of(ty).or(Some((ty.dtype, 1.0, 0)));
    }
    let users =
        graph.order.iter().map(|&node| graph.node(node)).filter(|node| node.operands.first() == Some(&id));
    users.filter(|node| matches!(node.op, Op::Quantize { .. })).find_map(|node| of(graph.ty(node.result)))
}

/// An input's element as an integer (of floats the bits), and whether it cannot store the value.
fn element(ty: &Type, real: f64) -> Result<(i64, bool)> {
    let Some((low, high)) = ty.dtype.int_range() else {
        return Ok((i64::from((real as f32).to_bits()), false));
    };
    match ty.scale() {
        Some(scale) => {
            // In single precision, as firmware does it.
            let stored = (real as f32 / scale).round() as i64 + i64::from(ty.zero_point());
            // Rounding at the ends is no clipping.
            Ok((stored.clamp(low, high), stored < low - 1 || stored > high + 1))
        }
        None => {
            ensure!(
                real.fract() == 0.0 && (low as f64..=high as f64).contains(&real),
                "the model takes integers from {low} to {high}, and it has {real}"
            );
            Ok((real as i64, false))
        }
    }
}

/// An input as a picture: `[1, h, w, c]`, `[1, c, h, w]` or `[1, h, w]`, also without the 1.
fn frame(ty: &Type) -> Option<Frame> {
    let dims = match ty.shape.dims() {
        [1, rest @ ..] => rest,
        dims => dims,
    };
    let is_colour = |channels: usize| channels == 1 || channels == 3;
    match *dims {
        [height, width, channels] if is_colour(channels) => {
            Some(Frame { width, height, channels, planar: false })
        }
        [channels, height, width] if is_colour(channels) => {
            Some(Frame { width, height, channels, planar: true })
        }
        [height, width] if height > 1 => Some(Frame { width, height, channels: 1, planar: false }),
        _ => None,
    }
}

/// The first input as a picture to look at: width, height, channels, and whether it is planar.
pub fn frame_of(graph: &Graph) -> Option<(usize, usize, usize, bool)> {
    let frame = frame(graph.ty(*graph.inputs.first()?))?;
    Some((frame.width, frame.height, frame.channels, frame.planar))
}

#[cfg(test)]
mod tests;
