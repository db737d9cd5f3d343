//! Operations of `keras.ops` that move elements.

use super::arguments::Arg;
use super::cx::{integers, Cx};
use super::ops::operand;
use super::ops_reduce::axes;
use super::reshape::open_size;
use super::{All, Layers, Lowered, One, Refusal};
use crate::keras::value::Value;
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATIONS: Layers = &[
    ("BroadcastTo", One(broadcast)),
    ("Concatenate", One(concatenate)),
    ("Cumprod", One(|cx| cumulative(cx, "CumProd"))),
    ("Cumsum", One(|cx| cumulative(cx, "CumSum"))),
    ("ExpandDims", One(expand_dims)),
    ("Flip", One(flip)),
    ("GetItem", One(get_item)),
    ("Moveaxis", One(move_axis)),
    ("OneHot", One(one_hot)),
    ("Pad", One(pad)),
    ("Ravel", One(ravel)),
    ("Repeat", One(repeat)),
    ("Reshape", One(reshape)),
    ("Roll", One(roll)),
    ("Split", All(split)),
    ("Squeeze", One(squeeze)),
    ("Stack", One(stack)),
    ("Swapaxes", One(swap_axes)),
    ("Take", One(take)),
    ("TakeAlongAxis", One(take_along_axis)),
    ("Tile", One(tile)),
    ("Transpose", One(transpose)),
    ("Unstack", All(unstack)),
];

fn list(cx: &Cx<'_, '_, '_>, place: usize, names: &[&str]) -> Option<Vec<i64>> {
    let found = names.iter().map(|name| cx.setting(place, name)).find(|value| !value.is_null())?;
    match &found {
        Value::List(_) => integers(&found),
        value => value.int().map(|int| vec![int]),
    }
}

fn axis(cx: &Cx<'_, '_, '_>, place: usize, name: &str, otherwise: i64, rank: usize) -> Lowered<usize> {
    cx.axis(cx.setting(place, name).int().unwrap_or(otherwise), rank)
}

fn reshape(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let target = list(cx, 1, &["newshape"]).or_else(|| {
        // An open size is null.
        match cx.setting(1, "newshape") {
            Value::List(list) => Some(list.iter().map(|value| value.int().unwrap_or(-1)).collect()),
            _ => None,
        }
    });
    let target = target.ok_or_else(|| malformed!("its shape is not known"))?;
    let sizes = open_size(&target, cx.ty(x).shape.numel())?;
    cx.reshaped(x, &sizes)
}

fn transpose(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let rank = cx.dims(x).len();
    let perm = match list(cx, 1, &["axes"]) {
        None => (0..rank).rev().collect(),
        Some(list) => list.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?,
    };
    let mut seen = perm.clone();
    seen.sort_unstable();
    malformed_if!(!seen.into_iter().eq(0..rank), "its axes {perm:?} do not fit {}", cx.shown(x));
    cx.transposed(x, &perm)
}

fn swap_axes(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let rank = cx.dims(x).len();
    let (a, b) = (axis(cx, 1, "axis1", 0, rank)?, axis(cx, 2, "axis2", 1, rank)?);
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(a, b);
    cx.transposed(x, &perm)
}

fn move_axis(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let rank = cx.dims(x).len();
    let ends =
        [("source", 1), ("destination", 2)].map(|(name, place)| list(cx, place, &[name]).unwrap_or_default());
    let mut pairs = Vec::new();
    malformed_if!(ends[0].len() != ends[1].len(), "its axes do not fit together");
    for (&from, &to) in ends[0].iter().zip(&ends[1]) {
        pairs.push((cx.axis(to, rank)?, cx.axis(from, rank)?));
    }
    pairs.sort_unstable();
    let mut perm: Vec<usize> = (0..rank).filter(|axis| pairs.iter().all(|(_, from)| from != axis)).collect();
    for (to, from) in pairs {
        perm.insert(to.min(perm.len()), from);
    }
    malformed_if!(perm.len() != rank, "its axes do not fit {}", cx.shown(x));
    cx.transposed(x, &perm)
}

fn expand_dims(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let mut dims = cx.dims(x);
    let added = list(cx, 1, &["axis"]).unwrap_or_default();
    let rank = dims.len() + added.len();
    let mut places = added.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    places.sort_unstable();
    for place in places {
        dims.insert(place.min(dims.len()), 1);
    }
    cx.reshaped(x, &dims)
}

