//! Images of another size.

use super::conv::{channels_first, channels_last};
use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ResizeArea", One(|cx| weighted(cx, of_area))),
    ("ResizeBicubic", One(|cx| weighted(cx, of_cubic))),
    ("ResizeBilinear", One(|cx| resize(cx, "linear"))),
    ("ResizeNearestNeighbor", One(|cx| resize(cx, "nearest"))),
];

fn resize(cx: &mut Cx<'_, '_, '_>, mode: &str) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    // All but neighbours are interpolated in floats.
    let x = if mode == "nearest" { x } else { cx.cast(x, DType::F32)? };
    let size = cx.known_sizes(1, "size")?;
    malformed_if!(cx.dims(x).len() != 4 || size.len() != 2, "{} cannot become {size:?}", cx.shown(x));
    let (corners, centres) = (cx.flag("align_corners")?, cx.flag("half_pixel_centers")?);
    let image = channels_first(cx, x)?;
    let dims = cx.dims(image);
    let sizes = [dims[0], dims[1], size[0], size[1]].map(|size| size as i64);
    let sizes = cx.int_constant("size", DType::I64, &[4], &sizes)?;
    let coordinates = match (corners, centres, mode) {
        (true, ..) => "align_corners",
        (_, true, "nearest") => "tf_half_pixel_for_nn",
        (_, true, _) => "half_pixel",
        _ => "asymmetric",
    };
    let nearest = if corners { "round_prefer_ceil" } else { "floor" };
    let attributes = [
        ("mode", Set::Text(mode)),
        ("coordinate_transformation_mode", Set::Text(coordinates)),
        ("nearest_mode", Set::Text(nearest)),
    ];
    let y = cx.call("Resize", &[Some(image), None, None, Some(sizes)], &attributes)?;
    channels_last(cx, y)
}

/// Weights of the pixels along an axis for the one at a place of the result: their numbers and weights.
type Weights = fn(&Axis, usize) -> Vec<(usize, f32)>;

/// An axis that gets another length.
struct Axis {
    size: usize,
    /// Pixels of the operand for each of the result.
    scale: f32,
    centres: bool,
}

/// Each axis as a product with a matrix of weights.
fn weighted(cx: &mut Cx<'_, '_, '_>, weights: Weights) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let mut y = cx.cast(x, DType::F32)?;
    let size = cx.known_sizes(1, "size")?;
    let dims = cx.dims(y);
    malformed_if!(dims.len() != 4 || size.len() != 2 || size.contains(&0), "{dims:?} cannot become {size:?}");
    let (corners, centres) = (cx.flag("align_corners")?, cx.flag("half_pixel_centers")?);
    for (k, &out) in size.iter().enumerate() {
        let own = dims[k + 1];
        let scale = match corners && out > 1 {
            true => (own - 1) as f32 / (out - 1) as f32,
            false => own as f32 / out as f32,
        };
        let axis = Axis { size: own, scale, centres };
        crate::onnx::lower::check_size(DType::F32, &[out, own])?;
        cx.written_out(out.saturating_mul(own) / 256)?;
        cx.importer.budget.make(4 * out * own);
        let mut matrix = vec![0.0; out * own];
        for place in 0..out {
            for (from, weight) in weights(&axis, place) {
                if let Some(entry) = matrix.get_mut(place * own + from) {
                    *entry += weight;
                }
            }
        }
        let matrix = cx.float_constant("weights", &[out, own], &matrix)?;
        let turned = cx.swapped(y, k + 1)?;
        let resized = cx.layer(turned, matrix)?;
        y = cx.swapped(resized, k + 1)?;
    }
    Ok(y)
}

/// Steps between two pixels that TensorFlow has weights for.
const STEPS: f32 = 1024.0;

/// Cubic interpolation. With pixels that have centres, weights are Keys's, and those outside of the image do not count; otherwise the pixels at the edge stand
/// for them.
fn of_cubic(axis: &Axis, place: usize) -> Vec<(usize, f32)> {
    let a = if axis.centres { -0.5 } else { -0.75 };
    let at = match axis.centres {
        true => (place as f32 + 0.5) * axis.scale - 0.5,
        false => place as f32 * axis.scale,
    };
    let fraction = ((at - at.floor()) * STEPS).round_ties_even() / STEPS;
    let near = |x: f32| ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    let far = |x: f32| ((a * (x + 1.0) - 5.0 * a) * (x + 1.0) + 8.0 * a) * (x + 1.0) - 4.0 * a;
    let first = at.floor() as i64 - 1;
    let last = axis.size as i64 - 1;
    let all = [far(fraction), near(fraction), near(1.0 - fraction), far(1.0 - fraction)];
    let mut weights: Vec<(usize, f32)> = Vec::new();
    for (from, weight) in (first..).zip(all) {
        let inside = from.clamp(0, last);
        let counts = inside == from || !axis.centres;
        weights.push((inside as usize, if counts { weight } else { 0.0 }));
    }
    if axis.centres {
        let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
    }
    weights
}

/// The mean of what a pixel of the result covers.
fn of_area(axis: &Axis, place: usize) -> Vec<(usize, f32)> {
    let (begin, end) = (place as f32 * axis.scale, (place + 1) as f32 * axis.scale);
    let (first, last) = (begin.floor() as usize, end.ceil() as usize);
    let weight = |from: usize| (end.min((from + 1) as f32) - begin.max(from as f32)) / axis.scale;
    (first..last).map(|from| (from.min(axis.size - 1), weight(from))).collect()
}
