//! Images of another size, as TensorFlow's `tf.image.resize` makes them: pixels are their centres.

use super::conv::{as_given, image};
use super::cx::Cx;
use super::{short, Layers, Lowered, One, Refusal};
use kiln_ir::{DType, Op, ValueId};

pub(super) const LAYERS: Layers = &[
    ("Resizing", One(resizing)),
    ("UpSampling1D", One(|cx| up_sampling(cx, 1))),
    ("UpSampling2D", One(|cx| up_sampling(cx, 2))),
    ("UpSampling3D", One(|cx| up_sampling(cx, 3))),
];

fn up_sampling(cx: &mut Cx<'_, '_, '_>, axes: usize) -> Lowered<ValueId> {
    let mut x = image(cx, axes)?;
    let factors = cx.sizes_of("size", axes, 2)?;
    malformed_if!(factors.contains(&0), "its result is empty");
    let kind = cx.word("interpolation");
    if axes != 2 || matches!(kind, "" | "nearest") {
        for (k, &factor) in factors.iter().enumerate() {
            x = repeated(cx, x, k + 1, factor)?;
        }
    } else {
        let dims = cx.dims(x);
        let out = [0, 1].map(|k| dims[k + 1].saturating_mul(factors[k]));
        x = resized(cx, x, out, kind, false)?;
    }
    as_given(cx, x)
}

/// Each element along an axis, several times.
pub(super) fn repeated(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, times: usize) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    if times == 1 {
        return Ok(x);
    }
    let (front, behind): (usize, usize) = (dims[..=axis].iter().product(), dims[axis + 1..].iter().product());
    let alone = cx.reshaped(x, &[front, 1, behind])?;
    let all = cx.repeated(alone, &[front, times, behind])?;
    let mut wide = dims;
    wide[axis] = wide[axis].checked_mul(times).ok_or_else(|| malformed!("its result is too large"))?;
    cx.reshaped(all, &wide)
}

fn resizing(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = image(cx, 2)?;
    let out = [cx.size("height", 0)?, cx.size("width", 0)?];
    malformed_if!(out.contains(&0), "its result is empty");
    if cx.flag("crop_to_aspect_ratio", false) {
        x = cropped(cx, x, 1, out)?;
    } else if cx.flag("pad_to_aspect_ratio", false) {
        x = padded(cx, x, out)?;
    }
    let (kind, smooth) = (cx.word("interpolation"), cx.flag("antialias", false));
    let y = resized(cx, x, out, kind, smooth)?;
    as_given(cx, y)
}

/// Cut so that its sides are in proportion to those of the result, then resized.
pub(super) fn smart(cx: &mut Cx<'_, '_, '_>, x: ValueId, first: usize, out: [usize; 2]) -> Lowered<ValueId> {
    let x = if first == 2 { super::conv::channel_last(cx, x)? } else { x };
    let x = cropped(cx, x, 1, out)?;
    let y = resized(cx, x, out, "bilinear", false)?;
    if first == 2 {
        super::conv::channel_first(cx, y)
    } else {
        Ok(y)
    }
}

/// One side in proportion to the other, as the result's are.
fn proportion(other: usize, own: usize, of: usize) -> usize {
    ((other.saturating_mul(own) as f32) / of as f32) as usize
}

fn cropped(cx: &mut Cx<'_, '_, '_>, x: ValueId, first: usize, out: [usize; 2]) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let [h, w] = [dims[first], dims[first + 1]];
    let rows = proportion(w, out[0], out[1]).min(h).max(1);
    let columns = proportion(h, out[1], out[0]).min(w).max(1);
    let y = cx.part(x, first, (h - rows) / 2, rows, 1)?;
    cx.part(y, first + 1, (w - columns) / 2, columns, 1)
}

/// Margins of one number, so that the sides are in proportion to those of the result.
fn padded(cx: &mut Cx<'_, '_, '_>, x: ValueId, out: [usize; 2]) -> Lowered<ValueId> {
    let &[_, h, w, _] = &*cx.dims(x) else { return Err(malformed!("{} is no image", cx.shown(x))) };
    let rows = proportion(w, out[0], out[1]).max(h);
    let columns = proportion(h, out[1], out[0]).max(w);
    let ([top, left], value) = ([(rows - h) / 2, (columns - w) / 2], cx.number_of("fill_value", 0.0) as f32);
    cx.padded(x, &[0, top, left, 0], &[0, top, left, 0], value.to_bits().into())
}

