//! Layers that join several tensors.

use super::cx::{integers, Cx};
use super::{Layers, Lowered, One};
use crate::keras::value::Value;
use kiln_ir::{Binary, Reduction, Unary, ValueId};

pub(super) const LAYERS: Layers = &[
    ("Add", One(|cx| folded(cx, |cx, x, y| cx.sum(x, y)))),
    ("Average", One(average)),
    ("Concatenate", One(concatenate)),
    ("Dot", One(dot)),
    ("Maximum", One(|cx| folded(cx, |cx, x, y| cx.binary(Binary::Max, x, y)))),
    ("Minimum", One(|cx| folded(cx, |cx, x, y| cx.binary(Binary::Min, x, y)))),
    ("Multiply", One(|cx| folded(cx, |cx, x, y| cx.product(x, y)))),
    ("Subtract", One(|cx| folded(cx, |cx, x, y| cx.difference(x, y)))),
];

type Join = fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>;

/// All tensors of a call as floats, of one rank: those of fewer axes get some behind the batch, as Keras has it.
fn operands(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let all: Vec<ValueId> = cx.given.tensors().iter().map(|slot| slot.value).collect();
    malformed_if!(all.is_empty(), "it is called without tensors");
    let rank = all.iter().map(|&x| cx.dims(x).len()).max().unwrap_or(0);
    let mut operands = Vec::new();
    for x in all {
        let x = cx.floating(x)?;
        let mut dims = cx.dims(x);
        while dims.len() < rank {
            dims.insert(1.min(dims.len()), 1);
        }
        operands.push(cx.reshaped(x, &dims)?);
    }
    Ok(operands)
}

fn folded(cx: &mut Cx<'_, '_, '_>, join: Join) -> Lowered<ValueId> {
    let operands = operands(cx)?;
    let (&first, rest) = operands.split_first().ok_or_else(|| malformed!("it has no operands"))?;
    rest.iter().try_fold(first, |all, &x| join(cx, all, x))
}

fn average(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let count = cx.given.tensors().len();
    let sum = folded(cx, |cx, x, y| cx.sum(x, y))?;
    cx.times(sum, 1.0 / count as f64)
}

fn concatenate(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all: Vec<ValueId> = cx.given.tensors().iter().map(|slot| slot.value).collect();
    let rank = all.first().map_or(0, |&x| cx.dims(x).len());
    let axis = cx.axis(cx.integer("axis").unwrap_or(-1), rank)?;
    cx.joined(&all, axis)
}

/// Sums of products along an axis of each, for each element of the batch.
fn dot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all: Vec<ValueId> = cx.given.tensors().iter().map(|slot| slot.value).collect();
    let &[x, y] = &*all else { return Err(malformed!("it is called with {} tensors", all.len())) };
    let (mut x, mut y) = (cx.floating(x)?, cx.floating(y)?);
    let axes = match cx.config().get("axes") {
        list @ Value::List(_) => integers(list).unwrap_or_default(),
        value => vec![value.int().unwrap_or(1); 2],
    };
    let &[a, b] = &*axes else { return Err(malformed!("its axes are {axes:?}")) };
    let (a, b) = (cx.axis(a, cx.dims(x).len())?, cx.axis(b, cx.dims(y).len())?);
    malformed_if!(a == 0 || b == 0, "it multiplies along the batch");
    if cx.flag("normalize", false) {
        x = normalised(cx, x, a)?;
        y = normalised(cx, y, b)?;
    }
    batch_dot(cx, x, y, a, b)
}

fn normalised(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize) -> Lowered<ValueId> {
    let squares = cx.unary(Unary::Square, x)?;
    let sum = cx.reduced(Reduction::Sum, squares, &[axis])?;
    let least = cx.number(sum, 1e-12)?;
    let sum = cx.binary(Binary::Max, sum, least)?;
    let factor = cx.unary(Unary::Rsqrt, sum)?;
    cx.product(x, factor)
}

/// Sums of products along axis `a` of `x` and `b` of `y`: the other axes of `x`, then those of `y`. Those of vectors are one number, as an axis.
fn batch_dot(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId, a: usize, b: usize) -> Lowered<ValueId> {
    let mut rows = |x: ValueId, axis: usize| -> Lowered<(ValueId, Vec<usize>)> {
        let dims = cx.dims(x);
        let kept: Vec<usize> = (1..dims.len()).filter(|&own| own != axis).collect();
        let perm = [&[0], &kept[..], &[axis]].concat();
        let turned = cx.transposed(x, &perm)?;
        let kept: Vec<usize> = kept.iter().map(|&axis| dims[axis]).collect();
        let flat = cx.reshaped(turned, &[dims[0], kept.iter().product(), dims[axis]])?;
        Ok((flat, kept))
    };
    let ((first, front), (second, behind)) = (rows(x, a)?, rows(y, b)?);
    let product = cx.matrix_product(first, second)?;
    let batch = cx.dims(product)[0];
    let mut dims = [&[batch], &front[..], &behind[..]].concat();
    if dims.len() == 1 {
        dims.push(1);
    }
    cx.reshaped(product, &dims)
}
