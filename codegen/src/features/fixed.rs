//! Features in fixed point: spectra and bands of samples in 16 bits, with an exponent for each frame.
//!
//! Samples, window, transform and filters are integers. Bands become floats as sums of 64 bits, so that logarithms, floors and cosine transforms are those of the float form, and silence has its
//! features. Of a frame, these are few numbers.
//!
//! | step | numbers |
//! |---|---|
//! | the mean is taken off, pre-emphasis | `i32`, exact up to the last bits of the mean |
//! | window | 16 bits, the largest with all of them |
//! | transform | 16 bits, shifted right before a step only where sums might not fit |
//! | powers | 32 bits, or magnitudes of 16 bits |
//! | bands | weights of 16 bits, of each band the largest with all of them; sums of 64 bits |
//! | what follows | floats |

use super::graph::{used, Frames};
use super::keys::{problem, Keys};
use super::{Features, Like};
use crate::waves::radices;
use kiln_ir::error::Error;
use kiln_ir::{AddRescale, Binary, Clamp, DType, Data, Graph, Op, Reduction, Rescale, Signal, Type, ValueId};

/// Bits of fraction of what is multiplied by pre-emphasis: 17 bits of samples less their mean, times 2, have room in an `i32`.
const EMPHASIS_BITS: u32 = 14;
/// Bits of fraction of the mean of samples.
const MEAN_BITS: u32 = 3;
/// The least exponent of a frame that is not silent, and how many there are.
const LEAST: i32 = -32;
const EXPONENTS: i32 = 66;

/// Refuses what there is in floats only.
pub(super) fn check(keys: &Keys, features: &Features) -> Result<(), Error> {
    if !features.fixed {
        return Ok(());
    }
    let instead = "or say arithmetic = \"float\"";
    if features.samples != DType::I16 {
        let what = "fixed point takes samples of 16 bits";
        return Err(problem("samples", what, format!("leave it out, {instead}")));
    }
    let has_transform = |n: usize| n % 2 == 0 && radices(n / 2).is_some();
    if !has_transform(features.n_fft) {
        let key = if keys.has("n_fft") || !keys.has("win_length") { "n_fft" } else { "win_length" };
        let key = if keys.has(key) { key } else { "arithmetic" };
        let what = format!(
            "it makes a transform of {} samples, and in fixed point they are an even product of 2, 3 and 5",
            features.n_fft
        );
        let next = (features.n_fft..).find(|&n| has_transform(n)).unwrap_or(features.n_fft);
        return Err(problem(key, &what, format!("train with n_fft = {next}, {instead}")));
    }
    if features.preemphasis > 1.0 {
        let what = "in fixed point it is at most 1";
        return Err(problem("preemphasis", what, format!("take it from training, {instead}")));
    }
    Ok(())
}