/// A channel-last image of another size.
pub(super) fn resized(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    out: [usize; 2],
    kind: &str,
    smooth: bool,
) -> Lowered<ValueId> {
    let &[n, h, w, c] = &*cx.dims(x) else { return Err(malformed!("{} is no image", cx.shown(x))) };
    let kernel = match kind {
        "nearest" => {
            let mut y = x;
            for (axis, (size, out)) in [(h, out[0]), (w, out[1])].into_iter().enumerate() {
                y = nearest(cx, y, axis + 1, size, out)?;
            }
            return Ok(y);
        }
        "" | "bilinear" if !smooth => {
            if [h, w] == out {
                return Ok(x);
            }
            let op = Op::ResizeBilinear { align_corners: false, half_pixel: true };
            return cx.add_like(op, &[x], &[n, out[0], out[1], c]);
        }
        "" | "bilinear" => Kernel::Triangle,
        "bicubic" => Kernel::Cubic { table: !smooth },
        "lanczos3" => Kernel::Lanczos(3.0),
        "lanczos5" => Kernel::Lanczos(5.0),
        "area" if h % out[0] == 0 && w % out[1] == 0 => Kernel::Area,
        other => {
            let what = format!("the interpolation {:?} cannot be compiled", short(other));
            return Err(Refusal::unsupported(what, "use nearest, bilinear, bicubic or lanczos3"));
        }
    };
    let mut y = x;
    for (axis, (size, out)) in [(h, out[0]), (w, out[1])].into_iter().enumerate() {
        if size != out {
            let scale = size as f64 / out as f64;
            let row = |i: usize| kernel.row(i, size, scale, smooth);
            y = by_matrix(cx, y, axis + 1, out, &row)?;
        }
    }
    Ok(y)
}

fn nearest(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, size: usize, out: usize) -> Lowered<ValueId> {
    if size == 0 || out % size == 0 {
        return repeated(cx, x, axis, out / size.max(1));
    }
    crate::onnx::lower::check_size(DType::F32, &[out])?;
    cx.importer.budget.charge(16 * out)?;
    let scale = size as f32 / out as f32;
    let near = |i: usize| (((i as f32 + 0.5) * scale).floor() as usize).min(size - 1);
    let indices: Vec<usize> = (0..out).map(near).collect();
    cx.picked(x, axis, &indices)
}

/// The weights of neighbours.
#[derive(Clone, Copy)]
enum Kernel {
    Triangle,
    /// By a table of 1024 steps between two pixels, as TensorFlow has it without antialiasing.
    Cubic {
        table: bool,
    },
    Lanczos(f64),
    /// The mean of what lies under a pixel.
    Area,
}

impl Kernel {
    fn radius(self) -> f64 {
        match self {
            Kernel::Triangle => 1.0,
            Kernel::Cubic { .. } => 2.0,
            Kernel::Lanczos(radius) => radius,
            Kernel::Area => 0.5,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Kernel::Triangle => (1.0 - x).max(0.0),
            Kernel::Cubic { .. } if x <= 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Kernel::Cubic { .. } if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Kernel::Cubic { .. } => 0.0,
            Kernel::Lanczos(radius) if x < radius => {
                if x < 1e-3 {
                    return 1.0;
                }
                let turn = std::f64::consts::PI * x;
                radius * libm::sin(turn) * libm::sin(turn / radius) / (turn * turn)
            }
            Kernel::Lanczos(_) => 0.0,
            Kernel::Area => f64::from(u8::from(x < 0.5)),
        }
    }

    /// The weights of all pixels of an axis for pixel `i` of the result. What lies outside does not count.
    fn row(self, i: usize, size: usize, scale: f64, smooth: bool) -> Vec<f32> {
        let centre = (i as f64 + 0.5) * scale - 0.5;
        let is_wide = smooth || matches!(self, Kernel::Area);
        let wide = if is_wide { scale.max(1.0) } else { 1.0 };
        let base = centre.floor();
        let fraction = match self {
            Kernel::Cubic { table: true } => libm::rint((centre - base) * 1024.0) / 1024.0,
            _ => centre - base,
        };
        let reach = (self.radius() * wide).ceil() as i64 + 1;
        let mut weights = vec![0f64; size];
        for k in -reach..=reach {
            let at = base as i64 + k;
            if let Some(weight) = usize::try_from(at).ok().and_then(|at| weights.get_mut(at)) {
                *weight = self.weight((k as f64 - fraction) / wide);
            }
        }
        let sum: f64 = weights.iter().sum();
        weights
            .into_iter()
            .map(|weight| if sum.abs() > 1e-12 { (weight / sum) as f32 } else { 0.0 })
            .collect()
    }
}

/// The product with a matrix along an axis: row `i` of it makes element `i` of so many.
pub(super) fn by_matrix(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    axis: usize,
    out: usize,
    row: &dyn Fn(usize) -> Vec<f32>,
) -> Lowered<ValueId> {
    let size = cx.dims(x)[axis];
    crate::onnx::lower::check_size(DType::F32, &[out, size])?;
    // Here, and as a constant.
    cx.importer.budget.make(8 * out * size);
    cx.importer.budget.charge(4 * out * size)?;
    let matrix: Vec<f32> = (0..out).flat_map(row).collect();
    let matrix = cx.float_constant("weights", &[out, size], &matrix)?;
    let turned = cx.swapped(x, axis)?;
    let y = cx.layer(turned, matrix)?;
    cx.swapped(y, axis)
}
