//! Layers that XLA takes apart, and that the graph has ops for: softmax, means, poolings, logistic functions, GELU, hard swish.
//!
//! They are found in the graph itself, when the last operator of one is lowered. What is left over is removed by passes.

use super::cx::Cx;
use super::slot::Tensor;
use super::values::is_function;
use super::window;
use super::Lowered;
use kiln_ir::{AddRescale, Binary, Clamp, Op, Reduction, Rescale, Unary, ValueId};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

const PLAIN_MUL: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// What computes a value.
fn made_by<'c>(cx: &'c Cx<'_, '_, '_>, value: ValueId) -> Option<(&'c Op, &'c [ValueId])> {
    let graph = &cx.importer.means.graph;
    let node = graph.node(graph.producer(value)?);
    Some((&node.op, &node.operands))
}

/// The value in front of reshapes.
fn behind_reshapes(cx: &Cx<'_, '_, '_>, mut value: ValueId) -> ValueId {
    while let Some((Op::Reshape {}, &[source])) = made_by(cx, value) {
        value = source;
    }
    value
}

/// The operands of a sum, difference or product.
fn parts_of(cx: &Cx<'_, '_, '_>, value: ValueId, sign: char) -> Option<[ValueId; 2]> {
    let real = AddRescale::Real;
    match (made_by(cx, value)?, sign) {
        ((Op::Add { rescale, .. }, &[a, b]), '+') if *rescale == real => Some([a, b]),
        ((Op::Sub { rescale, .. }, &[a, b]), '-') if *rescale == real => Some([a, b]),
        ((op, &[a, b]), '*') if *op == PLAIN_MUL => Some([a, b]),
        _ => None,
    }
}

fn unary_of(cx: &Cx<'_, '_, '_>, value: ValueId, function: Unary) -> Option<ValueId> {
    match made_by(cx, value)? {
        (Op::Unary { function: own }, &[x]) if *own == function => Some(x),
        _ => None,
    }
}