fn squeeze(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let dims = cx.dims(x);
    let own = match cx.setting(1, "axis").is_null() {
        true => (0..dims.len()).filter(|&axis| dims[axis] == 1).collect(),
        false => axes(cx, x, 1, None)?,
    };
    malformed_if!(own.iter().any(|&axis| dims[axis] != 1), "{} cannot be squeezed", cx.shown(x));
    let dims: Vec<usize> =
        (0..dims.len()).filter(|axis| !own.contains(axis)).map(|axis| dims[axis]).collect();
    cx.reshaped(x, &dims)
}

/// All elements as one axis, if that is asked for.
pub(super) fn flat(cx: &mut Cx<'_, '_, '_>, x: ValueId, is_flat: bool) -> Lowered<ValueId> {
    let count = cx.ty(x).shape.numel();
    if is_flat {
        cx.reshaped(x, &[count])
    } else {
        Ok(x)
    }
}

fn ravel(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    flat(cx, x, true)
}

fn broadcast(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let own = cx.dims(x);
    let Value::List(list) = cx.setting(1, "shape") else { return Err(malformed!("its shape is not known")) };
    let size = |(k, value): (usize, &Value)| match value {
        // An open size is that of the operand.
        Value::Null => own.get(k).copied(),
        value => super::cx::size(value),
    };
    let dims: Option<Vec<usize>> = list.iter().enumerate().map(size).collect();
    let dims = dims.filter(|dims| kiln_ir::Shape::common(&own, dims).as_ref() == Some(dims));
    let dims = dims.ok_or_else(|| malformed!("{} does not fit its shape", cx.shown(x)))?;
    cx.repeated(x, &dims)
}

fn tensors(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let slots = cx.given.first();
    let mut values: Vec<ValueId> = slots.iter().map(|slot| slot.value).collect();
    let float = values.iter().any(|&x| cx.ty(x).dtype == DType::F32);
    if float {
        for value in &mut values {
            *value = cx.cast(*value, DType::F32)?;
        }
    }
    malformed_if!(values.is_empty(), "it is called without tensors");
    Ok(values)
}

fn concatenate(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let values = tensors(cx)?;
    let rank = cx.dims(values[0]).len();
    let axis = axis(cx, 1, "axis", 0, rank)?;
    cx.joined(&values, axis)
}

fn stack(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let values = tensors(cx)?;
    let rank = cx.dims(values[0]).len() + 1;
    let axis = axis(cx, 1, "axis", 0, rank)?;
    let mut wide = Vec::new();
    for value in values {
        let mut dims = cx.dims(value);
        dims.insert(axis.min(dims.len()), 1);
        wide.push(cx.reshaped(value, &dims)?);
    }
    cx.joined(&wide, axis)
}

fn split(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = operand(cx, 0, "x")?;
    let dims = cx.dims(x);
    let axis = axis(cx, 2, "axis", 0, dims.len())?;
    let size = dims[axis];
    let ends: Vec<usize> = match cx.setting(1, "indices_or_sections") {
        Value::List(list) => {
            list.iter().map(|value| super::cx::size(value).unwrap_or(0)).chain([size]).collect()
        }
        value => {
            let parts = super::cx::size(&value).filter(|&parts| parts > 0 && size % parts == 0);
            let parts = parts.ok_or_else(|| malformed!("{size} elements do not divide"))?;
            (1..=parts).map(|k| k * (size / parts)).collect()
        }
    };
    let (mut first, mut parts) = (0, Vec::new());
    for end in ends {
        malformed_if!(end <= first || end > size, "its parts do not fit {}", cx.shown(x));
        parts.push(cx.part(x, axis, first, end - first, 1)?);
        first = end;
    }
    Ok(parts)
}

fn unstack(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = operand(cx, 0, "x")?;
    let mut dims = cx.dims(x);
    let axis = axis(cx, 2, "axis", 0, dims.len())?;
    let count = dims.remove(axis);
    cx.written_out(count)?;
    let mut parts = Vec::new();
    for k in 0..count {
        let part = cx.part(x, axis, k, 1, 1)?;
        parts.push(cx.reshaped(part, &dims)?);
    }
    Ok(parts)
}

fn flip(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = operand(cx, 0, "x")?;
    for axis in axes(cx, x, 1, None)? {
        let size = cx.dims(x)[axis];
        if size > 1 {
            x = cx.part(x, axis, size - 1, size, -1)?;
        }
    }
    Ok(x)
}

