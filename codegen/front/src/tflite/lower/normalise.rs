//! LOG_SOFTMAX, L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION.

use super::activation::{check_result, softmax_scale};
use super::cx::{Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{table, Lowered, Operators, Refusal};
use kiln_ir::{DType, Op, Real, Rescale, SoftmaxScale, Type};

pub(super) const OPERATORS: Operators =
    &[(11, l2_normalization), (13, local_response_normalization), (50, log_softmax)];

/// LOG_SOFTMAX along the last axis. An int8 result has scale 1/16 and zero point 127.
fn log_softmax(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    malformed_if!(dims.is_empty(), "its operand is a scalar");
    let (scale, divisor) = match cx.format(&[x])? {
        Format::Float => (SoftmaxScale::Real, Rescale::Real),
        Format::Int16 => return Err(table::no_int16()),
        Format::Int8 => {
            check_result(&cx.declared(0)?, 1.0 / 16.0, 127)?;
            let scale = softmax_scale(1.0, f64::from(cx.scale(cx.ty(x), "operand")?))?;
            let divisor = match &scale {
                // TFLite's `PreprocessLogSoftmaxScalingExp`.
                SoftmaxScale::FixedPoint { multiplier: by, .. } => {
                    multiplier(2f64.powi(31 - by.shift) / f64::from(by.value))?
                }
                SoftmaxScale::Real => multiplier(1.0)?,
            };
            (scale, Rescale::FixedPoint(vec![divisor]))
        }
    };
    cx.emit(Op::LogSoftmax { scale, divisor }, &[x], 0, &dims)
}

/// L2_NORMALIZATION along the last axis. An int8 result has scale 1/128 and zero point 0.
fn l2_normalization(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    if Activation::fused(cx.options(12)?.activation()?)? != Activation::None {
        let help = "make the activation a separate operator";
        return Err(Refusal::unsupported("a fused activation cannot be compiled here", help));
    }
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    malformed_if!(dims.is_empty(), "its operand is a scalar");
    match cx.format(&[x])? {
        Format::Float => {}
        Format::Int8 => {
            cx.scale(cx.ty(x), "operand")?;
            check_result(&cx.declared(0)?, 1.0 / 128.0, 0)?;
        }
        Format::Int16 => return Err(table::no_int16()),
    }
    match cx.as_stored(x) {
        // TFLite rounds bytes otherwise than signed ones.
        Some(stored) => {
            let unsigned = cx.same_number(x, stored);
            let ty = Type::quantized(DType::U8, &dims, 1.0 / 128.0, 128);
            let normal = cx.node(Op::L2Normalize {}, &[unsigned], 0, ty)?;
            let declared = cx.declared(0)?.with_shape(&dims);
            let signed = cx.same_number(normal, declared);
            cx.bind(0, signed)
        }
        None => cx.emit(Op::L2Normalize {}, &[x], 0, &dims),
    }
}

/// LOCAL_RESPONSE_NORMALIZATION of floats.
fn local_response_normalization(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (radius, factors) = cx.options(13)?.local_response()?;
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    if cx.format(&[x])? != Format::Float {
        let help = "leave this operator out of the quantisation of the model";
        return Err(Refusal::unsupported("it has no integer arithmetic in TFLite", help));
    }
    let radius = usize::try_from(radius).map_err(|_| malformed!("its radius is {radius}"))?;
    malformed_if!(dims.len() != 4, "image {} must have four axes", cx.shown(x));
    let [bias, alpha, beta] = factors.map(Real);
    cx.emit(Op::LocalNormalize { radius, bias, alpha, beta }, &[x], 0, &dims)
}
