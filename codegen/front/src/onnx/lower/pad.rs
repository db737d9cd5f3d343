//! Pad, and CenterCropPad.

use super::cx::NodeCx;
use super::{Lowered, One, Operators, Refusal};
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[("CenterCropPad", One(center)), ("Pad", One(pad))];

/// Pad: with one number, or by what is inside. Less than nothing cuts off, and what is cut off pads nothing.
fn pad(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let rank = cx.dims(x).len();
    let (given, number) = match cx.opset() >= 11 {
        true => (cx.ints(1, "pads")?, padding(cx, x)?),
        false => {
            let name = if cx.opset() < 2 { "paddings" } else { "pads" };
            (cx.list(name).map(<[i64]>::to_vec), i64::from(cx.float("value", 0.0).to_bits()))
        }
    };
    let given = given.unwrap_or_default();
    let axes = match cx.ints(3, "axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?,
        None => (0..rank).collect(),
    };
    let wrong = || malformed!("its pads {given:?} do not fit {}", cx.shown(x));
    let largest = i64::from(u32::MAX);
    if given.len() != 2 * axes.len() || given.iter().any(|&pad| !(-largest..=largest).contains(&pad)) {
        return Err(wrong());
    }
    let mut pads = vec![(0, 0); rank];
    for (k, &axis) in axes.iter().enumerate() {
        pads[axis] = (given[k], given[k + axes.len()]);
    }
    let (x, pads) = cut_off(cx, x, &pads)?;
    let y = match cx.text("mode") {
        b"" | b"constant" => {
            let amounts = |of: fn(&(i64, i64)) -> i64| -> Vec<usize> {
                pads.iter().map(|pads| of(pads) as usize).collect()
            };
            cx.padded(x, &amounts(|pads| pads.0), &amounts(|pads| pads.1), number)?
        }
        mode => {
            let mut y = x;
            for (axis, &(before, after)) in pads.iter().enumerate().filter(|(_, pads)| **pads != (0, 0)) {
                let size = cx.dims(x)[axis] as i64;
                let count = usize::try_from(size + before + after).unwrap_or(0);
                cx.importer.budget.charge(16 * count)?;
                let indices: Option<Vec<usize>> =
                    (-before..size + after).map(|at| inside(mode, at, size)).collect();
                let indices = indices.filter(|list| !list.is_empty()).ok_or_else(|| {
                    let mode = String::from_utf8_lossy(mode);
                    let what = format!("axis {axis} of {} cannot be padded with mode {mode:?}", cx.shown(x));
                    Refusal::malformed(what)
                })?;
                y = cx.picked(y, axis, &indices)?;
            }
            y
        }
    };
    Ok(y)
}

/// What stands at an index that may lie outside.
fn inside(mode: &[u8], at: i64, size: i64) -> Option<usize> {
    let at = match mode {
        _ if size <= 0 => return None,
        b"edge" => at.clamp(0, size - 1),
        b"wrap" => at.rem_euclid(size),
        b"reflect" if size == 1 => 0,
        b"reflect" => {
            let period = 2 * (size - 1);
            let at = at.rem_euclid(period);
            at.min(period - at)
        }
        _ => return None,
    };
    usize::try_from(at).ok()
}

/// Cuts off, and gives what is left to add.
fn cut_off(
    cx: &mut NodeCx<'_, '_, '_>,
    mut x: ValueId,
    pads: &[(i64, i64)],
) -> Lowered<(ValueId, Vec<(i64, i64)>)> {
    for (axis, &(before, after)) in pads.iter().enumerate().filter(|(_, &(a, b))| a < 0 || b < 0) {
        let size = cx.dims(x)[axis];
        let (first, end) = (before.min(0).unsigned_abs() as usize, after.min(0).unsigned_abs() as usize);
        let count = size
            .checked_sub(first + end)
            .filter(|&count| count > 0)
            .ok_or_else(|| malformed!("nothing of axis {axis} of {} remains", cx.shown(x)))?;
        x = cx.part(x, axis, first, count, 1)?;
    }
    Ok((x, pads.iter().map(|&(before, after)| (before.max(0), after.max(0))).collect()))
}

/// The stored value that is padded with.
fn padding(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<i64> {
    let Some(number) = cx.optional(2)? else { return Ok(0) };
    let (dtype, own) = (cx.ty(number).dtype, cx.ty(x).dtype);
    match cx.data(number) {
        Some(data) if dtype == own && dtype == DType::F32 => {
            Ok(data.to_f32().first().map_or(0, |number| i64::from(number.to_bits())))
        }
        Some(data) if dtype == own => Ok(data.to_ints(dtype).first().copied().unwrap_or(0)),
        Some(_) => Err(malformed!("it pads with {}", cx.shown(number))),
        None => Err(Refusal::unsupported("its padding value is computed at run time", "pad with a constant")),
    }
}

/// CenterCropPad: the middle of `x`, or zeros around it, so that axes have given sizes.
fn center(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.input(0)?;
    let rank = cx.dims(x).len();
    let sizes = super::shape::sizes(cx, 1, "shape")?;
    let axes = match cx.list("axes") {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?,
        None => (0..rank).collect(),
    };
    malformed_if!(axes.len() != sizes.len(), "sizes {sizes:?} do not fit axes {axes:?}");
    for (&axis, &size) in axes.iter().zip(&sizes) {
        let own = cx.dims(x)[axis];
        if own >= size {
            x = cx.part(x, axis, (own - size) / 2, size, 1)?;
        } else {
            let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
            before[axis] = (size - own) / 2;
            after[axis] = size - own - before[axis];
            x = cx.padded(x, &before, &after, 0)?;
        }
    }
    Ok(x)
}
