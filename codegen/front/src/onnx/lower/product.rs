//! Products of matrices, and BatchNormalization.

use super::cx::NodeCx;
use super::{All, Lowered, One, Operators, Refusal};
use kiln_ir::{AddRescale, Clamp, DType, Op, Rescale, Shape, Type, ValueId};

pub(super) const OPERATORS: Operators =
    &[("BatchNormalization", One(batch_normalization)), ("Gemm", All(gemm)), ("MatMul", One(matmul))];

const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };

/// The last two axes in the other order.
fn turned(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    cx.transposed(x, &perm)
}

/// A constant matrix \[k, n\] as \[n, k\], times a factor.
fn filters(cx: &mut NodeCx<'_, '_, '_>, w: ValueId, turned: bool, factor: f32) -> Lowered<Option<ValueId>> {
    if cx.dequantized(w).is_some() && factor == 1.0 {
        return cx.transposed(w, if turned { &[0, 1] } else { &[1, 0] }).map(Some);
    }
    let (Some(data), &[a, b]) = (cx.known(w), &*cx.dims(w)) else { return Ok(None) };
    let from = data.to_f32();
    let (n, k) = if turned { (a, b) } else { (b, a) };
    let at = |o: usize, i: usize| if turned { o * k + i } else { i * n + o };
    let ordered = (0..n).flat_map(|o| (0..k).map(move |i| (o, i))).filter_map(|(o, i)| from.get(at(o, i)));
    let ordered: Vec<f32> = ordered.map(|w| w * factor).collect();
    cx.float_constant("weights", &[n, k], &ordered).map(Some)
}

/// Gemm: α·A·B + β·C, either matrix transposed if asked for.
fn gemm(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (a, b, c) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?);
    [Some(a), Some(b), c].into_iter().flatten().try_for_each(|operand| cx.want_float(operand))?;
    let (alpha, beta) = (cx.float("alpha", 1.0), cx.float("beta", 1.0));
    let (turn_a, turn_b) = (cx.int("transA", 0) != 0, cx.int("transB", 0) != 0);
    if cx.dims(a).len() != 2 || cx.dims(b).len() != 2 {
        return Err(malformed!("{} and {} are not matrices", cx.shown(a), cx.shown(b)));
    }
    let x = if turn_a { turned(cx, a)? } else { a };
    let &[m, k] = &*cx.dims(x) else { return Err(malformed!("no matrix")) };
    let [rows, columns] = if turn_b { [1, 0] } else { [0, 1] }.map(|axis: usize| cx.dims(b)[axis]);
    malformed_if!(rows != k, "rows of {k} and columns of {rows} elements do not fit");
    let n = columns;
    let Some(weights) = filters(cx, b, turn_b, alpha)? else {
        let y = if turn_b { b } else { turned(cx, b)? };
        let op = Op::MatMul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let mut product = cx.add_like(op, &[x, y], &[m, n])?;
        if alpha != 1.0 {
            let alpha = cx.float_constant("alpha", &[], &[alpha])?;
            product = cx.add_like(PRODUCT, &[product, alpha], &[m, n])?;
        }
        return plus(cx, product, c, beta);
    };
    let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    // A constant of a row is a bias.
    let bias = match c.map(|c| (cx.known(c), cx.dims(c))) {
        Some((Some(data), dims)) if dims.iter().product::<usize>() == dims.last().copied().unwrap_or(1) => {
            let given = data.to_f32();
            let number = |o: usize| given.get(if given.len() == 1 { 0 } else { o }).map(|x| x * beta);
            let bias: Vec<f32> = (0..n).filter_map(number).collect();
            Some(bias).filter(|bias| bias.len() == n && (given.len() == n || given.len() == 1))
        }
        _ => None,
    };
    match bias {
        Some(bias) => {
            let bias = cx.float_constant("bias", &[n], &bias)?;
            cx.emit(op, &[x, weights, bias], &[m, n])
        }
        None => {
            let product = cx.add_like(op, &[x, weights], &[m, n])?;
            plus(cx, product, c, beta)
        }
    }
}

