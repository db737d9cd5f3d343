//! Functions that ONNX has no operator of, made of others with as many digits as theirs.

use super::cx::NodeCx;
use super::Lowered;
use kiln_ir::{Comparison, Unary, ValueId};

/// eˣ − 1 = tanh(x / 2) · (eˣ + 1).
pub(crate) fn exponential_less_one(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let half = cx.times(x, 0.5)?;
    let (tanh, power) = (cx.tanh(half)?, cx.unary(Unary::Exp, x)?);
    let (more, less) = (cx.plus(power, 1.0)?, cx.plus(power, -1.0)?);
    let product = cx.product(tanh, more)?;
    let (size, one) = (cx.unary(Unary::Abs, x)?, cx.number(x, 1.0)?);
    let is_near = cx.compared(Comparison::Less, size, one)?;
    cx.choice(is_near, product, less)
}

/// log(1 + x) = x · log u / (u − 1), where u is 1 + x as it is rounded.
pub(crate) fn log_of_more(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let more = cx.plus(x, 1.0)?;
    let (log, own) = (cx.unary(Unary::Log, more)?, cx.plus(more, -1.0)?);
    let quotient = cx.quotient(x, own)?;
    let product = cx.product(log, quotient)?;
    let (size, one, zero) = (cx.unary(Unary::Abs, x)?, cx.number(x, 1.0)?, cx.number(x, 0.0)?);
    let (is_near, is_nothing) =
        (cx.compared(Comparison::Less, size, one)?, cx.compared(Comparison::Equal, own, zero)?);
    let y = cx.choice(is_near, product, log)?;
    cx.choice(is_nothing, x, y)
}
