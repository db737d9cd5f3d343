//! Reductions over windows: poolings, sums of all elements so far, and others.

use super::cx::Cx;
use super::reduce::{self, Body, Join};
use super::shape;
use super::slot::{Slot, Tensor};
use super::{All, Lowered, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, Op};

pub(super) const OPERATORS: Operators = &[("reduce_window", All(reduce_window))];

/// The windows along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) size: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    pub(super) base_dilation: usize,
    pub(super) pad: (i64, i64),
}

impl Axis {
    fn is_nothing(&self) -> bool {
        self.size == 1 && self.stride == 1 && self.base_dilation == 1 && self.pad == (0, 0)
    }

    /// Windows over so many elements.
    pub(super) fn windows(&self, elements: usize) -> Option<usize> {
        let inner =
            if elements == 0 { 0 } else { (elements - 1).checked_mul(self.base_dilation)?.checked_add(1)? };
        let all = i64::try_from(inner).ok()?.checked_add(self.pad.0)?.checked_add(self.pad.1)?;
        let reach = self.size.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)?;
        let room = usize::try_from(all).ok()?.checked_sub(reach);
        Some(room.map_or(0, |room| room / self.stride + 1))
    }
}

/// Sums over windows that an average may be made of: see [`recognise`](super::recognise).
#[derive(Clone)]
pub(super) struct Pool {
    pub(super) x: Tensor,
    pub(super) axes: Vec<Axis>,
}

/// The windows that the attributes describe.
pub(super) fn axes(cx: &Cx<'_, '_, '_>, rank: usize) -> Lowered<Vec<Axis>> {
    let sizes = cx.sizes_or("window_dimensions", 1, rank)?;
    let strides = cx.sizes_or("window_strides", 1, rank)?;
    let (bases, dilations) =
        (cx.sizes_or("base_dilations", 1, rank)?, cx.sizes_or("window_dilations", 1, rank)?);
    let pads = cx.pairs("padding", rank)?;
    let lists = [&sizes, &strides, &bases, &dilations];
    malformed_if!(
        lists.iter().any(|list| list.contains(&0)),
        "a size, stride or dilation of its window is 0"
    );
    Ok((0..rank)
        .map(|k| Axis {
            size: sizes[k],
            stride: strides[k],
            dilation: dilations[k],
            base_dilation: bases[k],
            pad: pads[k],
        })
        .collect())
}

fn reduce_window(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let tensors = cx.tensors()?;
    malformed_if!(tensors.is_empty() || tensors.len() % 2 != 0, "it has {} operands", tensors.len());
    let (inputs, starts) = tensors.split_at(tensors.len() / 2);
    let dims = inputs[0].dims.clone();
    malformed_if!(inputs.iter().any(|x| x.dims != dims), "its operands have different shapes");
    let axes = axes(cx, dims.len())?;
    let mut out = Vec::new();
    for (axis, &dim) in axes.iter().zip(&dims) {
        out.push(axis.windows(dim).ok_or_else(|| malformed!("its windows do not fit {dims:?}"))?);
    }
    let region = cx.operation.regions.first().ok_or_else(|| malformed!("it has no body"))?;
    let body = reduce::body(region, inputs.len())?;
    if out.contains(&0) {
        let mut results = Vec::new();
        for x in inputs {
            let dtype = cx.ty(x.value).dtype;
            let value = cx.means().empty(dtype, &out);
            results.push(Slot::Tensor(Tensor::of(value, &out, &x.element)));
        }
        return Ok(results);
    }
    if let (Body::Each(joins), [x], [start]) = (&body, inputs, starts) {
        if let Some(y) = special(cx, x, start, joins[0], &axes, &out)? {
            return Ok(vec![Slot::Tensor(y)]);
        }
    }
    let values = general(cx, &body, inputs, starts, &axes)?;
    Ok(values.into_iter().map(Slot::Tensor).collect())
}