impl Features {
    /// The features of one frame, `i16` \[length\] to `f32` \[1, count\].
    pub(super) fn in_fixed_point(&self, graph: &mut Graph, samples: ValueId) -> ValueId {
        let mut steps = Steps { graph };
        let (prepared, fraction) = self.prepared(&mut steps, samples);
        let (window, factor) = quantised(&self.window);
        let factor = factor * 32768.0 * self.scale() / f64::from(1u32 << fraction);

        let window = steps.constant(DType::I16, &window);
        let block =
            steps.signal(Signal::BlockWindow {}, &[prepared, window], DType::I16, self.win_length + 1);
        let length = self.n_fft as i64;
        let block = steps.signal(Signal::BlockRfft { length }, &[block], DType::I16, self.n_fft + 3);
        let factor = self.factor_of(&mut steps, block, factor);

        let filters = self.mel.as_ref().map(|mel| mel.filters(self.rate, self.n_fft));
        let of_spectrum = self.energy && self.like == Like::PythonSpeechFeatures;
        let all = 0..self.n_fft / 2 + 1;
        let bins = filters.as_ref().filter(|_| !of_spectrum).map_or(all.clone(), |rows| used(rows));
        let energy = Signal::Energy { start: bins.start as i64, end: bins.end as i64 };
        let mut spectrum = steps.signal(energy, &[block], DType::I32, all.len());
        if self.power == 1 {
            let wide = steps.cast(spectrum, DType::I64);
            // Roots are shifted by a number that is computed: none, as exponents are small.
            let none = steps.slice(block, self.n_fft + 2, 1);
            let none = steps.cast(none, DType::I32);
            let none = steps.over(none, 1 << 16);
            let ty = Type::plain(DType::I32, &[]);
            let none = steps.graph.add_node(Op::Reshape {}, &[none], "fixed", ty, "features reshape");
            spectrum = steps.signal(Signal::SquareRoot {}, &[wide, none], DType::I32, all.len());
        }
        let energy = match self.energy {
            true if of_spectrum => {
                let wide = steps.cast(spectrum, DType::I64);
                let sum = steps.sum(wide, DType::I64);
                Some((steps.float(sum, Some(factor)), f64::EPSILON))
            }
            true => Some((self.energy_of_samples(&mut steps, samples), 1.0)),
            false => None,
        };
        let bands = match &filters {
            None => steps.float(spectrum, Some(factor)),
            Some(filters) => {
                let bank = Bank::of(filters);
                let tables = [&bank.weights, &bank.rest, &bank.first, &bank.start, &bank.width];
                let tables = tables.map(|table| steps.constant(DType::I16, table));
                let operands = [&[spectrum][..], &tables].concat();
                let sums = steps.signal(Signal::FilterBank {}, &operands, DType::I64, filters.len());
                let bands = steps.float(sums, Some(factor));
                // All factors are the same where no band is normalised.
                let dims = [1, filters.len()];
                let data = Data::from_f32(&bank.factors);
                let factors = steps.graph.add_const("fixed", Type::plain(DType::F32, &dims), data);
                steps.multiplied(bands, factors)
            }
        };
        let mut frame = Frames { graph, lead: vec![1], hop: None };
        let energy = energy.map(|(energy, floor)| frame.log(energy, floor));
        self.of_bands(&mut frame, bands, energy)
    }

    /// Samples without their mean, and with pre-emphasis, as many as the window has; and their bits of fraction.
    fn prepared(&self, steps: &mut Steps<'_>, samples: ValueId) -> (ValueId, u32) {
        if !self.remove_dc && self.preemphasis == 0.0 {
            return (samples, 0);
        }
        let len = self.win_length;
        let wide = steps.cast(samples, DType::I32);
        let one = 1i32 << EMPHASIS_BITS;
        let coefficient = (self.preemphasis * f64::from(one)).round() as i32;
        let (mut x, fraction) = match self.preemphasis > 0.0 {
            false => (steps.times(wide, 1 << MEAN_BITS), MEAN_BITS),
            true => {
                let (at, before) = match self.takes_sample_before() {
                    true => (steps.slice(wide, 1, len), steps.slice(wide, 0, len)),
                    // In front of the first sample of each frame stands that sample.
                    false => {
                        let parts = [steps.slice(wide, 0, 1), steps.slice(wide, 0, len - 1)];
                        (wide, steps.node(Op::Concat { axis: 0 }, &parts, DType::I32, len))
                    }
                };
                let (at, before) = (steps.times(at, one), steps.times(before, coefficient));
                (steps.less(at, before), EMPHASIS_BITS)
            }
        };
        let share = if self.preemphasis > 0.0 { one - coefficient } else { 1 << MEAN_BITS };
        if self.remove_dc && share != 0 {
            // The product with the mean has room in 32 bits.
            let bits = MEAN_BITS.min((share as u32 - 1).leading_zeros().saturating_sub(16));
            let sum = steps.sum(wide, DType::I32);
            let sum = steps.times(sum, 1 << bits);
            let mean = steps.over(sum, len as i32);
            let mean = steps.times(mean, share);
            let mean = steps.over(mean, 1 << bits);
            x = steps.less(x, mean);
        }
        (x, fraction)
    }