/// A sum or product with a number: the other operand and the number.
fn with_number(cx: &mut Cx<'_, '_, '_>, value: ValueId, sign: char) -> Option<(ValueId, f64)> {
    let [a, b] = parts_of(cx, value, sign)?;
    if let Some(number) = cx.known_number(b) {
        return Some((a, number));
    }
    cx.known_number(a).map(|number| (b, number))
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

/// x / y as something better.
pub(super) fn quotient(cx: &mut Cx<'_, '_, '_>, x: &Tensor, y: &Tensor) -> Lowered<Option<Tensor>> {
    let dims = cx.common(x, y)?;
    let value = match cx.known_number(y.value) {
        Some(number) if x.dims == dims => mean(cx, x.value, number)?,
        _ => None,
    };
    let value = match value {
        Some(value) => Some(value),
        None => match cx.known_number(x.value) {
            Some(1.0) if y.dims == dims => logistic(cx, y.value)?,
            Some(_) => None,
            None => softmax(cx, x, y)?,
        },
    };
    if let Some(value) = value {
        return Ok(Some(Tensor::of(value, &dims, &x.element)));
    }
    average(cx, x, y)
}

/// Σ x / n, if there are n of them; or a product with the number divided by the number.
fn mean(cx: &mut Cx<'_, '_, '_>, x: ValueId, number: f64) -> Lowered<Option<ValueId>> {
    let (sum, own) = (behind_reshapes(cx, x), cx.dims(x));
    if let Some((Op::Reduce { function: Reduction::Sum, axes, rescale: Rescale::Real }, &[of])) =
        made_by(cx, sum)
    {
        let (axes, dims) = (axes.clone(), cx.dims(of));
        let count: usize = axes.iter().map(|&axis| dims[axis]).product();
        if cx.ty(of).dtype == kiln_ir::DType::F32 && count as f64 == number {
            let mean = cx.means().mean(of, &axes)?;
            return cx.reshaped(mean, &own).map(Some);
        }
    }
    let [a, b] = match parts_of(cx, x, '*') {
        Some(parts) => parts,
        None => return Ok(None),
    };
    let is_same = cx.ty(b).shape.numel() == 1 && cx.known_number(b) == Some(number) && cx.dims(a) == own;
    Ok(is_same.then_some(a))
}

/// 1 / (1 + e⁻ˣ).
fn logistic(cx: &mut Cx<'_, '_, '_>, below: ValueId) -> Lowered<Option<ValueId>> {
    let Some((power, number)) = with_number(cx, below, '+') else { return Ok(None) };
    let x = unary_of(cx, power, Unary::Exp).and_then(|minus| unary_of(cx, minus, Unary::Neg));
    match x.filter(|_| number == 1.0) {
        Some(x) if cx.dims(x) == cx.dims(below) => cx.means().sigmoid(x).map(Some),
        _ => Ok(None),
    }
}

/// The axis along which `value` is made one of elements of `x`, whose only axis of one element it is then.
fn reduced_of(cx: &Cx<'_, '_, '_>, value: ValueId, x: ValueId, function: Reduction) -> Option<usize> {
    let reduced = behind_reshapes(cx, value);
    let Some((Op::Reduce { function: own, axes, rescale: Rescale::Real }, &[of])) = made_by(cx, reduced)
    else {
        return None;
    };
    let &[axis] = &axes[..] else { return None };
    let mut dims = cx.dims(x);
    *dims.get_mut(axis)? = 1;
    (*own == function && of == x && cx.dims(value) == dims).then_some(axis)
}

/// e^(x − max x) / Σ e^(x − max x).
fn softmax(cx: &mut Cx<'_, '_, '_>, power: &Tensor, sum: &Tensor) -> Lowered<Option<ValueId>> {
    let found = || -> Option<(ValueId, usize)> {
        let axis = reduced_of(cx, sum.value, power.value, Reduction::Sum)?;
        let moved = unary_of(cx, power.value, Unary::Exp)?;
        let [x, most] = parts_of(cx, moved, '-')?;
        (reduced_of(cx, most, x, Reduction::Max) == Some(axis)).then_some((x, axis))
    };
    let Some((x, axis)) = found() else { return Ok(None) };
    let mut means = cx.means();
    let turned = means.swapped(x, axis)?;
    let y = means.softmax(turned)?;
    means.swapped(y, axis).map(Some)
}

/// A sum over windows divided by the number of elements in each: a pooling.
fn average(cx: &mut Cx<'_, '_, '_>, x: &Tensor, y: &Tensor) -> Lowered<Option<Tensor>> {
    let Some(pool) = cx.importer.pools.get(&x.value).cloned() else { return Ok(None) };
    if x.dims != y.dims {
        return Ok(None);
    }
    let Some(data) = cx.data(y.value) else { return Ok(None) };
    let (own, strides) = (data.to_f32(), cx.ty(y.value).shape.strides());
    let sizes = cx.dims(y.value);
    cx.importer.means.budget.charge(8 * x.numel())?;
    let counts = window::counts(&pool.axes, &pool.x.dims, &x.dims);
    let at = |mut k: usize| {
        let mut at = 0;
        for axis in (0..x.dims.len()).rev() {
            let place = k % x.dims[axis];
            k /= x.dims[axis];
            at += if sizes[axis] == 1 { 0 } else { place * strides[axis] };
        }
        at
    };
    if !counts.iter().enumerate().all(|(k, count)| own.get(at(k)) == Some(count)) {
        return Ok(None);
    }
    let active: Vec<usize> =
        (0..x.dims.len()).filter(|&k| pool.axes[k].size > 1 || pool.axes[k].stride > 1).collect();
    if !active.iter().all(|&k| window::has_elements(&pool.axes[k], pool.x.dims[k])) {
        return Ok(None);
    }
    window::pooled(cx, &pool.x, &pool.axes, &active, &x.dims, "AveragePool", false).map(Some)
}

/// x + y, x − y or x · y as something better.
pub(super) fn arithmetic(
    cx: &mut Cx<'_, '_, '_>,
    sign: char,
    x: &Tensor,
    y: &Tensor,
) -> Lowered<Option<Tensor>> {
    if cx.ty(x.value).dtype != kiln_ir::DType::F32 || cx.common(x, y)? != x.dims {
        return Ok(None);
    }
    let value = match sign {
        '*' => product(cx, x.value, y.value)?,
        '-' => log_softmax(cx, x.value, y.value)?,
        _ => None,
    };
    Ok(value.map(|value| Tensor { value, ..x.clone() }))
}

fn product(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<Option<ValueId>> {
    // Σ x · (1 / n).
    for (sum, factor) in [(x, y), (y, x)] {
        let Some(number) = cx.known_number(factor).filter(|&number| number > 0.0 && number < 1.0) else {
            continue;
        };
        let whole = (1.0 / number).round();
        if is_near(number * whole, 1.0) && cx.ty(factor).shape.numel() == 1 {
            let is_sum = matches!(
                made_by(cx, behind_reshapes(cx, sum)),
                Some((Op::Reduce { function: Reduction::Sum, .. }, _))
            );
            if is_sum {
                return mean(cx, sum, whole);
            }
        }
    }
    if let Some(y) = hard_swish(cx, x, y)? {
        return Ok(Some(y));
    }
    // All factors of a product of two or three, in which GELU may be written.
    let mut factors = vec![x, y];
    for of in [x, y] {
        if let Some(parts) = parts_of(cx, of, '*') {
            let other = if of == x { y } else { x };
            for split in [vec![other, parts[0], parts[1]]] {
                if let Some(y) = gelu(cx, &split)? {
                    return Ok(Some(y));
                }
            }
        }
    }
    if let (Some(a), Some(b)) = (parts_of(cx, x, '*'), parts_of(cx, y, '*')) {
        factors = [a, b].concat();
    }
    gelu(cx, &factors)
}

/// x · min(max(x + 3, 0), 6) / 6.
fn hard_swish(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<Option<ValueId>> {
    for (x, gate) in [(x, y), (y, x)] {
        // Most products have another gate, which is cheaper to see here.
        let may_be = matches!(
            made_by(cx, gate),
            Some((Op::Binary { function: Binary::Div, .. } | Op::Mul { .. } | Op::Clip { .. }, _))
        );
        if may_be && is_function(cx, gate, x, |x| (x + 3.0).clamp(0.0, 6.0) / 6.0) {
            return cx.means().unary(Unary::HardSwish, x).map(Some);
        }
    }
    Ok(None)
}

/// x · ½ · (1 + erf(x / √2)), or with tanh of a polynomial, in whatever form these are written.
fn gelu(cx: &mut Cx<'_, '_, '_>, factors: &[ValueId]) -> Lowered<Option<ValueId>> {
    let mut factor = 1.0;
    let mut others = Vec::new();
    for &of in factors {
        match cx.known_number(of) {
            Some(number) => factor *= number,
            None => others.push(of),
        }
    }
    let [a, b] = others[..] else { return Ok(None) };
    if !is_near(factor, 0.5) {
        return Ok(None);
    }
    let exact = |x: f64| 1.0 + libm::erf(x * FRAC_1_SQRT_2);
    let fitted = |x: f64| 1.0 + libm::tanh((2.0 / PI).sqrt() * (x + 0.044715 * x * x * x));
    for (x, gate) in [(a, b), (b, a)] {
        if is_function(cx, gate, x, exact) {
            return cx.means().unary(Unary::Gelu, x).map(Some);
        }
        if is_function(cx, gate, x, fitted) {
            return cx.means().unary(Unary::GeluTanh, x).map(Some);
        }
    }
    Ok(None)
}

/// (x − max x) − log Σ e^(x − max x).
fn log_softmax(cx: &mut Cx<'_, '_, '_>, moved: ValueId, log: ValueId) -> Lowered<Option<ValueId>> {
    let found = || -> Option<(ValueId, usize)> {
        let [x, most] = parts_of(cx, moved, '-')?;
        let axis = reduced_of(cx, most, x, Reduction::Max)?;
        let sum = unary_of(cx, behind_reshapes(cx, log), Unary::Log)?;
        let reduced = behind_reshapes(cx, sum);
        let Some((Op::Reduce { function: Reduction::Sum, axes, .. }, &[power])) = made_by(cx, reduced) else {
            return None;
        };
        let is_same = axes[..] == [axis] && unary_of(cx, power, Unary::Exp) == Some(moved);
        let mut dims = cx.dims(x);
        dims[axis] = 1;
        (is_same && cx.dims(log) == dims).then_some((x, axis))
    };
    let Some((x, axis)) = found() else { return Ok(None) };
    let mut means = cx.means();
    let turned = means.swapped(x, axis)?;
    let y = means.log_softmax(turned)?;
    means.swapped(y, axis).map(Some)
}
