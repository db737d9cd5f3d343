//! Layers that move elements, cut some off, or put zeros around them.

use super::cx::{integers, size, Cx};
use super::{Layers, Lowered, One};
use crate::keras::value::Value;
use kiln_ir::ValueId;

pub(super) const LAYERS: Layers = &[
    ("CenterCrop", One(center_crop)),
    ("Cropping1D", One(|cx| cropping(cx, 1))),
    ("Cropping2D", One(|cx| cropping(cx, 2))),
    ("Cropping3D", One(|cx| cropping(cx, 3))),
    ("Flatten", One(flatten)),
    ("Permute", One(permute)),
    ("RandomCrop", One(center_crop)),
    ("RepeatVector", One(repeat_vector)),
    ("Rescaling", One(rescaling)),
    ("Reshape", One(reshape)),
    ("ZeroPadding1D", One(|cx| padding(cx, 1))),
    ("ZeroPadding2D", One(|cx| padding(cx, 2))),
    ("ZeroPadding3D", One(|cx| padding(cx, 3))),
];

/// All but the batch as one axis. Channels come last, also of channel-first images.
fn flatten(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.slot()?.value;
    let rank = cx.dims(x).len();
    if cx.channels_first() && rank > 2 {
        let perm: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
        x = cx.transposed(x, &perm)?;
    }
    let dims = cx.dims(x);
    let Some((&batch, rest)) = dims.split_first() else { return Err(malformed!("it has no batch")) };
    cx.reshaped(x, &[batch, rest.iter().product()])
}

fn reshape(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.slot()?.value;
    let dims = cx.dims(x);
    let target = integers(cx.config().get("target_shape"));
    let target = target.ok_or_else(|| malformed!("its target_shape is no list of sizes"))?;
    let Some((&batch, rest)) = dims.split_first() else { return Err(malformed!("it has no batch")) };
    let sizes = open_size(&target, rest.iter().product())?;
    cx.reshaped(x, &[&[batch], &sizes[..]].concat())
}

/// Sizes of which one may be −1: what is left of so many elements.
pub(super) fn open_size(target: &[i64], count: usize) -> Lowered<Vec<usize>> {
    let misfit = || malformed!("{count} elements do not fit {target:?}");
    let mut known = target.iter().filter(|&&size| size >= 0);
    let known = known.try_fold(1usize, |all, &size| all.checked_mul(usize::try_from(size).ok()?));
    let known = known.ok_or_else(misfit)?;
    let size = |&size: &i64| usize::try_from(size).unwrap_or(count.checked_div(known).unwrap_or(0));
    let sizes: Vec<usize> = target.iter().map(size).collect();
    let all = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    (all == Some(count)).then_some(sizes).ok_or_else(misfit)
}

fn permute(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.slot()?.value;
    let rank = cx.dims(x).len();
    let list = integers(cx.config().get("dims")).unwrap_or_default();
    let perm: Vec<usize> =
        [0].into_iter().chain(list.iter().map(|&axis| usize::try_from(axis).unwrap_or(0))).collect();
    let mut seen = perm.clone();
    seen.sort_unstable();
    malformed_if!(!seen.into_iter().eq(0..rank), "its dims {list:?} do not fit {}", cx.shown(x));
    cx.transposed(x, &perm)
}

fn repeat_vector(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.slot()?.value;
    let &[n, c] = &*cx.dims(x) else { return Err(malformed!("{} is no vector", cx.shown(x))) };
    let count = cx.size("n", 1)?;
    let row = cx.reshaped(x, &[n, 1, c])?;
    cx.repeated(row, &[n, count, c])
}

