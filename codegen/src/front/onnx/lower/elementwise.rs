//! Functions of each element, of one operand or of several with NumPy broadcasting.

use super::cx::NodeCx;
use super::logic::common;
use super::{describe, tensor, Lowered, Refusal};
use crate::ir::{AddRescale, Binary, Clamp, DType, LeakyRescale, Op, Real, Rescale, Type, Unary, ValueId};

macro_rules! unary {
    ($( $name:ident $function:ident )+) => {$(
        pub(super) fn $name(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
            unary(cx, Unary::$function)
        }
    )+};
}

unary! {
    abs Abs
    ceil Ceil
    cos Cos
    exp Exp
    floor Floor
    hard_swish HardSwish
    log Log
    neg Neg
    round Round
    sign Sign
    sin Sin
    sqrt Sqrt
}

fn unary(cx: &mut NodeCx<'_, '_, '_>, function: Unary) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    cx.emit(Op::Unary { function }, &[x], &dims)
}

/// Reciprocal.
pub(super) fn reciprocal(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let one = cx.float_constant("one", &[], &[1.0])?;
    let value = pair(cx, one, x, function(Binary::Div))?;
    cx.bind(0, value)
}

/// Gelu, exact or by its approximation.
pub(super) fn gelu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let approximate = cx.text("approximate") == b"tanh";
    unary(cx, if approximate { Unary::GeluTanh } else { Unary::Gelu })
}

/// Elu with α = 1.
pub(super) fn elu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    match cx.float("alpha", 1.0) {
        1.0 => unary(cx, Unary::Elu),
        alpha => Err(Refusal::unsupported(format!("Elu with α = {alpha} cannot be compiled"), "use α = 1")),
    }
}

/// Sigmoid.
pub(super) fn sigmoid(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    cx.emit(Op::Logistic {}, &[x], &dims)
}

/// Tanh.
pub(super) fn tanh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    cx.emit(Op::Tanh {}, &[x], &dims)
}

/// Relu.
pub(super) fn relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    clipped(cx, 0.0, f32::INFINITY)
}

/// Clip: bounds are attributes before set 11, and operands since.
pub(super) fn clip(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    if cx.opset() < 11 {
        let (lo, hi) = (cx.float("min", f32::NEG_INFINITY), cx.float("max", f32::INFINITY));
        return clipped(cx, lo, hi);
    }
    let mut bounds = [f32::NEG_INFINITY, f32::INFINITY];
    for (k, bound) in bounds.iter_mut().enumerate() {
        if cx.optional(k + 1)?.is_some() {
            match *cx.floats(k + 1, "bound")? {
                [number] => *bound = number,
                _ => return Err(Refusal::malformed("a bound is no single number")),
            }
        }
    }
    clipped(cx, bounds[0], bounds[1])
}

fn clipped(cx: &mut NodeCx<'_, '_, '_>, lo: f32, hi: f32) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    cx.emit(Op::Clip { clamp: Clamp::Float { lo: Real(lo), hi: Real(hi) } }, &[x], &dims)
}

/// LeakyRelu.
pub(super) fn leaky_relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (dims, alpha) = (cx.dims(x), Real(cx.float("alpha", 0.01)));
    cx.emit(Op::LeakyRelu { alpha, rescale: LeakyRescale::Real }, &[x], &dims)
}

/// HardSigmoid: α·x + β between 0 and 1.
pub(super) fn hard_sigmoid(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (alpha, beta) = (cx.float("alpha", 0.2), cx.float("beta", 0.5));
    let (alpha, beta) =
        (cx.float_constant("alpha", &[], &[alpha])?, cx.float_constant("beta", &[], &[beta])?);
    let dims = cx.dims(x);
    let product =
        cx.add_like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, alpha], &dims)?;
    let clamp = Clamp::Float { lo: Real(0.0), hi: Real(1.0) };
    cx.emit(Op::Add { rescale: AddRescale::Real, clamp }, &[product, beta], &dims)
}

/// What plain arithmetic is limited to.
pub(super) fn unlimited(dtype: DType) -> Clamp {
    match dtype {
        DType::F32 => Clamp::NO_FLOAT,
        _ => Clamp::Int { lo: i32::MIN, hi: i32::MAX },
    }
}

/// The common shape of two, as NumPy does it.
pub(super) fn broadcast(cx: &NodeCx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<Vec<usize>> {
    let joined = common(&cx.dims(x), &cx.dims(y));
    joined.ok_or_else(|| {
        let (x, y) = (describe(cx.ty(x)), describe(cx.ty(y)));
        Refusal::malformed(format!("{x} and {y} cannot be broadcast"))
    })
}

fn binary(cx: &mut NodeCx<'_, '_, '_>, op: impl Fn(Clamp) -> Op) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let value = pair(cx, x, y, op)?;
    cx.bind(0, value)
}

fn pair(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, y: ValueId, op: impl Fn(Clamp) -> Op) -> Lowered<ValueId> {
    let dtype = cx.ty(x).dtype;
    if dtype != cx.ty(y).dtype || !matches!(dtype, DType::F32 | DType::I32 | DType::I64) {
        let what =
            format!("arithmetic on {} and {} cannot be compiled", describe(cx.ty(x)), describe(cx.ty(y)));
        return Err(Refusal::unsupported(what, "export the model in float32, int32 or int64"));
    }
    let dims = broadcast(cx, x, y)?;
    cx.add_like(op(unlimited(dtype)), &[x, y], &dims)
}

/// Add.
pub(super) fn add(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, |clamp| Op::Add { rescale: AddRescale::Real, clamp })
}

/// Sub.
pub(super) fn sub(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, |clamp| Op::Sub { rescale: AddRescale::Real, clamp })
}

/// Mul.
pub(super) fn mul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, |clamp| Op::Mul { rescale: Rescale::Real, clamp })
}

fn function(function: Binary) -> impl Fn(Clamp) -> Op {
    move |clamp| Op::Binary { function, rescale: Rescale::Real, clamp }
}

/// Div; integers are rounded towards zero.
pub(super) fn div(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, function(Binary::Div))
}

/// Pow.
pub(super) fn pow(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, function(Binary::Pow))
}

/// PRelu: the slope's shape is that of the operand's last axes.
pub(super) fn prelu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    binary(cx, function(Binary::Prelu))
}

/// Max of any number of operands.
pub(super) fn max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    several(cx, Binary::Max)
}

/// Min of any number of operands.
pub(super) fn min(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    several(cx, Binary::Min)
}

fn several(cx: &mut NodeCx<'_, '_, '_>, of: Binary) -> Lowered {
    let operands = cx.inputs()?;
    let Some((&first, rest)) = operands.split_first() else {
        return Err(Refusal::malformed("it has no operands"));
    };
    let mut value = first;
    for &other in rest {
        value = pair(cx, value, other, function(of))?;
    }
    cx.bind(0, value)
}

/// Cast.
pub(super) fn cast(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dtype = tensor::dtype(cx.int("to", 0))?;
    let ty = Type { dtype, shape: cx.ty(x).shape.clone(), quant: None };
    let value = if cx.ty(x).dtype == dtype { x } else { cx.add(Op::Cast {}, &[x], ty)? };
    cx.bind(0, value)
}
