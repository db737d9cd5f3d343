//! Factors in floats: afterwards no layer rescales its sums as floats if there are fixed-point factors that give the same results for all sums that it can have.
//!
//! Exact. Layers of ONNX's quantised operators get the kernels of TFLite's that way; the few others keep the floats, and portable kernels.

use super::zero_point::folded_bias;
use crate::interp::rescaled_float;
use crate::ir::{Clamp, DType, Graph, Multiplier, Node, Op, Real, Rescale, Type};
use crate::requant::{as_fixed_point, Interval};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut changed = false;
    for id in graph.order.clone() {
        let Some(multipliers) = multipliers(graph, graph.node(id)) else { continue };
        if let Some(rescale) = rescale_mut(&mut graph.node_mut(id).op) {
            *rescale = Rescale::FixedPoint(multipliers);
            changed = true;
        }
    }
    changed
}

fn rescale_mut(op: &mut Op) -> Option<&mut Rescale> {
    match op {
        Op::Conv2d { rescale, .. }
        | Op::Dense { rescale, .. }
        | Op::MatMul { rescale, .. }
        | Op::Mean { rescale, .. }
        | Op::Mul { rescale, .. } => Some(rescale),
        _ => None,
    }
}

/// Fixed-point factors for all channels of a layer that has floats.
fn multipliers(graph: &Graph, node: &Node) -> Option<Vec<Multiplier>> {
    let y = graph.ty(node.result);
    if y.dtype != DType::I8 {
        return None;
    }
    let ty = |k: usize| node.operands.get(k).map(|&operand| graph.ty(operand));
    match &node.op {
        Op::Conv2d { rescale: Rescale::Float(factors), clamp, .. }
        | Op::Dense { rescale: Rescale::Float(factors), clamp } => {
            let ranges = filters(graph, node)?;
            if factors.len() == 1 {
                // One for all: of all sums together.
                let all = ranges.into_iter().reduce(joined)?;
                return fitted(factors[0], all, y, clamp).map(|one| vec![one]);
            }
            factors.iter().zip(ranges).map(|(&by, range)| fitted(by, range, y, clamp)).collect()
        }
        Op::MatMul { rescale: Rescale::Float(factors), clamp } => {
            let count = ty(0)?.shape.last();
            let range = products(ty(0)?, ty(1)?, count)?;
            fitted(*factors.first()?, range, y, clamp).map(|one| vec![one])
        }
        Op::Mean { rescale: Rescale::Float(factors), axes, clamp } => {
            let x = ty(0)?;
            let count: usize =
                axes.iter().map(|&axis| x.shape.dims().get(axis).copied().unwrap_or(1)).product();
            let (least, most) = centred(x)?;
            let count = i64::try_from(count).ok()?;
            let range = Interval { lo: least * count, hi: most * count };
            fitted(*factors.first()?, range, y, clamp).map(|one| vec![one])
        }
        Op::Mul { rescale: Rescale::FloatSum { by, plus }, clamp } => {
            let range = products(ty(0)?, ty(1)?, 1)?;
            let (lo, hi) = clamp.int_bounds();
            let zero = y.zero_point();
            let function = |acc: i32| {
                let rounded = (acc as f32 * by.0 + *plus as f32).round_ties_even() as i32;
                rounded.saturating_sub(*plus).saturating_add(zero).max(lo).min(hi)
            };
            as_fixed_point(function, by.0.into(), range, zero, (lo, hi)).map(|one| vec![one])
        }
        _ => None,
    }
}

fn fitted(by: Real, range: Interval, y: &Type, clamp: &Clamp) -> Option<Multiplier> {
    let (lo, hi) = clamp.int_bounds();
    let zero = y.zero_point();
    let function = |acc: i32| rescaled_float(acc, by).saturating_add(zero).max(lo).min(hi);
    as_fixed_point(function, by.0.into(), range, zero, (lo, hi))
}

fn joined(a: Interval, b: Interval) -> Interval {
    Interval { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) }
}

/// The least and largest element less the zero point.
fn centred(ty: &Type) -> Option<(i64, i64)> {
    let (lo, hi) = ty.dtype.int_range()?;
    let zero = i64::from(ty.zero_point());
    Some((lo - zero, hi - zero))
}

/// The sums of so many products of elements less their zero points.
fn products(x: &Type, y: &Type, count: usize) -> Option<Interval> {
    let (x, y) = (centred(x)?, centred(y)?);
    let ends = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
    let count = i64::try_from(count).ok()?;
    Some(Interval { lo: ends.iter().min()? * count, hi: ends.iter().max()? * count })
}

/// The sums of each filter with its bias.
fn filters(graph: &Graph, node: &Node) -> Option<Vec<Interval>> {
    let (x, w) = (graph.ty(*node.operands.first()?), graph.ty(*node.operands.get(1)?));
    let weights = graph.const_data(*node.operands.get(1)?)?.to_ints(w.dtype);
    if w.quant.as_ref().is_some_and(|quant| quant.zero_points.iter().any(|&zero| zero != 0)) {
        return None;
    }
    let count = *w.shape.dims().first()?;
    let weights: Vec<i32> = weights.into_iter().map(|w| w as i32).collect();
    let bias = match node.operands.get(2) {
        Some(&bias) => graph.const_data(bias).filter(|_| graph.ty(bias).dtype == DType::I32)?.to_i32(),
        None => vec![0; count],
    };
    let bias = folded_bias(&weights, &bias, x.zero_point(), count);
    let (least, most) = x.dtype.int_range()?;
    let taps = weights.len().checked_div(count)?.max(1);
    let range = |(weights, &bias): (&[i32], &i32)| {
        let start = Interval { lo: bias.into(), hi: bias.into() };
        weights.iter().fold(start, |sum, &w| {
            let (a, b) = (i64::from(w) * least, i64::from(w) * most);
            Interval { lo: sum.lo + a.min(b), hi: sum.hi + a.max(b) }
        })
    };
    Some(weights.chunks(taps).zip(&bias).map(range).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, keeps, parse};
    use super::*;

    const DENSE: &str = "input %x: i8[4,3] q(0.5 : -3)
             const %w: i8[2,3] q(0.01 : 0) = [100, -27, 3, -128, 90, 11]
             const %b: i32[2] = [1000, -77]
             %y: i8[4,2] q(0.5 : -20) = dense(%x, %w, %b) {rescale = float [F], clamp = -128..=127}
             return %y";

    #[test]
    fn factors_become_fixed_point() {
        for factors in ["0.0123", "0.00371, 0.00949"] {
            let before = parse(&DENSE.replace('F', factors));
            let mut graph = before.clone();
            assert!(run(&mut graph));
            assert_equivalent(&before, &graph);
            assert!(!run(&mut graph));
        }
    }

    #[test]
    fn halves_stay() {
        keeps(run, &DENSE.replace('F', "0.0078125"));
    }
}