fn plus(cx: &mut NodeCx<'_, '_, '_>, product: ValueId, c: Option<ValueId>, beta: f32) -> Lowered {
    let Some(mut c) = c else { return cx.bind(0, product) };
    let dims = cx.dims(product);
    if super::elementwise::broadcast(cx, product, c)? != dims {
        return Err(malformed!("{} cannot be added to {dims:?}", cx.shown(c)));
    }
    if beta != 1.0 {
        let own = cx.dims(c);
        let beta = cx.float_constant("beta", &[], &[beta])?;
        c = cx.add_like(PRODUCT, &[c, beta], &own)?;
    }
    cx.emit(SUM, &[product, c], &dims)
}

/// MatMul, as NumPy has it.
fn matmul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    cx.want_float(a)?;
    cx.want_float(b)?;
    let (left, right) = (cx.dims(a), cx.dims(b));
    let misfit = || malformed!("{left:?} and {right:?} cannot be multiplied");
    let (Some(&k), Some(&last)) = (left.last(), right.last()) else { return Err(misfit()) };
    if right.len() == 2 && right[0] == k {
        if let Some(weights) = filters(cx, b, false, 1.0)? {
            let dims = [&left[..left.len() - 1], &[last]].concat();
            let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
            return cx.add_like(op, &[a, weights], &dims);
        }
    }
    let op = Op::MatMul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    product_of(cx, a, b, |dims| Ok((op, Type::plain(DType::F32, dims))))
}

/// The product of matrices, or of stacks of them, by an op that makes a result of that type from the dimensions.
pub(super) fn product_of(
    cx: &mut NodeCx<'_, '_, '_>,
    a: ValueId,
    b: ValueId,
    op: impl FnOnce(&[usize]) -> Lowered<(Op, Type)>,
) -> Lowered<ValueId> {
    let (left, right) = (cx.dims(a), cx.dims(b));
    let misfit = || malformed!("{left:?} and {right:?} cannot be multiplied");
    let (Some(&k), Some(&last)) = (left.last(), right.last()) else { return Err(misfit()) };
    // Vectors are matrices of one row, or of one column.
    let x = if left.len() == 1 { cx.reshaped(a, &[1, k])? } else { a };
    let y = if right.len() == 1 { cx.reshaped(b, &[1, last])? } else { turned(cx, b)? };
    let (x_dims, y_dims) = (cx.dims(x), cx.dims(y));
    let (front_x, own_x) = x_dims.split_at(x_dims.len() - 2);
    let (front_y, own_y) = y_dims.split_at(y_dims.len() - 2);
    if own_x[1] != own_y[1] {
        return Err(misfit());
    }
    let mut dims = Shape::common(front_x, front_y).ok_or_else(misfit)?;
    let mut named = dims.clone();
    dims.extend([own_x[0], own_y[0]]);
    if left.len() > 1 {
        named.push(own_x[0]);
    }
    if right.len() > 1 {
        named.push(own_y[0]);
    }
    let (op, ty) = op(&dims)?;
    let product = cx.add(op, &[x, y], ty)?;
    cx.reshaped(product, &named)
}

/// BatchNormalization with constant statistics: a factor and a summand for each channel.
fn batch_normalization(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.int("training_mode", 0) != 0 {
        return Err(Refusal::unsupported(
            "it is in training mode",
            "export the model for inference (model.eval())",
        ));
    }
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let [scale, bias, mean, variance] =
        [(1, "scale"), (2, "bias"), (3, "mean"), (4, "variance")].map(|(k, what)| cx.floats(k, what));
    let (scale, bias, mean, variance) = (scale?, bias?, mean?, variance?);
    let dims = cx.dims(x);
    let c = dims.get(1).copied().unwrap_or(0);
    if [&scale, &bias, &mean, &variance].iter().any(|list| list.len() != c) || c == 0 {
        return Err(malformed!("its statistics do not fit {}", cx.shown(x)));
    }
    let epsilon = cx.float("epsilon", 1e-5);
    let factors: Vec<f32> = scale.iter().zip(&variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
    let summands: Vec<f32> = bias.iter().zip(&mean).zip(&factors).map(|((b, m), f)| b - m * f).collect();
    let mut along = vec![1; dims.len() - 1];
    along[0] = c;
    let factors = cx.float_constant("factors", &along, &factors)?;
    let summands = cx.float_constant("summands", &along, &summands)?;
    let product = cx.add_like(PRODUCT, &[x, factors], &dims)?;
    cx.add_like(SUM, &[product, summands], &dims)
}
