//! Elements at indices.

use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Gather", One(gather)),
    ("GatherNd", One(gather_nd)),
    ("GatherV2", One(gather_v2)),
    ("OneHot", One(one_hot)),
    ("ReverseSequence", One(reverse_sequence)),
];

/// Along the first axis.
pub(super) fn gather(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let batch = usize::try_from(cx.int_of("batch_dims", 0)?).unwrap_or(0);
    taken(cx, batch, batch)
}

fn gather_v2(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let rank = cx.dims(cx.x(0)?).len();
    let axis = cx.axis_in(2, rank)?;
    let own = cx.dims(cx.x(1)?).len();
    let batch = cx.int_of("batch_dims", 0)?;
    let batch = if batch < 0 { batch + own as i64 } else { batch };
    taken(cx, axis, usize::try_from(batch).unwrap_or(usize::MAX))
}

fn taken(cx: &mut Cx<'_, '_, '_>, axis: usize, batch: usize) -> Lowered<ValueId> {
    let (x, indices) = (cx.x(0)?, cx.x(1)?);
    let (dims, own) = (cx.dims(x), cx.dims(indices));
    let fits = batch <= axis && axis < dims.len() && batch <= own.len() && dims[..batch] == own[..batch];
    malformed_if!(!fits, "indices {} do not fit {}", cx.shown(indices), cx.shown(x));
    if batch == 0 {
        return cx.call("Gather", &[Some(x), Some(indices)], &[("axis", Set::Int(axis as i64))]);
    }
    // An axis of coordinates, of which there is one.
    let named = cx.reshaped(indices, &[&own[..], &[1]].concat())?;
    if axis == batch {
        let result = [&dims[..axis], &own[batch..], &dims[axis + 1..]].concat();
        return cx.add_like(Op::Gather { batch, axis, depth: 1 }, &[x, named], &result);
    }
    // The axis moves behind those that are shared, and back.
    let rank = dims.len();
    let perm: Vec<usize> = (0..batch).chain([axis]).chain(batch..axis).chain(axis + 1..rank).collect();
    let turned = cx.transposed(x, &perm)?;
    let turned_dims = cx.dims(turned);
    let result = [&turned_dims[..batch], &own[batch..], &turned_dims[batch + 1..]].concat();
    let y = cx.add_like(Op::Gather { batch, axis: batch, depth: 1 }, &[turned, named], &result)?;
    let count = own.len() - batch;
    let between = axis - batch;
    let back: Vec<usize> = (0..batch)
        .chain(batch + count..batch + count + between)
        .chain(batch..batch + count)
        .chain(batch + count + between..result.len())
        .collect();
    cx.transposed(y, &back)
}

pub(super) fn gather_nd(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, indices) = (cx.x(0)?, cx.x(1)?);
    let batch = cx.int_of("batch_dims", 0)?;
    if cx.dims(indices).last() == Some(&0) {
        // No coordinates mean all there is, as often as there are indices.
        let own = cx.dims(indices);
        let front = &own[..own.len() - 1];
        let dims = cx.dims(x);
        let apart = cx.reshaped(x, &[&vec![1; front.len()][..], &dims].concat())?;
        return cx.spread(apart, &[front, &dims].concat());
    }
    cx.call("GatherND", &[Some(x), Some(indices)], &[("batch_dims", Set::Int(batch))])
}

/// One of two values wherever an index is that of the place along a new axis; unlike in ONNX, negative indices are no places.
fn one_hot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (indices, depth) = (cx.x(0)?, cx.known_int(1, "depth")?);
    let (on, off) = (cx.x(2)?, cx.x(3)?);
    let mut dims = cx.dims(indices);
    let axis = cx.axis(cx.int_of("axis", -1)?, dims.len() + 1)?;
    let depth = usize::try_from(depth).ok().filter(|&depth| depth > 0 && depth < 1 << 20);
    let depth = depth.ok_or_else(|| malformed!("its depth has to be above 0"))?;
    dims.insert(axis, 1);
    let indices = cx.cast(indices, DType::I32)?;
    let indices = cx.reshaped(indices, &dims)?;
    let mut along = vec![1; dims.len()];
    along[axis] = depth;
    cx.importer.budget.make(8 * depth);
    let places = cx.counted(DType::I32, depth)?;
    let places = cx.reshaped(places, &along)?;
    let is_place = cx.compared(Comparison::Equal, indices, places)?;
    let (on, off) = (cx.reshaped(on, &[])?, cx.reshaped(off, &[])?);
    cx.choice(is_place, on, off)
}

fn reverse_sequence(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (mut x, lengths) = (cx.x(0)?, cx.x(1)?);
    let rank = cx.dims(x).len();
    let (batch, time) =
        (cx.axis(cx.int_of("batch_dim", 0)?, rank)?, cx.axis(cx.int_of("seq_dim", 0)?, rank)?);
    malformed_if!(batch == time, "its sequences lie along the axis of batches");
    // Both axes in front.
    let perm: Vec<usize> =
        [batch, time].into_iter().chain((0..rank).filter(|&axis| axis != batch && axis != time)).collect();
    x = cx.transposed(x, &perm)?;
    let attributes = [("batch_axis", Set::Int(0)), ("time_axis", Set::Int(1))];
    let y = cx.call("ReverseSequence", &[Some(x), Some(lengths)], &attributes)?;
    let mut back = vec![0; rank];
    perm.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
    cx.transposed(y, &back)
}
