//! The largest elements, and their order.

use super::{All, Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Bucketize", One(bucketize)),
    ("InTopKV2", One(in_top)),
    ("LowerBound", One(|cx| bound(cx, Comparison::Greater))),
    (
        "TopK",
        All(|cx| {
            let k = cx.int_of("k", 0)?;
            top(cx, k)
        }),
    ),
    (
        "TopKV2",
        All(|cx| {
            let k = cx.known_int(1, "number of elements")?;
            top(cx, k)
        }),
    ),
    ("UpperBound", One(|cx| bound(cx, Comparison::GreaterEqual))),
];

fn top(cx: &mut Cx<'_, '_, '_>, k: i64) -> Lowered<Vec<ValueId>> {
    let x = cx.x(0)?;
    let k = cx.int_constant("k", DType::I64, &[1], &[k])?;
    let [values, indices] = cx.call_all("TopK", &[Some(x), Some(k)], &[("axis", Set::Int(-1))])?;
    let dtype = cx.dtype_of("index_type")?.unwrap_or(DType::I32);
    Ok(vec![values, cx.cast(indices, dtype)?])
}

/// How many numbers of a sorted row are below each value, or not above it.
fn bound(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let (rows, values) = (cx.x(0)?, cx.x(1)?);
    let (own, dims) = (cx.dims(rows), cx.dims(values));
    let (&[b, n], &[c, m]) = (&own[..], &dims[..]) else {
        return Err(malformed!("its operands are no matrices"));
    };
    malformed_if!(b != c, "{own:?} and {dims:?} do not fit");
    let rows = cx.reshaped(rows, &[b, 1, n])?;
    let values = cx.reshaped(values, &[b, m, 1])?;
    let is_behind = cx.compared(function, values, rows)?;
    let is_behind = cx.cast(is_behind, DType::I32)?;
    let count = cx.reduced(Reduction::Sum, is_behind, &[2])?;
    let count = cx.reshaped(count, &dims)?;
    let dtype = cx.dtype_of("out_type")?.unwrap_or(DType::I32);
    cx.cast(count, dtype)
}

/// How many bounds are not above each element.
fn bucketize(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let x = cx.cast(x, DType::F32)?;
    let bounds = cx.node.attributes.floats("boundaries")?.unwrap_or_default();
    let dims = cx.dims(x);
    let apart = cx.reshaped(x, &[&dims[..], &[1]].concat())?;
    let bounds = cx.float_constant("boundaries", &[bounds.len()], &bounds)?;
    let is_behind = cx.compared(Comparison::GreaterEqual, apart, bounds)?;
    let is_behind = cx.cast(is_behind, DType::I32)?;
    let count = cx.reduced(Reduction::Sum, is_behind, &[dims.len()])?;
    cx.reshaped(count, &dims)
}

/// Whether fewer than k elements of a row are larger than the one at an index.
fn in_top(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, targets, k) = (cx.float_x(0)?, cx.x(1)?, cx.known_int(2, "k")?);
    let dims = cx.dims(x);
    malformed_if!(
        dims.len() != 2 || cx.dims(targets) != dims[..1],
        "{} does not fit {}",
        cx.shown(targets),
        cx.shown(x)
    );
    let named = cx.reshaped(targets, &[dims[0], 1, 1])?;
    let op = kiln_ir::Op::Gather { batch: 1, axis: 1, depth: 1 };
    let own = cx.add_like(op, &[x, named], &[dims[0], 1])?;
    let is_larger = cx.compared(Comparison::Greater, x, own)?;
    let is_larger = cx.cast(is_larger, DType::I32)?;
    let count = cx.reduced(Reduction::Sum, is_larger, &[1])?;
    let count = cx.reshaped(count, &dims[..1])?;
    let k = cx.number(count, k as f64)?;
    cx.compared(Comparison::Less, count, k)
}
