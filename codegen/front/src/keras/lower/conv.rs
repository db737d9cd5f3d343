//! Convolutions. Images are channel-last, as in the graph; others are turned before and after.

use super::activation::fused;
use super::cx::{Cx, Weights};
use super::{Layers, Lowered, One, Refusal};
use crate::onnx::lower::{convolution, Axis, Set};
use kiln_ir::ValueId;

pub(super) const LAYERS: Layers = &[
    ("Conv1D", One(|cx| conv(cx, 1))),
    ("Conv1DTranspose", One(|cx| transposed(cx, 1))),
    ("Conv2D", One(|cx| conv(cx, 2))),
    ("Conv2DTranspose", One(|cx| transposed(cx, 2))),
    ("Conv3D", One(|cx| conv(cx, 3))),
    ("Conv3DTranspose", One(|cx| transposed(cx, 3))),
    ("Convolution1D", One(|cx| conv(cx, 1))),
    ("Convolution1DTranspose", One(|cx| transposed(cx, 1))),
    ("Convolution2D", One(|cx| conv(cx, 2))),
    ("Convolution2DTranspose", One(|cx| transposed(cx, 2))),
    ("Convolution3D", One(|cx| conv(cx, 3))),
    ("Convolution3DTranspose", One(|cx| transposed(cx, 3))),
    ("DepthwiseConv1D", One(|cx| depthwise(cx, 1))),
    ("DepthwiseConv2D", One(|cx| depthwise(cx, 2))),
    ("SeparableConv1D", One(|cx| separable(cx, 1))),
    ("SeparableConv2D", One(|cx| separable(cx, 2))),
    ("SeparableConvolution1D", One(|cx| separable(cx, 1))),
    ("SeparableConvolution2D", One(|cx| separable(cx, 2))),
];

/// How a window moves over an image of so many axes.
pub(super) struct Moves<'k> {
    pub(super) strides: Vec<usize>,
    pub(super) dilations: Vec<usize>,
    pub(super) padding: &'k str,
}

impl Moves<'_> {
    /// Those of a layer.
    pub(super) fn of<'k>(cx: &Cx<'k, '_, '_>, axes: usize) -> Lowered<Moves<'k>> {
        let (strides, dilations) = (cx.sizes_of("strides", axes, 1)?, cx.sizes_of("dilation_rate", axes, 1)?);
        malformed_if!(strides.contains(&0) || dilations.contains(&0), "a stride or dilation is 0");
        Ok(Moves { strides, dilations, padding: cx.word("padding") })
    }

    /// The window along each axis of an image.
    pub(super) fn axes(&self, image: &[usize], size: &[usize]) -> Lowered<Vec<Axis>> {
        let axis = |k: usize| {
            let (image, size) = (image[k], size[k]);
            let (stride, dilation) = (self.strides[k], self.dilations[k]);
            malformed_if!(size == 0, "its window has no taps");
            let pad = padding(self.padding, image, size, stride, dilation)?;
            Ok(Axis { image, size, stride, dilation, pad })
        };
        (0..image.len()).map(axis).collect()
    }
}

/// Elements in front of an axis, and behind it.
pub(super) fn padding(
    kind: &str,
    image: usize,
    size: usize,
    stride: usize,
    dilation: usize,
) -> Lowered<(usize, usize)> {
    let too_large = || malformed!("its window is too large");
    let reach = (size.saturating_sub(1)).checked_mul(dilation).ok_or_else(too_large)?;
    match kind {
        "" | "valid" => Ok((0, 0)),
        "causal" => Ok((reach, 0)),
        "same" => {
            let steps =
                (image.div_ceil(stride).saturating_sub(1)).checked_mul(stride).ok_or_else(too_large)?;
            let all = steps.checked_add(reach).and_then(|all| all.checked_add(1)).ok_or_else(too_large)?;
            let all = all.saturating_sub(image);
            Ok((all / 2, all - all / 2))
        }
        other => Err(malformed!("its padding is {:?}", super::short(other))),
    }
}

/// The order that turns channel-first to channel-last, or back.
fn orders(rank: usize) -> [Vec<usize>; 2] {
    let last = [0].into_iter().chain(2..rank).chain([1]);
    let first = [0, rank - 1].into_iter().chain(1..rank - 1);
    [last.collect(), first.collect()]
}

