//! Products of matrices, and layers made of them.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{Clamp, DType, Op, Rescale, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("addbmm", One(|cx| added(cx, ["batch1", "batch2"], true))),
    ("addmm", One(|cx| added(cx, ["mat1", "mat2"], false))),
    ("addmv", One(|cx| added(cx, ["mat", "vec"], false))),
    ("baddbmm", One(|cx| added(cx, ["batch1", "batch2"], false))),
    ("bilinear", One(bilinear)),
    ("bmm", One(|cx| product(cx, ["self", "mat2"]))),
    ("dot", One(|cx| product(cx, ["self", "tensor"]))),
    ("cross", One(cross)),
    ("einsum", One(einsum)),
    ("inner", One(inner)),
    ("kron", One(kron)),
    ("linalg_cross", One(cross)),
    ("linalg_matmul", One(|cx| product(cx, ["self", "other"]))),
    ("linear", One(linear)),
    ("matmul", One(|cx| product(cx, ["self", "other"]))),
    ("mm", One(|cx| product(cx, ["self", "mat2"]))),
    ("mv", One(|cx| product(cx, ["self", "vec"]))),
    ("outer", One(outer)),
    ("tensordot", One(tensordot)),
    ("trace", One(trace)),
    ("vdot", One(|cx| product(cx, ["self", "other"]))),
];

/// The product of matrices, stacks of them, or vectors, as NumPy has it.
fn times(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let dtype = cx.ty(x).dtype;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    let product = cx.call("MatMul", &[Some(x), Some(y)], &[])?;
    cx.cast(product, dtype)
}

fn product(cx: &mut Cx<'_, '_, '_>, names: [&str; 2]) -> Lowered<ValueId> {
    let [x, y] = [cx.tensor(names[0])?, cx.tensor(names[1])?];
    times(cx, x, y)
}

/// x · Wᵀ + bias.
fn linear(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, weight) = (cx.float_tensor("input")?, cx.float_tensor("weight")?);
    let bias = cx.optional_tensor("bias")?;
    layer(cx, x, weight, bias)
}

/// x · Wᵀ + bias, of which weights or bias may be constant.
pub(super) fn layer(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    weight: ValueId,
    bias: Option<ValueId>,
) -> Lowered<ValueId> {
    let (dims, shape) = (cx.dims(x), cx.dims(weight));
    let misfit = |cx: &Cx<'_, '_, '_>| malformed!("weights {} do not fit {}", cx.shown(weight), cx.shown(x));
    let (Some((&k, front)), &[n, depth]) = (dims.split_last(), &*shape) else { return Err(misfit(cx)) };
    malformed_if!(k != depth, "weights {} do not fit {}", cx.shown(weight), cx.shown(x));
    let result = [front, &[n]].concat();
    let rows = if front.is_empty() { cx.reshaped(x, &[1, k])? } else { x };
    let Some(data) = cx.known(weight) else {
        let y = cx.matrix_product(rows, weight)?;
        let y = bias.map_or(Ok(y), |bias| cx.sum(y, bias))?;
        return cx.reshaped(y, &result);
    };
    // What is stored as integers stays so.
    let is_stored = cx.importer.graph.const_data(weight).is_some() || cx.dequantized(weight).is_some();
    let weight = match is_stored {
        true => weight,
        false => cx.float_constant("weight", &[n, k], &data.to_f32())?,
    };
    let constant = bias.filter(|&bias| cx.importer.graph.const_data(bias).is_some() && cx.dims(bias) == [n]);
    let operands: Vec<ValueId> = [rows, weight].into_iter().chain(constant).collect();
    let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    let wide = if front.is_empty() { vec![1, n] } else { result.clone() };
    let mut y = cx.add_like(op, &operands, &wide)?;
    if let (Some(bias), None) = (bias, constant) {
        y = cx.sum(y, bias)?;
    }
    cx.reshaped(y, &result)
}

