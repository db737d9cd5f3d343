//! Activations and functions of one number.

use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::{exponential_less_one, log_of_more, Set};
use kiln_ir::{DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Abs", One(|cx| onnx(cx, "Abs"))),
    ("Acos", One(|cx| onnx(cx, "Acos"))),
    ("Acosh", One(|cx| onnx(cx, "Acosh"))),
    ("Asin", One(|cx| onnx(cx, "Asin"))),
    ("Asinh", One(|cx| onnx(cx, "Asinh"))),
    ("Atan", One(|cx| onnx(cx, "Atan"))),
    ("Atanh", One(|cx| onnx(cx, "Atanh"))),
    ("Ceil", One(|cx| function(cx, Unary::Ceil))),
    ("Cos", One(|cx| function(cx, Unary::Cos))),
    ("Cosh", One(|cx| onnx(cx, "Cosh"))),
    ("Elu", One(|cx| function(cx, Unary::Elu))),
    ("Erf", One(|cx| function(cx, Unary::Erf))),
    ("Erfc", One(erfc)),
    ("Exp", One(|cx| function(cx, Unary::Exp))),
    ("Expm1", One(|cx| made(cx, 12, exponential_less_one))),
    ("Floor", One(|cx| function(cx, Unary::Floor))),
    ("Inv", One(reciprocal)),
    ("LeakyRelu", One(leaky_relu)),
    ("Log", One(|cx| function(cx, Unary::Log))),
    ("Log1p", One(|cx| made(cx, 12, log_of_more))),
    ("LogSoftmax", One(log_softmax)),
    ("Neg", One(|cx| onnx(cx, "Neg"))),
    ("Reciprocal", One(reciprocal)),
    ("Relu", One(|cx| onnx(cx, "Relu"))),
    ("Relu6", One(|cx| clipped(cx, 0.0, 6.0))),
    ("ReluN1To1", One(|cx| clipped(cx, -1.0, 1.0))),
    ("Rint", One(|cx| function(cx, Unary::Round))),
    ("Round", One(round)),
    ("Rsqrt", One(|cx| function(cx, Unary::Rsqrt))),
    ("Selu", One(|cx| onnx(cx, "Selu"))),
    ("Sigmoid", One(sigmoid)),
    ("Sign", One(|cx| onnx(cx, "Sign"))),
    ("Sin", One(|cx| function(cx, Unary::Sin))),
    ("Sinh", One(|cx| onnx(cx, "Sinh"))),
    ("Softmax", One(softmax)),
    ("Softplus", One(|cx| function(cx, Unary::Softplus))),
    ("Softsign", One(|cx| onnx(cx, "Softsign"))),
    ("Sqrt", One(|cx| function(cx, Unary::Sqrt))),
    ("Square", One(square)),
    ("Tan", One(|cx| onnx(cx, "Tan"))),
    ("Tanh", One(tanh)),
];

/// An ONNX operator of one operand.
fn onnx(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    cx.onnx(operator, &[x])
}

fn function(cx: &mut Cx<'_, '_, '_>, function: Unary) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    cx.unary(function, x)
}

/// A function that is made up of so many others.
fn made<'c, 'm>(
    cx: &mut Cx<'c, 'm, '_>,
    operations: usize,
    function: impl FnOnce(&mut crate::onnx::lower::NodeCx<'c, 'm, 'static>, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    cx.written_out(operations)?;
    let x = cx.float_x(0)?;
    function(&mut cx.means, x)
}

/// 1 − erf x.
fn erfc(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let (erf, one) = (cx.unary(Unary::Erf, x)?, cx.number(x, 1.0)?);
    cx.difference(one, erf)
}

fn reciprocal(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let one = cx.number(x, 1.0)?;
    cx.quotient(one, x)
}

fn leaky_relu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let alpha = cx.float_of("alpha", 0.2)?;
    if alpha == 0.0 {
        return cx.onnx("Relu", &[x]);
    }
    cx.call("LeakyRelu", &[Some(x)], &[("alpha", Set::Float(alpha))])
}

fn clipped(cx: &mut Cx<'_, '_, '_>, lo: f32, hi: f32) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    cx.clipped(x, lo, hi)
}

fn round(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(Unary::Round, x),
        _ => Ok(x),
    }
}

fn sigmoid(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    cx.sigmoid(x)
}

fn tanh(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    cx.tanh(x)
}

fn square(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(Unary::Square, x),
        _ => cx.product(x, x),
    }
}

fn softmax(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    cx.softmax(x)
}

fn log_softmax(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    cx.log_softmax(x)
}
