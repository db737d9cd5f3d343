//! The same elements under another shape, or in another type.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use kiln_ir::{Shape, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("_conj", One(same)),
    ("_to_copy", One(to)),
    ("_unsafe_view", One(reshape)),
    ("alias", One(same)),
    ("atleast_1d", One(|cx| at_least(cx, 1))),
    ("atleast_2d", One(|cx| at_least(cx, 2))),
    ("atleast_3d", One(|cx| at_least(cx, 3))),
    ("clone", One(same)),
    ("conj", One(same)),
    ("contiguous", One(same)),
    ("copy", One(copy)),
    ("detach", One(same)),
    ("dropout", One(dropout)),
    ("alpha_dropout", One(dropout)),
    ("feature_dropout", One(dropout)),
    ("feature_alpha_dropout", One(dropout)),
    ("native_dropout", One(dropout)),
    ("fill", One(fill)),
    ("flatten", One(flatten)),
    ("lift_fresh", One(same)),
    ("lift_fresh_copy", One(same)),
    ("positive", One(same)),
    ("ravel", One(flatten)),
    ("real", One(same)),
    ("reshape", One(reshape)),
    ("reshape_as", One(view_as)),
    ("resolve_conj", One(same)),
    ("resolve_neg", One(same)),
    ("squeeze", One(squeeze)),
    ("to", One(to)),
    ("type_as", One(to)),
    ("unflatten", One(unflatten)),
    ("unsqueeze", One(unsqueeze)),
    ("view", One(reshape)),
    ("view_as", One(view_as)),
    ("zero", One(zero)),
];

/// Operators that give views with the same elements.
pub(super) const SHAPES: &[&str] = &[
    "_unsafe_view",
    "alias",
    "contiguous",
    "detach",
    "flatten",
    "lift_fresh",
    "reshape",
    "squeeze",
    "unflatten",
    "unsqueeze",
    "view",
    "view_as",
];

fn same(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    cx.tensor("self")
}

/// The type is that which the program has for the result.
fn to(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    match (cx.asked("dtype")?, cx.declared(0)?) {
        (Some(dtype), _) | (None, Some(dtype)) => cx.cast(x, dtype),
        (None, None) => Ok(x),
    }
}

/// What is written into a tensor takes its shape and type.
fn copy(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, from) = (cx.tensor("self")?, cx.tensor("src")?);
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let from = cx.cast(from, dtype)?;
    spread(cx, from, &dims)
}

/// A value repeated to a shape that it fits.
pub(super) fn spread(cx: &mut Cx<'_, '_, '_>, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
    if Shape::common(&cx.dims(x), dims).as_deref() != Some(dims) {
        return Err(malformed!("{} cannot be broadcast to {dims:?}", cx.shown(x)));
    }
    cx.repeated(x, dims)
}

fn fill(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, number) = (cx.tensor("self")?, cx.operand("value")?);
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let number = cx.cast(number, dtype)?;
    spread(cx, number, &dims)
}

fn zero(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    let zero = cx.number(x, 0.0)?;
    spread(cx, zero, &dims)
}

fn dropout(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.flag("train", false)? && cx.number_or("p", 0.5)? != 0.0 {
        let help = "export the model for inference (model.eval())";
        return Err(super::Refusal::unsupported("it is in training mode", help));
    }
    match cx.optional_tensor("input")? {
        Some(x) => Ok(x),
        None => cx.tensor("self"),
    }
}

fn reshape(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let name = if cx.has("shape") { "shape" } else { "size" };
    let given = cx.integers(name)?.unwrap_or_default();
    let all = cx.ty(x).shape.numel();
    let dims = filled(&given, all).ok_or_else(|| malformed!("{} has no shape {given:?}", cx.shown(x)))?;
    cx.reshaped(x, &dims)
}

/// Sizes, of which one may be −1.
fn filled(given: &[i64], all: usize) -> Option<Vec<usize>> {
    let known = given.iter().filter(|&&size| size != -1).map(|&size| usize::try_from(size).ok());
    let known = known.collect::<Option<Vec<usize>>>().and_then(|known| Shape(known).checked_numel())?;
    let open = given.iter().filter(|&&size| size == -1).count();
    let fits = match open {
        0 => known == all,
        1 => known > 0 && all % known == 0,
        _ => false,
    };
    let size = |&size: &i64| if size == -1 { all / known } else { size as usize };
    fits.then(|| given.iter().map(size).collect())
}

fn view_as(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, other) = (cx.tensor("self")?, cx.tensor("other")?);
    let dims = cx.dims(other);
    malformed_if!(
        cx.ty(x).shape.numel() != cx.ty(other).shape.numel(),
        "{} has no shape {dims:?}",
        cx.shown(x)
    );
    cx.reshaped(x, &dims)
}

fn flatten(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    if dims.is_empty() {
        return cx.reshaped(x, &[1]);
    }
    let (first, last) = (cx.dim("start_dim", 0, x)?, cx.dim("end_dim", -1, x)?);
    malformed_if!(first > last, "it flattens axes from {first} to {last}");
    let flat = dims[first..=last].iter().product();
    let result = [&dims[..first], &[flat], &dims[last + 1..]].concat();
    cx.reshaped(x, &result)
}

fn unflatten(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let (dims, axis) = (cx.dims(x), cx.dim("dim", 0, x)?);
    let given = cx.integers("sizes")?.unwrap_or_default();
    let parts = dims.get(axis).and_then(|&size| filled(&given, size));
    let parts = parts.ok_or_else(|| malformed!("axis {axis} of {} has no shape {given:?}", cx.shown(x)))?;
    let result = [&dims[..axis], &parts[..], &dims[axis + 1..]].concat();
    cx.reshaped(x, &result)
}

/// Axes of another size than 1 stay.
fn squeeze(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    let axes = if cx.has("dim") { cx.axes("dim", x)? } else { (0..dims.len()).collect() };
    let stays = |(axis, &dim): &(usize, &usize)| dim != 1 || !axes.contains(axis);
    let result: Vec<usize> = dims.iter().enumerate().filter(stays).map(|(_, &dim)| dim).collect();
    cx.reshaped(x, &result)
}

/// With so many axes: further ones are in front, but for the third one.
fn at_least(cx: &mut Cx<'_, '_, '_>, rank: usize) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = with_axes(&cx.dims(x), rank);
    cx.reshaped(x, &dims)
}

pub(super) fn with_axes(dims: &[usize], rank: usize) -> Vec<usize> {
    let mut dims = dims.to_vec();
    while dims.len() < rank {
        let at = if dims.len() == 2 { 2 } else { 0 };
        dims.insert(at, 1);
    }
    dims
}

fn unsqueeze(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let mut dims = cx.dims(x);
    let axis = cx.axis(cx.int("dim", 0)?, dims.len() + 1)?;
    dims.insert(axis, 1);
    cx.reshaped(x, &dims)
}