/// The image of a layer with so many axes beside batch and channels, channel-last.
pub(super) fn image(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = cx.x()?;
    let rank = cx.dims(x).len();
    malformed_if!(rank != axes + 2, "{} does not have {} axes", cx.shown(x), axes + 2);
    match cx.channels_first() {
        true => cx.transposed(x, &orders(rank)[0]),
        false => Ok(x),
    }
}

/// A channel-last image as the layer gives it.
pub(super) fn as_given(cx: &mut Cx<'_, '_, '_>, y: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(y).len();
    match cx.channels_first() && rank > 2 {
        true => cx.transposed(y, &orders(rank)[1]),
        false => Ok(y),
    }
}

/// A channel-last image, channel-first.
pub(super) fn channel_first(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    cx.transposed(x, &orders(rank)[1])
}

/// And back.
pub(super) fn channel_last(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    cx.transposed(x, &orders(rank)[0])
}

fn conv(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = image(cx, axes)?;
    let kernel = cx.weights("", 0)?;
    let moves = Moves::of(cx, axes)?;
    let filters = kernel.dims().last().copied().unwrap_or(0);
    let bias = cx.bias("", 1, filters)?;
    let y = convolved(cx, x, &kernel, bias, &moves)?;
    let y = as_given(cx, y)?;
    fused(cx, y)
}

/// The convolution of a channel-last image with a kernel \[…, channels / groups, filters\].
pub(super) fn convolved(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    kernel: &Weights,
    bias: Option<ValueId>,
    moves: &Moves<'_>,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let (&[_, ref spatial @ .., c], &[ref size @ .., depth, o]) = (&*dims, kernel.dims()) else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    let fits = size.len() == spatial.len() && depth > 0 && c % depth == 0 && o % (c / depth) == 0 && o > 0;
    malformed_if!(!fits, "its kernel {:?} does not fit {dims:?}", kernel.dims());
    let (axes, groups, rank) = (moves.axes(spatial, size)?, c / depth, dims.len());
    if spatial.len() > 2 {
        return volume(cx, x, kernel, bias, &axes, groups);
    }
    let perm: Vec<usize> = [rank - 1].into_iter().chain(0..rank - 1).collect();
    let filters = Filters { name: "kernel", kernel, perm, count: o, depth };
    filtered(cx, x, filters, bias, &axes, groups)
}

/// Filters in a kernel, whose axes come in this order then: filters, image, channels of each.
struct Filters<'k> {
    name: &'static str,
    kernel: &'k Weights,
    perm: Vec<usize>,
    count: usize,
    depth: usize,
}

/// The convolution of a channel-last image or sequence; a sequence is an image of one row.
fn filtered(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    filters: Filters<'_>,
    bias: Option<ValueId>,
    axes: &[Axis],
    groups: usize,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let row: &[usize] = if axes.len() == 1 { &[1] } else { &[] };
    let image = cx.reshaped(x, &[&dims[..1], row, &dims[1..]].concat())?;
    let size: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
    let Filters { name, kernel, perm, count, depth } = filters;
    let filters = cx.constant(name, kernel, &perm, &[&[count], row, &size, &[depth]].concat())?;
    let y = convolution(cx, image, filters, bias, Axis::window(axes), groups)?;
    without_row(cx, y, axes.len())
}

/// An image of one row as a sequence, where it is one.
fn without_row(cx: &mut Cx<'_, '_, '_>, y: ValueId, axes: usize) -> Lowered<ValueId> {
    match *cx.dims(y) {
        [n, 1, w, c] if axes == 1 => cx.reshaped(y, &[n, w, c]),
        _ => Ok(y),
    }
}

