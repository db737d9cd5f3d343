//! TOPK_V2 and WHERE: where elements are.

use super::cx::{describe, OpCx};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{DType, Data, Op, Type};

pub(super) const OPERATORS: Operators = &[(48, top_k), (109, indices_where)];

/// TOPK_V2: the indices of the largest elements along the last axis, and the elements at these.
fn top_k(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let given = cx.ints(1, "number of elements")?;
    let mut dims = cx.dims(x);
    let fits = |k: &usize| *k > 0 && dims.last().is_some_and(|depth| k <= depth);
    let k = given.first().and_then(|&k| usize::try_from(k).ok()).filter(fits);
    let (Some(k), 1) = (k, given.len()) else {
        return Err(malformed!("it cannot find the {given:?} largest elements of {}", cx.shown(x)));
    };
    if let Some(last) = dims.last_mut() {
        *last = k;
    }
    malformed_if!(cx.ty(x).dtype == DType::Bool, "its operand is {}", cx.shown(x));
    let indices = cx.declared(1)?;
    if indices.dtype != DType::I32 {
        let what = format!("its indices are {}", describe(&indices));
        return Err(Refusal::unsupported(what, "make the indices int32"));
    }
    let found = cx.node(Op::TopK {}, &[x], 1, Type::plain(DType::I32, &dims))?;
    cx.bind(1, found)?;
    let named = [&dims[..], &[1]].concat();
    let named = cx.node(Op::Reshape {}, &[found], 1, Type::plain(DType::I32, &named))?;
    let (x, axis) = (cx.as_result(x, 0)?, dims.len() - 1);
    cx.emit(Op::Gather { batch: axis, axis, depth: 1 }, &[x, named], 0, &dims)
}

/// WHERE: the coordinates of all elements that are not 0. Their number is part of a shape, so that they have to be known.
fn indices_where(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let ty = cx.ty(x).clone();
    let Some(data) = cx.known(x) else {
        let what =
            format!("the number of elements of {} that are not 0 is known only at run time", describe(&ty));
        let help = "multiply by the condition, or select with it (SELECT_V2), so that all shapes are known";
        return Err(Refusal::unsupported(what, help));
    };
    let holds: Vec<bool> = match ty.dtype {
        DType::F32 => data.to_f32().into_iter().map(|x| x != 0.0).collect(),
        dtype => data.to_ints(dtype).into_iter().map(|x| x != 0).collect(),
    };
    let strides = ty.shape.strides();
    let places = holds.iter().enumerate().filter(|(_, holds)| **holds).map(|(at, _)| at);
    let coordinate = |at: usize, axis: usize| at / strides[axis] % ty.shape.dims()[axis];
    let rank = ty.shape.rank();
    let found: Vec<i64> = places
        .flat_map(|at| (0..rank).map(move |axis| (at, axis)))
        .map(|(at, axis)| coordinate(at, axis) as i64)
        .collect();
    let result = cx.declared(0)?;
    malformed_if!(result.dtype != DType::I64, "its result is {}", describe(&result));
    let dims = [found.len() / rank.max(1), rank];
    cx.charge(8 * found.len())?;
    let name = cx.output_tensor(0)?.name.text();
    let value = cx.constant(&name, Type::plain(DType::I64, &dims), Data::from_ints(DType::I64, found));
    cx.bind(0, value)
}
