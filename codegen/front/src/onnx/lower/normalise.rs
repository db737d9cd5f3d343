//! Normalisations: what they mean, as chains of ops.

use super::cx::NodeCx;
use super::elementwise::{broadcast, magnitude};
use super::{All, Lowered, One, Operators};
use kiln_ir::{Binary, Comparison, Reduction, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("GroupNormalization", One(group)),
    ("InstanceNormalization", One(instance)),
    ("LRN", One(local_response)),
    ("LayerNormalization", All(layer)),
    ("LpNormalization", One(lp)),
    ("MeanVarianceNormalization", One(mean_variance)),
    ("RMSNorm", All(|cx| root_mean_square_with(cx, 1e-6))),
    ("RMSNormalization", All(|cx| root_mean_square_with(cx, 1e-5))),
    ("SimplifiedLayerNormalization", All(|cx| root_mean_square_with(cx, 1e-5))),
    ("com.microsoft.SkipLayerNormalization", All(skip_layer)),
    ("com.microsoft.SkipSimplifiedLayerNormalization", All(skip_root_mean_square)),
];

/// (x − mean) · factor with factor = 1 / √(variance + ε), both over `axes`: that, the mean and the factor.
pub(crate) fn normal(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    axes: &[usize],
    epsilon: f32,
) -> Lowered<[ValueId; 3]> {
    let mean = cx.mean(x, axes)?;
    let centred = cx.difference(x, mean)?;
    let factor = inverse_root(cx, centred, axes, epsilon)?;
    Ok([cx.product(centred, factor)?, mean, factor])
}

/// 1 / √(mean of x² + ε).
pub(crate) fn inverse_root(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    axes: &[usize],
    epsilon: f32,
) -> Lowered<ValueId> {
    let squares = cx.unary(Unary::Square, x)?;
    let mean = cx.mean(squares, axes)?;
    let mean = cx.plus(mean, epsilon.into())?;
    cx.unary(Unary::Rsqrt, mean)
}

/// `x` times a factor, plus a bias, neither of which is larger.
pub(crate) fn scaled(
    cx: &mut NodeCx<'_, '_, '_>,
    mut x: ValueId,
    scale: Option<ValueId>,
    bias: Option<ValueId>,
) -> Lowered<ValueId> {
    for operand in [scale, bias].into_iter().flatten() {
        if broadcast(cx, x, operand)? != cx.dims(x) {
            return Err(malformed!("{} does not fit {}", cx.shown(operand), cx.shown(x)));
        }
    }
    if let Some(scale) = scale {
        x = cx.product(x, scale)?;
    }
    bias.map_or(Ok(x), |bias| cx.sum(x, bias))
}

/// LayerNormalization over the axes from one on.
fn layer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    cx.want_float(x)?;
    let axes = axes_from(cx, x)?;
    let epsilon = cx.float("epsilon", 1e-5);
    let [value, mean, factor] = normal(cx, x, &axes, epsilon)?;
    let y = scaled(cx, value, Some(scale), bias)?;
    cx.bind(0, y)?;
    cx.bind(1, mean)?;
    cx.bind(2, factor)
}

/// The axes from `axis` on.
fn axes_from(cx: &NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<Vec<usize>> {
    let rank = cx.dims(x).len();
    Ok((cx.axis(cx.int("axis", -1), rank)?..rank).collect())
}

/// RMSNormalization over the axes from one on: without the mean. ONNX Runtime's SimplifiedLayerNormalization has the factor for a second result. No specification
/// defines RMSNorm: it has the ε of most language models where it has none of its own.
fn root_mean_square_with(cx: &mut NodeCx<'_, '_, '_>, epsilon: f32) -> Lowered {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    cx.want_float(x)?;
    let axes = axes_from(cx, x)?;
    let epsilon = cx.float("epsilon", epsilon);
    let factor = inverse_root(cx, x, &axes, epsilon)?;
    let value = cx.product(x, factor)?;
    let y = scaled(cx, value, Some(scale), None)?;
    cx.bind(0, y)?;
    cx.bind(1, factor)
}

/// SkipLayerNormalization of ONNX Runtime: the normalisation of a sum over its last axis. The fourth result is the sum.
fn skip_layer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (scale, shift) = (cx.input(2)?, cx.optional(3)?);
    let (sum, axes, epsilon) = skipped(cx, 4)?;
    let [value, mean, factor] = normal(cx, sum, &axes, epsilon)?;
    let y = scaled(cx, value, Some(scale), shift)?;
    [y, mean, factor, sum].into_iter().enumerate().try_for_each(|(k, value)| cx.bind(k, value))
}

/// SkipSimplifiedLayerNormalization of ONNX Runtime: as SkipLayerNormalization, without the mean.
fn skip_root_mean_square(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let scale = cx.input(2)?;
    let (sum, axes, epsilon) = skipped(cx, 3)?;
    let factor = inverse_root(cx, sum, &axes, epsilon)?;
    let value = cx.product(sum, factor)?;
    let y = scaled(cx, value, Some(scale), None)?;
    cx.bind(0, y)?;
    cx.bind(2, factor)?;
    cx.bind(3, sum)
}

/// The sum of operands 0, 1 and the one that is the bias, its last axis, and ε.
fn skipped(cx: &mut NodeCx<'_, '_, '_>, bias: usize) -> Lowered<(ValueId, [usize; 1], f32)> {
    let (x, skip, bias) = (cx.input(0)?, cx.input(1)?, cx.optional(bias)?);
    cx.want_float(x)?;
    let axis = cx.axis(-1, cx.dims(x).len())?;
    let sum = scaled(cx, x, None, Some(skip))?;
    let sum = scaled(cx, sum, None, bias)?;
    Ok((sum, [axis], cx.float("epsilon", 1e-12)))
}

