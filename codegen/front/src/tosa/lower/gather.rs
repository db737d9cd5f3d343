//! GATHER and SCATTER: rows of \[n, k, c\] by indices \[n, w\].

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::check_size;
use kiln_ir::{Comparison, DType, Op, Reduction, Type, ValueId};

pub(super) const OPERATORS: Operators = &[("GATHER", One(gather)), ("SCATTER", One(scatter))];

/// GATHER: row w of the result is the row that index w names.
fn gather(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (values, indices) = (cx.value(0)?, cx.value(1)?);
    let (&[n, _, c], &[own, w]) = (&*cx.dims(values), &*cx.dims(indices)) else {
        return Err(malformed!("indices {} do not fit {}", cx.ty(indices), cx.ty(values)));
    };
    malformed_if!(n != own, "indices {} do not fit {}", cx.ty(indices), cx.ty(values));
    rows(cx, values, indices, [n, w, c])
}

fn rows(
    cx: &mut Cx<'_, '_, '_>,
    values: ValueId,
    indices: ValueId,
    [n, w, c]: [usize; 3],
) -> Lowered<ValueId> {
    let indices = cx.means().reshaped(indices, &[n, w, 1])?;
    cx.means().add_like(Op::Gather { batch: 1, axis: 1, depth: 1 }, &[values, indices], &[n, w, c])
}

/// SCATTER: row w of the input takes the place that index w names; no two have the same place.
fn scatter(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (values, indices, input) = (cx.value(0)?, cx.value(1)?, cx.value(2)?);
    let (&[n, k, c], &[own, w]) = (&*cx.dims(values), &*cx.dims(indices)) else {
        return Err(malformed!("indices {} do not fit {}", cx.ty(indices), cx.ty(values)));
    };
    malformed_if!(
        n != own || cx.dims(input) != [n, w, c],
        "input {} does not fit {}",
        cx.ty(input),
        cx.ty(values)
    );
    check_size(DType::I32, &[n, k, w])?;
    let input = cx.like(input, values)?;
    let dtype = cx.ty(indices).dtype;
    let mut means = cx.means();
    let places = means.counted(dtype, k)?;
    let places = means.reshaped(places, &[1, k, 1])?;
    let named = means.reshaped(indices, &[n, 1, w])?;
    let hits = means.compared(Comparison::Equal, named, places)?;
    let hits = means.cast(hits, DType::I32)?;
    let any = means.reduced(Reduction::Max, hits, &[2])?;
    let any = means.cast(any, DType::Bool)?;
    let which =
        means.add(Op::ArgReduce { axis: 2, largest: true }, &[hits], Type::plain(DType::I32, &[n, k]))?;
    let taken = rows(cx, input, which, [n, k, c])?;
    cx.means().choice(any, taken, values)
}
