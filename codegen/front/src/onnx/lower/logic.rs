//! Comparisons, logic and choices.

use super::cx::NodeCx;
use super::{Lowered, Operators};
use kiln_ir::{Comparison, Unary};

pub(super) const OPERATORS: Operators = &[
    ("And", and),
    ("Equal", |cx| compare(cx, Comparison::Equal)),
    ("Greater", |cx| compare(cx, Comparison::Greater)),
    ("GreaterOrEqual", |cx| compare(cx, Comparison::GreaterEqual)),
    ("IsInf", is_inf),
    ("IsNaN", is_nan),
    ("Less", |cx| compare(cx, Comparison::Less)),
    ("LessOrEqual", |cx| compare(cx, Comparison::LessEqual)),
    ("Not", not),
    ("Or", or),
    ("Where", choose),
    ("Xor", |cx| compare(cx, Comparison::NotEqual)),
];

/// Not.
fn not(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let no = cx.truth(false);
    let truth = cx.compared(Comparison::Equal, x, no)?;
    cx.bind(0, truth)
}

/// And: the second, if the first holds.
fn and(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let truth = cx.both(x, y)?;
    cx.bind(0, truth)
}

/// Or: the second, unless the first holds.
fn or(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let yes = cx.truth(true);
    let truth = cx.choice(x, yes, y)?;
    cx.bind(0, truth)
}

/// Where.
fn choose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (condition, x, y) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let value = cx.choice(condition, x, y)?;
    cx.bind(0, value)
}

/// IsNaN: what is not equal to itself.
fn is_nan(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let truth = cx.compared(Comparison::NotEqual, x, x)?;
    cx.bind(0, truth)
}

/// IsInf, of either sign or of one.
fn is_inf(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
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
    cx.bind(0, truth)
}

fn compare(cx: &mut NodeCx<'_, '_, '_>, function: Comparison) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let truth = cx.compared(function, x, y)?;
    cx.bind(0, truth)
}