    /// What numbers of a frame's spectrum, squared unless they are magnitudes, are multiplied by: `f32` \[1\].
    fn factor_of(&self, steps: &mut Steps<'_>, block: ValueId, factor: f64) -> ValueId {
        let exponent = steps.slice(block, self.n_fft + 2, 1);
        let exponent = steps.cast(exponent, DType::I32);
        let least = steps.constant(DType::I32, &[-LEAST]);
        let index =
            steps.arithmetic(Op::Add { rescale: AddRescale::Real, clamp: Steps::WHOLE }, exponent, least);
        let power = self.power as i32;
        let factors: Vec<f32> =
            (0..EXPONENTS).map(|index| (factor * 2f64.powi(LEAST + index)).powi(power) as f32).collect();
        let ty = Type::plain(DType::F32, &[factors.len()]);
        let factors = steps.graph.add_const("fixed", ty, Data::from_f32(&factors));
        let op = Op::Gather { batch: 0, axis: 0, depth: 1 };
        let index = steps.graph.add_node(
            Op::Reshape {},
            &[index],
            "fixed",
            Type::plain(DType::I32, &[1, 1]),
            "features reshape",
        );
        steps.node(op, &[factors, index], DType::F32, 1)
    }

    /// Kaldi's energy of a frame: n·Σx² − (Σx)² is n times that without the mean.
    fn energy_of_samples(&self, steps: &mut Steps<'_>, samples: ValueId) -> ValueId {
        let wide = steps.cast(samples, DType::I32);
        let product = Op::Mul { rescale: Rescale::Real, clamp: Steps::WHOLE };
        let squares = steps.arithmetic(product.clone(), wide, wide);
        let squares = steps.cast(squares, DType::I64);
        let mut energy = steps.sum(squares, DType::I64);
        let mut factor = self.scale().powi(2);
        if self.remove_dc {
            let sum = steps.sum(wide, DType::I32);
            let sum = steps.cast(sum, DType::I64);
            let square = steps.arithmetic(product, sum, sum);
            energy = steps.times(energy, self.win_length as i32);
            energy = steps.less(energy, square);
            factor /= self.win_length as f64;
        }
        let data = Data::from_f32(&[factor as f32]);
        let factor = steps.graph.add_const("fixed", Type::plain(DType::F32, &[1]), data);
        steps.float(energy, Some(factor))
    }
}

/// The numbers in 15 bits of fraction of the largest, and what they are multiplied by.
fn quantised(numbers: &[f64]) -> (Vec<i64>, f64) {
    let largest = numbers.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 {
        return (vec![0; numbers.len()], 0.0);
    }
    let most = f64::from(i16::MAX);
    (numbers.iter().map(|x| (x / largest * most).round() as i64).collect(), largest / most)
}

/// Filters as the op `filter_bank` takes them: between the middles of two neighbours lie frequencies that both of them take. Of one filter more than there are, the first of these frequencies, the first
/// weight, and the number of both.
#[derive(Default)]
pub(super) struct Bank {
    /// For the lower filter.
    pub(super) weights: Vec<i64>,
    /// For the upper one.
    pub(super) rest: Vec<i64>,
    pub(super) first: Vec<i64>,
    pub(super) start: Vec<i64>,
    pub(super) width: Vec<i64>,
    /// What the sum of each filter is multiplied by.
    pub(super) factors: Vec<f32>,
}

impl Bank {
    pub(super) fn of(filters: &[Vec<f64>]) -> Bank {
        let mut bank = Bank::default();
        let mut rows = Vec::new();
        for filter in filters {
            let (row, factor) = quantised(filter);
            bank.factors.push(factor as f32);
            rows.push(row);
        }
        let bins = rows.first().map_or(0, Vec::len);
        let taken = |row: &[i64], bin: usize| row.get(bin).copied().unwrap_or(0);
        // The middle of a filter is its largest weight.
        let middle = |row: &[i64]| (0..bins).max_by_key(|&bin| (taken(row, bin), bins - bin)).unwrap_or(0);
        for upper in 0..=rows.len() {
            let above = rows.get(upper).map_or(&[][..], Vec::as_slice);
            let below = upper.checked_sub(1).and_then(|at| rows.get(at)).map_or(&[][..], Vec::as_slice);
            let (begin, end) = (middle(below), middle(above));
            let rises = |bin: usize| taken(above, bin) != 0 && bin <= end;
            let falls = |bin: usize| taken(below, bin) != 0 && bin > begin;
            let own = |bin: &usize| rises(*bin) || falls(*bin);
            let first = (0..bins).find(own).unwrap_or(0);
            let behind = (0..bins).rfind(own).map_or(first, |last| last + 1);
            bank.first.push(first as i64);
            bank.start.push(bank.weights.len() as i64);
            bank.width.push((behind - first) as i64);
            for bin in first..behind {
                bank.weights.push(if falls(bin) { taken(below, bin) } else { 0 });
                bank.rest.push(if rises(bin) { taken(above, bin) } else { 0 });
            }
        }
        bank
    }
}

