//! Arithmetic and functions of each element, with NumPy broadcasting. Operands are cast to the type that the program has for the result.

use super::cx::Cx;
use super::{Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, Reduction, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("abs", One(|cx| by_name(cx, "Abs"))),
    ("acos", One(|cx| by_name(cx, "Acos"))),
    ("acosh", One(|cx| by_name(cx, "Acosh"))),
    ("add", One(add)),
    ("addcdiv", One(|cx| added(cx, |cx, x, y| cx.quotient(x, y)))),
    ("addcmul", One(|cx| added(cx, |cx, x, y| cx.product(x, y)))),
    ("asin", One(|cx| by_name(cx, "Asin"))),
    ("asinh", One(|cx| by_name(cx, "Asinh"))),
    ("atan", One(|cx| by_name(cx, "Atan"))),
    ("atan2", One(|cx| of_two(cx, Binary::Atan2))),
    ("atanh", One(|cx| by_name(cx, "Atanh"))),
    ("ceil", One(|cx| rounding(cx, Unary::Ceil))),
    ("clamp", One(|cx| clamp(cx, ["min", "max"]))),
    ("clamp_max", One(|cx| clamp(cx, ["", "max"]))),
    ("clamp_min", One(|cx| clamp(cx, ["min", ""]))),
    ("clip", One(|cx| clamp(cx, ["min", "max"]))),
    ("copysign", One(copysign)),
    ("cos", One(|cx| of_one(cx, Unary::Cos))),
    ("cosh", One(|cx| by_name(cx, "Cosh"))),
    ("deg2rad", One(|cx| scaled(cx, std::f64::consts::PI / 180.0))),
    ("div", One(div)),
    ("divide", One(div)),
    ("erf", One(|cx| of_one(cx, Unary::Erf))),
    ("erfc", One(erfc)),
    ("exp", One(|cx| of_one(cx, Unary::Exp))),
    ("exp2", One(exp2)),
    ("expm1", One(expm1)),
    ("fake_quantize_per_tensor_affine", One(fake_quantize)),
    ("fix", One(trunc)),
    ("floor", One(|cx| rounding(cx, Unary::Floor))),
    ("floor_divide", One(|cx| of_two(cx, Binary::FloorDiv))),
    ("float_power", One(float_power)),
    ("fmax", One(|cx| of_two(cx, Binary::Max))),
    ("fmin", One(|cx| of_two(cx, Binary::Min))),
    ("fmod", One(fmod)),
    ("frac", One(frac)),
    ("heaviside", One(heaviside)),
    ("huber_loss", One(|cx| loss(cx, Loss::Huber))),
    ("hypot", One(hypot)),
    ("l1_loss", One(|cx| loss(cx, Loss::Absolute))),
    ("lerp", One(lerp)),
    ("log", One(|cx| of_one(cx, Unary::Log))),
    ("log10", One(|cx| logarithm(cx, std::f64::consts::LOG10_E))),
    ("log1p", One(log1p)),
    ("log2", One(|cx| logarithm(cx, std::f64::consts::LOG2_E))),
    ("logaddexp", One(logaddexp)),
    ("logaddexp2", One(logaddexp2)),
    ("logit", One(logit)),
    ("maximum", One(|cx| of_two(cx, Binary::Max))),
    ("minimum", One(|cx| of_two(cx, Binary::Min))),
    ("mse_loss", One(|cx| loss(cx, Loss::Squared))),
    ("mul", One(|cx| promoted(cx, |cx, x, y| cx.product(x, y)))),
    ("multiply", One(|cx| promoted(cx, |cx, x, y| cx.product(x, y)))),
    ("neg", One(|cx| by_name(cx, "Neg"))),
    ("pow", One(pow)),
    ("rad2deg", One(|cx| scaled(cx, 180.0 / std::f64::consts::PI))),
    ("reciprocal", One(reciprocal)),
    ("remainder", One(|cx| of_two(cx, Binary::FloorMod))),
    ("round", One(round)),
    ("rsqrt", One(|cx| of_one(cx, Unary::Rsqrt))),
    ("rsub", One(rsub)),
    ("sgn", One(|cx| by_name(cx, "Sign"))),
    ("sign", One(|cx| by_name(cx, "Sign"))),
    ("sin", One(|cx| of_one(cx, Unary::Sin))),
    ("sinc", One(sinc)),
    ("sinh", One(|cx| by_name(cx, "Sinh"))),
    ("smooth_l1_loss", One(|cx| loss(cx, Loss::Smooth))),
    ("sqrt", One(|cx| of_one(cx, Unary::Sqrt))),
    ("square", One(square)),
    ("sub", One(sub)),
    ("subtract", One(sub)),
    ("tan", One(|cx| by_name(cx, "Tan"))),
    ("true_divide", One(div)),
    ("trunc", One(trunc)),
    ("xlogy", One(xlogy)),
];