/// A convolution of a volume, by ONNX's operator.
fn volume(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    kernel: &Weights,
    bias: Option<ValueId>,
    axes: &[Axis],
    groups: usize,
) -> Lowered<ValueId> {
    let shape = kernel.dims().to_vec();
    let rank = shape.len();
    let perm: Vec<usize> = [rank - 1, rank - 2].into_iter().chain(0..rank - 2).collect();
    let turned: Vec<usize> = perm.iter().map(|&axis| shape[axis]).collect();
    let weights = cx.constant("kernel", kernel, &perm, &turned)?;
    let list = |of: &dyn Fn(&Axis) -> usize| axes.iter().map(|axis| of(axis) as i64).collect::<Vec<i64>>();
    let pads = [list(&|axis| axis.pad.0), list(&|axis| axis.pad.1)].concat();
    let (strides, dilations) = (list(&|axis| axis.stride), list(&|axis| axis.dilation));
    let attributes = [
        ("strides", Set::Ints(&strides)),
        ("dilations", Set::Ints(&dilations)),
        ("pads", Set::Ints(&pads)),
        ("group", Set::Int(groups as i64)),
    ];
    let x = channel_first(cx, x)?;
    let y = cx.call("Conv", &[Some(x), Some(weights), bias], &attributes)?;
    channel_last(cx, y)
}

/// A kernel \[…, channels, multiplier\] over each channel by itself.
fn each_channel(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    kernel: &Weights,
    bias: Option<ValueId>,
    moves: &Moves<'_>,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let (&[_, ref spatial @ .., c], &[ref size @ .., channels, multiplier]) = (&*dims, kernel.dims()) else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    let fits = size.len() == spatial.len() && channels == c && multiplier > 0 && spatial.len() <= 2;
    malformed_if!(!fits, "its kernel {:?} does not fit {dims:?}", kernel.dims());
    let (axes, rank) = (moves.axes(spatial, size)?, dims.len());
    let perm: Vec<usize> = [rank - 2, rank - 1].into_iter().chain(0..rank - 2).collect();
    let filters = Filters { name: "depthwise_kernel", kernel, perm, count: c * multiplier, depth: 1 };
    filtered(cx, x, filters, bias, &axes, c)
}

fn depthwise(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = image(cx, axes)?;
    let kernel = cx.weights("", 0)?;
    let moves = Moves::of(cx, axes)?;
    let &[.., c, multiplier] = kernel.dims() else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    let bias = cx.bias("", 1, c.saturating_mul(multiplier))?;
    let y = each_channel(cx, x, &kernel, bias, &moves)?;
    let y = as_given(cx, y)?;
    fused(cx, y)
}

/// A depthwise convolution, and a product of the channels of each pixel.
fn separable(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = image(cx, axes)?;
    let (depthwise, pointwise) = (cx.weights("", 0)?, cx.weights("", 1)?);
    let moves = Moves::of(cx, axes)?;
    let filters = pointwise.dims().last().copied().unwrap_or(0);
    let bias = cx.bias("", 2, filters)?;
    let y = each_channel(cx, x, &depthwise, None, &moves)?;
    let alone = Moves { strides: vec![1; axes], dilations: vec![1; axes], padding: "valid" };
    let y = convolved(cx, y, &pointwise, bias, &alone)?;
    let y = as_given(cx, y)?;
    fused(cx, y)
}

/// The size of a transposed convolution's result along an axis.
fn widened(
    size: usize,
    taps: usize,
    stride: usize,
    dilation: usize,
    padding: &str,
    more: Option<usize>,
) -> Option<usize> {
    let reach = taps.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let between = size.checked_sub(1)?.checked_mul(stride)?;
    match (padding, more) {
        ("same", None) => size.checked_mul(stride),
        ("same", Some(more)) => between.checked_add(reach % 2)?.checked_add(more),
        (_, None) => between.checked_add(reach.max(stride)),
        (_, Some(more)) => between.checked_add(reach)?.checked_add(more),
    }
}