/// Poolings and sums so far, by ops of their own.
fn special(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    start: &Tensor,
    join: Join,
    axes: &[Axis],
    out: &[usize],
) -> Lowered<Option<Tensor>> {
    let dtype = cx.ty(x.value).dtype;
    let start = cx.known_number(start.value);
    let active: Vec<usize> = (0..axes.len()).filter(|&k| !axes[k].is_nothing()).collect();
    if active.is_empty() {
        return Ok(None);
    }
    if let (&[axis], Join::Add, Some(0.0)) = (&active[..], join, start) {
        let Axis { size, stride, dilation, base_dilation, pad } = axes[axis];
        let all = x.dims[axis] as i64 - 1;
        let is_plain = size == x.dims[axis] && (stride, dilation, base_dilation) == (1, 1, 1) && size > 1;
        let is_sum = matches!(dtype, DType::F32 | DType::I32 | DType::I64);
        if is_plain && is_sum && (pad == (all, 0) || pad == (0, all)) {
            let value = cx.spread_along(x, &[axis])?;
            let op = Op::CumSum { axis, exclusive: false, reverse: pad.0 == 0 };
            let own = cx.dims(value);
            let value = cx.means().add_like(op, &[value], &own)?;
            return Ok(Some(Tensor::of(value, &x.dims, &x.element)));
        }
    }
    let is_pool = dtype == DType::F32
        && active.len() <= 2
        && !cx.is_constant(x.value)
        && active.iter().all(|&k| {
            let axis = axes[k];
            axis.base_dilation == 1 && axis.dilation == 1 && axis.pad.0 >= 0 && axis.pad.1 >= 0
        });
    if !is_pool {
        return Ok(None);
    }
    match (join, start) {
        (Join::Max, Some(start)) if start == f64::NEG_INFINITY => {
            // Every window has to have an element.
            let fits = active.iter().all(|&k| has_elements(&axes[k], x.dims[k]));
            match fits {
                true => pooled(cx, x, axes, &active, out, "MaxPool", false).map(Some),
                false => Ok(None),
            }
        }
        (Join::Add, Some(0.0)) => {
            let y = pooled(cx, x, axes, &active, out, "AveragePool", true)?;
            let taps: usize = axes.iter().map(|axis| axis.size).product();
            let value = cx.means().times(y.value, taps as f64)?;
            cx.importer.pools.insert(value, Pool { x: x.clone(), axes: axes.to_vec() });
            Ok(Some(Tensor { value, ..y }))
        }
        _ => Ok(None),
    }
}

/// Whether there is an element in each window.
pub(super) fn has_elements(axis: &Axis, dim: usize) -> bool {
    let last = axis.windows(dim).map_or(0, |windows| windows.saturating_sub(1) * axis.stride) as i64;
    axis.pad.0 < axis.size as i64 && last < axis.pad.0 + dim as i64
}

/// A pooling by ONNX's operator of that name.
pub(super) fn pooled(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    axes: &[Axis],
    active: &[usize],
    out: &[usize],
    operator: &str,
    counts_padding: bool,
) -> Lowered<Tensor> {
    let others: Vec<usize> = (0..axes.len()).filter(|k| !active.contains(k)).collect();
    let perm: Vec<usize> = others.iter().chain(active).copied().collect();
    let mut value = cx.spread(x)?;
    // Zeros that count are part of the image.
    let is_padded = active.iter().any(|&k| axes[k].pad != (0, 0));
    let mut pads: Vec<i64> =
        active.iter().map(|&k| axes[k].pad.0).chain(active.iter().map(|&k| axes[k].pad.1)).collect();
    if counts_padding && is_padded {
        let side = |of: fn(&Axis) -> i64| axes.iter().map(|axis| of(axis) as usize).collect::<Vec<_>>();
        value = cx.means().padded(value, &side(|axis| axis.pad.0), &side(|axis| axis.pad.1), 0)?;
        pads.iter_mut().for_each(|pad| *pad = 0);
    }
    let value = cx.means().transposed(value, &perm)?;
    let turned = cx.dims(value);
    let (front, image) = turned.split_at(others.len());
    let channels = match *front {
        [n, c] => [n, c],
        [c] => [1, c],
        _ => [1, front.iter().product()],
    };
    let flat = cx.reshaped(value, &[&channels[..], image].concat())?;
    let list = |of: fn(&Axis) -> usize| active.iter().map(|&k| of(&axes[k]) as i64).collect::<Vec<_>>();
    let (sizes, strides) = (list(|axis| axis.size), list(|axis| axis.stride));
    let attributes =
        [("kernel_shape", Set::Ints(&sizes)), ("strides", Set::Ints(&strides)), ("pads", Set::Ints(&pads))];
    let y = cx.means().call(operator, &[Some(flat)], &attributes)?;
    let ordered: Vec<usize> = perm.iter().map(|&axis| out[axis]).collect();
    let y = cx.reshaped(y, &ordered)?;
    let mut back = vec![0; perm.len()];
    perm.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
    let y = cx.means().transposed(y, &back)?;
    Ok(Tensor::of(y, out, &x.element))
}

