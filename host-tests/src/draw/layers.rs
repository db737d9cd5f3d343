//! Layers with weights, and windows over images.

use super::{attributes, layer, row, Draw, Format, Kind, Row};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes, Table, Tensor};

pub(super) const ROWS: &[Row] = &[
    layer(3, conv_2d),
    layer(4, depthwise_conv_2d),
    layer(9, fully_connected),
    layer(67, transpose_conv),
    layer(27, svdf),
    layer(44, lstm),
    row(126, batch_matmul),
    row(1, |d, f| pool(d, f, 1)),
    row(17, |d, f| pool(d, f, 17)),
    row(12, |d, f| pool(d, f, 12)),
    row(13, local_response_normalization),
    row(23, |d, f| resize(d, f, 23)),
    row(97, |d, f| resize(d, f, 97)),
];

/// Weights of `dims` that may be computed at run time, and those of [`weights`].
fn filters(d: &mut Draw, format: Format, dims: &[i32], axis: usize, per_channel: bool) -> (i32, Vec<f32>) {
    let own = matches!(format, Format::Float32 | Format::Int8 | Format::Int16 | Format::Uint8);
    if !own || !d.one_in(5) {
        return weights(d, format, dims, axis, per_channel);
    }
    let kind = match format {
        Format::Float32 => Kind::plain(Element::Float32),
        Format::Uint8 => Kind::quantized(Element::Uint8, d.scale() / 4.0, d.between(0, 255).into()),
        _ => {
            let zero = if d.one_in(3) && format == Format::Int8 { d.between(-9, 9) } else { 0 };
            Kind::quantized(Element::Int8, d.scale() / 4.0, zero.into())
        }
    };
    let value = d.other(kind, dims);
    (value.tensor, vec![kind.quant.map_or(1.0, |(scale, _)| scale)])
}

/// Weights of `dims`, with filters along `axis`; their scales.
fn weights(d: &mut Draw, format: Format, dims: &[i32], axis: usize, per_channel: bool) -> (i32, Vec<f32>) {
    if format == Format::Float32 && d.one_in(8) {
        return stored(d, dims, axis, per_channel);
    }
    let count = dims.iter().product::<i32>() as usize;
    let element = match format {
        Format::Float32 => Element::Float32,
        Format::Float16 => Element::Float16,
        Format::Uint8 => Element::Uint8,
        Format::Int4 => Element::Int4,
        Format::Int8 | Format::Int16 | Format::Hybrid => Element::Int8,
        other => other.element(),
    };
    let mut data = d.data(element, count);
    let name = d.name();
    let mut tensor = Tensor::new(element, dims);
    let mut scales = vec![1.0];
    match element {
        Element::Int8 | Element::Int4 => {
            if element == Element::Int8 {
                // Symmetric: −128 does not occur.
                data.iter_mut().for_each(|byte| *byte = (*byte as i8).max(-127) as u8);
            }
            let channels = if per_channel { dims[axis] as usize } else { 1 };
            scales = (0..channels).map(|_| d.scale() / 4.0).collect();
            tensor = tensor.per_channel(&scales, &vec![0; channels], axis as i32);
        }
        Element::Uint8 => {
            scales = vec![d.scale() / 4.0];
            tensor = tensor.quantized(scales[0], d.between(0, 255).into());
        }
        _ => {}
    }
    let float16 = element == Element::Float16;
    let weights = d.model.constant(&name, tensor, &data);
    if !float16 {
        return (weights, scales);
    }
    let name = d.name();
    let wide = d.model.value(&name, Tensor::new(Element::Float32, dims));
    d.model.operator(6, Attributes::none(), &[weights], &[wide]);
    (wide, scales)
}

/// Floats that are stored as integers.
fn stored(d: &mut Draw, dims: &[i32], axis: usize, per_channel: bool) -> (i32, Vec<f32>) {
    let format = d.pick(&[Format::Int8, Format::Int4]);
    let (stored, _) = weights(d, format, dims, axis, per_channel);
    let name = d.name();
    let floats = d.model.value(&name, Tensor::new(Element::Float32, dims));
    d.model.operator(6, Attributes::none(), &[stored], &[floats]);
    (floats, vec![1.0])
}

