//! LOG_SOFTMAX and L2_NORMALIZATION.

use super::activation::{check_result, no_int16, softmax_scale};
use super::cx::{describe, Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{Lowered, Refusal};
use crate::ir::{Op, Rescale, SoftmaxScale};

/// LOG_SOFTMAX along the last axis. An int8 result has scale 1/16 and zero point 127.
pub(super) fn log_softmax(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    if dims.is_empty() {
        return Err(Refusal::malformed("its operand is a scalar"));
    }
    let (scale, divisor) = match cx.format(&[x])? {
        Format::Float => (SoftmaxScale::Real, Rescale::Real),
        Format::Int16 => return Err(no_int16()),
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
pub(super) fn l2_normalization(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    if Activation::fused(cx.options(12)?.activation()?)? != Activation::None {
        let help = "make the activation an operator of its own";
        return Err(Refusal::unsupported("a fused activation cannot be compiled here", help));
    }
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    if dims.is_empty() {
        return Err(Refusal::malformed("its operand is a scalar"));
    }
    if let Some(stored) = cx.as_stored(x) {
        let what = format!("its arithmetic on {} cannot be compiled", describe(&stored));
        return Err(Refusal::unsupported(
            what,
            "convert again with int8 quantisation (uint8 is the old scheme)",
        ));
    }
    match cx.format(&[x])? {
        Format::Float => {}
        Format::Int8 => {
            cx.scale(cx.ty(x), "operand")?;
            check_result(&cx.declared(0)?, 1.0 / 128.0, 0)?;
        }
        Format::Int16 => return Err(no_int16()),
    }
    cx.emit(Op::L2Normalize {}, &[x], 0, &dims)
}
