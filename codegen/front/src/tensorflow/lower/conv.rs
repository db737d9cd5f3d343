//! Convolutions, channel-last or channel-first, and their transposes.

use super::{Cx, Lowered, One, Operators, Refusal};
use crate::onnx::lower::{computed_convolution, convolution, Axis, Set};
use kiln_ir::{Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Conv2D", One(|cx| conv_2d(cx, false))),
    ("Conv2DBackpropInput", One(|cx| transposed(cx, 2))),
    ("Conv3D", One(conv_3d)),
    ("Conv3DBackpropInputV2", One(|cx| transposed(cx, 3))),
    ("DepthwiseConv2dNative", One(|cx| conv_2d(cx, true))),
    ("DepthwiseConv2dNativeBackpropInput", One(depthwise_transposed)),
];

/// Whether channels come before the other axes.
pub(super) fn is_channel_first(cx: &Cx<'_, '_, '_>) -> Lowered<bool> {
    match cx.word("data_format")? {
        "" | "NHWC" | "NDHWC" | "NWC" => Ok(false),
        "NCHW" | "NCDHW" | "NCW" => Ok(true),
        other => {
            let what = format!("data in the order {other} cannot be compiled");
            Err(Refusal::unsupported(what, "export the model with the data format NHWC or NCHW"))
        }
    }
}

/// Numbers for the axes of an image of a list for all axes, of which those for batch and channels have to be 1.
pub(super) fn spatial(cx: &Cx<'_, '_, '_>, name: &str, first: bool, axes: usize) -> Lowered<Vec<usize>> {
    let list = cx.sizes_of(name)?;
    if list.is_empty() {
        return Ok(vec![1; axes]);
    }
    split(&list, name, first, axes)
}

pub(super) fn split(list: &[usize], name: &str, first: bool, axes: usize) -> Lowered<Vec<usize>> {
    malformed_if!(list.len() != axes + 2 || list.contains(&0), "its {name} are {list:?}");
    let begin = if first { 2 } else { 1 };
    let channel = if first { 1 } else { axes + 1 };
    if list[0] != 1 || list[channel] != 1 {
        let what = format!("its {name} {list:?} reach over images or channels");
        return Err(Refusal::unsupported(what, "use windows over height and width only"));
    }
    Ok(list[begin..begin + axes].to_vec())
}

/// The padding along each axis.
pub(super) fn pads(cx: &Cx<'_, '_, '_>, axes: &[Axis], first: bool) -> Lowered<Vec<(usize, usize)>> {
    match cx.word("padding")? {
        "VALID" => Ok(vec![(0, 0); axes.len()]),
        "SAME" => axes.iter().map(same).collect(),
        "EXPLICIT" => {
            let list = cx.sizes_of("explicit_paddings")?;
            malformed_if!(list.len() != 2 * axes.len() + 4, "its explicit_paddings are {list:?}");
            let begin = if first { 4 } else { 2 };
            Ok((0..axes.len()).map(|k| (list[begin + 2 * k], list[begin + 2 * k + 1])).collect())
        }
        other => Err(malformed!("its padding is {other:?}")),
    }
}

/// Padding for as many windows as there are steps into the image, the smaller half in front.
fn same(axis: &Axis) -> Lowered<(usize, usize)> {
    let reach = axis.size.checked_sub(1).and_then(|taps| taps.checked_mul(axis.dilation)?.checked_add(1));
    let windows = axis.image.div_ceil(axis.stride);
    let all = windows.checked_sub(1).and_then(|last| last.checked_mul(axis.stride)?.checked_add(reach?));
    let all = all.ok_or_else(|| malformed!("its window is too large"))?;
    let pad = all.saturating_sub(axis.image);
    Ok((pad / 2, pad - pad / 2))
}

/// Windows of these taps over an image.
fn windows(cx: &Cx<'_, '_, '_>, image: &[usize], taps: &[usize], first: bool) -> Lowered<Vec<Axis>> {
    let count = taps.len();
    let (strides, dilations) =
        (spatial(cx, "strides", first, count)?, spatial(cx, "dilations", first, count)?);
    let axis = |k: usize| Axis {
        image: image[k],
        size: taps[k],
        stride: strides[k],
        dilation: dilations[k],
        pad: (0, 0),
    };
    let mut axes: Vec<Axis> = (0..count).map(axis).collect();
    let pads = pads(cx, &axes, first)?;
    axes.iter_mut().zip(pads).for_each(|(axis, pad)| axis.pad = pad);
    Ok(axes)
}

