//! Resize, and Upsample: each axis by itself. Whatever is known of the coordinates is a matrix of weights, of the result's elements by the operand's.

use super::cx::NodeCx;
use super::image::{channel_first, channel_last};
use super::{Lowered, One, Operators};
use kiln_ir::{DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[("Resize", One(resize)), ("Upsample", One(upsample))];

/// How coordinates and weights are found.
struct How<'a> {
    mode: Mode,
    /// `coordinate_transformation_mode`.
    coordinates: &'a [u8],
    /// `nearest_mode`.
    nearest: &'a [u8],
    antialias: bool,
    exclude_outside: bool,
    cubic: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

/// One axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    out: usize,
    scale: f64,
    /// The part of the axis that is wanted, of 1.
    region: (f64, f64),
}

/// `nearest_mode` of Resize before it had one: `ceil` where an axis becomes shorter, otherwise `floor`.
const DOWN_IS_CEIL: &[u8] = b"";

/// Upsample.
fn upsample(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    by_scales(cx, b"floor")
}

/// Upsample and the first Resize, of which coordinates count from corners.
fn by_scales(cx: &mut NodeCx<'_, '_, '_>, nearest: &'static [u8]) -> Lowered<ValueId> {
    let scales = match cx.opset() >= 9 {
        true => cx.floats(1, "scales")?,
        false => cx.attribute("scales").map(|list| list.floats.clone()).unwrap_or_default(),
    };
    let axes = (0..scales.len()).collect();
    let axes = scaled(cx, axes, &scales, &[])?;
    let how = How { coordinates: b"asymmetric", nearest, ..how(cx)? };
    resized(cx, &axes, &how)
}

/// Resize.
fn resize(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    if cx.opset() < 11 {
        return by_scales(cx, DOWN_IS_CEIL);
    }
    let named: Vec<usize> = match cx.list("axes") {
        Some(list) => list.iter().map(|&axis| cx.axis(axis, dims.len())).collect::<Lowered<_>>()?,
        None => (0..dims.len()).collect(),
    };
    let how = how(cx)?;
    let roi = match (how.coordinates, cx.optional(1)?) {
        (b"tf_crop_and_resize", Some(_)) => cx.floats(1, "region")?,
        _ => Vec::new(),
    };
    let scales = cx.optional(2)?.map_or(Ok(Vec::new()), |_| cx.floats(2, "scales"))?;
    let axes = match cx.ints(3, "sizes")?.filter(|sizes| !sizes.is_empty()) {
        None => scaled(cx, named, &scales, &roi)?,
        Some(sizes) => {
            let sizes: Vec<usize> = sizes.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
            malformed_if!(sizes.len() != named.len() || sizes.contains(&0), "its sizes are {sizes:?}");
            let mut scales: Vec<f64> =
                named.iter().zip(&sizes).map(|(&axis, &size)| size as f64 / dims[axis] as f64).collect();
            let mut outs = sizes;
            let common = match cx.text("keep_aspect_ratio_policy") {
                b"not_larger" => Some(scales.iter().copied().fold(f64::INFINITY, f64::min)),
                b"not_smaller" => Some(scales.iter().copied().fold(0.0, f64::max)),
                _ => None,
            };
            if let Some(common) = common {
                scales.fill(common);
                outs =
                    named.iter().map(|&axis| (common * dims[axis] as f64 + 0.5).floor() as usize).collect();
            }
            let part = |k: usize| region(&roi, k, named.len());
            let axis = |(k, &axis): (usize, &usize)| {
                (axis, Axis { size: dims[axis], out: outs[k], scale: scales[k], region: part(k) })
            };
            named.iter().enumerate().map(axis).collect()
        }
    };
    resized(cx, &axes, &how)
}

fn region(roi: &[f32], k: usize, count: usize) -> (f64, f64) {
    match (roi.get(k), roi.get(k + count)) {
        (Some(&start), Some(&end)) => (start.into(), end.into()),
        _ => (0.0, 1.0),
    }
}

/// The axes that scales give.
fn scaled(
    cx: &mut NodeCx<'_, '_, '_>,
    named: Vec<usize>,
    scales: &[f32],
    roi: &[f32],
) -> Lowered<Vec<(usize, Axis)>> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    if scales.len() != named.len() || named.iter().any(|&axis| axis >= dims.len()) {
        return Err(malformed!("scales {scales:?} do not fit {}", cx.shown(x)));
    }
    let axis = |(k, (&axis, &scale)): (usize, (&usize, &f32))| {
        let (start, end) = region(roi, k, named.len());
        let (size, scale) = (dims[axis], f64::from(scale));
        let out = (size as f64 * (end - start) * scale).floor();
        match out >= 1.0 && out <= f64::from(u32::MAX) {
            true => Ok((axis, Axis { size, out: out as usize, scale, region: (start, end) })),
            false => Err(malformed!("axis {axis} of {size} elements cannot be scaled by {scale}")),
        }
    };
    named.iter().zip(scales).enumerate().map(axis).collect()
}