/// A bias for so many channels, or none (−1).
fn bias(d: &mut Draw, format: Format, x: Kind, weights: &[f32], channels: i32) -> i32 {
    if d.one_in(4) {
        return -1;
    }
    if d.one_in(8) {
        let real = format.element() == Element::Float32;
        let kind = match x.quant {
            Some((x, _)) if weights.len() == 1 && format != Format::Int16 => {
                Some(Kind::quantized(Element::Int32, x * weights[0], 0))
            }
            _ => real.then_some(Kind::plain(Element::Float32)),
        };
        if let Some(kind) = kind {
            return d.other(kind, &[channels]).tensor;
        }
    }
    let name = d.name();
    let n = channels as usize;
    if format.element() == Element::Float32 {
        let data = d.data(Element::Float32, n);
        return d.model.constant(&name, Tensor::new(Element::Float32, &[channels]), &data);
    }
    let Some((x, _)) = x.quant else { return -1 };
    let scales: Vec<f32> = weights.iter().map(|scale| x * scale).collect();
    let zeros = vec![0; scales.len()];
    let wide = format == Format::Int16 && !d.one_in(3);
    let element = if wide { Element::Int64 } else { Element::Int32 };
    let tensor = Tensor::new(element, &[channels]).per_channel(&scales, &zeros, 0);
    let values: Vec<i32> = (0..n).map(|_| d.between(-2000, 2000)).collect();
    let data: Vec<u8> = match wide {
        true => values.iter().flat_map(|&v| i64::from(v).to_le_bytes()).collect(),
        false => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    };
    d.model.constant(&name, tensor, &data)
}

/// What a layer computes from so many products: the sums of which spread over the result's range.
fn result(d: &mut Draw, format: Format, x: Kind, weights: &[f32], taps: i32) -> Kind {
    let kind = d.kind(format);
    let (Some((x, _)), Some((_, zero_point))) = (x.quant, kind.quant) else { return kind };
    let spread = if kind.element == Element::Int16 { 50.0 } else { 80.0 };
    let scale = x * weights[0] * spread * (taps as f32).sqrt() * (0.5 + d.below(100) as f32 / 50.0);
    Kind::quantized(kind.element, scale, zero_point)
}

/// A window that fits an axis, sometimes as large as it.
fn size(d: &mut Draw, axis: i32) -> i32 {
    if d.one_in(5) {
        axis
    } else {
        d.between(1, axis.min(4))
    }
}

/// Padding, strides and dilations of a window.
struct Window {
    same: bool,
    stride: [i32; 2],
    dilation: [i32; 2],
}

fn window(d: &mut Draw) -> Window {
    let mut pair = |odds| if d.one_in(odds) { [d.between(1, 3), d.between(1, 2)] } else { [1, 1] };
    let (stride, dilation) = (pair(2), pair(5));
    Window { same: d.one_in(2), stride, dilation }
}

impl Window {
    fn table(&self) -> Table {
        Table::new().with(0, i8::from(!self.same)).with(1, self.stride[1]).with(2, self.stride[0])
    }
}

fn fused(d: &mut Draw) -> i8 {
    d.pick(&[0, 0, 1, 3])
}

fn conv_2d(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.image(format);
    let (h, w, c) = (x.dims[1], x.dims[2], x.dims[3]);
    let groups = if d.one_in(6) && c % 2 == 0 { 2 } else { 1 };
    let o = d.between(1, 9) * groups;
    let point = d.one_in(3);
    let size = if point { [1, 1] } else { [size(d, h), size(d, w)] };
    let dims = [o, size[0], size[1], c / groups];
    let per_channel = !d.one_in(4);
    let (weights, scales) = filters(d, format, &dims, 0, per_channel);
    let bias = bias(d, format, x.kind, &scales, o);
    let window = window(d);
    let table = window.table().with(3, fused(d)).with(4, window.dilation[1]).with(5, window.dilation[0]);
    let kind = result(d, format, x.kind, &scales, dims[1..].iter().product());
    d.emit(3, attributes(1, table), &[x.tensor, weights, bias], kind)
}

