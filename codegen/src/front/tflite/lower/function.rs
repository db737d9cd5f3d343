//! Functions of each element: ABS to SQUARE of one operand, DIV to SQUARED_DIFFERENCE of two.

use super::arithmetic::broadcast;
use super::cx::{describe, Format, OpCx};
use super::quant::Activation;
use super::{Lowered, Refusal};
use crate::ir::{Binary, Op, Unary};

/// The lowering of an operator that is a function of one operand.
macro_rules! unary {
    ($( $name:ident $function:ident )+) => {$(
        pub(super) fn $name(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
            unary(cx, Unary::$function)
        }
    )+};
}

unary! {
    abs Abs
    ceil Ceil
    cos Cos
    elu Elu
    exp Exp
    floor Floor
    hard_swish HardSwish
    log Log
    neg Neg
    round Round
    rsqrt Rsqrt
    sin Sin
    sqrt Sqrt
    square Square
}

fn unary(cx: &mut OpCx<'_, '_, '_>, function: Unary) -> Lowered {
    let x = cx.input(0)?;
    float_only(cx.format(&[x])?)?;
    let dims = cx.dims(x);
    cx.emit(Op::Unary { function }, &[x], 0, &dims)
}

fn float_only(format: Format) -> Lowered {
    match format {
        Format::Float => Ok(()),
        Format::Int8 => Err(Refusal::unsupported(
            "its int8 arithmetic cannot be compiled yet; that on float32 can".to_string(),
            "leave this operator out of the quantisation of the model",
        )),
    }
}

/// DIV, with a fused activation.
pub(super) fn div(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let activation = Activation::fused(cx.options(29)?.activation()?)?;
    binary(cx, Binary::Div, activation)
}

/// FLOOR_DIV.
pub(super) fn floor_div(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::FloorDiv, Activation::None)
}

/// FLOOR_MOD.
pub(super) fn floor_mod(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::FloorMod, Activation::None)
}

/// MAXIMUM.
pub(super) fn maximum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Max, Activation::None)
}

/// MINIMUM.
pub(super) fn minimum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Min, Activation::None)
}

/// POW.
pub(super) fn pow(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::Pow, Activation::None)
}

/// SQUARED_DIFFERENCE.
pub(super) fn squared_difference(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    binary(cx, Binary::SquaredDifference, Activation::None)
}

fn binary(cx: &mut OpCx<'_, '_, '_>, function: Binary, activation: Activation) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let dims = broadcast(cx, x, y)?;
    let result = cx.declared(0)?;
    let format = cx.format(&[x, y])?;
    if !function.chooses() {
        float_only(format)?;
    }
    let differs = [x, y].into_iter().find(|&v| cx.ty(v).quant != result.quant);
    if let Some(operand) = differs {
        let what = format!(
            "its operand {} and its result {} have different quantisation",
            describe(cx.ty(operand)),
            describe(&result)
        );
        return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
    }
    let clamp = activation.clamp(&result);
    cx.emit(Op::Binary { function, clamp }, &[x, y], 0, &dims)
}
