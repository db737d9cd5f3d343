//! Products of matrices.

use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("BatchMatMul", One(|cx| product(cx, "adj_x", "adj_y"))),
    ("BatchMatMulV2", One(|cx| product(cx, "adj_x", "adj_y"))),
    ("BatchMatMulV3", One(|cx| product(cx, "adj_x", "adj_y"))),
    ("Einsum", One(einsum)),
    ("MatMul", One(|cx| product(cx, "transpose_a", "transpose_b"))),
];

/// The last two axes in each other's place.
fn turned(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    malformed_if!(rank < 2, "{} is no matrix", cx.shown(x));
    cx.swapped(x, rank - 2)
}

fn product(cx: &mut Cx<'_, '_, '_>, first: &str, second: &str) -> Lowered<ValueId> {
    let (mut a, mut b) = (cx.x(0)?, cx.x(1)?);
    let dtype = cx.ty(a).dtype;
    malformed_if!(
        cx.dims(a).len() < 2 || cx.dims(b).len() < 2,
        "{} and {} are no matrices",
        cx.shown(a),
        cx.shown(b)
    );
    let (turn_a, turn_b) = (cx.flag(first)?, cx.flag(second)?);
    if turn_a {
        a = turned(cx, a)?;
    }
    let is_matrix = cx.dims(a).len() == 2 && cx.dims(b).len() == 2;
    if turn_b && is_matrix && dtype == DType::F32 && cx.data(b).is_some() {
        return cx.call("Gemm", &[Some(a), Some(b)], &[("transB", Set::Int(1))]);
    }
    if turn_b {
        b = turned(cx, b)?;
    }
    if dtype == DType::F32 {
        return cx.onnx("MatMul", &[a, b]);
    }
    integers(cx, a, b)
}

/// A product of integers, as a sum of products.
fn integers(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<ValueId> {
    let dtype = cx.ty(a).dtype;
    let (left, right) = (cx.dims(a), cx.dims(b));
    let axis = left.len().max(right.len()) - 1;
    let a = cx.reshaped(a, &[&left[..], &[1]].concat())?;
    let (front, own) = right.split_at(right.len() - 2);
    let b = cx.reshaped(b, &[front, &[1], own].concat())?;
    let (a, b) = (cx.widened(a)?, cx.widened(b)?);
    let all = cx.product(a, b)?;
    let sum = cx.reduced(kiln_ir::Reduction::Sum, all, &[axis])?;
    let mut dims = cx.dims(sum);
    dims.remove(axis);
    let sum = cx.reshaped(sum, &dims)?;
    cx.cast(sum, dtype)
}

fn einsum(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let equation = cx.word("equation")?;
    let all = cx.xs(0..cx.count())?;
    let operands: Vec<Option<ValueId>> = all.into_iter().map(Some).collect();
    cx.call("Einsum", &operands, &[("equation", Set::Text(equation))])
}
