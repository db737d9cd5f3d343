//! Poolings.

use super::conv::{channels_first, channels_last, is_channel_first, pads, spatial, split};
use super::cx::sizes;
use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::{Axis, Set};
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[
    ("AvgPool", One(|cx| pool(cx, "AveragePool"))),
    ("AvgPool3D", One(|cx| pool(cx, "AveragePool"))),
    ("MaxPool", One(|cx| pool(cx, "MaxPool"))),
    ("MaxPool3D", One(|cx| pool(cx, "MaxPool"))),
    ("MaxPoolV2", One(|cx| pool(cx, "MaxPool"))),
];

fn pool(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let (x, first) = (cx.float_x(0)?, is_channel_first(cx)?);
    let rank = cx.dims(x).len();
    malformed_if!(rank < 4, "{} is no image", cx.shown(x));
    let image = if first { x } else { channels_first(cx, x)? };
    let dims = cx.dims(image);
    let count = rank - 2;
    // Of the newer form, window and strides are operands.
    let (taps, strides) = match cx.count() {
        3 => (
            split(&sizes(&cx.known_list(1, "window")?, "window")?, "window", first, count)?,
            split(&sizes(&cx.known_list(2, "strides")?, "strides")?, "strides", first, count)?,
        ),
        _ => (spatial(cx, "ksize", first, count)?, spatial(cx, "strides", first, count)?),
    };
    let axis =
        |k: usize| Axis { image: dims[k + 2], size: taps[k], stride: strides[k], dilation: 1, pad: (0, 0) };
    let axes: Vec<Axis> = (0..count).map(axis).collect();
    let pads = pads(cx, &axes, first)?;
    let list = |numbers: &[usize]| -> Vec<i64> { numbers.iter().map(|&number| number as i64).collect() };
    let sides: Vec<usize> = pads.iter().map(|pad| pad.0).chain(pads.iter().map(|pad| pad.1)).collect();
    let attributes = [
        ("kernel_shape", Set::Ints(&list(&taps))),
        ("strides", Set::Ints(&list(&strides))),
        ("pads", Set::Ints(&list(&sides))),
    ];
    let y = cx.call(operator, &[Some(image)], &attributes)?;
    if first {
        Ok(y)
    } else {
        channels_last(cx, y)
    }
}
