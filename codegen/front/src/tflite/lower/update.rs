//! DYNAMIC_UPDATE_SLICE: a part of an operand is replaced. Where it begins may be computed at run time; it is moved so that all of it lies inside.

use super::cx::OpCx;
use super::{Lowered, Operators};
use kiln_ir::{AddRescale, Binary, CompareRescale, Comparison, DType, Data, Op, Rescale, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(151, dynamic_update_slice)];

/// DYNAMIC_UPDATE_SLICE.
fn dynamic_update_slice(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, update, starts) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let (dims, part) = (cx.dims(x), cx.dims(update));
    let integers = matches!(cx.ty(starts).dtype, DType::I32 | DType::I64) && cx.ty(starts).quant.is_none();
    let inside = part.len() == dims.len() && part.iter().zip(&dims).all(|(part, dim)| part <= dim);
    if !integers || !inside || cx.dims(starts) != [dims.len()] {
        return Err(malformed!("{} at {} does not fit {}", cx.shown(update), cx.shown(starts), cx.shown(x)));
    }
    let (x, update) = (cx.as_result(x, 0)?, cx.as_result(update, 0)?);
    let result = match cx.data(starts) {
        Some(data) => {
            let given = data.to_ints(cx.ty(starts).dtype);
            let first = |axis: usize| given[axis].clamp(0, (dims[axis] - part[axis]) as i64) as usize;
            let first: Vec<usize> = (0..dims.len()).map(first).collect();
            known(cx, x, update, &first, 0)?
        }
        None => computed(cx, x, update, starts)?,
    };
    cx.emit_reshaped(result, 0, &dims)
}

/// What is in front of the part, the part, and what is behind it: along `axis`, and inside of that along the axes behind it.
fn known(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    update: ValueId,
    first: &[usize],
    axis: usize,
) -> Lowered<ValueId> {
    let (dims, part) = (cx.dims(x), cx.dims(update));
    let Some(axis) = (axis..dims.len()).find(|&axis| part[axis] < dims[axis]) else { return Ok(update) };
    let ty = cx.ty(x).clone();
    let slice = |cx: &mut OpCx<'_, '_, '_>, from: usize, count: usize| {
        let (mut begin, mut dims) = (vec![0; dims.len()], dims.clone());
        (begin[axis], dims[axis]) = (from, count);
        let step = vec![1; dims.len()];
        cx.node(Op::Slice { begin, step }, &[x], 0, ty.with_shape(&dims))
    };
    let (from, end) = (first[axis], first[axis] + part[axis]);
    let mut parts = Vec::new();
    if from > 0 {
        parts.push(slice(cx, 0, from)?);
    }
    let between = slice(cx, from, part[axis])?;
    parts.push(known(cx, between, update, first, axis + 1)?);
    if end < dims[axis] {
        parts.push(slice(cx, end, dims[axis] - end)?);
    }
    cx.node(Op::Concat { axis }, &parts, 0, ty)
}

/// The part is spread to all of the operand, axis by axis, and chosen where it belongs.
fn computed(cx: &mut OpCx<'_, '_, '_>, x: ValueId, update: ValueId, starts: ValueId) -> Lowered<ValueId> {
    let (dims, part) = (cx.dims(x), cx.dims(update));
    let numbers = cx.ty(starts).dtype;
    let (stored, clamp) = (CompareRescale::Stored, DType::I32.whole_range());
    let (mut spread, mut mask) = (update, None);
    for axis in (0..dims.len()).filter(|&axis| part[axis] < dims[axis]) {
        // It becomes some dozen nodes, however small the file is.
        cx.importer.budget.inline(3);
        let (len, all) = (part[axis] as i32, dims[axis] as i32);
        let one = Type::plain(numbers, &[1]);
        let slice = Op::Slice { begin: vec![axis], step: vec![1] };
        let mut start = cx.node(slice, &[starts], 0, one.clone())?;
        for (function, bound) in [(Binary::Max, 0), (Binary::Min, all - len)] {
            let bound = cx.constant("bound", one.clone(), Data::from_ints(numbers, [i64::from(bound)]));
            let op = Op::Binary { function, rescale: Rescale::Real, clamp };
            start = cx.node(op, &[start, bound], 0, one.clone())?;
        }
        if numbers != DType::I32 {
            start = cx.node(Op::Cast {}, &[start], 0, Type::plain(DType::I32, &[1]))?;
        }
        cx.charge(4 * dims[axis])?;
        let line = Type::plain(DType::I32, &[dims[axis]]);
        let forwards = Data::from_i32(&(0..all).collect::<Vec<_>>());
        let forwards = cx.constant("forwards", line.clone(), forwards);
        let sub = Op::Sub { rescale: AddRescale::Real, clamp };
        let indices = cx.node(sub, &[forwards, start], 0, line.clone())?;
        let coordinates = cx.node(Op::Reshape {}, &[indices], 0, line.with_shape(&[dims[axis], 1]))?;

        let mut wider = cx.dims(spread);
        wider[axis] = dims[axis];
        let ty = cx.ty(spread).with_shape(&wider);
        // Coordinates outside count as the nearest ones inside.
        spread = cx.node(Op::Gather { batch: 0, axis, depth: 1 }, &[spread, coordinates], 0, ty)?;

        let mut along = vec![1; dims.len()];
        along[axis] = dims[axis];
        let indices = cx.node(Op::Reshape {}, &[indices], 0, line.with_shape(&along))?;
        for (function, bound) in [(Comparison::GreaterEqual, 0), (Comparison::Less, len)] {
            let bound = cx.constant("bound", Type::plain(DType::I32, &[]), Data::from_i32(&[bound]));
            let op = Op::Compare { function, rescale: stored.clone() };
            let truth = cx.node(op, &[indices, bound], 0, Type::plain(DType::Bool, &along))?;
            mask = Some(match mask {
                None => truth,
                Some(mask) => {
                    let common: Vec<usize> =
                        cx.dims(mask).iter().zip(&along).map(|(&a, &b)| a.max(b)).collect();
                    let ty = Type::plain(DType::Bool, &common);
                    cx.node(Op::Select {}, &[mask, truth, mask], 0, ty)?
                }
            });
        }
    }
    let Some(mask) = mask else { return Ok(update) };
    let ty = cx.ty(x).clone();
    cx.node(Op::Select {}, &[mask, spread, x], 0, ty)
}