/// Windows over a channel-last image, with steps between their taps under another name.
pub(super) fn windows_of(
    cx: &Cx<'_, '_, '_>,
    image: [usize; 2],
    taps: &[usize],
    steps: &str,
) -> Lowered<Vec<Axis>> {
    let (strides, dilations) = (spatial(cx, "strides", false, 2)?, spatial(cx, steps, false, 2)?);
    let axis = |k: usize| Axis {
        image: image[k],
        size: taps[k],
        stride: strides[k],
        dilation: dilations[k],
        pad: (0, 0),
    };
    let mut axes: Vec<Axis> = (0..2).map(axis).collect();
    let pads = pads(cx, &axes, false)?;
    axes.iter_mut().zip(pads).for_each(|(axis, pad)| axis.pad = pad);
    Ok(axes)
}

/// A tensor with its channels last.
pub(super) fn channels_last(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let perm: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
    cx.transposed(x, &perm)
}

/// A tensor with its channels in front of the other axes.
pub(super) fn channels_first(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let perm: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    cx.transposed(x, &perm)
}

/// Weights in another order: a constant if they follow from constants.
fn ordered(cx: &mut Cx<'_, '_, '_>, w: ValueId, perm: &[usize], dims: &[usize]) -> Lowered<ValueId> {
    let moved = cx.transposed(w, perm)?;
    let moved = cx.reshaped(moved, dims)?;
    if cx.importer.graph.const_data(moved).is_some() {
        return Ok(moved);
    }
    let Some(data) = cx.data(moved) else { return Ok(moved) };
    let ty = Type::plain(cx.ty(w).dtype, dims);
    cx.importer.budget.charge(ty.bytes())?;
    let name = cx.importer.graph.value(w).name.clone();
    Ok(cx.importer.graph.add_const(name, ty, data))
}

fn conv_2d(cx: &mut Cx<'_, '_, '_>, is_depthwise: bool) -> Lowered<ValueId> {
    let (x, w) = (cx.float_x(0)?, cx.float_x(1)?);
    let first = is_channel_first(cx)?;
    malformed_if!(cx.dims(x).len() != 4, "{} is no image", cx.shown(x));
    let image = if first { channels_last(cx, x)? } else { x };
    let (&[_, h, width, c], &[kh, kw, depth, o]) = (&*cx.dims(image), &*cx.dims(w)) else {
        return Err(malformed!("weights {} do not fit {}", cx.shown(w), cx.shown(x)));
    };
    let axes = windows(cx, &[h, width], &[kh, kw], first)?;
    let (filters, groups) = match is_depthwise {
        true => {
            malformed_if!(depth != c, "weights {} do not fit {}", cx.shown(w), cx.shown(x));
            (ordered(cx, w, &[2, 3, 0, 1], &[c * o, kh, kw, 1])?, c)
        }
        false => {
            let groups = c.checked_div(depth).unwrap_or(0);
            let fits = groups > 0 && groups * depth == c && o % groups == 0;
            malformed_if!(!fits, "weights {} do not fit {}", cx.shown(w), cx.shown(x));
            (ordered(cx, w, &[3, 0, 1, 2], &[o, kh, kw, depth])?, groups)
        }
    };
    let window = Axis::window(&axes);
    let y = match cx.importer.graph.const_data(filters).is_some() {
        true => convolution(cx, image, filters, None, window, groups)?,
        false => computed_convolution(cx, image, filters, None, window, groups)?,
    };
    if first {
        channels_first(cx, y)
    } else {
        Ok(y)
    }
}

fn list(numbers: impl IntoIterator<Item = usize>) -> Vec<i64> {
    numbers.into_iter().map(|number| number as i64).collect()
}

