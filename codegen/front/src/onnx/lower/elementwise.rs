//! Functions of each element, of one operand or of several with NumPy broadcasting.

use super::cx::NodeCx;
use super::{tensor, All, Lowered, One, Operators};
use kiln_ir::{Binary, Clamp, Comparison, DType, LeakyRescale, Op, Real, Shape, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Abs", One(abs)),
    ("Add", All(add)),
    ("BitwiseNot", One(bitwise_not)),
    ("Cast", One(cast)),
    ("CastLike", One(cast_like)),
    ("Ceil", One(|cx| unary(cx, Unary::Ceil))),
    ("Clip", One(clip)),
    ("Cos", One(|cx| unary(cx, Unary::Cos))),
    ("Div", One(div)),
    ("Erf", One(|cx| unary(cx, Unary::Erf))),
    ("Exp", One(|cx| unary(cx, Unary::Exp))),
    ("Floor", One(|cx| unary(cx, Unary::Floor))),
    ("Gelu", One(gelu)),
    ("HardSwish", One(|cx| unary(cx, Unary::HardSwish))),
    ("LeakyRelu", One(leaky_relu)),
    ("Log", One(|cx| unary(cx, Unary::Log))),
    ("Max", All(|cx| several(cx, |cx, x, y| extreme(cx, Binary::Max, x, y)))),
    ("Mean", One(mean)),
    ("Min", All(|cx| several(cx, |cx, x, y| extreme(cx, Binary::Min, x, y)))),
    ("Mod", One(modulo)),
    ("Mul", One(mul)),
    ("Neg", One(neg)),
    ("PRelu", One(prelu)),
    ("Pow", One(pow)),
    ("Reciprocal", One(reciprocal)),
    ("Relu", One(relu)),
    ("Round", One(|cx| unary(cx, Unary::Round))),
    ("Sigmoid", One(sigmoid)),
    ("Sign", One(sign)),
    ("Sin", One(|cx| unary(cx, Unary::Sin))),
    ("Softplus", One(|cx| unary(cx, Unary::Softplus))),
    ("Sqrt", One(|cx| unary(cx, Unary::Sqrt))),
    ("Sub", One(sub)),
    ("Sum", All(|cx| several(cx, |cx, x, y| cx.sum(x, y)))),
    ("Tanh", One(tanh)),
    ("com.microsoft.Gelu", One(gelu)),
];

fn unary(cx: &mut NodeCx<'_, '_, '_>, function: Unary) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.unary(function, x)
}

/// Abs.
fn abs(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    magnitude(cx, x)
}

/// |x|; of integers the larger one of x and −x.
pub(super) fn magnitude(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(Unary::Abs, x),
        _ => {
            let less = negative(cx, x)?;
            cx.binary(Binary::Max, x, less)
        }
    }
}

/// Neg.
fn neg(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    negative(cx, x)
}

fn negative(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(Unary::Neg, x),
        _ => {
            let zero = cx.number(x, 0.0)?;
            cx.difference(zero, x)
        }
    }
}

/// Sign.
fn sign(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    if cx.ty(x).dtype == DType::F32 {
        return unary(cx, Unary::Sign);
    }
    let (least, most) = (cx.number(x, -1.0)?, cx.number(x, 1.0)?);
    let y = cx.binary(Binary::Max, x, least)?;
    cx.binary(Binary::Min, y, most)
}

/// Reciprocal.
fn reciprocal(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let one = cx.number(x, 1.0)?;
    cx.quotient(one, x)
}

/// Gelu, exact or by its approximation.
fn gelu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let approximate = cx.text("approximate") == b"tanh";
    unary(cx, if approximate { Unary::GeluTanh } else { Unary::Gelu })
}

/// Sigmoid.
fn sigmoid(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.sigmoid(x)
}

/// Tanh.
fn tanh(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.tanh(x)
}

/// Relu.
fn relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let y = match cx.ty(x).dtype {
        DType::F32 => cx.clipped(x, 0.0, f32::INFINITY)?,
        _ => {
            let zero = cx.number(x, 0.0)?;
            cx.binary(Binary::Max, x, zero)?
        }
    };
    Ok(y)
}

/// Clip: bounds are attributes before set 11, and operands since.
fn clip(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.input(0)?;
    if cx.opset() < 11 {
        let (lo, hi) = (cx.float("min", f32::NEG_INFINITY), cx.float("max", f32::INFINITY));
        let y = cx.clipped(x, lo, hi)?;
        return Ok(y);
    }
    let bounds = [cx.optional(1)?, cx.optional(2)?];
    let known = |bound: Option<ValueId>, otherwise: f32| match bound {
        None => Some(otherwise),
        Some(bound) => cx.data(bound).and_then(|data| data.to_f32().first().copied()),
    };
    if let (DType::F32, Some(lo), Some(hi)) =
        (cx.ty(x).dtype, known(bounds[0], f32::NEG_INFINITY), known(bounds[1], f32::INFINITY))
    {
        let y = cx.clipped(x, lo, hi)?;
        return Ok(y);
    }
    for (bound, function) in bounds.into_iter().zip([Binary::Max, Binary::Min]) {
        if let Some(bound) = bound {
            // NaN stays NaN: comparisons with it are false, which chooses the second operand.
            x = cx.binary(function, bound, x)?;
        }
    }
    Ok(x)
}