fn how<'a>(cx: &NodeCx<'_, '_, 'a>) -> Lowered<How<'a>> {
    let otherwise = |text: &'a [u8], otherwise: &'static [u8]| if text.is_empty() { otherwise } else { text };
    let mode = match cx.text("mode") {
        b"" | b"nearest" => Mode::Nearest,
        b"linear" | b"bilinear" => Mode::Linear,
        b"cubic" => Mode::Cubic,
        other => return Err(malformed!("its mode is {:?}", String::from_utf8_lossy(other))),
    };
    Ok(How {
        mode,
        coordinates: otherwise(cx.text("coordinate_transformation_mode"), b"half_pixel"),
        nearest: otherwise(cx.text("nearest_mode"), b"round_prefer_floor"),
        antialias: cx.int("antialias", 0) != 0,
        exclude_outside: cx.int("exclude_outside", 0) != 0,
        cubic: f64::from(cx.float("cubic_coeff_a", -0.75)),
    })
}

fn resized(cx: &mut NodeCx<'_, '_, '_>, axes: &[(usize, Axis)], how: &How<'_>) -> Lowered<ValueId> {
    let mut y = cx.input(0)?;
    let rank = cx.dims(y).len();
    // As in ONNX Runtime, also where scales are not 1: five elements times 1.1 are five.
    let is_crop = how.coordinates == b"tf_crop_and_resize";
    if !is_crop && axes.iter().all(|(_, axis)| axis.out == axis.size) {
        return Ok(y);
    }
    if how.mode != Mode::Nearest {
        cx.want_float(y)?;
        if let Some(image) = as_image(cx, y, axes, how)? {
            return Ok(image);
        }
    }
    let mut outside: Option<ValueId> = None;
    for &(at, axis) in axes {
        // An axis that is not resized stays as it is, also where coordinates are moved by half an element. Antialiasing looks at sizes alone.
        if !is_crop && axis.out == axis.size && (axis.scale == 1.0 || how.antialias) {
            continue;
        }
        cx.importer.budget.charge(16 * axis.out)?;
        let coordinates: Vec<f64> = (0..axis.out)
            .map(|i| coordinate(how.coordinates, axis, i))
            .collect::<Option<_>>()
            .ok_or_else(|| {
                let name = String::from_utf8_lossy(how.coordinates);
                malformed!("its coordinate_transformation_mode is {name:?}")
            })?;
        let last = (axis.size - 1) as f64;
        let is_out = |x: &f64| is_crop && !(0.0..=last).contains(x);
        if coordinates.iter().any(is_out) {
            let truth: Vec<u8> = coordinates.iter().map(|x| u8::from(is_out(x))).collect();
            let mut along = vec![1; rank - at];
            along[0] = truth.len();
            let mask =
                cx.importer.graph.add_const("outside", Type::plain(DType::Bool, &along), Data::new(truth));
            outside = Some(match outside {
                None => mask,
                Some(other) => {
                    let yes = cx.truth(true);
                    cx.choice(mask, yes, other)?
                }
            });
        }
        y = match how.mode {
            Mode::Nearest => {
                let mode: &[u8] = match how.nearest {
                    DOWN_IS_CEIL if axis.scale < 1.0 => b"ceil",
                    DOWN_IS_CEIL => b"floor",
                    mode => mode,
                };
                let near = |&x: &f64| (nearest(mode, x).max(0.0) as usize).min(axis.size - 1);
                let indices: Vec<usize> = coordinates.iter().map(near).collect();
                cx.picked(y, at, &indices)?
            }
            _ => weighted(cx, y, at, axis, &coordinates, how)?,
        };
    }
    if let Some(outside) = outside {
        let value = cx.float("extrapolation_value", 0.0);
        let value = cx.number(y, value.into())?;
        y = cx.choice(outside, value, y)?;
    }
    Ok(y)
}

/// By the op for images, where that has such coordinates.
fn as_image(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    axes: &[(usize, Axis)],
    how: &How<'_>,
) -> Lowered<Option<ValueId>> {
    let &[n, c, h, w] = &*cx.dims(x) else { return Ok(None) };
    let (align_corners, half_pixel) = match how.coordinates {
        b"half_pixel" => (false, true),
        b"pytorch_half_pixel" if axes.iter().all(|(_, axis)| axis.out > 1 || axis.out == axis.size) => {
            (false, true)
        }
        b"align_corners" => (true, false),
        b"asymmetric" => (false, false),
        _ => return Ok(None),
    };
    let is_whole = |axis: &Axis| axis.scale * axis.size as f64 == axis.out as f64;
    let mut out = [h, w];
    for (at, axis) in axes {
        match at {
            2 | 3 if is_whole(axis) => out[at - 2] = axis.out,
            _ if axis.scale == 1.0 && axis.out == axis.size => {}
            _ => return Ok(None),
        }
    }
    if how.mode != Mode::Linear || how.antialias || how.exclude_outside || out == [h, w] {
        return Ok(None);
    }
    let image = channel_last(cx, x)?;
    let op = Op::ResizeBilinear { align_corners, half_pixel };
    let y = cx.add_like(op, &[image], &[n, out[0], out[1], c])?;
    channel_first(cx, y, 4).map(Some)
}