/// InstanceNormalization: each channel of each image by itself.
fn instance(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.want_float(x)?;
    let dims = cx.dims(x);
    let c = dims.get(1).copied().unwrap_or(0);
    if dims.len() < 3 || cx.dims(scale) != [c] || cx.dims(bias) != [c] {
        return Err(malformed!("its factors do not fit {}", cx.shown(x)));
    }
    let axes: Vec<usize> = (2..dims.len()).collect();
    let mut along = vec![1; dims.len() - 1];
    along[0] = c;
    let epsilon = cx.float("epsilon", 1e-5);
    let [value, ..] = normal(cx, x, &axes, epsilon)?;
    let (scale, bias) = (cx.reshaped(scale, &along)?, cx.reshaped(bias, &along)?);
    scaled(cx, value, Some(scale), Some(bias))
}

/// GroupNormalization: each group of channels by itself. Factors are those of channels since operator set 21, and of groups before.
fn group(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.want_float(x)?;
    let dims = cx.dims(x);
    let groups = usize::try_from(cx.int("num_groups", 0)).unwrap_or(0);
    let (&[n, c, ..], true) = (&*dims, dims.len() >= 3) else {
        return Err(malformed!("{} has no channels", cx.shown(x)));
    };
    malformed_if!(groups == 0 || c % groups != 0, "{c} channels do not divide into {groups} groups");
    let pixels: usize = dims[2..].iter().product();
    let parts = cx.reshaped(x, &[n, groups, c / groups * pixels])?;
    let epsilon = cx.float("epsilon", 1e-5);
    let [value, ..] = normal(cx, parts, &[2], epsilon)?;
    let (shape, along) = match cx.opset() >= 21 {
        true => (vec![n, c, pixels], [c, 1]),
        false => (vec![n, groups, c / groups * pixels], [groups, 1]),
    };
    let value = cx.reshaped(value, &shape)?;
    if [scale, bias].map(|list| cx.dims(list)) != [[along[0]], [along[0]]] {
        return Err(malformed!("its factors do not fit {}", cx.shown(x)));
    }
    let (scale, bias) = (cx.reshaped(scale, &along)?, cx.reshaped(bias, &along)?);
    let y = scaled(cx, value, Some(scale), Some(bias))?;
    cx.reshaped(y, &dims)
}

/// MeanVarianceNormalization: (x − mean) / (deviation + 10⁻⁹).
fn mean_variance(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let rank = cx.dims(x).len();
    let given = cx.list("axes").unwrap_or(&[0, 2, 3]).to_vec();
    let mut axes = given.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    axes.sort_unstable();
    axes.dedup();
    let mean = cx.mean(x, &axes)?;
    let centred = cx.difference(x, mean)?;
    let squares = cx.unary(Unary::Square, centred)?;
    let variance = cx.mean(squares, &axes)?;
    let deviation = cx.unary(Unary::Sqrt, variance)?;
    let deviation = cx.plus(deviation, 1e-9)?;
    cx.quotient(centred, deviation)
}

/// LpNormalization: divided by Σ |x| or √Σ x² along an axis; where that is 0, so is the result.
fn lp(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let axis = cx.axis(cx.int("axis", -1), cx.dims(x).len())?;
    let norm = match cx.int("p", 2) {
        1 => {
            let sizes = magnitude(cx, x)?;
            cx.reduced(Reduction::Sum, sizes, &[axis])?
        }
        2 => {
            let squares = cx.unary(Unary::Square, x)?;
            let sum = cx.reduced(Reduction::Sum, squares, &[axis])?;
            cx.unary(Unary::Sqrt, sum)?
        }
        p => return Err(malformed!("its p is {p}")),
    };
    // Also where the squares are too small for a number: what is divided is finite there.
    let (zero, infinity) = (cx.number(norm, 0.0)?, cx.number(norm, f64::INFINITY)?);
    let nothing = cx.compared(Comparison::Equal, norm, zero)?;
    let norm = cx.choice(nothing, infinity, norm)?;
    cx.quotient(x, norm)
}

/// LRN: x / (bias + α/size · Σ x²)^β, the sum over neighbouring channels.
fn local_response(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (dims, size) = (cx.dims(x), usize::try_from(cx.int("size", 0)).unwrap_or(0));
    malformed_if!(dims.len() < 2 || size == 0, "a window of {size} channels does not fit {}", cx.shown(x));
    let (alpha, beta, bias) = (cx.float("alpha", 1e-4), cx.float("beta", 0.75), cx.float("bias", 1.0));
    let squares = cx.unary(Unary::Square, x)?;
    let (mut before, mut after) = (vec![0; dims.len()], vec![0; dims.len()]);
    // Of a window that is larger than all channels, only neighbours that there are count.
    let most = dims[1].saturating_sub(1);
    (before[1], after[1]) = (((size - 1) / 2).min(most), (size / 2).min(most));
    let window = before[1] + 1 + after[1];
    let around = cx.padded(squares, &before, &after, 0)?;
    let mut sum = cx.part(around, 1, 0, dims[1], 1)?;
    for first in 1..window {
        let next = cx.part(around, 1, first, dims[1], 1)?;
        sum = cx.sum(sum, next)?;
    }
    let sum = cx.times(sum, (alpha / size as f32).into())?;
    let sum = cx.plus(sum, bias.into())?;
    let exponent = cx.number(sum, (-beta).into())?;
    let factor = cx.binary(Binary::Pow, sum, exponent)?;
    cx.product(x, factor)
}
