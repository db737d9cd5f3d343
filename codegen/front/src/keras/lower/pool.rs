//! Poolings: over windows, over all of an image, and to a given size.

use super::conv::{as_given, channel_first, channel_last, image, Moves};
use super::cx::Cx;
use super::resize::by_matrix;
use super::{mask, Layers, Lowered, One};
use crate::onnx::lower::{Axis, Set};
use kiln_ir::{DType, Reduction, ValueId};

pub(super) const LAYERS: Layers = &[
    ("AdaptiveAveragePooling1D", One(|cx| adaptive(cx, 1, false))),
    ("AdaptiveAveragePooling2D", One(|cx| adaptive(cx, 2, false))),
    ("AdaptiveAveragePooling3D", One(|cx| adaptive(cx, 3, false))),
    ("AdaptiveMaxPooling1D", One(|cx| adaptive(cx, 1, true))),
    ("AdaptiveMaxPooling2D", One(|cx| adaptive(cx, 2, true))),
    ("AdaptiveMaxPooling3D", One(|cx| adaptive(cx, 3, true))),
    ("AveragePooling1D", One(|cx| pool(cx, 1, "AveragePool"))),
    ("AveragePooling2D", One(|cx| pool(cx, 2, "AveragePool"))),
    ("AveragePooling3D", One(|cx| pool(cx, 3, "AveragePool"))),
    ("AvgPool1D", One(|cx| pool(cx, 1, "AveragePool"))),
    ("AvgPool2D", One(|cx| pool(cx, 2, "AveragePool"))),
    ("AvgPool3D", One(|cx| pool(cx, 3, "AveragePool"))),
    ("GlobalAveragePooling1D", One(|cx| global(cx, 1, false))),
    ("GlobalAveragePooling2D", One(|cx| global(cx, 2, false))),
    ("GlobalAveragePooling3D", One(|cx| global(cx, 3, false))),
    ("GlobalAvgPool1D", One(|cx| global(cx, 1, false))),
    ("GlobalAvgPool2D", One(|cx| global(cx, 2, false))),
    ("GlobalAvgPool3D", One(|cx| global(cx, 3, false))),
    ("GlobalMaxPool1D", One(|cx| global(cx, 1, true))),
    ("GlobalMaxPool2D", One(|cx| global(cx, 2, true))),
    ("GlobalMaxPool3D", One(|cx| global(cx, 3, true))),
    ("GlobalMaxPooling1D", One(|cx| global(cx, 1, true))),
    ("GlobalMaxPooling2D", One(|cx| global(cx, 2, true))),
    ("GlobalMaxPooling3D", One(|cx| global(cx, 3, true))),
    ("MaxPool1D", One(|cx| pool(cx, 1, "MaxPool"))),
    ("MaxPool2D", One(|cx| pool(cx, 2, "MaxPool"))),
    ("MaxPool3D", One(|cx| pool(cx, 3, "MaxPool"))),
    ("MaxPooling1D", One(|cx| pool(cx, 1, "MaxPool"))),
    ("MaxPooling2D", One(|cx| pool(cx, 2, "MaxPool"))),
    ("MaxPooling3D", One(|cx| pool(cx, 3, "MaxPool"))),
];

fn pool(cx: &mut Cx<'_, '_, '_>, axes: usize, operator: &str) -> Lowered<ValueId> {
    let x = image(cx, axes)?;
    let size = cx.sizes_of("pool_size", axes, 2)?;
    malformed_if!(size.contains(&0), "its window is empty");
    let strides = match cx.config().has("strides") {
        true => cx.sizes_of("strides", axes, 1)?,
        false => size.clone(),
    };
    malformed_if!(strides.contains(&0), "a stride is 0");
    let moves = Moves { strides, dilations: vec![1; axes], padding: cx.word("padding") };
    let dims = cx.dims(x);
    let window = moves.axes(&dims[1..=axes], &size)?;
    let y = pooled(cx, x, &window, operator)?;
    as_given(cx, y)
}

