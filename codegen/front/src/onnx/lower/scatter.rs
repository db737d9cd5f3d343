//! Scatter: elements of one tensor take the place of others, or join them. The places are constants; so who takes which place is known, and what is left to
//! do is a gathering from both.

use super::cx::NodeCx;
use super::{Lowered, One, Operators, Refusal};
use kiln_ir::{Binary, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Col2Im", One(col_to_im)),
    ("Scatter", One(elements)),
    ("ScatterElements", One(elements)),
    ("ScatterND", One(nd)),
];

/// ScatterElements, and the older Scatter: along an axis, an index for each element of the updates.
fn elements(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, updates) = (cx.input(0)?, cx.input(2)?);
    let (given, named) = indices(cx)?;
    let dims = cx.dims(x);
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    let fits = named.len() == dims.len() && named == cx.dims(updates);
    let strides = cx.ty(x).shape.strides();
    let mut targets = Vec::with_capacity(given.len());
    for (k, index) in given.into_iter().enumerate().take_while(|_| fits) {
        let (mut rest, mut target) = (k, 0);
        for (other, &dim) in named.iter().enumerate().rev() {
            let at = if other == axis { place(index, dims[axis])? } else { rest % dim };
            if at >= dims[other] {
                return Err(misfit(cx, x, updates));
            }
            target += at * strides[other];
            rest /= dim;
        }
        targets.push(target);
    }
    if !fits {
        return Err(misfit(cx, x, updates));
    }
    scattered(cx, x, updates, &targets, 1)
}

/// ScatterND: parts at coordinates, which are the last axis of the indices.
fn nd(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, updates) = (cx.input(0)?, cx.input(2)?);
    let (given, named) = indices(cx)?;
    let dims = cx.dims(x);
    let depth = named.last().copied().unwrap_or(0);
    if depth == 0 || depth > dims.len() {
        return Err(misfit(cx, x, updates));
    }
    if cx.dims(updates) != [&named[..named.len() - 1], &dims[depth..]].concat() {
        return Err(misfit(cx, x, updates));
    }
    let mut targets = Vec::with_capacity(given.len() / depth);
    for coordinates in given.chunks_exact(depth) {
        let mut target = 0;
        for (&index, &size) in coordinates.iter().zip(&dims) {
            target = target * size + place(index, size)?;
        }
        targets.push(target);
    }
    let run = dims[depth..].iter().product();
    scattered(cx, x, updates, &targets, run)
}

/// Col2Im: blocks of pixels are added where they overlap.
fn col_to_im(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (image, block) =
        (super::shape::sizes(cx, 1, "image shape")?, super::shape::sizes(cx, 2, "block shape")?);
    let axes = image.len();
    let list = |cx: &NodeCx<'_, '_, '_>, name: &str, otherwise: usize, len: usize| -> Lowered<Vec<usize>> {
        let given = cx.sizes(name)?.unwrap_or_else(|| vec![otherwise; len]);
        match given.len() == len {
            true => Ok(given),
            false => Err(malformed!("its {name} are {given:?}")),
        }
    };
    let strides = list(cx, "strides", 1, axes)?;
    let dilations = list(cx, "dilations", 1, axes)?;
    let pads = list(cx, "pads", 0, 2 * axes)?;
    let &[n, rows, columns] = &*cx.dims(x) else { return Err(misfit(cx, x, x)) };
    let wide: Vec<usize> = (0..axes).map(|k| image[k] + pads[k] + pads[axes + k]).collect();
    super::tensor::check_size(DType::F32, &wide)?;
    super::tensor::check_size(DType::F32, &block)?;
    let taps: usize = block.iter().product();
    let blocks = |k: usize| {
        let reach = block.get(k)?.checked_sub(1)?.checked_mul(dilations[k])?;
        Some(wide[k].checked_sub(reach + 1)? / strides[k].max(1) + 1)
    };
    let blocks: Option<Vec<usize>> = (0..axes).map(blocks).collect();
    let blocks = blocks.filter(|list| list.iter().product::<usize>() == columns && block.len() == axes);
    let (Some(blocks), true) = (blocks, taps > 0 && rows % taps.max(1) == 0) else {
        return Err(misfit(cx, x, x));
    };
    cx.importer.budget.charge(8 * taps * columns)?;
    let mut targets = Vec::with_capacity(taps * columns);
    for tap in 0..taps {
        for column in 0..columns {
            let (mut tap, mut column, mut target, mut stride) = (tap, column, 0, 1);
            for k in (0..axes).rev() {
                let at = column % blocks[k] * strides[k] + tap % block[k] * dilations[k];
                target += at * stride;
                (tap, column, stride) = (tap / block[k], column / blocks[k], stride * wide[k]);
            }
            targets.push(target);
        }
    }
    // Channels and images in rows; what lies in the padding is cut off in the end.
    let channels = rows / taps;
    let turned = cx.reshaped(x, &[n * channels, taps * columns])?;
    let turned = cx.transposed(turned, &[1, 0])?;
    let zeros = cx.number(x, 0.0)?;
    let all: usize = wide.iter().product();
    let zeros = cx.repeated(zeros, &[all, n * channels])?;
    let sums = joined(cx, zeros, turned, &targets, n * channels, |cx, x, y| cx.sum(x, y), 0.0)?;
    let sums = cx.reshaped(sums, &[all, n * channels])?;
    let sums = cx.transposed(sums, &[1, 0])?;
    let mut y = cx.reshaped(sums, &[&[n, channels], &wide[..]].concat())?;
    for k in 0..axes {
        y = cx.part(y, k + 2, pads[k], image[k], 1)?;
    }
    Ok(y)
}

