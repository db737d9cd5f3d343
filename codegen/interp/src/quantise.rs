//! Between floats and integers.

use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Data, Op, Quant, Rounding, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Quantize { rounding } => quantize(*rounding, first.1, result)?,
        Op::Dequantize {} => dequantize(first)?,
        _ => return Ok(None),
    }))
}

/// Scale and zero point of every element of a tensor, in order.
fn parameters<'a>(ty: &'a Type, quant: &'a Quant) -> Result<impl Fn(usize) -> (f32, i32) + 'a, InterpError> {
    let axis_len = quant.axis.map_or(1, |axis| ty.shape.dims().get(axis).copied().unwrap_or(0));
    if axis_len == 0 || quant.scales.len() != axis_len || quant.zero_points.len() != axis_len {
        return Err(InterpError::new("scales and zero points do not fit the shape"));
    }
    let stride = quant.axis.map_or(1, |axis| ty.shape.strides()[axis]);
    Ok(move |element: usize| {
        let channel = element / stride % axis_len;
        (quant.scales[channel].0, quant.zero_points[channel])
    })
}

fn quant_of(ty: &Type) -> Result<&Quant, InterpError> {
    ty.quant.as_ref().ok_or_else(|| InterpError::new("a quantised tensor wants a scale"))
}

/// See `quantize` in the op table. NaN becomes the zero point; what is beyond `i32` saturates.
fn quantize(rounding: Rounding, data: &Data, result: &Type) -> Computed {
    let parameters = parameters(result, quant_of(result)?)?;
    let (lo, hi) = result.dtype.int_range().ok_or_else(|| InterpError::new("quantize yields integers"))?;
    let stored = |(i, x): (usize, f32)| {
        let (scale, zero) = parameters(i);
        let rounded = match rounding {
            Rounding::Away => (x / scale).round() as i32,
            Rounding::Even => (x / scale).round_ties_even() as i32,
            Rounding::EvenInverse => (x * (1.0 / scale)).round_ties_even() as i32,
            Rounding::EvenSum(plus) => {
                ((x / scale + plus as f32).round_ties_even() as i32).saturating_sub(plus)
            }
        };
        i64::from(rounded.saturating_add(zero)).clamp(lo, hi)
    };
    Ok(Data::from_ints(result.dtype, data.to_f32().into_iter().enumerate().map(stored)))
}

/// See `dequantize` in the op table.
fn dequantize((ty, data): Tensor<'_>) -> Computed {
    let parameters = parameters(ty, quant_of(ty)?)?;
    let real = |(i, x): (usize, i64)| {
        let (scale, zero) = parameters(i);
        scale * (x as i32).wrapping_sub(zero) as f32
    };
    Ok(Data::from_f32(&data.to_ints(ty.dtype).into_iter().enumerate().map(real).collect::<Vec<_>>()))
}
