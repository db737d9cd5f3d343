//! UNIDIRECTIONAL_SEQUENCE_LSTM, as far as TFLite Micro has it: without peepholes, projection and layer normalisation.
//!
//! It becomes one `lstm`, and slices of what that returns: the outputs, the last of which is a state, and the cell state.

use super::cx::{describe, OpCx};
use super::quant::multiplier;
use super::{Layout, Lowered, Operators, Refusal};
use kiln_ir::{Clamp, DType, Data, Op, Real, Rescale, Shape, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(44, unidirectional_sequence_lstm)];

/// Operands: of each gate the weights of inputs and of outputs, and the biases.
const WEIGHTS: [usize; 4] = [1, 2, 3, 4];
const RECURRENT: [usize; 4] = [5, 6, 7, 8];
const BIASES: [usize; 4] = [12, 13, 14, 15];
/// Operands of kinds of LSTM that are not compiled.
const OTHERS: [(&str, &[usize]); 3] =
    [("peepholes", &[9, 10, 11]), ("a projection", &[16, 17]), ("layer normalisation", &[20, 21, 22, 23])];
/// The last output, and the cell state.
const HIDDEN: usize = 18;
const CELL: usize = 19;

/// Steps of the gates' sums: Q3.12. And of the gates: Q0.15.
const OF_SUMS: f32 = 1.0 / 4096.0;
const OF_GATES: f32 = 1.0 / 32768.0;

/// UNIDIRECTIONAL_SEQUENCE_LSTM.
fn unidirectional_sequence_lstm(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (activation, clip, time_major) = cx.options(71)?.sequence_lstm()?;
    for (what, operands) in OTHERS {
        for &k in operands {
            if k < cx.input_count() && cx.input_tensor(k).is_ok() {
                let help = "train with a plain LSTM (Keras' LSTM layer)";
                return Err(Refusal::unsupported(format!("an LSTM with {what} cannot be compiled"), help));
            }
        }
    }
    if cx.input_tensor(WEIGHTS[0]).is_err() {
        let help = "train with a plain LSTM (Keras' LSTM layer)";
        return Err(Refusal::unsupported(
            "an LSTM with coupled input and forget gates cannot be compiled",
            help,
        ));
    }
    // TANH.
    if activation != 4 {
        let what = format!("an LSTM with activation {activation} cannot be compiled");
        return Err(Refusal::unsupported(what, "use tanh, the activation of Keras' LSTM layer"));
    }
    let x = cx.input(0)?;
    let mut constants = |operands: [usize; 4]| -> Lowered<[ValueId; 4]> {
        let mut values = [x; 4];
        for (value, k) in values.iter_mut().zip(operands) {
            *value = cx.input_as(k, Layout::Rows)?;
            if !cx.is_const(*value) {
                let what = format!("its weights (operand {k}) are computed at run time");
                return Err(Refusal::unsupported(what, "store them as constants in the model"));
            }
        }
        Ok(values)
    };
    let (weights, recurrent, biases) = (constants(WEIGHTS)?, constants(RECURRENT)?, constants(BIASES)?);
    let (hidden, cell, result) = (cx.declared_input(HIDDEN)?, cx.declared_input(CELL)?, cx.declared(0)?);

    let misfit = |cx: &OpCx<'_, '_, '_>| {
        let (x, w, h) = (cx.shown(x), cx.shown(weights[0]), describe(&hidden));
        malformed!("operand {x}, weights {w} and state {h} do not fit")
    };
    let &[first, second, k] = &*cx.dims(x) else { return Err(misfit(cx)) };
    let (batch, steps) = if time_major { (second, first) } else { (first, second) };
    if time_major && batch > 1 {
        let help = "convert the model with a batch of 1";
        return Err(Refusal::unsupported(
            "a time-major LSTM over several sequences cannot be compiled",
            help,
        ));
    }
    let Some(&n) = cx.dims(weights[0]).first() else { return Err(misfit(cx)) };
    let all = |ids: [ValueId; 4], dims: &[usize]| ids.iter().all(|&id| cx.dims(id) == dims);
    let states = [&hidden, &cell].iter().all(|ty| Some(batch * n) == ty.shape.checked_numel());
    let shapes = all(weights, &[n, k]) && all(recurrent, &[n, n]) && all(biases, &[n]);
    if !shapes || !states || [batch, steps, k, n].contains(&0) {
        return Err(misfit(cx));
    }

    let is = |ids: [ValueId; 4], dtype: DType| ids.iter().all(|&id| cx.ty(id).dtype == dtype);
    let outer = [cx.ty(x).dtype, hidden.dtype, result.dtype];
    let float = outer == [DType::F32; 3] && cell.dtype == DType::F32;
    let ints = outer == [DType::I8; 3] && cell.dtype == DType::I16;
    let of = if float { DType::F32 } else { DType::I8 };
    let sums = if float { DType::F32 } else { DType::I32 };
    if !(float || ints) || !is(weights, of) || !is(recurrent, of) || !is(biases, sums) {
        let what = format!(
            "arithmetic on {}, weights {} and a cell state {} cannot be compiled",
            cx.shown(x),
            cx.shown(weights[0]),
            describe(&cell)
        );
        let help = "convert the model to float32, or to full-integer int8 with a cell state of int16";
        return Err(Refusal::unsupported(what, help));
    }
    malformed_if!(clip < 0.0 || !clip.is_finite(), "its limit of the cell state is {clip}");
    let op = match float {
        true => {
            let bound = if clip > 0.0 { clip } else { f32::INFINITY };
            Op::float_lstm(Clamp::Float { lo: Real(-bound), hi: Real(bound) })
        }
        false => integers(cx, x, weights, recurrent, [&hidden, &cell, &result], clip)?,
    };

    let width = if float { 1 } else { 2 };
    // The bytes of the cell state.
    let state = Type { shape: Shape(vec![batch, width * n]), ..result.clone() };
    let zeros = Data::new(vec![0; state.bytes()]);
    let c = cx.variable(CELL, state.clone(), Some(zeros))?;
    let h = cx.variable(HIDDEN, Type { shape: Shape(vec![batch, n]), ..result.clone() }, None)?;
    let sequence = Type { shape: Shape(vec![batch, steps, k]), ..cx.ty(x).clone() };
    let x = if cx.ty(x) == &sequence { x } else { cx.node(Op::Reshape {}, &[x], 0, sequence)? };
    let [w, r, b] = [
        joined(cx, weights, of, &[4 * n, k]),
        joined(cx, recurrent, of, &[4 * n, n]),
        joined(cx, biases, sums, &[4 * n]),
    ];
    let lead = width * n;
    let ty = Type { shape: Shape(vec![batch, lead + steps * n]), ..result.clone() };
    let all = cx.node(op, &[x, h, c, w, r, b], 0, ty)?;
    let mut part = |begin: usize, len: usize| {
        let op = Op::Slice { begin: vec![0, begin], step: vec![1, 1] };
        cx.node(op, &[all], 0, Type { shape: Shape(vec![batch, len]), ..result.clone() })
    };
    let (cells, outputs, last) = (part(0, lead)?, part(lead, steps * n)?, part(lead + (steps - 1) * n, n)?);
    cx.set_variable(CELL, c, cells)?;
    cx.set_variable(HIDDEN, h, last)?;
    let dims = [first, second, n];
    cx.emit_reshaped(outputs, 0, &dims)
}

