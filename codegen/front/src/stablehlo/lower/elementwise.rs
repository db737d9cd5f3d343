//! Functions of each element. What the graph repeats itself is not repeated: see [`Tensor`].

use super::super::module::Element;
use super::cx::Cx;
use super::slot::{self, Slot, Tensor};
use super::{bits, compare, complex, recognise, All, Lowered, One, Operators};
use crate::onnx::lower::NodeCx;
use kiln_ir::{Binary, Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("abs", All(abs)),
    ("add", All(|cx| sum_like(cx, '+'))),
    ("atan2", One(|cx| floats(cx, Binary::Atan2))),
    ("ceil", One(|cx| unary(cx, Unary::Ceil))),
    ("clamp", One(clamp)),
    ("cosine", One(|cx| unary(cx, Unary::Cos))),
    ("divide", All(divide)),
    ("exponential", All(exponential)),
    ("floor", One(|cx| unary(cx, Unary::Floor))),
    ("log", One(|cx| unary(cx, Unary::Log))),
    ("logistic", One(|cx| of_each(cx, |cx, x| cx.means().sigmoid(x)))),
    ("maximum", One(|cx| extreme(cx, Binary::Max))),
    ("minimum", One(|cx| extreme(cx, Binary::Min))),
    ("multiply", All(|cx| sum_like(cx, '*'))),
    ("negate", All(negate)),
    ("power", One(power)),
    ("remainder", One(remainder)),
    ("round_nearest_even", One(|cx| unary(cx, Unary::Round))),
    ("rsqrt", One(|cx| unary(cx, Unary::Rsqrt))),
    ("sign", One(sign)),
    ("sine", One(|cx| unary(cx, Unary::Sin))),
    ("sqrt", One(|cx| unary(cx, Unary::Sqrt))),
    ("subtract", All(|cx| sum_like(cx, '-'))),
    ("tanh", One(|cx| of_each(cx, |cx, x| cx.means().tanh(x)))),
];

/// A function of each element of the first operand.
pub(super) fn of_each<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    function: impl FnOnce(&mut Cx<'_, 'm, 'p>, ValueId) -> Lowered<ValueId>,
) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let value = function(cx, x.value)?;
    Ok(Tensor { value, ..x })
}

fn unary(cx: &mut Cx<'_, '_, '_>, function: Unary) -> Lowered<Tensor> {
    of_each(cx, |cx, x| cx.means().unary(function, x))
}

/// A function of two.
pub(super) fn of_two<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    x: &Tensor,
    y: &Tensor,
    function: impl FnOnce(&mut NodeCx<'_, 'm, 'static>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<Tensor> {
    let dims = cx.common(x, y)?;
    let value = function(&mut cx.means(), x.value, y.value)?;
    let tensor = Tensor::of(value, &dims, &x.element);
    bits::narrowed(cx, tensor)
}

fn floats(cx: &mut Cx<'_, '_, '_>, function: Binary) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    of_two(cx, &x, &y, |cx, x, y| cx.binary(function, x, y))
}

/// add, subtract and multiply.
fn sum_like(cx: &mut Cx<'_, '_, '_>, sign: char) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::arithmetic(cx, sign);
    }
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    let result = match recognise::arithmetic(cx, sign, &x, &y)? {
        Some(result) => result,
        None => arithmetic(cx, sign, &x, &y)?,
    };
    Ok(vec![Slot::Tensor(result)])
}

/// x + y, x − y or x · y; of truth values or, exclusive or, and.
pub(super) fn arithmetic(cx: &mut Cx<'_, '_, '_>, sign: char, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    if x.element == Element::Bool {
        return bits::of_truths(cx, sign, x, y);
    }
    // A difference to a constant is a sum, which may become part of a layer.
    if sign == '-'
        && cx.ty(y.value).dtype == DType::F32
        && cx.is_constant(y.value)
        && !cx.is_constant(x.value)
    {
        let less = negated(cx, y)?;
        return of_two(cx, x, &less, |cx, x, y| cx.sum(x, y));
    }
    of_two(cx, x, y, |cx, x, y| match sign {
        '+' => cx.sum(x, y),
        '-' => cx.difference(x, y),
        _ => cx.product(x, y),
    })
}

