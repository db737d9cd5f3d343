//! Recurrent layers, for one sequence. Long short-term memory of integers is TFLite's `UNIDIRECTIONAL_SEQUENCE_LSTM`, as TFLite Micro's `lstm_eval` computes it.

use super::sigmoid::{sigmoid, tanh};
use super::sum::{clip, dot, Float, Int8Twice, Sum, LANES};
use super::unary;
use crate::arch::extent::product;
use crate::params::{Lstm, Scale};
use core::cell::Cell;

/// Gates of a unit: input, forget, cell, output.
const GATES: usize = LANES;

/// An LSTM of `i8` with a cell state of `i16`, whose bytes lie before the outputs in `y`.
///
/// `x` holds the inputs of all steps, `h` the output before the first one, `c` the bytes of the cell state then. Weights of inputs and of outputs before are for each unit those of the four
/// gates, which alternate element by element. `bias` has for each unit those of the inputs' sums and those of the outputs', zero points folded in. `scales` are the factors of the inputs' and the outputs'
/// sums of each gate to Q3.12, of forget gate times cell state and of input gate times cell gate to the cell state, and of output gate times its tanh to the output.
#[inline(never)]
pub fn lstm_i8(
    p: &Lstm<'_>,
    x: &[Cell<i8>],
    h: &[Cell<i8>],
    c: &[Cell<i8>],
    wx: &[i8],
    wh: &[i8],
    bias: &[i32],
    y: &[Cell<i8>],
) {
    let sums = |x: &[Cell<i8>], w: &[i8], unit: usize, bias: [i32; GATES]| {
        let mut sums = bias;
        let filters = GATES * x.len();
        dot::<Int8Twice<'_>>(x, part(w, unit, filters), &mut sums);
        sums
    };
    steps(
        p,
        x,
        h,
        c,
        bias,
        y,
        |x, unit, bias| sums(x, wx, unit, bias),
        |h, unit, bias| sums(h, wh, unit, bias),
    );
}

/// The weights of a unit; none where there are fewer.
#[inline(always)]
fn part<T>(w: &[T], unit: usize, len: usize) -> &[T] {
    let first = unit.wrapping_mul(len);
    w.get(first..first.wrapping_add(len)).unwrap_or(&[])
}

/// As [`lstm_i8`], with what makes the sums of a unit's gates: from the inputs of a step, and from the outputs before it.
#[inline(always)]
pub(crate) fn steps(
    p: &Lstm<'_>,
    x: &[Cell<i8>],
    h: &[Cell<i8>],
    c: &[Cell<i8>],
    bias: &[i32],
    y: &[Cell<i8>],
    of_inputs: impl Fn(&[Cell<i8>], usize, [i32; GATES]) -> [i32; GATES],
    of_outputs: impl Fn(&[Cell<i8>], usize, [i32; GATES]) -> [i32; GATES],
) {
    let Some((cells, outputs)) = y.split_at_checked(product(2, p.units)) else { return };
    cells.iter().zip(c).for_each(|(to, from)| to.set(from.get()));
    let (mut before, mut after) = (h, outputs);
    for x in x.chunks_exact(p.inputs.max(1)) {
        let Some((out, rest)) = after.split_at_checked(p.units) else { return };
        for (unit, ((out, cell), bias)) in
            out.iter().zip(cells.chunks_exact(2)).zip(bias.chunks_exact(2 * GATES)).enumerate()
        {
            let (&[a, b, c, d, e, f, g, h], [low, high]) = (bias, cell) else { return };
            let inputs = of_inputs(x, unit, [a, b, c, d]);
            let outputs = of_outputs(before, unit, [e, f, g, h]);
            let old = i16::from_le_bytes([low.get() as u8, high.get() as u8]);
            let Some((new, result)) = p.update(inputs, outputs, old) else { return };
            let [new_low, new_high] = new.to_le_bytes();
            low.set(new_low as i8);
            high.set(new_high as i8);
            out.set(result);
        }
        (before, after) = (out, rest);
    }
}

