//! Poolings.

use super::conv::batched;
use super::cx::Cx;
use super::gather::windows;
use super::{All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{DType, Op, Reduction, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("_adaptive_avg_pool2d", One(|cx| adaptive_average(cx, 2))),
    ("_adaptive_avg_pool3d", One(|cx| adaptive_average(cx, 3))),
    ("adaptive_avg_pool1d", One(|cx| adaptive_average(cx, 1))),
    ("adaptive_avg_pool2d", One(|cx| adaptive_average(cx, 2))),
    ("adaptive_avg_pool3d", One(|cx| adaptive_average(cx, 3))),
    ("adaptive_max_pool1d", All(|cx| adaptive_largest(cx, 1))),
    ("adaptive_max_pool2d", All(|cx| adaptive_largest(cx, 2))),
    ("avg_pool1d", One(|cx| average(cx, 1))),
    ("avg_pool2d", One(|cx| average(cx, 2))),
    ("avg_pool3d", One(|cx| average(cx, 3))),
    ("max_pool1d", One(|cx| largest(cx, 1))),
    ("max_pool2d", One(|cx| largest(cx, 2))),
    ("max_pool2d_with_indices", All(largest_and_where)),
    ("max_pool3d", One(|cx| largest(cx, 3))),
    ("max_pool3d_with_indices", All(|cx| largest(cx, 3).map(|value| vec![value]))),
];

/// A window: its lists as ONNX has them.
struct Window {
    size: Vec<i64>,
    strides: Vec<i64>,
    pads: Vec<i64>,
    ceil: i64,
}

impl Window {
    fn of(cx: &Cx<'_, '_, '_>, axes: usize) -> Lowered<Self> {
        let list = |sizes: &[usize]| sizes.iter().map(|&size| size as i64).collect::<Vec<i64>>();
        let size = cx.sizes("kernel_size", 1, axes)?;
        // An empty list of strides is that of sizes.
        let strides = match cx.integers("stride")?.unwrap_or_default().is_empty() {
            true => size.clone(),
            false => cx.sizes("stride", 1, axes)?,
        };
        let pads = cx.sizes("padding", 0, axes)?;
        let ceil = cx.int("ceil_mode", 0)?;
        Ok(Window {
            size: list(&size),
            strides: list(&strides),
            pads: list(&[&pads[..], &pads].concat()),
            ceil,
        })
    }
}

fn largest(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let window = Window::of(cx, axes)?;
    let dilations: Vec<i64> = cx.sizes("dilation", 1, axes)?.iter().map(|&size| size as i64).collect();
    let attributes = [
        ("kernel_shape", Set::Ints(&window.size)),
        ("strides", Set::Ints(&window.strides)),
        ("pads", Set::Ints(&window.pads)),
        ("dilations", Set::Ints(&dilations)),
        ("ceil_mode", Set::Int(window.ceil)),
    ];
    batched(cx, x, axes, |cx, x| cx.call("MaxPool", &[Some(x)], &attributes))
}

/// The largest elements, and where they are among all of a channel.
fn largest_and_where(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let value = largest(cx, 2)?;
    if !cx.wants_result(1) {
        return Ok(vec![value]);
    }
    if cx.int("ceil_mode", 0)? != 0 {
        return Err(Refusal::unsupported(
            "it has ceil_mode and indices",
            "remove the output with the indices",
        ));
    }
    let x = cx.float_tensor("self")?;
    let size = cx.sizes("kernel_size", 1, 2)?;
    let stride = if cx.integers("stride")?.unwrap_or_default().is_empty() {
        size.clone()
    } else {
        cx.sizes("stride", 1, 2)?
    };
    let (padding, dilation) = (cx.sizes("padding", 0, 2)?, cx.sizes("dilation", 1, 2)?);
    let &[n, c, _, w] = &*cx.dims(x) else {
        return Err(Refusal::unsupported(format!("{} is no image", cx.shown(x)), "use a batch of one"));
    };
    let outside = i64::from(f32::NEG_INFINITY.to_bits());
    let all = windows(cx, x, [&size, &dilation, &padding, &stride], outside)?;
    let &[_, _, _, rows, _, columns] = &*cx.dims(all) else { return Err(malformed!("no windows")) };
    let taps = size[0] * size[1];
    let turned = cx.transposed(all, &[0, 1, 3, 5, 2, 4])?;
    let flat = cx.reshaped(turned, &[n, c, rows, columns, taps])?;
    let op = Op::ArgReduce { axis: 4, largest: true };
    let tap = cx.add(op, &[flat], Type::plain(DType::I64, &[n, c, rows, columns]))?;
    // Where a tap is: so much from the beginning of its window, and that from the beginning of the channel.
    let (w, row, column) = (w as i64, padding[0] as i64, padding[1] as i64);
    let from = |tap: usize| (tap / size[1] * dilation[0]) as i64 * w + (tap % size[1] * dilation[1]) as i64;
    let begin = |at: usize| {
        ((at / columns * stride[0]) as i64 - row) * w + (at % columns * stride[1]) as i64 - column
    };
    let from: Vec<i64> = (0..taps).map(from).collect();
    let begin: Vec<i64> = (0..rows * columns).map(begin).collect();
    let from = cx.int_constant("taps", DType::I64, &[taps], &from)?;
    let begin = cx.int_constant("windows", DType::I64, &[rows, columns], &begin)?;
    let at = cx.call("Gather", &[Some(from), Some(tap)], &[("axis", Set::Int(0))])?;
    Ok(vec![value, cx.sum(at, begin)?])
}

fn average(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let window = Window::of(cx, axes)?;
    let divisor = cx.real("divisor_override")?;
    let counts = cx.flag("count_include_pad", true)?;
    if divisor.is_some() && window.ceil != 0 {
        return Err(Refusal::unsupported(
            "it has ceil_mode and a divisor of its own",
            "use only one of them",
        ));
    }
    let attributes = [
        ("kernel_shape", Set::Ints(&window.size)),
        ("strides", Set::Ints(&window.strides)),
        ("pads", Set::Ints(&window.pads)),
        ("ceil_mode", Set::Int(window.ceil)),
        ("count_include_pad", Set::Int((counts || divisor.is_some()).into())),
    ];
    let y = batched(cx, x, axes, |cx, x| cx.call("AveragePool", &[Some(x)], &attributes))?;
    match divisor {
        Some(divisor) => cx.times(y, window.size.iter().product::<i64>() as f64 / divisor),
        None => Ok(y),
    }
}

/// Sizes of the result, of which those left out are the operand's, and the rank of the operand before the pooled axes.
fn wanted(cx: &Cx<'_, '_, '_>, x: ValueId, axes: usize) -> Lowered<(usize, Vec<usize>)> {
    let dims = cx.dims(x);
    let front = dims.len().checked_sub(axes).ok_or_else(|| malformed!("{} has too few axes", cx.shown(x)))?;
    let given = cx.integers("output_size")?.unwrap_or_default();
    let given = if given.len() == 1 { vec![given[0]; axes] } else { given };
    let sizes: Option<Vec<usize>> = given
        .iter()
        .zip(&dims[front..])
        .map(
            |(&size, &own)| {
                if size < 0 {
                    Some(own)
                } else {
                    usize::try_from(size).ok().filter(|&size| size > 0)
                }
            },
        )
        .collect();
    let sizes = sizes.filter(|sizes| sizes.len() == axes);
    sizes.map(|sizes| (front, sizes)).ok_or_else(|| malformed!("its output_size is {given:?}"))
}

/// The elements of the operand that element `k` of `out` is made of.
fn region(k: usize, size: usize, out: usize) -> std::ops::Range<usize> {
    k * size / out..((k + 1) * size).div_ceil(out)
}

fn adaptive_average(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (front, sizes) = wanted(cx, x, axes)?;
    let dims = cx.dims(x);
    if sizes.iter().all(|&size| size == 1) {
        let all: Vec<usize> = (front..dims.len()).collect();
        return cx.mean(x, &all);
    }
    // Where regions are windows, it is a pooling.
    if sizes.iter().zip(&dims[front..]).all(|(&out, &size)| size % out == 0) {
        let size: Vec<i64> =
            sizes.iter().zip(&dims[front..]).map(|(&out, &size)| (size / out) as i64).collect();
        let attributes = [("kernel_shape", Set::Ints(&size)), ("strides", Set::Ints(&size))];
        return batched(cx, x, axes, |cx, x| cx.call("AveragePool", &[Some(x)], &attributes));
    }
    let mut y = x;
    for (axis, &out) in (front..).zip(&sizes) {
        let size = dims[axis];
        if out == size {
            continue;
        }
        cx.importer.budget.make(4 * out * size);
        cx.importer.budget.charge(4 * out * size)?;
        let weight = |k: usize, at: usize| {
            let region = region(k, size, out);
            if region.contains(&at) {
                1.0 / region.len() as f32
            } else {
                0.0
            }
        };
        let weights: Vec<f32> = (0..out).flat_map(|k| (0..size).map(move |at| weight(k, at))).collect();
        let weights = cx.float_constant("regions", &[out, size], &weights)?;
        let rows = cx.swapped(y, axis)?;
        let means = cx.layer(rows, weights)?;
        y = cx.swapped(means, axis)?;
    }
    Ok(y)
}

fn adaptive_largest(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<Vec<ValueId>> {
    let x = cx.float_tensor("self")?;
    let (front, sizes) = wanted(cx, x, axes)?;
    let dims = cx.dims(x);
    let mut y = x;
    for (axis, &out) in (front..).zip(&sizes) {
        let parts = (0..out).map(|k| {
            let region = region(k, dims[axis], out);
            let part = cx.part(y, axis, region.start, region.len(), 1)?;
            cx.reduced(Reduction::Max, part, &[axis])
        });
        let parts = parts.collect::<Lowered<Vec<ValueId>>>()?;
        y = cx.joined(&parts, axis)?;
    }
    Ok(vec![y])
}