/// The op of integers, with its factors.
fn integers(
    cx: &OpCx<'_, '_, '_>,
    x: ValueId,
    weights: [ValueId; 4],
    recurrent: [ValueId; 4],
    [hidden, cell, result]: [&Type; 3],
    clip: f32,
) -> Lowered<Op> {
    if hidden.quant != result.quant {
        let what = "its output and its state have different quantisation";
        return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
    }
    let all = weights.iter().chain(&recurrent);
    if all.into_iter().any(|&id| cx.ty(id).zero_point() != 0) {
        let help = "convert the model with symmetric weights";
        return Err(Refusal::unsupported("its weights have a zero point other than 0", help));
    }
    let cell_scale = cx.scale(cell, "cell state")?;
    let power = cell_scale.log2().round();
    if (cell_scale.log2() - power).abs() > 1e-3 || !(-27.0..=0.0).contains(&power) || cell.zero_point() != 0 {
        let what = format!("the scale of its cell state is {cell_scale}, which is not a power of two");
        return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
    }
    let input = gates(cx, cx.scale(cx.ty(x), "operand")?, weights)?;
    let recurrent = gates(cx, cx.scale(hidden, "state")?, recurrent)?;
    let product = |a: f32, b: f32, to: f32| multiplier(f64::from(a) * f64::from(b) / f64::from(to));
    let factors = vec![
        product(OF_GATES, cell_scale, cell_scale)?,
        product(OF_GATES, OF_GATES, cell_scale)?,
        product(OF_GATES, OF_GATES, cx.scale(result, "result")?)?,
    ];
    let bound = (f64::from(clip) / f64::from(cell_scale)).min(32767.0) as i32;
    let clip = match clip > 0.0 {
        true => Clamp::Int { lo: -bound, hi: bound },
        false => Clamp::Int { lo: -32768, hi: 32767 },
    };
    let cell = Rescale::FixedPoint(factors);
    Ok(Op::Lstm { input, recurrent, cell, tanh_shift: power as i64 + 12, clip })
}

/// The factor of each gate's sums, over elements of that scale.
fn gates(cx: &OpCx<'_, '_, '_>, x: f32, weights: [ValueId; 4]) -> Lowered<Rescale> {
    let factor = |&id: &ValueId| {
        let weights = cx.scale(cx.ty(id), "weights")?;
        multiplier(f64::from(x) * f64::from(weights) / f64::from(OF_SUMS))
    };
    Ok(Rescale::FixedPoint(weights.iter().map(factor).collect::<Lowered<_>>()?))
}

/// Constants one behind the other.
fn joined(cx: &mut OpCx<'_, '_, '_>, parts: [ValueId; 4], dtype: DType, dims: &[usize]) -> ValueId {
    let bytes: Vec<u8> =
        parts.iter().flat_map(|&id| cx.data(id).map(|d| d.bytes().to_vec()).unwrap_or_default()).collect();
    cx.constant("gates", Type::plain(dtype, dims), Data::new(bytes))
}