fn conv_3d(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, w) = (cx.float_x(0)?, cx.float_x(1)?);
    let first = is_channel_first(cx)?;
    let (dims, shape) = (cx.dims(x), cx.dims(w));
    malformed_if!(dims.len() != 5 || shape.len() != 5, "weights {} do not fit {}", cx.shown(w), cx.shown(x));
    let volume = if first { x } else { channels_first(cx, x)? };
    let dims = cx.dims(volume);
    let groups = dims[1].checked_div(shape[3]).unwrap_or(0);
    malformed_if!(groups == 0 || groups * shape[3] != dims[1], "weights {shape:?} do not fit {dims:?}");
    let axes = windows(cx, &dims[2..], &shape[..3], first)?;
    let filters = cx.transposed(w, &[4, 3, 0, 1, 2])?;
    let attributes = [
        ("strides", Set::Ints(&list(axes.iter().map(|axis| axis.stride)))),
        ("dilations", Set::Ints(&list(axes.iter().map(|axis| axis.dilation)))),
        (
            "pads",
            Set::Ints(&list(axes.iter().map(|axis| axis.pad.0).chain(axes.iter().map(|axis| axis.pad.1)))),
        ),
        ("group", Set::Int(groups as i64)),
    ];
    let y = cx.call("Conv", &[Some(volume), Some(filters)], &attributes)?;
    if first {
        Ok(y)
    } else {
        channels_last(cx, y)
    }
}

/// Conv2DBackpropInput: the convolution whose result the operand would be, turned around. The size of its image stands in operand 0.
fn transposed(cx: &mut Cx<'_, '_, '_>, count: usize) -> Lowered<ValueId> {
    let (w, x) = (cx.float_x(1)?, cx.float_x(2)?);
    let rank = count + 2;
    malformed_if!(
        cx.dims(w).len() != rank || cx.dims(x).len() != rank,
        "weights {} do not fit {}",
        cx.shown(w),
        cx.shown(x)
    );
    // Axes of the weights: those of the window, outputs, inputs.
    let perm: Vec<usize> = [count + 1, count].into_iter().chain(0..count).collect();
    let taps = cx.dims(w)[..count].to_vec();
    let filters = cx.transposed(w, &perm)?;
    turned(cx, x, filters, &taps, 1)
}

/// The same of a depthwise convolution, with weights \[kh, kw, c, m\].
fn depthwise_transposed(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (w, x) = (cx.float_x(1)?, cx.float_x(2)?);
    let &[kh, kw, c, m] = &*cx.dims(w) else { return Err(malformed!("its weights are {}", cx.shown(w))) };
    malformed_if!(cx.dims(x).len() != 4, "{} is no image", cx.shown(x));
    let filters = cx.transposed(w, &[2, 3, 0, 1])?;
    let filters = cx.reshaped(filters, &[c * m, 1, kh, kw])?;
    turned(cx, x, filters, &[kh, kw], c)
}

/// A transposed convolution with filters \[inputs, outputs / groups, …\].
fn turned(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    filters: ValueId,
    taps: &[usize],
    groups: usize,
) -> Lowered<ValueId> {
    let (first, count) = (is_channel_first(cx)?, taps.len());
    let image = if first { x } else { channels_first(cx, x)? };
    let dims = cx.dims(image);
    let wanted = cx.known_sizes(0, "size")?;
    let size = match wanted.len() {
        len if len == count => wanted,
        len if len == count + 2 && first => wanted[2..].to_vec(),
        len if len == count + 2 => wanted[1..=count].to_vec(),
        _ => return Err(malformed!("its size is {wanted:?}")),
    };
    let axes = windows(cx, &size, taps, first)?;
    let mut more = Vec::new();
    for (axis, &own) in axes.iter().zip(&dims[2..]) {
        malformed_if!(axis.windows() != Some(own), "a result of {size:?} does not fit {}", cx.shown(x));
        let reach = (axis.size - 1) * axis.dilation + 1;
        let least = (own.saturating_sub(1) * axis.stride + reach).saturating_sub(axis.pad.0 + axis.pad.1);
        more.push(axis.image.saturating_sub(least));
    }
    let attributes = [
        ("strides", Set::Ints(&list(axes.iter().map(|axis| axis.stride)))),
        ("dilations", Set::Ints(&list(axes.iter().map(|axis| axis.dilation)))),
        (
            "pads",
            Set::Ints(&list(axes.iter().map(|axis| axis.pad.0).chain(axes.iter().map(|axis| axis.pad.1)))),
        ),
        ("output_padding", Set::Ints(&list(more))),
        ("group", Set::Int(groups as i64)),
    ];
    let y = cx.call("ConvTranspose", &[Some(image), Some(filters), None], &attributes)?;
    if first {
        Ok(y)
    } else {
        channels_last(cx, y)
    }
}