fn roll(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = operand(cx, 0, "x")?;
    let own = cx.dims(x);
    let shifts = list(cx, 1, &["shift"]).unwrap_or_default();
    let is_flat = cx.setting(2, "axis").is_null();
    if is_flat {
        x = cx.reshaped(x, &[own.iter().product()])?;
    }
    let places = if is_flat { vec![0] } else { list(cx, 2, &["axis"]).unwrap_or_default() };
    malformed_if!(shifts.len() != places.len(), "its shifts do not fit its axes");
    for (&shift, &place) in shifts.iter().zip(&places) {
        let axis = cx.axis(place, cx.dims(x).len())?;
        let size = cx.dims(x)[axis];
        let first = (-shift).rem_euclid(size.max(1) as i64) as usize;
        if first > 0 {
            let (end, start) = (cx.part(x, axis, first, size - first, 1)?, cx.part(x, axis, 0, first, 1)?);
            x = cx.joined(&[end, start], axis)?;
        }
    }
    cx.reshaped(x, &own)
}

fn tile(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let mut times = list(cx, 1, &["repeats"]).unwrap_or_default();
    let mut dims = cx.dims(x);
    while dims.len() < times.len() {
        dims.insert(0, 1);
    }
    while times.len() < dims.len() {
        times.insert(0, 1);
    }
    let x = cx.reshaped(x, &dims)?;
    let times = cx.int_constant("times", DType::I64, &[times.len()], &times)?;
    cx.call("Tile", &[Some(x), Some(times)], &[])
}

fn repeat(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let is_flat = cx.setting(2, "axis").is_null();
    let x = flat(cx, x, is_flat)?;
    let axis = axis(cx, 2, "axis", 0, cx.dims(x).len())?;
    let times = list(cx, 1, &["repeats"]).unwrap_or_default();
    if let &[times] = &*times {
        let times = usize::try_from(times).ok().filter(|&times| times > 0);
        return super::resize::repeated(cx, x, axis, times.ok_or_else(|| malformed!("it repeats nothing"))?);
    }
    malformed_if!(times.len() != cx.dims(x)[axis], "its repeats do not fit {}", cx.shown(x));
    let mut indices = Vec::new();
    for (k, &times) in times.iter().enumerate() {
        let times = usize::try_from(times).unwrap_or(0);
        cx.importer.budget.charge(8 * times)?;
        indices.extend(std::iter::repeat_n(k, times));
    }
    cx.picked(x, axis, &indices)
}

fn pad(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let rank = cx.dims(x).len();
    let widths = cx.setting(1, "pad_width");
    let pair = |value: &Value| match integers(value).as_deref() {
        Some(&[before, after]) => Some((before, after)),
        Some(&[both]) => Some((both, both)),
        _ => value.int().map(|both| (both, both)),
    };
    let pairs: Option<Vec<(i64, i64)>> = match &widths {
        Value::List(list)
            if list.len() == rank && list.iter().all(|value| matches!(value, Value::List(_))) =>
        {
            list.iter().map(pair).collect()
        }
        value => match value.list() {
            [one @ Value::List(_)] => pair(one).map(|pair| vec![pair; rank]),
            _ => pair(value).map(|pair| vec![pair; rank]),
        },
    };
    let pairs = pairs.ok_or_else(|| malformed!("its pad_width does not fit {}", cx.shown(x)))?;
    let mode = cx.setting(2, "mode");
    let mode = if mode.is_null() { "constant" } else { mode.text() };
    let mode = match mode {
        "symmetric" => {
            return Err(Refusal::unsupported("its padding is symmetric", "use reflect or constant"))
        }
        mode => mode.to_owned(),
    };
    let all: Vec<i64> = pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect();
    let pads = cx.int_constant("pads", DType::I64, &[2 * rank], &all)?;
    let value = match cx.given.get(3, "constant_values") {
        Some(Arg::Value(value)) => value.float().unwrap_or(0.0),
        _ => cx.config().get("constant_values").float().unwrap_or(0.0),
    };
    let value = cx.number(x, value)?;
    cx.call("Pad", &[Some(x), Some(pads), Some(value)], &[("mode", Set::Text(&mode))])
}

fn take(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let is_flat = cx.setting(2, "axis").is_null();
    let x = flat(cx, x, is_flat)?;
    let axis = axis(cx, 2, "axis", 0, cx.dims(x).len())?;
    let indices = indices(cx)?;
    cx.call("Gather", &[Some(x), Some(indices)], &[("axis", Set::Int(axis as i64))])
}

