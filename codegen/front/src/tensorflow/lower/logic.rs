//! Comparisons, truth values and selections.

use super::{Cx, Lowered, One, Operators, Refusal};
use kiln_ir::{Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ApproximateEqual", One(approximately)),
    ("Equal", One(|cx| compare(cx, Comparison::Equal))),
    ("Greater", One(|cx| compare(cx, Comparison::Greater))),
    ("GreaterEqual", One(|cx| compare(cx, Comparison::GreaterEqual))),
    ("IsFinite", One(is_finite)),
    ("IsInf", One(|cx| onnx(cx, "IsInf"))),
    ("IsNan", One(|cx| onnx(cx, "IsNaN"))),
    ("Less", One(|cx| compare(cx, Comparison::Less))),
    ("LessEqual", One(|cx| compare(cx, Comparison::LessEqual))),
    ("LogicalAnd", One(|cx| onnx(cx, "And"))),
    ("LogicalNot", One(|cx| onnx(cx, "Not"))),
    ("LogicalOr", One(|cx| onnx(cx, "Or"))),
    ("NotEqual", One(|cx| compare(cx, Comparison::NotEqual))),
    ("Select", One(select)),
    ("SelectV2", One(select_v2)),
];

fn onnx(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let all = cx.xs(0..cx.count())?;
    cx.onnx(operator, &all)
}

fn compare(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let (x, y) = (cx.x(0)?, cx.x(1)?);
    cx.compared(function, x, y)
}

fn approximately(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.float_x(0)?, cx.float_x(1)?);
    let gap = cx.difference(x, y)?;
    let gap = cx.unary(Unary::Abs, gap)?;
    let tolerance = cx.float_of("tolerance", 1e-5)?;
    let tolerance = cx.number(gap, tolerance.into())?;
    cx.compared(Comparison::Less, gap, tolerance)
}

/// Neither infinite nor NaN, whose size is less than infinity.
fn is_finite(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let (size, infinity) = (cx.unary(Unary::Abs, x)?, cx.number(x, f64::INFINITY)?);
    cx.compared(Comparison::Less, size, infinity)
}

/// Select of TensorFlow 1: a list of conditions is one for each row.
fn select(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (mut condition, x, y) = (cx.x(0)?, cx.x(1)?, cx.x(2)?);
    let (own, dims) = (cx.dims(condition), cx.dims(x));
    malformed_if!(dims != cx.dims(y), "{} and {} differ", cx.shown(x), cx.shown(y));
    if own.len() == 1 && dims.len() > 1 {
        let mut along = vec![1; dims.len()];
        along[0] = own[0];
        condition = cx.reshaped(condition, &along)?;
    }
    cx.choice(condition, x, y)
}

fn select_v2(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (condition, x, y) = (cx.x(0)?, cx.x(1)?, cx.x(2)?);
    if cx.ty(condition).dtype != DType::Bool {
        return Err(Refusal::malformed("its condition is no truth value"));
    }
    let value = cx.choice(condition, x, y)?;
    // What depends on constants alone is one, also behind a known condition.
    Ok(value)
}