/// The pooling of a channel-last image.
pub(super) fn pooled(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    window: &[Axis],
    operator: &str,
) -> Lowered<ValueId> {
    let list = |of: &dyn Fn(&Axis) -> usize| window.iter().map(|axis| of(axis) as i64).collect::<Vec<i64>>();
    let pads = [list(&|axis| axis.pad.0), list(&|axis| axis.pad.1)].concat();
    let (size, strides) = (list(&|axis| axis.size), list(&|axis| axis.stride));
    let attributes =
        [("kernel_shape", Set::Ints(&size)), ("strides", Set::Ints(&strides)), ("pads", Set::Ints(&pads))];
    let x = channel_first(cx, x)?;
    let y = cx.call(operator, &[Some(x)], &attributes)?;
    channel_last(cx, y)
}

/// All of an image as one pixel.
fn global(cx: &mut Cx<'_, '_, '_>, axes: usize, is_max: bool) -> Lowered<ValueId> {
    let x = cx.x()?;
    let dims = cx.dims(x);
    malformed_if!(dims.len() != axes + 2, "{} does not have {} axes", cx.shown(x), axes + 2);
    let first = if cx.channels_first() { 2 } else { 1 };
    let spatial: Vec<usize> = (first..first + axes).collect();
    let masked = match axes == 1 && !is_max {
        true => mask::of_call(cx, 1, "mask")?,
        false => None,
    };
    let y = match (is_max, masked) {
        (true, _) => cx.reduced(Reduction::Max, x, &spatial)?,
        (false, None) => cx.mean(x, &spatial)?,
        (false, Some(mask)) => {
            let along = if first == 1 { [dims[0], dims[1], 1] } else { [dims[0], 1, dims[2]] };
            let counts = cx.cast(mask, DType::F32)?;
            let counts = cx.reshaped(counts, &along)?;
            let own = cx.product(x, counts)?;
            let (sum, count) =
                (cx.reduced(Reduction::Sum, own, &spatial)?, cx.reduced(Reduction::Sum, counts, &spatial)?);
            cx.quotient(sum, count)?
        }
    };
    if cx.flag("keepdims", false) {
        return Ok(y);
    }
    let channels = if first == 2 { dims[1] } else { dims[axes + 1] };
    cx.reshaped(y, &[dims[0], channels])
}

/// A result of a given size: element i of n is made of those from ⌊i·size/n⌋ up to ⌈(i+1)·size/n⌉.
fn adaptive(cx: &mut Cx<'_, '_, '_>, axes: usize, is_max: bool) -> Lowered<ValueId> {
    let mut x = image(cx, axes)?;
    let dims = cx.dims(x);
    let out = cx.sizes_of("output_size", axes, 1)?;
    malformed_if!(out.contains(&0), "its result is empty");
    if (0..axes).all(|k| dims[k + 1] % out[k] == 0) {
        let axis = |k: usize| {
            let size = dims[k + 1] / out[k];
            Axis { image: dims[k + 1], size, stride: size, dilation: 1, pad: (0, 0) }
        };
        let window: Vec<Axis> = (0..axes).map(axis).collect();
        let y = pooled(cx, x, &window, if is_max { "MaxPool" } else { "AveragePool" })?;
        return as_given(cx, y);
    }
    for (k, &out) in out.iter().enumerate() {
        let (axis, size) = (k + 1, dims[k + 1]);
        crate::onnx::lower::check_size(DType::F32, &[out, size])?;
        let part = |i: usize| (i * size / out, ((i + 1) * size).div_ceil(out));
        if is_max {
            cx.written_out(2 * out)?;
            let mut parts = Vec::new();
            for (first, end) in (0..out).map(part) {
                let own = cx.part(x, axis, first, end - first, 1)?;
                parts.push(cx.reduced(Reduction::Max, own, &[axis])?);
            }
            x = cx.joined(&parts, axis)?;
        } else {
            let row = |i: usize| {
                let (first, end) = part(i);
                let share = 1.0 / (end - first) as f32;
                (0..size).map(move |at| if (first..end).contains(&at) { share } else { 0.0 })
            };
            x = by_matrix(cx, x, axis, out, &|i| row(i).collect())?;
        }
    }
    as_given(cx, x)
}