impl Lstm<'_> {
    /// The cell state and output of a unit, from the sums of its gates and its cell state so far. `None` where there are too few scales.
    #[inline(never)]
    pub(crate) fn update(&self, inputs: [i32; GATES], outputs: [i32; GATES], cell: i16) -> Option<(i16, i8)> {
        let (&multipliers, &shifts) =
            (self.multipliers.first_chunk::<11>()?, self.shifts.first_chunk::<11>()?);
        let scaled = |index: usize, x: i32| match (multipliers.get(index), shifts.get(index)) {
            (Some(&multiplier), Some(&shift)) => Scale { multiplier, shift: shift.into() }.apply(x),
            _ => 0,
        };
        let [i, f, g, o] = [0, 1, 2, 3].map(|gate: usize| {
            let sum = |sums: [i32; GATES], first: usize| {
                saturated(scaled(first + gate, sums.get(gate).copied().unwrap_or(0)))
            };
            saturated(sum(inputs, 0) + sum(outputs, GATES))
        });
        let (i, f, g, o) = (sigmoid(i), sigmoid(f), tanh(g, 0), sigmoid(o));
        let kept = saturated(scaled(8, f * i32::from(cell)));
        let cell = saturated(kept + saturated(scaled(9, i * g)));
        let cell = cell.max(self.lo).min(self.hi);
        let result = scaled(10, tanh(cell, self.tanh_shift) * o);
        let result = result.clamp(-(1 << 15), 1 << 15).wrapping_add(self.zero_point);
        Some((cell as i16, result.clamp(-128, 127) as i8))
    }
}

/// A number within 16 bits.
#[inline(always)]
fn saturated(x: i32) -> i32 {
    x.clamp(i16::MIN.into(), i16::MAX.into())
}

/// The memory of the first step's outputs and behind, where the last ones stay: the last step's are the last row.
#[inline(never)]
fn first_row(outputs: &[Cell<f32>], units: usize, elements: usize, inputs: usize) -> &[Cell<f32>] {
    let rows = outputs.len().checked_div(units).unwrap_or(0);
    let steps = elements.checked_div(inputs).unwrap_or(0);
    let first = match steps.checked_rem(rows) {
        Some(more) if more > 0 => rows.wrapping_sub(more).wrapping_mul(units),
        _ => 0,
    };
    outputs.get(first..).unwrap_or_default()
}

/// An LSTM of floats: the cell state lies before the outputs in `y`, weights are as for [`lstm_i8`], and `bias` has four for each unit. The cell state is clamped to `lo..=hi`.
/// Where `h` or `c` is empty, that state begins with zeros. `y` may have room for fewer outputs than there are steps, and for two at least: it is left with the last ones.
#[inline(never)]
pub fn lstm_f32(
    units: usize,
    inputs: usize,
    x: &[Cell<f32>],
    h: &[Cell<f32>],
    c: &[Cell<f32>],
    wx: &[f32],
    wh: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: &[Cell<f32>],
) {
    let Some((cells, outputs)) = y.split_at_checked(units) else { return };
    match c {
        [] => cells.iter().for_each(|cell| cell.set(0.0)),
        _ => cells.iter().zip(c).for_each(|(to, from)| to.set(from.get())),
    }
    let sums = |x: &[Cell<f32>], w: &[f32], unit: usize| {
        let mut sums = [Float::EMPTY; GATES];
        let filters = GATES * x.len();
        dot::<Float<'_>>(x, part(w, unit, filters), &mut sums);
        sums
    };
    let (mut before, mut after) = (h, first_row(outputs, units, x.len(), inputs));
    for x in x.chunks_exact(inputs.max(1)) {
        let Some((out, rest)) = after.split_at_checked(units) else { return };
        for (unit, ((out, cell), bias)) in out.iter().zip(cells).zip(bias.chunks_exact(GATES)).enumerate() {
            let ([xi, xf, xg, xo], [hi_, hf, hg, ho]) = (sums(x, wx, unit), sums(before, wh, unit));
            let &[bi, bf, bg, bo] = bias else { return };
            let (i, f) = (unary::logistic(xi + bi + hi_), unary::logistic(xf + bf + hf));
            let (g, o) = (super::math::tanh(xg + bg + hg), unary::logistic(xo + bo + ho));
            let new = clip(f * cell.get() + i * g, lo, hi);
            cell.set(new);
            out.set(super::math::tanh(new) * o);
        }
        (before, after) = (out, if rest.is_empty() { outputs } else { rest });
    }
}

/// Adds the products of `x` with a filter of each of four units, whose elements alternate.
#[inline(always)]
fn quad(x: &[Cell<f32>], w: &[f32], index: usize) -> [f32; LANES] {
    let mut sums = [Float::EMPTY; LANES];
    dot::<Float<'_>>(x, part(w, index, LANES.wrapping_mul(x.len())), &mut sums);
    sums
}

/// Adds a bias, and then another sum, to that of each of four units.
#[inline(always)]
fn add(sums: &mut [f32; LANES], bias: &[f32; LANES], others: [f32; LANES]) {
    for ((sum, bias), other) in sums.iter_mut().zip(bias).zip(others) {
        *sum = *sum + bias + other;
    }
}

/// σ(x) of some units: one copy for all gates, as four times three would be many.
#[inline(never)]
fn logistics(all: &mut [f32]) {
    all.iter_mut().for_each(|x| *x = unary::logistic(*x));
}