fn depthwise_conv_2d(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.image(format);
    let (h, w, c) = (x.dims[1], x.dims[2], x.dims[3]);
    let multiplier = if d.one_in(3) { d.between(2, 3) } else { 1 };
    let o = c * multiplier;
    let dims = [1, size(d, h), size(d, w), o];
    let per_channel = !d.one_in(4);
    let (weights, scales) = filters(d, format, &dims, 3, per_channel);
    let bias = bias(d, format, x.kind, &scales, o);
    let window = window(d);
    let table = window.table().with(3, multiplier).with(4, fused(d));
    let table = table.with(5, window.dilation[1]).with(6, window.dilation[0]);
    let kind = result(d, format, x.kind, &scales, dims[1] * dims[2]);
    d.emit(4, attributes(2, table), &[x.tensor, weights, bias], kind)
}

fn fully_connected(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let keep = d.one_in(2);
    let k = match keep {
        true => *x.dims.last()?,
        false if d.one_in(4) => *x.dims.last()?,
        false => x.numel() / if d.one_in(2) { 1 } else { x.dims[0] },
    };
    let o = d.between(1, 12);
    let per_channel = d.one_in(3);
    let (weights, scales) = filters(d, format, &[o, k], 0, per_channel);
    let bias = bias(d, format, x.kind, &scales, o);
    let table = Table::new().with(0, fused(d)).with(2, keep).with(3, d.one_in(2));
    let kind = result(d, format, x.kind, &scales, k);
    d.emit(9, attributes(8, table), &[x.tensor, weights, bias], kind)
}

fn transpose_conv(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.image(format);
    let (h, w, c) = (x.dims[1], x.dims[2], x.dims[3]);
    let (o, kh, kw) = (d.between(1, 5), d.between(1, 4), d.between(1, 4));
    let window = window(d);
    let per_channel = !d.one_in(4);
    let (weights, scales) = filters(d, format, &[o, kh, kw, c], 0, per_channel);
    let bias = bias(d, format, x.kind, &scales, o);
    let to = |from: i32, size: i32, stride: i32| match window.same {
        true => from * stride,
        false => (from - 1) * stride + size.max(stride),
    };
    let shape = [x.dims[0], to(h, kh, window.stride[0]), to(w, kw, window.stride[1]), o];
    let shape = d.ints(&shape);
    let kind = result(d, format, x.kind, &scales, kh * kw * c);
    let mut operands = vec![shape, weights, x.tensor];
    if bias != -1 {
        operands.push(bias);
    }
    let table = window.table().with(3, fused(d));
    d.emit(67, attributes(49, table), &operands, kind)
}

fn batch_matmul(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 2..=4);
    let rank = x.dims.len();
    let (adjoint_x, adjoint_y) = (d.one_in(3), d.one_in(2));
    let k = x.dims[rank - if adjoint_x { 2 } else { 1 }];
    let n = d.between(1, 6);
    let mut dims: Vec<i32> =
        x.dims[..rank - 2].iter().map(|&dim| if d.one_in(3) { 1 } else { dim }).collect();
    dims.extend(if adjoint_y { [n, k] } else { [k, n] });
    let kind = d.kind(format);
    let y = d.other(kind, &dims);
    let scales = [y.kind.quant.map_or(1.0, |(scale, _)| scale)];
    let kind = result(d, format, x.kind, &scales, k);
    let table = Table::new().with(0, adjoint_x).with(1, adjoint_y);
    d.emit(126, attributes(101, table), &[x.tensor, y.tensor], kind)
}

fn pool(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.image(format);
    let window = window(d);
    let (h, w) = (size(d, x.dims[1]), size(d, x.dims[2]));
    let table = window.table().with(3, w).with(4, h).with(5, fused(d));
    d.emit(code, attributes(5, table), &[x.tensor], x.kind)?;
    if code == 17 {
        d.keep_exact(&[&x]);
    }
    Some(())
}