fn divide(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::divide(cx);
    }
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    let result = match recognise::quotient(cx, &x, &y)? {
        Some(result) => result,
        None => quotient(cx, &x, &y)?,
    };
    Ok(vec![Slot::Tensor(result)])
}

/// x / y; integers are rounded towards zero, and all bits are set where y is 0.
pub(super) fn quotient(cx: &mut Cx<'_, '_, '_>, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    let quotient = match slot::is_wide_unsigned(&x.element) {
        true => bits::unsigned_division(cx, x, y)?.0,
        false => of_two(cx, x, y, |cx, x, y| cx.quotient(x, y))?,
    };
    let known = if cx.is_constant(y.value) { cx.known_ints(y.value) } else { None };
    let is_known = known.is_some_and(|list| !list.contains(&0));
    if cx.ty(x.value).dtype == DType::F32 || is_known {
        return Ok(quotient);
    }
    let mut means = cx.means();
    let zero = means.number(y.value, 0.0)?;
    let (is_none, ones) = match means.ty(y.value).dtype {
        DType::U8 => (means.compared(Comparison::Equal, y.value, zero)?, means.number(y.value, 255.0)?),
        _ => (means.compared(Comparison::Equal, y.value, zero)?, means.number(y.value, -1.0)?),
    };
    let value = means.choice(is_none, ones, quotient.value)?;
    Ok(Tensor { value, ..quotient })
}

/// x − y · (x / y, rounded towards zero).
fn remainder(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    if slot::is_wide_unsigned(&x.element) {
        return Ok(bits::unsigned_division(cx, &x, &y)?.1);
    }
    if cx.ty(x.value).dtype == DType::F32 {
        let (a, b) = (magnitude(cx, &x)?, magnitude(cx, &y)?);
        let rest = of_two(cx, &a, &b, |cx, x, y| cx.binary(Binary::FloorMod, x, y))?;
        return of_two(cx, &rest, &x, |cx, rest, x| {
            let zero = cx.number(x, 0.0)?;
            let (is_below, less) = (cx.compared(Comparison::Less, x, zero)?, cx.unary(Unary::Neg, rest)?);
            cx.choice(is_below, less, rest)
        });
    }
    of_two(cx, &x, &y, |cx, x, y| {
        let quotient = cx.quotient(x, y)?;
        let whole = cx.product(quotient, y)?;
        cx.difference(x, whole)
    })
}

/// maximum and minimum.
fn extreme(cx: &mut Cx<'_, '_, '_>, function: Binary) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    larger(cx, function, &x, &y)
}

/// The larger or the smaller one.
pub(super) fn larger(cx: &mut Cx<'_, '_, '_>, function: Binary, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    if x.element == Element::Bool {
        return bits::of_truths(cx, if function == Binary::Max { '+' } else { '*' }, x, y);
    }
    if cx.ty(x.value).dtype == DType::F32 {
        for (x, bound) in [(x, y), (y, x)] {
            let Some(bound) = cx.known_number(bound.value).filter(|bound| !bound.is_nan()) else { continue };
            let dims = cx.common(x, y).unwrap_or_default();
            if dims != x.dims || cx.is_constant(x.value) {
                continue;
            }
            let (lo, hi) = match function {
                Binary::Max => (bound as f32, f32::INFINITY),
                _ => (f32::NEG_INFINITY, bound as f32),
            };
            // What is not below −∞ is anything.
            let value = match lo == f32::NEG_INFINITY && hi == f32::INFINITY {
                true => x.value,
                false => cx.means().clipped(x.value, lo, hi)?,
            };
            return Ok(Tensor { value, ..x.clone() });
        }
    }
    if slot::is_wide_unsigned(&x.element) {
        let (a, b) = (bits::flipped(cx, x)?, bits::flipped(cx, y)?);
        let most = of_two(cx, &a, &b, |cx, x, y| cx.binary(function, x, y))?;
        return bits::flipped(cx, &most);
    }
    of_two(cx, x, y, |cx, x, y| cx.binary(function, x, y))
}