/// Windows axis by axis: of two windows side by side comes one of twice the size.
fn general<'p>(
    cx: &mut Cx<'_, '_, 'p>,
    body: &Body<'p>,
    inputs: &[Tensor],
    starts: &[Tensor],
    axes: &[Axis],
) -> Lowered<Vec<Tensor>> {
    let low: Vec<i64> = axes.iter().map(|axis| axis.pad.0).collect();
    let high: Vec<i64> = axes.iter().map(|axis| axis.pad.1).collect();
    let between: Vec<i64> = axes.iter().map(|axis| axis.base_dilation as i64 - 1).collect();
    let mut values = Vec::new();
    for (x, start) in inputs.iter().zip(starts) {
        let filler = fitting(cx, body, x, start)?;
        values.push(shape::padded(cx, x, &filler, &low, &high, &between)?);
    }
    for (k, axis) in axes.iter().enumerate() {
        values = along(cx, body, values, k, axis)?;
    }
    // The start is joined once, as far as it is not neutral.
    let is_done = |cx: &mut Cx<'_, '_, 'p>, join: &Join, start: &Tensor| -> Lowered<bool> {
        let neutral = join.neutral(cx, start)?;
        Ok(cx.known_number(neutral.value) == cx.known_number(start.value))
    };
    if let Body::Each(joins) = body {
        let mut all = true;
        for (join, start) in joins.iter().zip(starts) {
            all &= is_done(cx, join, start)?;
        }
        if all {
            return Ok(values);
        }
    }
    body.apply(cx, starts, &values)
}

/// What is around a tensor: the start where it may be joined several times, else what is neutral.
fn fitting(cx: &mut Cx<'_, '_, '_>, body: &Body<'_>, x: &Tensor, start: &Tensor) -> Lowered<Tensor> {
    match body {
        Body::Each(joins) if joins.len() == 1 => joins[0].neutral(cx, x),
        _ => Ok(start.clone()),
    }
}

fn along<'p>(
    cx: &mut Cx<'_, '_, 'p>,
    body: &Body<'p>,
    mut values: Vec<Tensor>,
    k: usize,
    axis: &Axis,
) -> Lowered<Vec<Tensor>> {
    if axis.size == 1 && axis.stride == 1 {
        return Ok(values);
    }
    for x in &mut values {
        x.value = cx.spread_along(x, &[k])?;
    }
    let dim = values.first().map_or(0, |x| x.dims[k]);
    let reach = (axis.size - 1) * axis.dilation;
    let windows = (dim - reach - 1) / axis.stride + 1;
    let part = |cx: &mut Cx<'_, '_, 'p>,
                list: &[Tensor],
                from: usize,
                to: usize,
                step: usize|
     -> Lowered<Vec<Tensor>> {
        let each = list.iter().map(|x| {
            let (mut begin, mut limit, mut steps) =
                (vec![0; x.dims.len()], x.dims.clone(), vec![1; x.dims.len()]);
            (begin[k], limit[k], steps[k]) = (from, to, step);
            shape::sliced(cx, x, &begin, &limit, &steps)
        });
        each.collect()
    };
    // `power` are windows of a size that is a power of two; `whole` are those so far, of `have` taps.
    let (mut power, mut size) = (values, 1usize);
    let (mut whole, mut have) = (None::<Vec<Tensor>>, 0usize);
    loop {
        if axis.size & size != 0 {
            whole = Some(match whole {
                None => power.clone(),
                Some(first) => {
                    let offset = have * axis.dilation;
                    let len = power[0].dims[k].saturating_sub(offset).min(first[0].dims[k]);
                    let first = part(cx, &first, 0, len, 1)?;
                    let second = part(cx, &power, offset, offset + len, 1)?;
                    body.apply(cx, &first, &second)?
                }
            });
            have += size;
        }
        if 2 * size > axis.size {
            break;
        }
        let offset = size * axis.dilation;
        let len = power[0].dims[k] - offset;
        let (first, second) = (part(cx, &power, 0, len, 1)?, part(cx, &power, offset, offset + len, 1)?);
        power = body.apply(cx, &first, &second)?;
        size *= 2;
    }
    let whole = whole.unwrap_or_default();
    part(cx, &whole, 0, (windows - 1) * axis.stride + 1, axis.stride)
}

/// How many elements of a tensor of these sizes are in each window.
pub(super) fn counts(axes: &[Axis], dims: &[usize], out: &[usize]) -> Vec<f32> {
    let along = |k: usize| -> Vec<f32> {
        let axis = &axes[k];
        let inside = |window: usize| {
            (0..axis.size)
                .filter(|tap| {
                    let at = (window * axis.stride + tap * axis.dilation) as i64 - axis.pad.0;
                    (0..dims[k] as i64).contains(&at)
                })
                .count() as f32
        };
        (0..out[k]).map(inside).collect()
    };
    let mut all = vec![1.0];
    for k in 0..axes.len() {
        let own = along(k);
        all = all.iter().flat_map(|count| own.iter().map(move |own| count * own)).collect();
    }
    all
}