/// Elements in front of each axis, and behind it: one number, one for each axis, or two.
fn margins(value: &Value, axes: usize) -> Lowered<Vec<(usize, usize)>> {
    let wrong = || malformed!("its margins do not fit {axes} axes");
    let pair = |value: &Value| match value {
        Value::List(list) => match &list[..] {
            [before, after] => Some((size(before)?, size(after)?)),
            _ => None,
        },
        value => size(value).map(|size| (size, size)),
    };
    match value {
        // Of one axis, two numbers are those of its ends.
        Value::List(list) if axes == 1 && list.len() == 2 => Ok(vec![pair(value).ok_or_else(wrong)?]),
        Value::List(list) if list.len() == axes => {
            list.iter().map(pair).collect::<Option<_>>().ok_or_else(wrong)
        }
        Value::List(_) => Err(wrong()),
        value => pair(value).map(|pair| vec![pair; axes]).ok_or_else(wrong),
    }
}

/// The first axis of an image's pixels.
fn first_axis(cx: &Cx<'_, '_, '_>, x: ValueId, axes: usize) -> Lowered<usize> {
    malformed_if!(cx.dims(x).len() != axes + 2, "{} does not have {} axes", cx.shown(x), axes + 2);
    Ok(if cx.channels_first() { 2 } else { 1 })
}

fn cropping(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let mut x = cx.slot()?.value;
    let first = first_axis(cx, x, axes)?;
    let dims = cx.dims(x);
    for (k, (before, after)) in margins(cx.config().get("cropping"), axes)?.into_iter().enumerate() {
        let left = dims[first + k].checked_sub(before).and_then(|left| left.checked_sub(after));
        let left = left.filter(|&left| left > 0);
        let left = left.ok_or_else(|| malformed!("nothing is left of {}", cx.shown(x)))?;
        x = cx.part(x, first + k, before, left, 1)?;
    }
    Ok(x)
}

fn padding(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = cx.x()?;
    let first = first_axis(cx, x, axes)?;
    let rank = cx.dims(x).len();
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (k, pair) in margins(cx.config().get("padding"), axes)?.into_iter().enumerate() {
        (before[first + k], after[first + k]) = pair;
    }
    cx.padded(x, &before, &after, 0)
}

/// x · scale + offset, which may have a number for each channel.
fn rescaling(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let last = cx.dims(x).last().copied().unwrap_or(1);
    let first = cx.channels_first();
    let channels = if first { cx.dims(x).get(1).copied().unwrap_or(1) } else { last };
    let rank = cx.dims(x).len();
    let mut number = |key: &str, otherwise: f64| -> Lowered<ValueId> {
        match cx.config().get(key) {
            Value::List(list) => {
                let numbers: Vec<f32> = list.iter().filter_map(Value::float).map(|x| x as f32).collect();
                let fits = numbers.len() == channels || numbers.len() == 1;
                malformed_if!(!fits, "it has {} numbers for {channels} channels", numbers.len());
                let mut shape = vec![numbers.len()];
                if first {
                    shape.resize(rank.saturating_sub(1), 1);
                }
                cx.float_constant(key, &shape, &numbers)
            }
            value => {
                let number = value.float().unwrap_or(otherwise) as f32;
                cx.float_constant(key, &[], &[number])
            }
        }
    };
    let (scale, offset) = (number("scale", 1.0)?, number("offset", 0.0)?);
    let is_zero = cx.data(offset).is_some_and(|data| data.to_f32().iter().all(|&x| x == 0.0));
    let y = cx.product(x, scale)?;
    if is_zero {
        return Ok(y);
    }
    cx.sum(y, offset)
}

/// The middle of an image; of one that is smaller, the middle of the image made larger.
fn center_crop(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let first = first_axis(cx, x, 2)?;
    let (dims, out) = (cx.dims(x), [cx.size("height", 0)?, cx.size("width", 0)?]);
    malformed_if!(out.contains(&0), "its result is empty");
    let image = [dims[first], dims[first + 1]];
    if image[0] < out[0] || image[1] < out[1] {
        return super::resize::smart(cx, x, first, out);
    }
    let y = cx.part(x, first, (image[0] - out[0]) / 2, out[0], 1)?;
    cx.part(y, first + 1, (image[1] - out[1]) / 2, out[1], 1)
}