fn transposed(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let x = image(cx, axes)?;
    let kernel = cx.weights("", 0)?;
    let moves = Moves::of(cx, axes)?;
    let dims = cx.dims(x);
    let (&[_, ref spatial @ .., c], &[ref size @ .., o, depth]) = (&*dims, kernel.dims()) else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    malformed_if!(size.len() != axes || depth != c, "its kernel {:?} does not fit {dims:?}", kernel.dims());
    let more = match cx.config().has("output_padding") {
        true => Some(cx.sizes_of("output_padding", axes, 0)?),
        false => None,
    };
    let out = |k: usize| {
        let more = more.as_ref().map(|more| more[k]);
        widened(spatial[k], size[k], moves.strides[k], moves.dilations[k], moves.padding, more)
    };
    let out: Option<Vec<usize>> = (0..axes).map(out).collect();
    let out = out.ok_or_else(|| malformed!("its window does not fit {dims:?}"))?;
    let bias = cx.bias("", 1, o)?;
    let y = if axes == 3 {
        spread(cx, x, &kernel, bias, &moves, &out)?
    } else {
        let rank = kernel.dims().len();
        let perm: Vec<usize> = [rank - 1, rank - 2].into_iter().chain(0..rank - 2).collect();
        let shape = [&[depth, o], size].concat();
        let weights = cx.constant("kernel", &kernel, &perm, &shape)?;
        let list = |sizes: &[usize]| sizes.iter().map(|&size| size as i64).collect::<Vec<i64>>();
        let (strides, dilations, out) = (list(&moves.strides), list(&moves.dilations), list(&out));
        let attributes = [
            ("strides", Set::Ints(&strides)),
            ("dilations", Set::Ints(&dilations)),
            ("output_shape", Set::Ints(&out)),
            ("auto_pad", Set::Text("SAME_UPPER")),
        ];
        let image = channel_first(cx, x)?;
        let y = cx.call("ConvTranspose", &[Some(image), Some(weights), bias], &attributes)?;
        channel_last(cx, y)?
    };
    let y = as_given(cx, y)?;
    fused(cx, y)
}

/// A transposed convolution of a volume: a convolution, with the kernel backwards, of its elements a stride apart.
fn spread(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    kernel: &Weights,
    bias: Option<ValueId>,
    moves: &Moves<'_>,
    out: &[usize],
) -> Lowered<ValueId> {
    let shape = kernel.dims().to_vec();
    let mut x = x;
    let mut axes = Vec::new();
    for (k, &out) in out.iter().enumerate() {
        let (size, stride, dilation, axis) = (shape[k], moves.strides[k], moves.dilations[k], k + 1);
        let own = cx.dims(x)[axis];
        x = apart(cx, x, axis, stride)?;
        let image = (own - 1) * stride + 1;
        let reach = (size - 1) * dilation;
        // Of all sums, some are cut off in front where the result is smaller.
        let lead = (image + reach).saturating_sub(out) / 2;
        let (before, after) = (reach.checked_sub(lead), (out + lead).checked_sub(image));
        let (Some(before), Some(after)) = (before, after) else {
            let what = "its window is smaller than its stride, with padding";
            return Err(Refusal::unsupported(what, "use a larger window"));
        };
        axes.push(Axis { image, size, stride: 1, dilation, pad: (before, after) });
    }
    let turned = reversed(cx, kernel)?;
    volume(cx, x, &turned, bias, &axes, 1)
}

/// Zeros between the elements along an axis.
fn apart(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, stride: usize) -> Lowered<ValueId> {
    if stride == 1 {
        return Ok(x);
    }
    let dims = cx.dims(x);
    let (front, behind) = (&dims[..=axis], &dims[axis + 1..]);
    let split = [front, &[1], behind].concat();
    let y = cx.reshaped(x, &split)?;
    let (before, mut after) = (vec![0; split.len()], vec![0; split.len()]);
    after[axis + 1] = stride - 1;
    let y = cx.padded(y, &before, &after, 0)?;
    let mut joined = dims.clone();
    joined[axis] = dims[axis].saturating_mul(stride);
    let y = cx.reshaped(y, &joined)?;
    cx.part(y, axis, 0, (dims[axis] - 1) * stride + 1, 1)
}

/// A kernel \[d, h, w, o, c\] backwards along its window, with c before o.
fn reversed(cx: &mut Cx<'_, '_, '_>, kernel: &Weights) -> Lowered<Weights> {
    let &[d, h, w, o, c] = kernel.dims() else {
        return Err(malformed!("its kernel is {:?}", kernel.dims()));
    };
    cx.importer.budget.charge(kernel.ty.bytes().saturating_mul(3))?;
    let numbers = kernel.data.to_f32();
    malformed_if!(numbers.len() != d * h * w * o * c, "its kernel is {:?}", kernel.dims());
    let taps = d * h * w;
    let at = |k: usize| {
        let (tap, rest) = (k / (o * c), k % (o * c));
        numbers[(taps - 1 - tap) * o * c + rest % o * c + rest / o]
    };
    let turned: Vec<f32> = (0..numbers.len()).map(at).collect();
    Ok(Weights { ty: kernel.ty.with_shape(&[d, h, w, c, o]), data: kiln_ir::Data::from_f32(&turned) })
}
