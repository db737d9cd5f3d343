//! Long short-term memory.

use super::activation::logistic_f32;
use super::fixed_point::multiply;
use super::sigmoid::{sigmoid, tanh};
use super::tensor::{centred, clamp_f32};
use super::{Evaluated, InterpError, Tensor};
use kiln_ir::{Data, Multiplier, Op, Rescale, Type};

/// Sizes of an LSTM: sequences, steps, inputs, units.
struct Sizes([usize; 4]);

/// See `lstm` in the op table. Integers: TFLite Micro's `lstm_eval` for 8-bit activations and a 16-bit cell state.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let Op::Lstm { input, recurrent, cell, tanh_shift, clip } = op else { return Ok(None) };
    let [(x, _), (h, _), ..] = operands else {
        return Err(InterpError::new("lstm wants six operands"));
    };
    let (&[sequences, steps, inputs], &[_, units]) = (x.shape.dims(), h.shape.dims()) else {
        return Err(InterpError::new("lstm wants sequences"));
    };
    let sizes = Sizes([sequences, steps, inputs, units]);
    Ok(Some(match (input, recurrent, cell) {
        (Rescale::FixedPoint(input), Rescale::FixedPoint(recurrent), Rescale::FixedPoint(cell)) => {
            let factors = [&input[..], &recurrent[..], &cell[..]];
            integers(&sizes, factors, *tanh_shift, clip.int_bounds(), operands, result)
        }
        _ => floats(&sizes, clip.float_bounds(), operands, result),
    }))
}

fn floats(sizes: &Sizes, clip: (f32, f32), operands: &[Tensor<'_>], result: &Type) -> Data {
    let Sizes([sequences, steps, inputs, units]) = *sizes;
    let data: Vec<Vec<f32>> = operands.iter().map(|(_, data)| data.to_f32()).collect();
    let [x, h, c, w, r, bias] = [0, 1, 2, 3, 4, 5].map(|k| &data[k][..]);
    let product = |w: &[f32], row: usize, x: &[f32]| {
        w[row * x.len()..].iter().zip(x).fold(0f32, |sum, (w, x)| sum + x * w)
    };
    let mut y = Vec::new();
    for sequence in 0..sequences {
        let mut cells = c[sequence * units..][..units].to_vec();
        let mut before = h[sequence * units..][..units].to_vec();
        let mut outputs = Vec::new();
        for step in 0..steps {
            let x = &x[(sequence * steps + step) * inputs..][..inputs];
            let mut after = Vec::new();
            for (unit, cell) in cells.iter_mut().enumerate() {
                let [i, f, g, o] = [0, 1, 2, 3].map(|gate| {
                    let row = gate * units + unit;
                    product(w, row, x) + bias[row] + product(r, row, &before)
                });
                *cell = clamp_f32(logistic_f32(f) * *cell + logistic_f32(i) * libm::tanhf(g), clip);
                after.push(libm::tanhf(*cell) * logistic_f32(o));
            }
            outputs.extend_from_slice(&after);
            before = after;
        }
        y.extend(cells);
        y.extend_from_slice(last(&outputs, result.shape.last().saturating_sub(units)));
    }
    Data::from_f32(&y)
}

/// So many elements at the end.
pub(super) fn last(all: &[f32], count: usize) -> &[f32] {
    &all[all.len().saturating_sub(count)..]
}

fn integers(
    sizes: &Sizes,
    [input, recurrent, cell]: [&[Multiplier]; 3],
    tanh_shift: i64,
    (lo, hi): (i32, i32),
    operands: &[Tensor<'_>],
    result: &Type,
) -> Data {
    let Sizes([sequences, steps, inputs, units]) = *sizes;
    let zero = operands[1].0.zero_point();
    let x = centred(operands[0].0, operands[0].1);
    let h = centred(operands[1].0, operands[1].1);
    let c: Vec<i16> =
        operands[2].1.bytes().chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    let [w, r] = [3, 4].map(|k| operands[k].1.to_i8());
    let bias = operands[5].1.to_i32();
    let product = |w: &[i8], row: usize, x: &[i32], first: i32| {
        let taps = w[row * x.len()..].iter().zip(x);
        taps.fold(first, |sum, (&w, x)| sum.wrapping_add(x.wrapping_mul(w.into())))
    };
    let saturated = |x: i32| x.clamp(i16::MIN.into(), i16::MAX.into());
    let mut y: Vec<i8> = Vec::new();
    for sequence in 0..sequences {
        let mut cells: Vec<i32> = c[sequence * units..][..units].iter().map(|&c| c.into()).collect();
        let mut before = h[sequence * units..][..units].to_vec();
        let mut outputs: Vec<i8> = Vec::new();
        for step in 0..steps {
            let x = &x[(sequence * steps + step) * inputs..][..inputs];
            let mut after = Vec::new();
            for (unit, state) in cells.iter_mut().enumerate() {
                let [i, f, g, o] = [0, 1, 2, 3].map(|gate| {
                    let row = gate * units + unit;
                    let of_inputs = multiply(product(&w, row, x, bias[row]), input[gate]);
                    let of_outputs = multiply(product(&r, row, &before, 0), recurrent[gate]);
                    saturated(saturated(of_inputs) + saturated(of_outputs))
                });
                let (i, f, g, o) = (sigmoid(i), sigmoid(f), tanh(g, 0), sigmoid(o));
                let kept = saturated(multiply(f * *state, cell[0]));
                *state = saturated(kept + saturated(multiply(i * g, cell[1]))).clamp(lo, hi);
                let output = multiply(tanh(*state, tanh_shift) * o, cell[2]).saturating_add(zero);
                let output = output.clamp(-128, 127);
                outputs.push(output as i8);
                after.push(output - zero);
            }
            before = after;
        }
        y.extend(cells.iter().flat_map(|&c| (c as i16).to_le_bytes()).map(|byte| byte as i8));
        y.extend(outputs);
    }
    debug_assert_eq!(y.len(), result.shape.numel());
    Data::from_i8(&y)
}
