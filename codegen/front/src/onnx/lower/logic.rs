//! Comparisons, logic and choices.

use super::cx::NodeCx;
use super::{Lowered, One, Operators};
use kiln_ir::{Comparison, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("And", One(and)),
    ("Equal", One(|cx| compare(cx, Comparison::Equal))),
    ("Greater", One(|cx| compare(cx, Comparison::Greater))),
    ("GreaterOrEqual", One(|cx| compare(cx, Comparison::GreaterEqual))),
    ("IsInf", One(is_inf)),
    ("IsNaN", One(is_nan)),
    ("Less", One(|cx| compare(cx, Comparison::Less))),
    ("LessOrEqual", One(|cx| compare(cx, Comparison::LessEqual))),
    ("Not", One(not)),
    ("Or", One(or)),
    ("Where", One(choose)),
    ("Xor", One(|cx| compare(cx, Comparison::NotEqual))),
];

/// Not.
fn not(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let no = cx.truth(false);
    cx.compared(Comparison::Equal, x, no)
}

/// And: the second, if the first holds.
fn and(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    cx.both(x, y)
}

/// Or: the second, unless the first holds.
fn or(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let yes = cx.truth(true);
    cx.choice(x, yes, y)
}

/// Where.
fn choose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (condition, x, y) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.choice(condition, x, y)
}

/// IsNaN: what is not equal to itself.
fn is_nan(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    cx.compared(Comparison::NotEqual, x, x)
}

/// IsInf, of either sign or of one.
fn is_inf(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let sides = [cx.int("detect_negative", 1) != 0, cx.int("detect_positive", 1) != 0];
    let bound = cx.number(x, if sides[1] { f64::INFINITY } else { f64::NEG_INFINITY })?;
    let x = if sides == [true, true] { cx.unary(Unary::Abs, x)? } else { x };
    let mut truth = cx.compared(Comparison::Equal, x, bound)?;
    if sides == [false, false] {
        let no = cx.truth(false);
        truth = cx.both(truth, no)?;
    }
    Ok(truth)
}

fn compare(cx: &mut NodeCx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    cx.compared(function, x, y)
}