/// A function of floats.
fn of_one(cx: &mut Cx<'_, '_, '_>, function: Unary) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    cx.unary(function, x)
}

/// A function that ONNX has, too; of integers those that it knows for them.
fn by_name(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = match cx.declared(0)? {
        Some(dtype) => cx.cast(x, dtype)?,
        None => x,
    };
    cx.call(operator, &[Some(x)], &[])
}

/// Integers stay what they are.
fn rounding(cx: &mut Cx<'_, '_, '_>, function: Unary) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(function, x),
        _ => Ok(x),
    }
}

fn promoted(
    cx: &mut Cx<'_, '_, '_>,
    of: fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    if cx.ty(x).dtype != DType::Bool {
        return of(cx, x, y);
    }
    // Of truth values, sums and products are those of 0 and 1.
    let (x, y) = (cx.cast(x, DType::I32)?, cx.cast(y, DType::I32)?);
    let wide = of(cx, x, y)?;
    let zero = cx.number(wide, 0.0)?;
    cx.compared(Comparison::NotEqual, wide, zero)
}

fn of_two(cx: &mut Cx<'_, '_, '_>, function: Binary) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    // NaN stays NaN as the second operand.
    let is_extreme = matches!(function, Binary::Max | Binary::Min);
    let (x, y) = if is_extreme && cx.data(y).is_some() { (y, x) } else { (x, y) };
    cx.binary(function, x, y)
}

/// y times the argument `alpha`.
fn times_alpha(cx: &mut Cx<'_, '_, '_>, y: ValueId) -> Lowered<ValueId> {
    match cx.number_or("alpha", 1.0)? {
        1.0 => Ok(y),
        alpha => cx.times(y, alpha),
    }
}

fn add(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    promoted(cx, |cx, x, y| {
        let y = times_alpha(cx, y)?;
        cx.sum(x, y)
    })
}

fn sub(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let y = times_alpha(cx, y)?;
    cx.difference(x, y)
}

/// other − alpha · self.
fn rsub(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let x = times_alpha(cx, x)?;
    cx.difference(y, x)
}

fn div(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    match cx.words("rounding_mode") {
        "floor" => cx.binary(Binary::FloorDiv, x, y),
        "trunc" => {
            let y = cx.quotient(x, y)?;
            towards_zero(cx, y)
        }
        _ => cx.quotient(x, y),
    }
}

/// x + value · of(tensor1, tensor2).
fn added(
    cx: &mut Cx<'_, '_, '_>,
    of: fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let (x, [a, b]) = (cx.tensor("self")?, cx.promoted(["tensor1", "tensor2"])?);
    let y = of(cx, a, b)?;
    let y = match cx.number_or("value", 1.0)? {
        1.0 => y,
        value => cx.times(y, value)?,
    };
    cx.sum(x, y)
}

/// A number as bound of values of some type.
fn clamp(cx: &mut Cx<'_, '_, '_>, names: [&str; 2]) -> Lowered<ValueId> {
    let mut x = cx.tensor("self")?;
    if let Some(dtype) = cx.declared(0)? {
        x = cx.cast(x, dtype)?;
    }
    let dtype = cx.ty(x).dtype;
    let mut bounds = [None, None];
    for (bound, name) in bounds.iter_mut().zip(names) {
        if cx.has(name) {
            let operand = cx.operand(name)?;
            *bound = Some(cx.cast(operand, dtype)?);
        }
    }
    cx.call("Clip", &[Some(x), bounds[0], bounds[1]], &[])
}

fn copysign(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let size = cx.unary(Unary::Abs, x)?;
    cx.with_sign(size, y)
}

fn scaled(cx: &mut Cx<'_, '_, '_>, factor: f64) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    cx.times(x, factor)
}

/// 1 − erf x.
fn erfc(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = of_one(cx, Unary::Erf)?;
    let one = cx.number(x, 1.0)?;
    cx.difference(one, x)
}

/// 2ˣ.
fn exp2(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let two = cx.number(x, 2.0)?;
    cx.binary(Binary::Pow, two, x)
}

/// eˣ − 1: ELU keeps the digits of small ones below zero, and above it is (1 − e⁻ˣ)·eˣ.
fn expm1(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let below = cx.clipped(x, f32::NEG_INFINITY, 0.0)?;
    let below = cx.unary(Unary::Elu, below)?;
    let above = cx.clipped(x, 0.0, f32::INFINITY)?;
    let less = cx.unary(Unary::Neg, above)?;
    let (part, power) = (cx.unary(Unary::Elu, less)?, cx.unary(Unary::Exp, above)?);
    let above = cx.product(part, power)?;
    cx.difference(below, above)
}

