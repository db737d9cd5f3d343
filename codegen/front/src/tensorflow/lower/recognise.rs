//! Layers that TensorFlow takes apart, and that are one op: x · Φ(x), of which Keras writes 0.5 · x · erfc(−x / √2).

use super::{Cx, Lowered};
use kiln_ir::{Binary, DType, Op, Unary, ValueId};

/// Most factors of a value that are looked at.
const MOST_FACTORS: usize = 4;

/// The op that computes a value, and its operands.
fn producer(cx: &Cx<'_, '_, '_>, value: ValueId) -> Option<(Op, Vec<ValueId>)> {
    let graph = &cx.importer.graph;
    let node = graph.node(graph.producer(value)?);
    Some((node.op.clone(), node.operands.clone()))
}

/// The only number that a constant of floats is.
fn number(cx: &Cx<'_, '_, '_>, value: ValueId) -> Option<f32> {
    let ty = cx.ty(value);
    let data =
        cx.importer.graph.const_data(value).filter(|_| ty.dtype == DType::F32 && ty.shape.numel() == 1)?;
    data.to_f32().first().copied()
}

/// A value as another one times a number.
fn factored(cx: &Cx<'_, '_, '_>, mut value: ValueId) -> (ValueId, f32) {
    let mut factor = 1.0;
    for _ in 0..MOST_FACTORS {
        let Some((op, operands)) = producer(cx, value) else { break };
        let (own, by) = match (op, &operands[..]) {
            (Op::Unary { function: Unary::Neg }, &[x]) => (x, Some(-1.0)),
            (Op::Mul { .. }, &[x, y]) => match number(cx, x) {
                Some(by) => (y, Some(by)),
                None => (x, number(cx, y)),
            },
            (Op::Binary { function: Binary::Div, .. }, &[x, y]) => (x, number(cx, y).map(|by| 1.0 / by)),
            _ => break,
        };
        let Some(by) = by.filter(|_| cx.dims(own) == cx.dims(value)) else { break };
        (value, factor) = (own, factor * by);
    }
    (value, factor)
}

/// What is 1 + erf(f · x): x and f.
fn one_and_error(cx: &Cx<'_, '_, '_>, value: ValueId) -> Option<(ValueId, f32)> {
    let (op, operands) = producer(cx, value)?;
    let (&[x, y], sign) = (&operands[..], if matches!(op, Op::Sub { .. }) { -1.0 } else { 1.0 }) else {
        return None;
    };
    if !matches!(op, Op::Sub { .. } | Op::Add { .. }) {
        return None;
    }
    let error = match (number(cx, x), number(cx, y)) {
        (Some(1.0), _) => y,
        (_, Some(1.0)) if sign > 0.0 => x,
        _ => return None,
    };
    let (Op::Unary { function: Unary::Erf }, operands) = producer(cx, error)? else { return None };
    let (x, factor) = factored(cx, *operands.first()?);
    Some((x, sign * factor))
}

/// The product of two values, if it is x · Φ(x).
pub(super) fn gelu(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<Option<ValueId>> {
    for (half, other) in [(a, b), (b, a)] {
        let Some((x, root)) = one_and_error(cx, other) else { continue };
        let (own, factor) = factored(cx, half);
        let is_it = own == x && factor == 0.5 && (root - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6;
        if is_it {
            return cx.unary(Unary::Gelu, x).map(Some);
        }
    }
    Ok(None)
}