/// clamp: between two bounds.
fn clamp(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (least, x, most) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    // Bounds are as the operand, or numbers.
    if cx.ty(x.value).dtype == DType::F32 && !cx.is_constant(x.value) {
        let bounds = [cx.known_number(least.value), cx.known_number(most.value)];
        if let [Some(lo), Some(hi)] = bounds {
            if lo <= hi {
                let value = cx.means().clipped(x.value, lo as f32, hi as f32)?;
                return Ok(Tensor { value, ..x });
            }
        }
    }
    let y = larger(cx, Binary::Max, &x, &least)?;
    larger(cx, Binary::Min, &y, &most)
}

fn abs(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::magnitude(cx);
    }
    let x = cx.tensor(0)?;
    Ok(vec![Slot::Tensor(magnitude(cx, &x)?)])
}

/// |x|.
pub(super) fn magnitude(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    if slot::is_unsigned(&x.element) {
        return Ok(x.clone());
    }
    let value = match cx.ty(x.value).dtype {
        DType::F32 => cx.means().unary(Unary::Abs, x.value)?,
        _ => {
            let less = negated(cx, x)?;
            cx.means().binary(Binary::Max, x.value, less.value)?
        }
    };
    Ok(Tensor { value, ..x.clone() })
}

fn negate(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::each(cx, |cx, x| negated(cx, x));
    }
    let x = cx.tensor(0)?;
    Ok(vec![Slot::Tensor(negated(cx, &x)?)])
}

/// −x.
pub(super) fn negated(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let value = match cx.ty(x.value).dtype {
        DType::F32 => cx.means().unary(Unary::Neg, x.value)?,
        _ => {
            let mut cx = cx.means();
            let zero = cx.number(x.value, 0.0)?;
            cx.difference(zero, x.value)?
        }
    };
    bits::narrowed(cx, Tensor { value, ..x.clone() })
}

fn exponential(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::exponential(cx);
    }
    Ok(vec![Slot::Tensor(unary(cx, Unary::Exp)?)])
}

/// −1, 0 or 1; what is no number stays so.
fn sign(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    if cx.ty(x.value).dtype == DType::F32 {
        return unary(cx, Unary::Sign);
    }
    if slot::is_wide_unsigned(&x.element) {
        return compare::as_number(cx, Comparison::NotEqual, &x, 0.0);
    }
    of_each(cx, |cx, x| {
        let mut cx = cx.means();
        let (least, most) = (cx.number(x, -1.0)?, cx.number(x, 1.0)?);
        let y = cx.binary(Binary::Min, x, most)?;
        match cx.ty(x).dtype {
            DType::U8 => Ok(y),
            _ => cx.binary(Binary::Max, y, least),
        }
    })
}

/// power: of integers by products that wrap.
fn power(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    let dtype = cx.ty(x.value).dtype;
    if dtype == DType::F32 {
        return match cx.known_number(y.value) {
            Some(power) if power == 1.0 && cx.common(&x, &y)? == x.dims => Ok(x),
            Some(power) if power == 2.0 && cx.common(&x, &y)? == x.dims => {
                let value = cx.means().unary(Unary::Square, x.value)?;
                Ok(Tensor { value, ..x })
            }
            _ => of_two(cx, &x, &y, |cx, x, y| cx.binary(Binary::Pow, x, y)),
        };
    }
    of_two(cx, &x, &y, |cx, x, y| {
        let (base, exponent) = (cx.cast(x, DType::I64)?, cx.cast(y, DType::I64)?);
        let power = cx.binary(Binary::Pow, base, exponent)?;
        // Of negative powers only those of 1 and −1 are not 0.
        let two = cx.number(base, 2.0)?;
        let (zero, one) = (cx.number(base, 0.0)?, cx.number(base, 1.0)?);
        let parity = cx.binary(Binary::FloorMod, exponent, two)?;
        let of_unit = cx.binary(Binary::Pow, base, parity)?;
        let is_negative = cx.compared(Comparison::Less, exponent, zero)?;
        let square = cx.product(base, base)?;
        let is_unit = cx.compared(Comparison::Equal, square, one)?;
        let is_both = cx.both(is_negative, is_unit)?;
        let y = cx.choice(is_both, of_unit, power)?;
        cx.cast(y, dtype)
    })
}