/// A logarithm of another base.
fn logarithm(cx: &mut Cx<'_, '_, '_>, factor: f64) -> Lowered<ValueId> {
    let x = of_one(cx, Unary::Log)?;
    cx.times(x, factor)
}

/// log(1 + x). Near zero it is softplus(log |x|), or the negative of softplus(log(|x| / (1 − |x|))).
fn log1p(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (zero, one) = (cx.number(x, 0.0)?, cx.number(x, 1.0)?);
    let above = cx.clipped(x, 0.0, f32::INFINITY)?;
    let log = cx.unary(Unary::Log, above)?;
    let above = cx.unary(Unary::Softplus, log)?;
    let size = cx.difference(zero, x)?;
    let below = cx.difference(one, size)?;
    let fraction = cx.quotient(size, below)?;
    let fraction = cx.clipped(fraction, 0.0, f32::INFINITY)?;
    let log = cx.unary(Unary::Log, fraction)?;
    let below = cx.unary(Unary::Softplus, log)?;
    let below = cx.unary(Unary::Neg, below)?;
    let is_negative = cx.compared(Comparison::Less, x, zero)?;
    cx.choice(is_negative, below, above)
}

/// The larger one + log(1 + e^−|x − y|).
fn logaddexp(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let (largest, gap) = (cx.binary(Binary::Max, x, y)?, cx.difference(x, y)?);
    let gap = cx.unary(Unary::Abs, gap)?;
    let less = cx.unary(Unary::Neg, gap)?;
    let more = cx.unary(Unary::Softplus, less)?;
    cx.sum(largest, more)
}

fn logaddexp2(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let (largest, gap) = (cx.binary(Binary::Max, x, y)?, cx.difference(x, y)?);
    let gap = cx.unary(Unary::Abs, gap)?;
    let less = cx.times(gap, -std::f64::consts::LN_2)?;
    let more = cx.unary(Unary::Softplus, less)?;
    let more = cx.times(more, std::f64::consts::LOG2_E)?;
    cx.sum(largest, more)
}

fn logit(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.float_tensor("self")?;
    if let Some(epsilon) = cx.real("eps")? {
        x = cx.clipped(x, epsilon as f32, (1.0 - epsilon) as f32)?;
    }
    let one = cx.number(x, 1.0)?;
    let less = cx.difference(one, x)?;
    let fraction = cx.quotient(x, less)?;
    cx.unary(Unary::Log, fraction)
}

fn fmod(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    cx.call("Mod", &[Some(x), Some(y)], &[("fmod", Set::Int(1))])
}

fn trunc(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    towards_zero(cx, x)
}

fn towards_zero(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    if cx.ty(x).dtype != DType::F32 {
        return Ok(x);
    }
    let (down, up) = (cx.unary(Unary::Floor, x)?, cx.unary(Unary::Ceil, x)?);
    let zero = cx.number(x, 0.0)?;
    let is_negative = cx.compared(Comparison::Less, x, zero)?;
    cx.choice(is_negative, up, down)
}

fn frac(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let whole = towards_zero(cx, x)?;
    cx.difference(x, whole)
}

/// √(x² + y²), with the larger one in front of the root.
fn hypot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let (x, y) = (cx.unary(Unary::Square, x)?, cx.unary(Unary::Square, y)?);
    let sum = cx.sum(x, y)?;
    cx.unary(Unary::Sqrt, sum)
}

/// x + w·(y − x).
fn lerp(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y, weight) = (cx.tensor("self")?, cx.tensor("end")?, cx.operand("weight")?);
    let weight = cx.floating(weight)?;
    let gap = cx.difference(y, x)?;
    let part = cx.product(gap, weight)?;
    cx.sum(x, part)
}

fn square(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    match cx.ty(x).dtype {
        DType::F32 => cx.unary(Unary::Square, x),
        _ => cx.product(x, x),
    }
}

fn reciprocal(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let one = cx.number(x, 1.0)?;
    cx.quotient(one, x)
}

fn pow(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "exponent"])?;
    power(cx, x, y)
}

/// xʸ. Exponents that are known numbers have functions of their own.
pub(super) fn power(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let known = cx.data(y).filter(|_| cx.ty(y).shape.numel() == 1 && cx.dims(y).is_empty());
    let exponent =
        known.filter(|_| cx.ty(y).dtype == DType::F32).and_then(|data| data.to_f32().first().copied());
    match exponent {
        Some(1.0) => Ok(x),
        Some(2.0) => cx.unary(Unary::Square, x),
        Some(3.0) => {
            let square = cx.unary(Unary::Square, x)?;
            cx.product(square, x)
        }
        Some(0.5) => cx.unary(Unary::Sqrt, x),
        Some(-0.5) => cx.unary(Unary::Rsqrt, x),
        Some(-1.0) => {
            let one = cx.number(x, 1.0)?;
            cx.quotient(one, x)
        }
        _ => cx.binary(Binary::Pow, x, y),
    }
}