fn local_response_normalization(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.image(format);
    let kind = d.kind(format);
    let (alpha, beta) = (d.random.unit().abs(), d.pick(&[0.5f32, 0.75, 1.0]));
    let table = Table::new().with(0, d.between(0, 3)).with(1, 1.0f32).with(2, alpha).with(3, beta);
    d.emit(13, attributes(13, table), &[x.tensor], kind)
}

fn resize(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.image(format);
    let (h, w) = (d.between(1, 8), d.between(1, 8));
    let size = d.ints(&[h, w]);
    let (corners, centres) = d.pick(&[(false, false), (true, false), (false, true)]);
    match code {
        23 => {
            let table = Table::new().with(2, corners).with(3, centres);
            d.emit(code, attributes(15, table), &[x.tensor, size], x.kind)
        }
        _ => {
            let table = Table::new().with(0, corners).with(1, centres);
            d.emit_moved(code, attributes(74, table), &[&x], &[size], x.kind)
        }
    }
}

fn svdf(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 2..=2);
    let (batch, features) = (x.dims[0], x.dims[1]);
    let (rank, units, memory) = (d.between(1, 2), d.between(1, 4), d.between(1, 5));
    let filters = rank * units;
    let (first, first_scales) = weights(d, format, &[filters, features], 0, false);
    let name = d.name();
    let (time, state) = match format.element() {
        Element::Float32 => {
            let time = Kind::plain(Element::Float32);
            (
                d.constant(time, &[filters, memory]).tensor,
                Tensor::new(Element::Float32, &[batch, memory * filters]),
            )
        }
        _ => {
            let wide = d.one_in(2);
            let element = if wide { Element::Int16 } else { Element::Int8 };
            let (time_scale, scale) = (d.scale() / 64.0, d.scale());
            let state = Tensor::new(element, &[batch, memory * filters]).quantized(scale, 0);
            (d.constant(Kind::quantized(element, time_scale, 0), &[filters, memory]).tensor, state)
        }
    };
    let state = d.model.value(&name, state.variable());
    let bias = match format.element() {
        Element::Float32 => bias(d, format, x.kind, &first_scales, units),
        _ => d.constant(Kind::quantized(Element::Int32, 1e-4, 0), &[units]).tensor,
    };
    let kind = d.kind(format);
    let table =
        Table::new().with(0, rank).with(1, if format.element() == Element::Float32 { fused(d) } else { 0 });
    d.emit(27, attributes(6, table), &[x.tensor, first, time, bias, state], kind)
}

fn lstm(d: &mut Draw, format: Format) -> Option<()> {
    let float = format.element() == Element::Float32;
    let x = d.x(format, 3..=3);
    let steps_first = x.dims[1] == 1 && d.one_in(2);
    let (batch, k, n) = (x.dims[usize::from(steps_first)], x.dims[2], d.between(1, 5));
    let outer =
        if float { Kind::plain(Element::Float32) } else { Kind::quantized(Element::Int8, 1.0 / 128.0, 0) };
    let mut operands = vec![x.tensor];
    for columns in [k, n] {
        for _ in 0..4 {
            operands.push(weights(d, format, &[n, columns], 0, false).0);
        }
    }
    operands.extend([-1; 3]);
    for _ in 0..4 {
        let kind = if float { outer } else { Kind::quantized(Element::Int32, 1e-3, 0) };
        operands.push(d.constant(kind, &[n]).tensor);
    }
    operands.extend([-1; 2]);
    let cell = if float { outer } else { Kind::quantized(Element::Int16, 1.0 / 2048.0, 0) };
    for kind in [outer, cell] {
        let name = d.name();
        operands.push(d.model.value(&name, kind.tensor(&[batch, n]).variable()));
    }
    operands.extend([-1; 4]);
    let clip = d.pick(&[0.0f32, 10.0]);
    let table = Table::new().with(0, 4i8).with(1, clip).with(3, steps_first);
    d.emit(44, attributes(71, table), &operands, outer)
}