/// Where element `i` of the result lies in the operand.
fn coordinate(mode: &[u8], axis: Axis, i: usize) -> Option<f64> {
    let (i, size) = (i as f64, axis.size as f64);
    // A factor is a rounded number: where it means a whole size, that size counts.
    let (scaled, whole) = (size * axis.scale, axis.out as f64);
    let out = if (scaled - whole).abs() < 1e-6 * whole { whole } else { scaled };
    // In single precision, as ONNX Runtime has it: it matters where a coordinate is all but whole.
    let by = axis.scale as f32;
    let behind = |x: f32| f64::from(x / by);
    let centre = f64::from((i as f32 + 0.5) / by - 0.5);
    let (start, end) = axis.region;
    Some(match mode {
        b"half_pixel" => centre,
        b"pytorch_half_pixel" if axis.out == 1 => 0.0,
        b"pytorch_half_pixel" => centre,
        b"half_pixel_symmetric" => {
            let offset = axis.size as f32 / 2.0 * (1.0 - axis.out as f32 / (by * axis.size as f32));
            f64::from((f64::from(offset) + (i + 0.5) / f64::from(by) - 0.5) as f32)
        }
        b"asymmetric" => behind(i as f32),
        b"tf_half_pixel_for_nn" => behind(i as f32 + 0.5),
        b"align_corners" if out == 1.0 => 0.0,
        b"align_corners" => i * (size - 1.0) / (out - 1.0),
        b"tf_crop_and_resize" if axis.out == 1 => (start + end) * (size - 1.0) / 2.0,
        b"tf_crop_and_resize" => {
            start * (size - 1.0) + i * (end - start) * (size - 1.0) / (axis.out as f64 - 1.0)
        }
        _ => return None,
    })
}

/// The nearest element to a coordinate. What is half but for a rounded factor is half, as in ONNX Runtime.
fn nearest(mode: &[u8], x: f64) -> f64 {
    const NEAR_HALF: f64 = 1e-6;
    match mode {
        b"floor" => x.floor(),
        b"ceil" => x.ceil(),
        b"round_prefer_ceil" => (x + (0.5 + NEAR_HALF)).floor(),
        _ => (x - (0.5 + NEAR_HALF)).ceil(),
    }
}

/// The weights of neighbours around a coordinate between `floor` and the next one: the first neighbour, counted from `floor`, and all weights.
fn coefficients(how: &How<'_>, axis: Axis, fraction: f64) -> (i64, Vec<f64>) {
    let scale = if how.antialias { axis.scale.min(1.0) } else { 1.0 };
    let (radius, a) = (if how.mode == Mode::Cubic { 2.0 } else { 1.0 }, how.cubic);
    let first = (-radius / scale).floor() as i64 + 1;
    let weight = |k: i64| {
        let x = ((k as f64 - fraction) * scale).abs();
        match how.mode {
            Mode::Cubic if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            Mode::Cubic if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
            Mode::Cubic => 0.0,
            _ => (1.0 - x).max(0.0),
        }
    };
    let weights: Vec<f64> = (first..=1 - first).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    (first, weights.into_iter().map(|weight| weight / sum).collect())
}

/// A product with the matrix of weights along an axis.
fn weighted(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    at: usize,
    axis: Axis,
    coordinates: &[f64],
    how: &How<'_>,
) -> Lowered<ValueId> {
    if axis.size == axis.out && coordinates.iter().enumerate().all(|(i, &x)| x == i as f64) {
        return Ok(x);
    }
    super::tensor::check_size(DType::F32, &[axis.out, axis.size])?;
    // Here, and as a constant.
    cx.importer.budget.make(8 * axis.out * axis.size);
    cx.importer.budget.charge(4 * axis.out * axis.size)?;
    let mut matrix = vec![0f64; axis.out * axis.size];
    for (row, &x) in matrix.chunks_exact_mut(axis.size).zip(coordinates) {
        let floor = x.floor();
        let (first, mut weights) = coefficients(how, axis, x - floor);
        let place = |k: usize| floor as i64 + first + k as i64;
        if how.exclude_outside {
            let inside = |k: usize| (0..axis.size as i64).contains(&place(k));
            weights.iter_mut().enumerate().filter(|(k, _)| !inside(*k)).for_each(|(_, weight)| *weight = 0.0);
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        for (k, weight) in weights.into_iter().enumerate() {
            row[place(k).clamp(0, axis.size as i64 - 1) as usize] += weight;
        }
    }
    let matrix: Vec<f32> = matrix.into_iter().map(|weight| weight as f32).collect();
    let matrix = cx.float_constant("weights", &[axis.out, axis.size], &matrix)?;
    let turned = cx.swapped(x, at)?;
    let y = cx.layer(turned, matrix)?;
    cx.swapped(y, at)
}
