//! Functions that are made of others, with as many digits as theirs.

use super::cx::Cx;
use super::slot::Tensor;
use super::{Lowered, One, Operators};
use crate::onnx::lower::NodeCx;
pub(super) use crate::onnx::lower::{exponential_less_one, log_of_more};
use kiln_ir::{Binary, Comparison, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("cbrt", One(|cx| made(cx, |cx, x| cube_root(cx, x)))),
    ("exponential_minus_one", One(|cx| made(cx, |cx, x| exponential_less_one(cx, x)))),
    ("log_plus_one", One(|cx| made(cx, |cx, x| log_of_more(cx, x)))),
    ("round_nearest_afz", One(|cx| made(cx, |cx, x| rounded_away(cx, x)))),
    ("tan", One(|cx| called(cx, "Tan"))),
];

/// A function of each element that is made up of some twenty others.
pub(super) fn made<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    function: impl FnOnce(&mut NodeCx<'_, 'm, 'static>, ValueId) -> Lowered<ValueId>,
) -> Lowered<Tensor> {
    cx.written_out(24)?;
    let x = cx.tensor(0)?;
    let value = function(&mut cx.means(), x.value)?;
    Ok(Tensor { value, ..x })
}

/// An ONNX operator of one operand.
pub(super) fn called(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<Tensor> {
    made(cx, |cx, x| cx.call(operator, &[Some(x)], &[]))
}

/// The root of the size, made better by a step of Newton's.
fn cube_root(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let third = cx.number(size, 1.0 / 3.0)?;
    let guess = cx.binary(Binary::Pow, size, third)?;
    let square = cx.unary(Unary::Square, guess)?;
    let quotient = cx.quotient(size, square)?;
    let gap = cx.difference(quotient, guess)?;
    let step = cx.times(gap, 1.0 / 3.0)?;
    let better = cx.sum(guess, step)?;
    let zero = cx.number(size, 0.0)?;
    let infinity = cx.number(size, f64::INFINITY)?;
    let (is_more, is_less) =
        (cx.compared(Comparison::Greater, guess, zero)?, cx.compared(Comparison::Less, guess, infinity)?);
    let is_sound = cx.both(is_more, is_less)?;
    let y = cx.choice(is_sound, better, guess)?;
    cx.with_sign(y, x)
}

/// The nearest integer, of two the one farther from zero.
fn rounded_away(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let whole = cx.unary(Unary::Floor, size)?;
    let (rest, half) = (cx.difference(size, whole)?, cx.number(x, 0.5)?);
    let is_up = cx.compared(Comparison::GreaterEqual, rest, half)?;
    let more = cx.plus(whole, 1.0)?;
    let y = cx.choice(is_up, more, whole)?;
    cx.with_sign(y, x)
}