fn round(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let decimals = cx.int("decimals", 0)?;
    if cx.ty(x).dtype != DType::F32 {
        return Ok(x);
    }
    if decimals == 0 {
        return cx.unary(Unary::Round, x);
    }
    if !(-30..=30).contains(&decimals) {
        return Err(Refusal::unsupported(format!("it rounds to {decimals} decimals"), "round to fewer"));
    }
    let ten = 10f64.powi(decimals.unsigned_abs() as i32);
    let ten = cx.number(x, ten)?;
    let (large, is_fraction) =
        if decimals > 0 { (cx.product(x, ten)?, true) } else { (cx.quotient(x, ten)?, false) };
    let whole = cx.unary(Unary::Round, large)?;
    match is_fraction {
        true => cx.quotient(whole, ten),
        false => cx.product(whole, ten),
    }
}

/// x·log y, and 0 where x is 0.
fn xlogy(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let (log, zero) = (cx.unary(Unary::Log, y)?, cx.number(x, 0.0)?);
    let product = cx.product(x, log)?;
    let nothing = cx.compared(Comparison::Equal, x, zero)?;
    let y = cx.choice(nothing, zero, product)?;
    // Also there NaN stays NaN.
    let is_number = cx.compared(Comparison::Equal, log, log)?;
    cx.choice(is_number, y, product)
}

fn float_power(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.operand("self")?, cx.operand("exponent")?);
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    power(cx, x, y)
}

/// 0 below zero, 1 above, and the second operand there.
fn heaviside(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, there) = (cx.tensor("self")?, cx.tensor("values")?);
    let (zero, one) = (cx.number(x, 0.0)?, cx.number(x, 1.0)?);
    let (is_above, is_zero) =
        (cx.compared(Comparison::Greater, x, zero)?, cx.compared(Comparison::Equal, x, zero)?);
    let y = cx.choice(is_above, one, zero)?;
    cx.choice(is_zero, there, y)
}

/// sin(πx) / (πx), and 1 at zero.
fn sinc(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let angle = cx.times(x, std::f64::consts::PI)?;
    let (sine, one, zero) = (cx.unary(Unary::Sin, angle)?, cx.number(x, 1.0)?, cx.number(x, 0.0)?);
    let fraction = cx.quotient(sine, angle)?;
    let is_zero = cx.compared(Comparison::Equal, x, zero)?;
    cx.choice(is_zero, one, fraction)
}

/// To the nearest number that an integer stands for.
fn fake_quantize(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (scale, zero) = (cx.number_or("scale", 1.0)?, cx.number_or("zero_point", 0.0)?);
    let (lo, hi) = (cx.number_or("quant_min", -128.0)?, cx.number_or("quant_max", 127.0)?);
    let y = cx.times(x, 1.0 / scale)?;
    let y = cx.plus(y, zero)?;
    let y = cx.unary(Unary::Round, y)?;
    let y = cx.clipped(y, lo as f32, hi as f32)?;
    let y = cx.plus(y, -zero)?;
    cx.times(y, scale)
}

#[derive(Clone, Copy)]
enum Loss {
    Absolute,
    Squared,
    Huber,
    Smooth,
}

/// How far two are apart: for each element, or the mean or sum of all.
fn loss(cx: &mut Cx<'_, '_, '_>, of: Loss) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "target"])?;
    let gap = cx.difference(x, y)?;
    let size = cx.unary(Unary::Abs, gap)?;
    let each = match of {
        Loss::Absolute => size,
        Loss::Squared => cx.unary(Unary::Square, gap)?,
        Loss::Huber | Loss::Smooth => {
            let is_smooth = matches!(of, Loss::Smooth);
            let bound = cx.number_or(if is_smooth { "beta" } else { "delta" }, 1.0)?;
            let square = cx.unary(Unary::Square, gap)?;
            let near = cx.times(square, if is_smooth { 0.5 / bound } else { 0.5 })?;
            let far = cx.plus(size, -0.5 * bound)?;
            let far = if is_smooth { far } else { cx.times(far, bound)? };
            let bound = cx.number(size, bound)?;
            let is_near = cx.compared(Comparison::Less, size, bound)?;
            cx.choice(is_near, near, far)?
        }
    };
    let count = cx.ty(each).shape.numel();
    let flat = match cx.int("reduction", 1)? {
        0 => return Ok(each),
        _ => cx.reshaped(each, &[count])?,
    };
    let y = match cx.int("reduction", 1)? {
        1 => cx.mean(flat, &[0])?,
        _ => cx.reduced(Reduction::Sum, flat, &[0])?,
    };
    cx.reshaped(y, &[])
}