/// The constant indices, and their shape.
fn indices(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<(Vec<i64>, Vec<usize>)> {
    let indices = cx.input(1)?;
    let dtype = cx.ty(indices).dtype;
    malformed_if!(!matches!(dtype, DType::I32 | DType::I64), "its indices are {}", cx.shown(indices));
    let Some(data) = cx.data(indices) else {
        let help = "export the model with constant indices, or select elements with a condition (Where)";
        return Err(Refusal::unsupported("its indices (operand 1) are computed at run time", help));
    };
    cx.importer.budget.charge(16 * cx.ty(indices).shape.numel())?;
    Ok((data.to_ints(dtype), cx.dims(indices)))
}

fn place(index: i64, size: usize) -> Lowered<usize> {
    let counted = if index < 0 { index.saturating_add(size as i64) } else { index };
    let found = usize::try_from(counted).ok().filter(|&at| at < size);
    found.ok_or_else(|| malformed!("there is no index {index}: the axis has size {size}"))
}

fn misfit(cx: &NodeCx<'_, '_, '_>, x: ValueId, updates: ValueId) -> Refusal {
    let what = format!("updates {} do not fit {}", cx.shown(updates), cx.shown(x));
    Refusal::malformed(what)
}

/// Runs of `run` elements of the updates, one for each target: the place of a run in `x`.
fn scattered(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    updates: ValueId,
    targets: &[usize],
    run: usize,
) -> Lowered<ValueId> {
    if cx.ty(x).dtype != cx.ty(updates).dtype || targets.is_empty() {
        return Err(misfit(cx, x, updates));
    }
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let (least, most) = match dtype.int_range() {
        Some((least, most)) => (least as f64, most as f64),
        None => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let y = match cx.text("reduction") {
        b"" | b"none" => replaced(cx, x, updates, targets, run)?,
        b"add" => joined(cx, x, updates, targets, run, |cx, x, y| cx.sum(x, y), 0.0)?,
        b"mul" => joined(cx, x, updates, targets, run, |cx, x, y| cx.product(x, y), 1.0)?,
        b"max" => joined(cx, x, updates, targets, run, |cx, x, y| cx.binary(Binary::Max, x, y), least)?,
        b"min" => joined(cx, x, updates, targets, run, |cx, x, y| cx.binary(Binary::Min, x, y), most)?,
        other => {
            return Err(malformed!("its reduction is {:?}", String::from_utf8_lossy(other)));
        }
    };
    cx.reshaped(y, &dims)
}

/// The last run for each target, where there is one.
fn replaced(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    updates: ValueId,
    targets: &[usize],
    run: usize,
) -> Lowered<ValueId> {
    let places = cx.ty(x).shape.numel() / run;
    cx.importer.budget.charge(16 * places)?;
    let mut from: Vec<usize> = (0..places).collect();
    for (k, &target) in targets.iter().enumerate() {
        from[target] = places + k;
    }
    taken(cx, &[x, updates], &from, run)
}

/// Rows of `run` elements of several tensors, one behind the other, in that order.
fn taken(cx: &mut NodeCx<'_, '_, '_>, from: &[ValueId], rows: &[usize], run: usize) -> Lowered<ValueId> {
    let mut parts = Vec::new();
    for &part in from {
        let count = cx.ty(part).shape.numel() / run;
        parts.push(cx.reshaped(part, &[count, run])?);
    }
    let all = cx.joined(&parts, 0)?;
    cx.picked(all, 0, rows)
}

/// Most runs for one place that are joined.
const MOST_ROUNDS: usize = 64;

/// `x` joined with the first run for each target, the result with the second one, and so on; `neutral` where there is none.
fn joined<'m, 'a>(
    cx: &mut NodeCx<'_, 'm, 'a>,
    x: ValueId,
    updates: ValueId,
    targets: &[usize],
    run: usize,
    join: fn(&mut NodeCx<'_, 'm, 'a>, ValueId, ValueId) -> Lowered<ValueId>,
    neutral: f64,
) -> Lowered<ValueId> {
    let places = cx.ty(x).shape.numel() / run;
    cx.importer.budget.charge(8 * places)?;
    let mut count = vec![0; places];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for (k, &target) in targets.iter().enumerate() {
        if count[target] == rounds.len() {
            cx.importer.budget.charge(16 * places)?;
            rounds.push(vec![targets.len(); places]);
        }
        rounds[count[target]][target] = k;
        count[target] += 1;
        if rounds.len() > MOST_ROUNDS {
            let what = format!("more than {MOST_ROUNDS} updates of one element cannot be compiled");
            return Err(Refusal::unsupported(what, "reduce them with a matrix product"));
        }
    }
    let neutral = match cx.ty(x).dtype {
        // Greatest integers are no floats.
        DType::I64 if neutral.abs() > 1e18 => {
            let bound = if neutral < 0.0 { i64::MIN } else { i64::MAX };
            cx.int_constant("neutral", DType::I64, &[], &[bound])?
        }
        _ => cx.number(x, neutral)?,
    };
    let neutral = cx.repeated(neutral, &[1, run])?;
    let mut y = cx.reshaped(x, &[places, run])?;
    for rows in rounds {
        let round = taken(cx, &[updates, neutral], &rows, run)?;
        y = join(cx, y, round)?;
    }
    Ok(y)
}
