//! Comparisons and choices.

use super::super::module::Element;
use super::cx::Cx;
use super::elementwise::of_two;
use super::slot::{self, Slot, Tensor};
use super::{bits, complex, All, Lowered, One, Operators};
use kiln_ir::{Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators =
    &[("compare", One(compare)), ("is_finite", One(is_finite)), ("select", All(select))];

fn compare(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let function = match cx.word("comparison_direction") {
        "EQ" => Comparison::Equal,
        "NE" => Comparison::NotEqual,
        "GE" => Comparison::GreaterEqual,
        "GT" => Comparison::Greater,
        "LE" => Comparison::LessEqual,
        "LT" => Comparison::Less,
        other => return Err(malformed!("its comparison is {other:?}")),
    };
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    compared(cx, function, &x, &y)
}

/// Whether a comparison holds.
pub(super) fn compared(
    cx: &mut Cx<'_, '_, '_>,
    function: Comparison,
    x: &Tensor,
    y: &Tensor,
) -> Lowered<Tensor> {
    let is_order = !matches!(function, Comparison::Equal | Comparison::NotEqual);
    let (a, b) = match is_order && slot::is_wide_unsigned(&x.element) {
        true => (bits::flipped(cx, x)?, bits::flipped(cx, y)?),
        false => (x.clone(), y.clone()),
    };
    let y = of_two(cx, &a, &b, |cx, x, y| cx.compared(function, x, y))?;
    Ok(Tensor { element: Element::Bool, ..y })
}

/// 1 where a comparison with a number holds, else 0; in the type of `x`.
pub(super) fn as_number(
    cx: &mut Cx<'_, '_, '_>,
    function: Comparison,
    x: &Tensor,
    number: f64,
) -> Lowered<Tensor> {
    let mut means = cx.means();
    let (dtype, number) = (means.ty(x.value).dtype, means.number(x.value, number)?);
    let holds = means.compared(function, x.value, number)?;
    let value = means.cast(holds, dtype)?;
    Ok(Tensor { value, ..x.clone() })
}

fn is_finite(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let mut means = cx.means();
    let size = means.unary(Unary::Abs, x.value)?;
    let infinity = means.number(size, f64::INFINITY)?;
    let value = means.compared(Comparison::Less, size, infinity)?;
    Ok(Tensor { value, element: Element::Bool, ..x })
}

fn select(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let condition = cx.tensor(0)?;
    if let (Slot::Complex(a, b), Slot::Complex(c, d)) = (cx.slot(1)?.clone(), cx.slot(2)?.clone()) {
        let (re, im) = (chosen(cx, &condition, &a, &c)?, chosen(cx, &condition, &b, &d)?);
        return complex::result(re, im);
    }
    let (x, y) = (cx.tensor(1)?, cx.tensor(2)?);
    Ok(vec![Slot::Tensor(chosen(cx, &condition, &x, &y)?)])
}

/// `x` where the condition holds, else `y`.
pub(super) fn chosen(cx: &mut Cx<'_, '_, '_>, condition: &Tensor, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
    let mut dims = cx.common(x, y)?;
    if !condition.dims.is_empty() || dims.is_empty() {
        let like = Tensor::of(x.value, &dims, &x.element);
        dims = cx.common(condition, &like)?;
    }
    if let Some(truth) = cx.known_number(condition.value) {
        let taken = if truth != 0.0 { x } else { y };
        if taken.dims == dims {
            return Ok(taken.clone());
        }
    }
    if x.value == y.value && x.dims == dims {
        return Ok(x.clone());
    }
    let value = cx.means().choice(condition.value, x.value, y.value)?;
    Ok(Tensor::of(value, &dims, &x.element))
}

/// A condition of numbers: whether they are not 0.
pub(super) fn is_true(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    cx.means().cast(x, DType::Bool)
}
