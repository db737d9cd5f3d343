//! Shapes, and the same elements under another shape.

use super::slot::Slot;
use super::{All, Cx, Lowered, One, Operators, Refusal, Slots};
use kiln_ir::{DType, Shape, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Assert", Slots(|_| Ok(Vec::new()))),
    ("BroadcastArgs", One(broadcast_args)),
    ("BroadcastTo", One(broadcast_to)),
    ("CheckNumerics", Slots(same)),
    ("EnsureShape", Slots(same)),
    ("ExpandDims", One(expand)),
    ("Identity", Slots(same)),
    ("IdentityN", Slots(|cx| Ok(cx.operands.clone()))),
    ("NoOp", Slots(|_| Ok(Vec::new()))),
    ("PlaceholderWithDefault", Slots(same)),
    ("PreventGradient", Slots(same)),
    ("Print", Slots(same)),
    ("PrintV2", Slots(|_| Ok(Vec::new()))),
    ("Rank", One(rank)),
    ("ReadVariableXlaSplitND", Slots(same)),
    ("RefIdentity", Slots(same)),
    ("Reshape", Slots(reshape)),
    ("Shape", One(|cx| shape_of(cx, 0))),
    ("ShapeN", All(|cx| (0..cx.count()).map(|k| shape_of(cx, k)).collect())),
    ("Size", One(size)),
    ("Snapshot", Slots(same)),
    ("Squeeze", One(squeeze)),
    ("StopGradient", Slots(same)),
];

fn same<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    Ok(vec![cx.slot(0)?])
}

fn dims_of(cx: &Cx<'_, '_, '_>, k: usize) -> Lowered<Vec<usize>> {
    match cx.slot(k)? {
        Slot::Complex(re, _) => Ok(cx.dims(re)),
        other => Ok(cx.dims(other.tensor()?)),
    }
}

fn shape_of(cx: &mut Cx<'_, '_, '_>, k: usize) -> Lowered<ValueId> {
    let dims: Vec<i64> = dims_of(cx, k)?.into_iter().map(|dim| dim as i64).collect();
    let dtype = cx.dtype_of("out_type")?.unwrap_or(DType::I32);
    cx.int_constant("shape", dtype, &[dims.len()], &dims)
}

fn rank(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let rank = dims_of(cx, 0)?.len() as i64;
    cx.int_constant("rank", DType::I32, &[], &[rank])
}

fn size(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let size = dims_of(cx, 0)?.iter().product::<usize>() as i64;
    let dtype = cx.dtype_of("out_type")?.unwrap_or(DType::I32);
    cx.int_constant("size", dtype, &[], &[size])
}

fn reshape<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    let own = dims_of(cx, 0)?;
    let mut wanted = cx.known_list(1, "shape")?;
    let count: usize = own.iter().product();
    let known = wanted.iter().filter(|&&size| size >= 0).try_fold(1i64, |all, &size| all.checked_mul(size));
    let known = known.ok_or_else(|| malformed!("its shape is {wanted:?}"))?;
    if let Some(open) = wanted.iter_mut().find(|size| **size == -1) {
        *open = (count as i64).checked_div(known).unwrap_or(0);
    }
    let dims = super::cx::sizes(&wanted, "shape")?;
    malformed_if!(dims.iter().product::<usize>() != count, "{own:?} cannot become {dims:?}");
    Ok(vec![match cx.slot(0)? {
        Slot::Complex(re, im) => Slot::Complex(cx.reshaped(re, &dims)?, cx.reshaped(im, &dims)?),
        other => Slot::Tensor(cx.reshaped(other.tensor()?, &dims)?),
    }])
}

fn squeeze(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let dims = cx.dims(x);
    let list = match cx.list_of("squeeze_dims")? {
        list if list.is_empty() => cx.list_of("axis")?,
        list => list,
    };
    let axes = list.iter().map(|&axis| cx.axis(axis, dims.len())).collect::<Lowered<Vec<usize>>>()?;
    malformed_if!(axes.iter().any(|&axis| dims[axis] != 1), "axes {axes:?} of {} are not 1", cx.shown(x));
    let goes = |axis: &usize| if axes.is_empty() { dims[*axis] == 1 } else { axes.contains(axis) };
    let left: Vec<usize> = (0..dims.len()).filter(|axis| !goes(axis)).map(|axis| dims[axis]).collect();
    cx.reshaped(x, &left)
}

fn expand(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let mut dims = cx.dims(x);
    let axis = cx.axis_in(1, dims.len() + 1)?;
    dims.insert(axis, 1);
    cx.reshaped(x, &dims)
}

fn broadcast_to(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, dims) = (cx.x(0)?, cx.known_sizes(1, "shape")?);
    let own = cx.dims(x);
    malformed_if!(Shape::common(&own, &dims).as_deref() != Some(&dims[..]), "{own:?} cannot become {dims:?}");
    cx.spread(x, &dims)
}

fn broadcast_args(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (a, b) = (cx.known_sizes(0, "shape")?, cx.known_sizes(1, "shape")?);
    let common =
        Shape::common(&a, &b).ok_or_else(|| Refusal::Malformed(format!("{a:?} and {b:?} do not fit")))?;
    let list: Vec<i64> = common.iter().map(|&dim| dim as i64).collect();
    let dtype = cx.ty(cx.x(0)?).dtype;
    cx.int_constant("shape", dtype, &[list.len()], &list)
}