/// The graph as far as it is there. Values have one axis.
struct Steps<'g> {
    graph: &'g mut Graph,
}

impl Steps<'_> {
    const WHOLE: Clamp = Clamp::Int { lo: i32::MIN, hi: i32::MAX };

    fn len(&self, value: ValueId) -> usize {
        self.graph.ty(value).shape.last()
    }

    fn node(&mut self, op: Op, operands: &[ValueId], dtype: DType, len: usize) -> ValueId {
        let name = op.info().name;
        self.graph.add_node(op, operands, name, Type::plain(dtype, &[len]), format!("features {name}"))
    }

    fn signal(&mut self, function: Signal, operands: &[ValueId], dtype: DType, len: usize) -> ValueId {
        self.node(Op::Signal { function }, operands, dtype, len)
    }

    fn constant(&mut self, dtype: DType, values: &[impl Copy + Into<i64>]) -> ValueId {
        let data = Data::from_ints(dtype, values.iter().map(|&value| value.into()));
        self.graph.add_const("fixed", Type::plain(dtype, &[values.len()]), data)
    }

    fn cast(&mut self, x: ValueId, dtype: DType) -> ValueId {
        self.node(Op::Cast {}, &[x], dtype, self.len(x))
    }

    fn slice(&mut self, x: ValueId, begin: usize, len: usize) -> ValueId {
        let dtype = self.graph.ty(x).dtype;
        self.node(Op::Slice { begin: vec![begin], step: vec![1] }, &[x], dtype, len)
    }

    fn sum(&mut self, x: ValueId, dtype: DType) -> ValueId {
        let sum = Op::Reduce { function: Reduction::Sum, axes: vec![0], rescale: Rescale::Real };
        self.node(sum, &[x], dtype, 1)
    }

    /// Of two values of the same type, of which the second may have one element.
    fn arithmetic(&mut self, op: Op, x: ValueId, y: ValueId) -> ValueId {
        let dtype = self.graph.ty(x).dtype;
        self.node(op, &[x, y], dtype, self.len(x))
    }

    fn times(&mut self, x: ValueId, factor: i32) -> ValueId {
        let factor = self.constant(self.graph.ty(x).dtype, &[factor]);
        self.arithmetic(Op::Mul { rescale: Rescale::Real, clamp: Steps::WHOLE }, x, factor)
    }

    fn over(&mut self, x: ValueId, divisor: i32) -> ValueId {
        let divisor = self.constant(self.graph.ty(x).dtype, &[divisor]);
        let division = Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp: Steps::WHOLE };
        self.arithmetic(division, x, divisor)
    }

    fn less(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.arithmetic(Op::Sub { rescale: AddRescale::Real, clamp: Steps::WHOLE }, x, y)
    }

    /// Integers as a row of floats, \[1, n\], times a factor.
    fn float(&mut self, x: ValueId, factor: Option<ValueId>) -> ValueId {
        let len = self.len(x);
        let floats = self.cast(x, DType::F32);
        let ty = Type::plain(DType::F32, &[1, len]);
        let row = self.graph.add_node(Op::Reshape {}, &[floats], "fixed", ty, "features reshape");
        match factor {
            Some(factor) => self.multiplied(row, factor),
            None => row,
        }
    }

    fn multiplied(&mut self, row: ValueId, factor: ValueId) -> ValueId {
        let op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let ty = self.graph.ty(row).clone();
        self.graph.add_node(op, &[row, factor], "fixed", ty, "features mul")
    }
}
