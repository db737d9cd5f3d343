//! What DynamicQuantizeLSTM of ONNX Runtime does otherwise than LSTM: products of integers, with operands that are quantised as they come.
//!
//! The inputs of all steps are quantised together, and so are the states of all sequences in each step: what ONNX Runtime does in one thread. Sums of products are exact, and become floats
//! as there: times the product of both scales, the inputs' plus the state's, plus the biases.

use super::cx::NodeCx;
use super::quantise_dynamic::{quantised, Dynamic, EXACT};
use super::{describe, Lowered, Refusal};
use kiln_ir::{Clamp, DType, Op, Rescale, ValueId};

/// Weights of all directions, less their zero points, as floats: \[filters, columns\] of each; and the scales, one for each direction or for each filter.
pub(super) struct Weights {
    pub(super) numbers: Vec<f32>,
    pub(super) scales: Vec<f32>,
}

/// Operand `k`, \[directions, columns, filters\], with scales and zero points as operands `named` and `named + 1`.
pub(super) fn weights(cx: &mut NodeCx<'_, '_, '_>, k: usize, named: usize) -> Lowered<Weights> {
    let w = cx.input(k)?;
    let ty = cx.ty(w).clone();
    let help = "export the model with constant int8 or uint8 weights, their scales and zero points";
    let given = cx.data(w).filter(|_| matches!(ty.dtype, DType::I8 | DType::U8));
    let (Some(data), &[count, columns, filters]) = (given, ty.shape.dims()) else {
        return Err(Refusal::unsupported(format!("weights {}", describe(&ty)), help));
    };
    let scales = cx.floats(named, "scales")?;
    let zeros = match cx.optional(named + 1)? {
        None => vec![0],
        Some(zero) => match cx.data(zero) {
            Some(data) => data.to_ints(cx.ty(zero).dtype),
            None => {
                return Err(Refusal::unsupported(
                    "the zero point of its weights is computed at run time",
                    help,
                ))
            }
        },
    };
    let fits = |len: usize| len == count || len == count * filters;
    if !fits(scales.len())
        || !(fits(zeros.len()) || zeros.len() == 1)
        || scales.iter().any(|s| !s.is_finite())
    {
        let what = format!(
            "it has {} scales and {} zero points for weights {}",
            scales.len(),
            zeros.len(),
            describe(&ty)
        );
        return Err(Refusal::malformed(what));
    }
    let zero = |direction: usize, filter: usize| match zeros.len() {
        1 => zeros[0],
        len if len == count => zeros[direction],
        _ => zeros[direction * filters + filter],
    };
    let stored = data.to_ints(ty.dtype);
    let mut numbers = Vec::with_capacity(stored.len());
    for direction in 0..count {
        for filter in 0..filters {
            let at = |column: usize| (direction * columns + column) * filters + filter;
            let zero = zero(direction, filter);
            numbers.extend((0..columns).map(|column| (stored[at(column)] - zero) as f32));
        }
    }
    Ok(Weights { numbers, scales })
}

/// The product of rows, quantised together, and filters: \[rows, filters\].
pub(super) fn product(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, numbers: &Matrix) -> Lowered<ValueId> {
    let &[rows, columns] = &*cx.dims(x) else {
        return Err(malformed!("its operand is not a matrix"));
    };
    let Dynamic { stored, scale, zero } = quantised(cx, x)?;
    let (scale, zero) = (cx.reshaped(scale, &[1, 1])?, cx.reshaped(zero, &[1, 1])?);
    let x = cx.difference(stored, zero)?;
    let dims = [rows, numbers.filters];
    let mut sums = None;
    for (&part, begin) in numbers.parts.iter().zip((0..columns).step_by(EXACT)) {
        let own = match numbers.parts.len() {
            1 => x,
            _ => cx.part(x, 1, begin, EXACT.min(columns - begin), 1)?,
        };
        let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let sum = cx.add_like(op, &[own, part, numbers.nothing], &dims)?;
        // All sums together have more than 24 bits.
        let sum = if numbers.parts.len() == 1 { sum } else { cx.cast(sum, DType::I32)? };
        sums = Some(match sums {
            None => sum,
            Some(sums) => cx.sum(sums, sum)?,
        });
    }
    let sums = sums.ok_or_else(|| malformed!("a product has no factors"))?;
    let sums = cx.cast(sums, DType::F32)?;
    let scale = cx.product(scale, numbers.scales)?;
    cx.product(sums, scale)
}

/// The filters of a direction as constants.
pub(super) struct Matrix {
    /// \[filters, columns\], few enough columns of which sums of products are exact.
    parts: Vec<ValueId>,
    /// \[1, 1\] or \[1, filters\].
    scales: ValueId,
    /// A bias of zeros.
    nothing: ValueId,
    filters: usize,
}

impl Matrix {
    pub(super) fn of(
        cx: &mut NodeCx<'_, '_, '_>,
        numbers: &[f32],
        [filters, columns]: [usize; 2],
        scales: &[f32],
    ) -> Lowered<Matrix> {
        let mut parts = Vec::new();
        for begin in (0..columns).step_by(EXACT) {
            let count = EXACT.min(columns - begin);
            let rows = numbers.chunks(columns.max(1));
            let part: Vec<f32> = rows.flat_map(|row| row[begin..begin + count].iter().copied()).collect();
            parts.push(cx.float_constant("weights", &[filters, count], &part)?);
        }
        let scales = cx.float_constant("scales", &[1, scales.len()], scales)?;
        let nothing = cx.float_constant("no bias", &[filters], &vec![0.0; filters])?;
        Ok(Matrix { parts, scales, nothing, filters })
    }
}
