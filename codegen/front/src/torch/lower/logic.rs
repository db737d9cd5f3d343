//! Comparisons, truth values and choices.

use super::cx::Cx;
use super::{Lowered, One, Operators, Refusal};
use kiln_ir::{Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("bitwise_not", One(not)),
    ("eq", One(|cx| comparison(cx, Comparison::Equal))),
    ("ge", One(|cx| comparison(cx, Comparison::GreaterEqual))),
    ("greater", One(|cx| comparison(cx, Comparison::Greater))),
    ("greater_equal", One(|cx| comparison(cx, Comparison::GreaterEqual))),
    ("gt", One(|cx| comparison(cx, Comparison::Greater))),
    ("isclose", One(is_close)),
    ("isfinite", One(is_finite)),
    ("isinf", One(is_infinite)),
    ("isnan", One(is_nan)),
    ("isneginf", One(|cx| equals(cx, f64::NEG_INFINITY))),
    ("isposinf", One(|cx| equals(cx, f64::INFINITY))),
    ("le", One(|cx| comparison(cx, Comparison::LessEqual))),
    ("less", One(|cx| comparison(cx, Comparison::Less))),
    ("less_equal", One(|cx| comparison(cx, Comparison::LessEqual))),
    ("logical_and", One(|cx| of_truths(cx, both))),
    ("logical_not", One(logical_not)),
    ("logical_or", One(|cx| of_truths(cx, either))),
    ("logical_xor", One(|cx| of_truths(cx, |cx, x, y| cx.compared(Comparison::NotEqual, x, y)))),
    ("lt", One(|cx| comparison(cx, Comparison::Less))),
    ("masked_fill", One(masked_fill)),
    ("nan_to_num", One(nan_to_num)),
    ("ne", One(|cx| comparison(cx, Comparison::NotEqual))),
    ("not_equal", One(|cx| comparison(cx, Comparison::NotEqual))),
    ("where", One(choice)),
];

fn comparison(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let (x, y) = (cx.operand("self")?, cx.operand("other")?);
    let common = cx.common(x, y, [cx.is_number("self"), cx.is_number("other")]);
    // There are no comparisons of truth values beside that for equality.
    let is_ordered = !matches!(function, Comparison::Equal | Comparison::NotEqual);
    let common = if common == DType::Bool && is_ordered { DType::I32 } else { common };
    let (x, y) = (cx.cast(x, common)?, cx.cast(y, common)?);
    cx.compared(function, x, y)
}

/// Whether elements are not 0.
pub(super) fn truth(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    if cx.ty(x).dtype == DType::Bool {
        return Ok(x);
    }
    let zero = cx.number(x, 0.0)?;
    cx.compared(Comparison::NotEqual, x, zero)
}

type OfTwo = fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>;

fn of_truths(cx: &mut Cx<'_, '_, '_>, of: OfTwo) -> Lowered<ValueId> {
    let (x, y) = (cx.operand("self")?, cx.operand("other")?);
    let (x, y) = (truth(cx, x)?, truth(cx, y)?);
    of(cx, x, y)
}

fn both(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    cx.both(x, y)
}

pub(super) fn either(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let yes = cx.truth(true);
    cx.choice(x, yes, y)
}

fn not(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    match cx.ty(x).dtype {
        DType::Bool => logical_not(cx),
        _ => cx.call("BitwiseNot", &[Some(x)], &[]),
    }
}

fn logical_not(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = truth(cx, x)?;
    let no = cx.truth(false);
    cx.compared(Comparison::Equal, x, no)
}

fn is_nan(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    cx.compared(Comparison::NotEqual, x, x)
}

fn is_infinite(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (size, infinity) = (cx.unary(Unary::Abs, x)?, cx.number(x, f64::INFINITY)?);
    cx.compared(Comparison::Equal, size, infinity)
}

fn is_finite(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (size, infinity) = (cx.unary(Unary::Abs, x)?, cx.number(x, f64::INFINITY)?);
    cx.compared(Comparison::Less, size, infinity)
}

fn equals(cx: &mut Cx<'_, '_, '_>, number: f64) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let number = cx.number(x, number)?;
    cx.compared(Comparison::Equal, x, number)
}

/// |x − y| ≤ atol + rtol·|y|, or both the same.
fn is_close(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.float_tensor("self")?, cx.float_tensor("other")?);
    let (relative, absolute) = (cx.number_or("rtol", 1e-5)?, cx.number_or("atol", 1e-8)?);
    let (gap, size) = (cx.difference(x, y)?, cx.unary(Unary::Abs, y)?);
    let gap = cx.unary(Unary::Abs, gap)?;
    let bound = cx.times(size, relative)?;
    let bound = cx.plus(bound, absolute)?;
    let is_near = cx.compared(Comparison::LessEqual, gap, bound)?;
    // Nothing is near to what is infinite, but itself.
    let infinity = cx.number(size, f64::INFINITY)?;
    let is_finite = cx.compared(Comparison::Less, size, infinity)?;
    let is_near = cx.both(is_near, is_finite)?;
    let same = cx.compared(Comparison::Equal, x, y)?;
    either(cx, is_near, same)
}

fn nan_to_num(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let nan = cx.number_or("nan", 0.0)?;
    let (least, most) = (cx.number_or("neginf", f32::MIN.into())?, cx.number_or("posinf", f32::MAX.into())?);
    let nan = cx.number(x, nan)?;
    let is_number = cx.compared(Comparison::Equal, x, x)?;
    let mut y = cx.choice(is_number, x, nan)?;
    for (infinity, instead) in [(f64::INFINITY, most), (f64::NEG_INFINITY, least)] {
        let (infinity, instead) = (cx.number(x, infinity)?, cx.number(x, instead)?);
        let is_it = cx.compared(Comparison::Equal, x, infinity)?;
        y = cx.choice(is_it, instead, y)?;
    }
    Ok(y)
}

fn masked_fill(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, mask, number) = (cx.tensor("self")?, cx.tensor("mask")?, cx.operand("value")?);
    let dtype = cx.ty(x).dtype;
    let number = cx.cast(number, dtype)?;
    let mask = truth(cx, mask)?;
    cx.choice(mask, number, x)
}

fn choice(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if !cx.has("self") {
        let help = "give both tensors that it chooses between";
        return Err(Refusal::unsupported(
            "the number of elements that it finds is known only at run time",
            help,
        ));
    }
    let condition = cx.tensor("condition")?;
    let [x, y] = cx.promoted(["self", "other"])?;
    let condition = truth(cx, condition)?;
    cx.choice(condition, x, y)
}