/// β·self + α·(x · y), of which the products may be summed over a stack.
fn added(cx: &mut Cx<'_, '_, '_>, names: [&str; 2], is_sum: bool) -> Lowered<ValueId> {
    let [x, y] = [cx.float_tensor(names[0])?, cx.float_tensor(names[1])?];
    let bias = cx.float_tensor("self")?;
    let (alpha, beta) = (cx.number_or("alpha", 1.0)?, cx.number_or("beta", 1.0)?);
    // A layer with constant weights has a bias.
    if let (true, &[k, n], Some(data)) = (alpha == 1.0 && beta == 1.0, &*cx.dims(y), cx.known(y)) {
        if cx.dims(x).len() == 2 && cx.dims(bias) == [n] {
            let weight = match cx.dequantized(y) {
                Some(_) => cx.transposed(y, &[1, 0])?,
                None => {
                    let from = data.to_f32();
                    let at = |at: usize| from.get(at % k.max(1) * n + at / k.max(1)).copied();
                    let turned: Vec<f32> = (0..n * k).filter_map(at).collect();
                    cx.float_constant("weight", &[n, k], &turned)?
                }
            };
            return layer(cx, x, weight, Some(bias));
        }
    }
    let mut product = times(cx, x, y)?;
    if is_sum {
        product = cx.reduced(kiln_ir::Reduction::Sum, product, &[0])?;
        let dims = cx.dims(product);
        product = cx.reshaped(product, &dims[1..])?;
    }
    if alpha != 1.0 {
        product = cx.times(product, alpha)?;
    }
    if beta == 0.0 {
        return Ok(product);
    }
    let bias = if beta == 1.0 { bias } else { cx.times(bias, beta)? };
    cx.sum(product, bias)
}

fn einsum(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = cx.tensors("tensors")?;
    let all = all.into_iter().map(|x| cx.floating(x).map(Some)).collect::<Lowered<Vec<_>>>()?;
    let equation = cx.words("equation");
    cx.call("Einsum", &all, &[("equation", Set::Text(equation))])
}

fn outer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = [cx.tensor("self")?, cx.tensor(if cx.has("vec2") { "vec2" } else { "other" })?];
    let rows = cx.ty(x).shape.numel();
    let column = cx.reshaped(x, &[rows, 1])?;
    cx.product(column, y)
}

/// Axes of one, multiplied with and summed over those of the other.
fn tensordot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = [cx.float_tensor("self")?, cx.float_tensor("other")?];
    let list = |cx: &Cx<'_, '_, '_>, name: &str, x: ValueId| -> Lowered<Vec<usize>> {
        let given = cx.integers(name)?.unwrap_or_default();
        given.iter().map(|&axis| cx.axis(axis, cx.dims(x).len())).collect()
    };
    let (a, b) = (list(cx, "dims_self", x)?, list(cx, "dims_other", y)?);
    let others =
        |rank: usize, axes: &[usize]| (0..rank).filter(|axis| !axes.contains(axis)).collect::<Vec<_>>();
    let (dims_x, dims_y) = (cx.dims(x), cx.dims(y));
    let (own_x, own_y) = (others(dims_x.len(), &a), others(dims_y.len(), &b));
    let sizes = |dims: &[usize], axes: &[usize]| axes.iter().map(|&axis| dims[axis]).collect::<Vec<usize>>();
    let (rest_x, rest_y) = (sizes(&dims_x, &own_x), sizes(&dims_y, &own_y));
    malformed_if!(sizes(&dims_x, &a) != sizes(&dims_y, &b), "axes {a:?} and {b:?} do not fit");
    let depth: usize = sizes(&dims_x, &a).iter().product();
    let left = cx.transposed(x, &[own_x, a].concat())?;
    let left = cx.reshaped(left, &[rest_x.iter().product(), depth])?;
    let right = cx.transposed(y, &[b, own_y].concat())?;
    let right = cx.reshaped(right, &[depth, rest_y.iter().product()])?;
    let y = times(cx, left, right)?;
    cx.reshaped(y, &[rest_x, rest_y].concat())
}