fn indices(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let indices = operand(cx, 1, "indices")?;
    match cx.ty(indices).dtype {
        DType::I32 | DType::I64 => Ok(indices),
        _ => cx.cast(indices, DType::I32),
    }
}

fn take_along_axis(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let axis = axis(cx, 2, "axis", -1, cx.dims(x).len())?;
    let indices = indices(cx)?;
    cx.call("GatherElements", &[Some(x), Some(indices)], &[("axis", Set::Int(axis as i64))])
}

fn one_hot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let count = cx.setting(1, "num_classes").int().unwrap_or(0);
    let axis = cx.setting(2, "axis").int().unwrap_or(-1);
    let dtype = super::arguments::dtype(cx.setting(3, "dtype").text())?.unwrap_or(DType::F32);
    let depth = cx.int_constant("depth", DType::I64, &[], &[count])?;
    let values = match dtype {
        DType::F32 => cx.float_constant("values", &[2], &[0.0, 1.0])?,
        DType::Bool => cx.int_constant("values", DType::I32, &[2], &[0, 1])?,
        dtype => cx.int_constant("values", dtype, &[2], &[0, 1])?,
    };
    let y = cx.call("OneHot", &[Some(x), Some(depth), Some(values)], &[("axis", Set::Int(axis))])?;
    cx.cast(y, dtype)
}

fn cumulative(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let is_flat = cx.setting(1, "axis").is_null();
    let x = flat(cx, x, is_flat)?;
    let axis = axis(cx, 1, "axis", 0, cx.dims(x).len())?;
    let axis = cx.int_constant("axis", DType::I64, &[], &[axis as i64])?;
    cx.call(operator, &[Some(x), Some(axis)], &[])
}

/// A part of `x`, by numbers, ranges, new axes and dots for all axes between.
fn get_item(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = operand(cx, 0, "x")?;
    let parts: Vec<Arg> = match cx.given.get(1, "key") {
        Some(Arg::List(list)) => list.clone(),
        Some(other) => vec![other.clone()],
        None => return Err(malformed!("it has no key")),
    };
    let is_dots =
        |arg: &Arg| matches!(arg, Arg::Value(value) if value.get("class_name").text() == "__ellipsis__");
    let is_new = |arg: &Arg| matches!(arg, Arg::Value(Value::Null));
    let rank = cx.dims(x).len();
    let named = parts.iter().filter(|arg| !is_dots(arg) && !is_new(arg)).count();
    malformed_if!(named > rank, "its key has {named} parts for {}", cx.shown(x));
    let (mut axis, mut dims) = (0, Vec::new());
    for part in &parts {
        if is_dots(part) {
            for _ in 0..rank - named {
                dims.push(cx.dims(x)[axis]);
                axis += 1;
            }
            continue;
        }
        if is_new(part) {
            dims.push(1);
            continue;
        }
        let Arg::Value(value) = part else {
            return Err(Refusal::unsupported("its key is a tensor", "use keras.ops.take"));
        };
        let size = cx.dims(x)[axis];
        if let Some(index) = value.int() {
            let place = cx.axis(index, size)?;
            x = cx.part(x, axis, place, 1, 1)?;
        } else {
            let config = value.get("config");
            let is_slice = value.get("class_name").text() == "__slice__";
            malformed_if!(!is_slice, "its key is not of a known form");
            x = sliced(cx, x, axis, [config.get("start"), config.get("stop"), config.get("step")])?;
            dims.push(cx.dims(x)[axis]);
        }
        axis += 1;
    }
    dims.extend(cx.dims(x).iter().skip(axis));
    cx.reshaped(x, &dims)
}

/// A range along an axis, as Python has it.
fn sliced(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, of: [&Value; 3]) -> Lowered<ValueId> {
    let size = cx.dims(x)[axis] as i64;
    let [start, stop, step] = of.map(Value::int);
    let step = step.unwrap_or(1);
    malformed_if!(step == 0, "its step is 0");
    let counted = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
    let (first, end) = match step > 0 {
        true => (counted(start.unwrap_or(0)).clamp(0, size), counted(stop.unwrap_or(size)).clamp(0, size)),
        false => (
            counted(start.unwrap_or(size - 1)).clamp(-1, size - 1),
            stop.map_or(-1, |stop| counted(stop).clamp(-1, size - 1)),
        ),
    };
    let span = if step > 0 { end - first } else { first - end };
    let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
    if count == 0 {
        return Err(Refusal::unsupported("it selects no elements", "remove it"));
    }
    cx.part(x, axis, first.max(0) as usize, count, step)
}