/// LeakyRelu.
fn leaky_relu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (dims, alpha) = (cx.dims(x), Real(cx.float("alpha", 0.01)));
    cx.add_like(Op::LeakyRelu { alpha, rescale: LeakyRescale::Real }, &[x], &dims)
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
    let joined = Shape::common(&cx.dims(x), &cx.dims(y));
    joined.ok_or_else(|| {
        let (x, y) = (cx.shown(x), cx.shown(y));
        malformed!("{x} and {y} cannot be broadcast")
    })
}

/// Both operands. Before set 7 the second one is laid along the axes from one on, if it is smaller.
fn operands(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<(ValueId, ValueId)> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    if cx.opset() >= 7 || cx.attribute("axis").is_none() {
        return Ok((x, y));
    }
    let (rank, mut dims) = (cx.dims(x).len(), cx.dims(y));
    let first = cx.axis(cx.int("axis", 0), rank)?;
    dims.resize(rank.saturating_sub(first).max(dims.len()), 1);
    Ok((x, cx.reshaped(y, &dims)?))
}

/// Add.
fn add(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, y) = operands(cx)?;
    let sum = cx.sum(x, y)?;
    cx.bind(0, sum)
}

/// Sub.
fn sub(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = operands(cx)?;
    cx.difference(x, y)
}

/// Mul.
fn mul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = operands(cx)?;
    cx.product(x, y)
}

/// Div; integers are rounded towards zero.
fn div(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = operands(cx)?;
    cx.quotient(x, y)
}

/// Pow: the result has the type of the base.
fn pow(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = operands(cx)?;
    let dtype = cx.ty(x).dtype;
    // Floats on either side make it one of floats.
    let common = if cx.ty(y).dtype == DType::F32 { DType::F32 } else { dtype };
    let (x, y) = (cx.cast(x, common)?, cx.cast(y, common)?);
    let power = cx.binary(Binary::Pow, x, y)?;
    cx.cast(power, dtype)
}

/// Mod: with the sign of the divisor, or, as C's fmod, of the dividend.
fn modulo(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    if cx.int("fmod", 0) == 0 {
        let rest = cx.binary(Binary::FloorMod, x, y)?;
        return Ok(rest);
    }
    let (dividend, divisor) = (magnitude(cx, x)?, magnitude(cx, y)?);
    let rest = cx.binary(Binary::FloorMod, dividend, divisor)?;
    let (zero, less) = (cx.number(x, 0.0)?, negative(cx, rest)?);
    let is_negative = cx.compared(Comparison::Less, x, zero)?;
    cx.choice(is_negative, less, rest)
}

/// PRelu: the slope's shape is that of the operand's last axes. Before set 7 a list of slopes is one for each channel.
fn prelu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, mut slope) = (cx.input(0)?, cx.input(1)?);
    if let (true, &[slopes]) = (cx.opset() < 7, &*cx.dims(slope)) {
        let mut along = vec![1; cx.dims(x).len().saturating_sub(1)];
        if let Some(first) = along.first_mut() {
            *first = slopes;
        }
        slope = cx.reshaped(slope, &along)?;
    }
    if cx.ty(x).dtype == DType::F32 {
        let y = cx.binary(Binary::Prelu, x, slope)?;
        return Ok(y);
    }
    let zero = cx.number(x, 0.0)?;
    let (is_negative, product) = (cx.compared(Comparison::Less, x, zero)?, cx.product(x, slope)?);
    cx.choice(is_negative, product, x)
}

/// The larger or the smaller one, the constant first: NaN stays NaN as the second operand.
fn extreme(cx: &mut NodeCx<'_, '_, '_>, function: Binary, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let (x, y) = if cx.data(y).is_some() { (y, x) } else { (x, y) };
    cx.binary(function, x, y)
}

/// Mean of any number of operands.
fn mean(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let operands = cx.inputs()?;
    let all = joined(cx, &operands, |cx, x, y| cx.sum(x, y))?;
    let count = cx.number(all, operands.len() as f64)?;
    cx.quotient(all, count)
}

type OfTwo<'m, 'a> = fn(&mut NodeCx<'_, 'm, 'a>, ValueId, ValueId) -> Lowered<ValueId>;

/// Of any number of operands.
fn several<'m, 'a>(cx: &mut NodeCx<'_, 'm, 'a>, of: OfTwo<'m, 'a>) -> Lowered {
    let operands = cx.inputs()?;
    let value = joined(cx, &operands, of)?;
    cx.bind(0, value)
}

fn joined<'m, 'a>(cx: &mut NodeCx<'_, 'm, 'a>, operands: &[ValueId], of: OfTwo<'m, 'a>) -> Lowered<ValueId> {
    let Some((&first, rest)) = operands.split_first() else {
        return Err(malformed!("it has no operands"));
    };
    rest.iter().try_fold(first, |all, &other| of(cx, all, other))
}

/// BitwiseNot: −1 − x.
fn bitwise_not(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let all = cx.number(x, -1.0)?;
    cx.difference(all, x)
}

/// Cast.
fn cast(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dtype = tensor::dtype(cx.int("to", 0))?;
    cx.cast(x, dtype)
}

/// CastLike: to the type of the second operand.
fn cast_like(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, like) = (cx.input(0)?, cx.input(1)?);
    let dtype = cx.ty(like).dtype;
    cx.cast(x, dtype)
}