/// tanh(x) of some units: one copy.
#[inline(never)]
fn tanhs(all: &mut [f32]) {
    all.iter_mut().for_each(|x| *x = super::math::tanh(*x));
}

/// Gated recurrent units of floats: the outputs of all steps, or as of [`lstm_f32`] of the last ones. `h` is the output before, or empty for zeros.
///
/// Weights and biases lie in blocks of four units. The last block may be filled up. A block has the filters of update gate, reset gate and candidate. It has four biases: one of each gate, and
/// of the candidate one for inputs and one for outputs.
///
/// With `LINEAR` the reset gate is applied to the candidate's sum over outputs. Otherwise it is applied to the outputs, and their products lie in front of the outputs in `y`.
#[inline(never)]
pub fn gru_f32<const LINEAR: bool>(
    units: usize,
    inputs: usize,
    x: &[Cell<f32>],
    h: &[Cell<f32>],
    wx: &[f32],
    wh: &[f32],
    bias: &[f32],
    y: &[Cell<f32>],
) {
    const NEW: usize = 2;
    const FILTERS: usize = 3;
    let Some((kept, outputs)) = y.split_at_checked(if LINEAR { 0 } else { units }) else { return };
    let (mut before, mut after) = (h, first_row(outputs, units, x.len(), inputs));
    for x in x.chunks_exact(inputs.max(1)) {
        let Some((out, rest)) = after.split_at_checked(units) else { return };
        let old = |unit: usize| before.get(unit).map_or(0.0, Cell::get);
        let gate = |k: usize, four: usize, bias: &[f32; LANES]| {
            let index = FILTERS.wrapping_mul(four).wrapping_add(k);
            let mut sums = quad(x, wx, index);
            add(&mut sums, bias, quad(before, wh, index));
            logistics(&mut sums);
            sums
        };
        if !LINEAR {
            for (four, (kept, bias)) in kept.chunks(LANES).zip(bias.chunks_exact(4 * LANES)).enumerate() {
                let Some(bias) = bias.get(LANES..).and_then(<[f32]>::first_chunk) else { return };
                for (k, (kept, reset)) in kept.iter().zip(gate(1, four, bias)).enumerate() {
                    kept.set(reset * old(LANES * four + k));
                }
            }
        }
        for (four, (out, bias)) in out.chunks(LANES).zip(bias.chunks_exact(4 * LANES)).enumerate() {
            let Some((of_update, bias)) = bias.split_first_chunk() else { return };
            let Some((of_reset, bias)) = bias.split_first_chunk() else { return };
            let Some((of_inputs, of_outputs)) = bias.split_first_chunk::<LANES>() else { return };
            let index = FILTERS.wrapping_mul(four).wrapping_add(NEW);
            let mut new = quad(x, wx, index);
            let mut products = quad(if LINEAR { before } else { kept }, wh, index);
            products.iter_mut().zip(of_outputs).for_each(|(sum, bias)| *sum += bias);
            if LINEAR {
                let reset = gate(1, four, of_reset);
                products.iter_mut().zip(reset).for_each(|(sum, reset)| *sum *= reset);
            }
            let update = gate(0, four, of_update);
            add(&mut new, of_inputs, products);
            tanhs(&mut new);
            for (k, (out, (new, z))) in out.iter().zip(new.iter().zip(update)).enumerate() {
                out.set(z * old(LANES * four + k) + (1.0 - z) * new);
            }
        }
        (before, after) = (out, if rest.is_empty() { outputs } else { rest });
    }
}

/// A recurrent layer of floats without gates. Operands and outputs are as for [`gru_f32`], with one filter and one bias. The activation is tanh, or ReLU with `RELU`.
#[inline(never)]
pub fn rnn_f32<const RELU: bool>(
    units: usize,
    inputs: usize,
    x: &[Cell<f32>],
    h: &[Cell<f32>],
    wx: &[f32],
    wh: &[f32],
    bias: &[f32],
    y: &[Cell<f32>],
) {
    let (mut before, mut after) = (h, first_row(y, units, x.len(), inputs));
    for x in x.chunks_exact(inputs.max(1)) {
        let Some((out, rest)) = after.split_at_checked(units) else { return };
        for (four, (out, bias)) in out.chunks(LANES).zip(bias.chunks_exact(LANES)).enumerate() {
            let Some(bias) = bias.first_chunk() else { return };
            let mut sums = quad(x, wx, four);
            add(&mut sums, bias, quad(before, wh, four));
            match RELU {
                true => sums.iter_mut().for_each(|sum| *sum = clip(*sum, 0.0, f32::INFINITY)),
                false => tanhs(&mut sums),
            }
            out.iter().zip(sums).for_each(|(out, sum)| out.set(sum));
        }
        (before, after) = (out, if rest.is_empty() { y } else { rest });
    }
}
