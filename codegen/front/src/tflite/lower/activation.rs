//! Activations as operators of their own, and SOFTMAX.

use super::cx::{Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{table, Lowered, Operators, Refusal};
use kiln_ir::{softmax_of_16_bits, DType, LeakyRescale, Op, Real, Rescale, SoftmaxScale, Type};

pub(super) const OPERATORS: Operators = &[
    (14, |cx| fixed_result(cx, Op::Logistic {}, 1.0 / 256.0, -128)), // LOGISTIC. An int8 result has scale 1/256 and zero point −128.
    (19, |cx| clip(cx, Activation::Relu)),                           // RELU
    (20, |cx| clip(cx, Activation::ReluN1To1)),                      // RELU_N1_TO_1
    (21, |cx| clip(cx, Activation::Relu6)),                          // RELU6
    (25, softmax),
    (28, |cx| fixed_result(cx, Op::Tanh {}, 1.0 / 128.0, 0)), // TANH. An int8 result has scale 1/128 and zero point 0.
    (98, leaky_relu),
    (152, |cx| clip(cx, Activation::Relu0To1)), // RELU_0_TO_1
];

/// A range of real numbers. On integers: to the result's scale, then clamped. (TFLite Micro's RELU6 forgets to rescale;
/// TFLite's does not, and equals it where the scales are equal.)
fn clip(cx: &mut OpCx<'_, '_, '_>, activation: Activation) -> Lowered {
    let x = cx.input(0)?;
    let result = cx.declared(0)?;
    let clamp = activation.alone(&result);
    let op = match cx.format(&[x])? {
        Format::Float => Op::Clip { clamp },
        Format::Int8 | Format::Int16 if cx.ty(x).quant == result.quant => Op::Clip { clamp },
        Format::Int8 | Format::Int16 => {
            Op::Requantize { rescale: Rescale::FixedPoint(vec![cx.ratio(cx.ty(x), &result)?]), clamp }
        }
    };
    let dims = cx.dims(x);
    cx.emit(op, &[x], 0, &dims)
}

/// LEAKY_RELU.
fn leaky_relu(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let alpha = cx.options(75)?.alpha()?;
    malformed_if!(!alpha.is_finite(), "its slope is {alpha}");
    let x = cx.input(0)?;
    let rescale = match cx.format(&[x])? {
        Format::Float => LeakyRescale::Real,
        format => {
            let result = cx.declared(0)?;
            let (x_scale, y) = (cx.scale(cx.ty(x), "operand")?, cx.scale(&result, "result")?);
            // In `f32` for int16, as TFLite Micro's sources and its published outputs have it (builds of it for Python divide in `f64`), and for uint8,
            // as LiteRT has it.
            let factors = match format == Format::Int16 || cx.as_stored(x).is_some() {
                true => [x_scale / y, x_scale * alpha / y].map(f64::from),
                false => {
                    let [x, alpha, y] = [x_scale, alpha, y].map(f64::from);
                    [x / y, x * alpha / y]
                }
            };
            LeakyRescale::FixedPoint { identity: multiplier(factors[0])?, alpha: multiplier(factors[1])? }
        }
    };
    let dims = cx.dims(x);
    cx.emit(Op::LeakyRelu { alpha: Real(alpha), rescale }, &[x], 0, &dims)
}

fn fixed_result(cx: &mut OpCx<'_, '_, '_>, op: Op, scale: f32, zero_point: i32) -> Lowered {
    let x = cx.input(0)?;
    match cx.format(&[x])? {
        Format::Float => {}
        Format::Int8 => {
            cx.scale(cx.ty(x), "operand")?;
            check_result(&cx.declared(0)?, scale, zero_point)?;
        }
        Format::Int16 => check_result(&cx.declared(0)?, 1.0 / 32768.0, 0)?,
    }
    if cx.as_stored(x).is_some() {
        return table::of_uint8(cx, if op == (Op::Tanh {}) { f32::tanh } else { sigmoid });
    }
    let dims = cx.dims(x);
    cx.emit(op, &[x], 0, &dims)
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The kernels' fixed point has the result's quantisation built in.
pub(super) fn check_result(ty: &Type, scale: f32, zero_point: i32) -> Lowered {
    if ty.scale() == Some(scale) && ty.zero_point() == zero_point {
        return Ok(());
    }
    let what = format!(
        "its result has scale {:?} and zero point {}; the operator requires {scale} and {zero_point}",
        ty.scale().unwrap_or_default(),
        ty.zero_point()
    );
    Err(Refusal::unsupported(what, "convert the model again with a current converter"))
}

/// SOFTMAX along the last axis. An int8 result has scale 1/256 and zero point −128; an int16 result of an int8 operand nearly 1/65536 and −32768.
fn softmax(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let beta = cx.options(9)?.beta()?;
    malformed_if!(!beta.is_finite() || beta < 0.0, "its β is {beta}");
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    malformed_if!(dims.is_empty(), "its operand is a scalar");
    let result = cx.declared(0)?;
    let wide = (cx.ty(x).dtype, result.dtype) == (DType::I8, DType::I16);
    let format = if wide { Format::Int8 } else { cx.format(&[x])? };
    let scale = match format {
        Format::Float => SoftmaxScale::Real,
        Format::Int16 => {
            check_result(&result, 1.0 / 32768.0, 0)?;
            let by = [f64::from(beta), f64::from(cx.scale(cx.ty(x), "operand")?)];
            let beyond = || {
                let what = format!(
                    "β times the operand's scale is {:e}, too large for fixed-point arithmetic",
                    by[0] * by[1]
                );
                Refusal::unsupported(what, "check the quantisation of the operand")
            };
            SoftmaxScale::of_16_bits(by).ok_or_else(beyond)?
        }
        Format::Int8 => {
            match wide {
                true if softmax_of_16_bits(&result) => {}
                true => check_result(&result, 1.0 / 65536.0, i16::MIN.into())?,
                false => check_result(&result, 1.0 / 256.0, -128)?,
            }
            softmax_scale(f64::from(beta), f64::from(cx.scale(cx.ty(x), "operand")?))?
        }
    };
    cx.emit(Op::Softmax { beta: Real(beta), scale }, &[x], 0, &dims)
}

/// The scale of a softmax of 8 bits.
pub(super) fn softmax_scale(beta: f64, scale: f64) -> Lowered<SoftmaxScale> {
    SoftmaxScale::of_8_bits([beta, scale]).ok_or_else(|| {
        let what = format!(
            "β times the operand's scale is {:e}, too small for fixed-point arithmetic",
            beta * scale
        );
        Refusal::unsupported(what, "check the quantisation of the operand")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_ir::Multiplier;

    #[test]
    fn softmax_parameters() {
        // 1/16: 2²⁶ · 2⁻⁴ = 2²² exactly, so a mantissa of one half and shift 23.
        let expected =
            SoftmaxScale::FixedPoint { multiplier: Multiplier { value: 1 << 30, shift: 23 }, diff_min: -248 };
        assert_eq!(softmax_scale(1.0, 0.0625).unwrap(), expected);
        assert!(softmax_scale(1.0, 1e-9).is_err());
        // Every difference counts as −∞.
        let SoftmaxScale::FixedPoint { multiplier, diff_min } = softmax_scale(1.0, 1e6).unwrap() else {
            panic!()
        };
        assert_eq!((multiplier, diff_min), (Multiplier { value: i32::MAX - 1, shift: 30 }, 0));
    }
}