/// x · W · y for each of the results, plus a bias.
fn bilinear(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y, weight) = (cx.float_tensor("input1")?, cx.float_tensor("input2")?, cx.float_tensor("weight")?);
    let &[o, a, b] = &*cx.dims(weight) else {
        return Err(malformed!("its weights are {}", cx.shown(weight)));
    };
    let (left, right) = (cx.dims(x), cx.dims(y));
    let front = &left[..left.len().saturating_sub(1)];
    let rows: usize = front.iter().product();
    malformed_if!(
        left.last() != Some(&a) || right.last() != Some(&b) || cx.ty(y).shape.numel() != rows * b,
        "{} and {} do not fit weights {}",
        cx.shown(x),
        cx.shown(y),
        cx.shown(weight)
    );
    // [o, a, b] as [o·b, a]: a layer on x gives a row of y's factors for each result.
    let turned = cx.transposed(weight, &[0, 2, 1])?;
    let matrix = cx.reshaped(turned, &[o * b, a])?;
    let x = cx.reshaped(x, &[rows, a])?;
    let part = layer(cx, x, matrix, None)?;
    let part = cx.reshaped(part, &[rows, o, b])?;
    let y = cx.reshaped(y, &[rows, 1, b])?;
    let product = cx.product(part, y)?;
    let sum = cx.reduced(kiln_ir::Reduction::Sum, product, &[2])?;
    let sum = cx.reshaped(sum, &[front, &[o]].concat())?;
    match cx.optional_tensor("bias")? {
        Some(bias) => cx.sum(sum, bias),
        None => cx.cast(sum, DType::F32),
    }
}

/// Products of rows with rows.
fn inner(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = [cx.float_tensor("self")?, cx.float_tensor("other")?];
    let (left, right) = (cx.dims(x), cx.dims(y));
    let (Some((&k, front)), Some((_, back))) = (left.split_last(), right.split_last()) else {
        return cx.product(x, y);
    };
    let rows = cx.reshaped(x, &[front.iter().product(), k])?;
    let columns = cx.reshaped(y, &[back.iter().product(), k])?;
    let product = layer(cx, rows, columns, None)?;
    cx.reshaped(product, &[front, back].concat())
}

/// Each element of one times all of the other.
fn kron(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = [cx.tensor("self")?, cx.tensor("other")?];
    let rank = cx.dims(x).len().max(cx.dims(y).len());
    let aligned = |dims: Vec<usize>| [vec![1; rank - dims.len()], dims].concat();
    let (left, right) = (aligned(cx.dims(x)), aligned(cx.dims(y)));
    let spread = |dims: &[usize], first: bool| -> Vec<usize> {
        dims.iter().flat_map(|&dim| if first { [dim, 1] } else { [1, dim] }).collect()
    };
    let x = cx.reshaped(x, &spread(&left, true))?;
    let y = cx.reshaped(y, &spread(&right, false))?;
    let product = cx.product(x, y)?;
    let dims: Vec<usize> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
    cx.reshaped(product, &dims)
}

/// The cross product along an axis of three.
fn cross(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let dims = cx.dims(x);
    let axis = match cx.has("dim") || cx.target == "linalg_cross" {
        true => cx.dim("dim", -1, x)?,
        false => dims.iter().position(|&dim| dim == 3).unwrap_or(0),
    };
    malformed_if!(dims.get(axis) != Some(&3) || cx.dims(y) != dims, "{} has no cross product", cx.shown(x));
    let turned = |cx: &mut Cx<'_, '_, '_>, x: ValueId, by: usize| {
        let order: Vec<usize> = (0..3).map(|k| (k + by) % 3).collect();
        cx.picked(x, axis, &order)
    };
    let (a, b) = (turned(cx, x, 1)?, turned(cx, y, 2)?);
    let (c, d) = (turned(cx, x, 2)?, turned(cx, y, 1)?);
    let (plus, minus) = (cx.product(a, b)?, cx.product(c, d)?);
    cx.difference(plus, minus)
}

/// The sum of the diagonal.
fn trace(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let diagonal = super::movement::diagonal_of(cx, x, [0, 1], 0)?;
    let sum = cx.reduced(kiln_ir::Reduction::Sum, diagonal, &[0])?;
    cx.reshaped(sum, &[])
}
