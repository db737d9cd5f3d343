//! Reductions, and ARGMAX.

use super::cx::Cx;
use super::lazy::Kind;
use super::recognise::factors;
use super::scale::Scale;
use super::{Kept, Lowered, One, Operators, Slot};
use kiln_ir::{Clamp, DType, Op, Reduction, Rescale, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ARGMAX", One(arg_max)),
    ("REDUCE_ALL", One(|cx| truths(cx, Reduction::Min))),
    ("REDUCE_ANY", One(|cx| truths(cx, Reduction::Max))),
    ("REDUCE_MAX", One(|cx| reduce(cx, Reduction::Max))),
    ("REDUCE_MIN", One(|cx| reduce(cx, Reduction::Min))),
    ("REDUCE_PRODUCT", One(|cx| reduce(cx, Reduction::Product))),
    ("REDUCE_SUM", Kept(sum)),
];

/// Sums of bytes less their zero point, times a whole number. The axes are those of `x`.
#[derive(Clone, Debug)]
pub(super) struct Total {
    pub(super) x: ValueId,
    pub(super) zero: i64,
    pub(super) axes: Vec<usize>,
    pub(super) factor: i64,
}

fn reduce(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let axis = cx.axis(0, cx.dims(x).len())?;
    cx.means().reduced(function, x, &[axis])
}

/// Truth values, as 0 and 1.
fn truths(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let axis = cx.axis(0, cx.dims(x).len())?;
    let mut means = cx.means();
    let numbers = means.cast(x, DType::I32)?;
    let y = means.reduced(function, numbers, &[axis])?;
    means.cast(y, DType::Bool)
}

/// REDUCE_SUM.
fn sum(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let mut dims = cx.operand_dims(0)?;
    let axis = cx.axis(0, dims.len())?;
    dims[axis] = 1;
    if let Some(id) = cx.lazy(0) {
        let total = match &cx.importer.lazies.get(id).kind {
            Kind::Total(total) if cx.importer.lazies.get(id).dims.len() == cx.dims(total.x).len() => {
                let mut axes = total.axes.clone();
                axes.push(axis);
                axes.sort_unstable();
                axes.dedup();
                Some(Total { axes, ..total.clone() })
            }
            _ => cx.importer.lazies.centred(id).map(|(x, zero, factor)| Total {
                x,
                zero,
                axes: vec![axis],
                factor,
            }),
        };
        if let Some(total) = total.filter(|total| dims.len() == cx.dims(total.x).len()) {
            return cx.kept(Kind::Total(total), &dims, DType::I32);
        }
    }
    let x = cx.value(0)?;
    cx.means().reduced(Reduction::Sum, x, &[axis]).map(Slot::Value)
}

/// ARGMAX: the axis is left out.
fn arg_max(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let mut dims = cx.dims(x);
    let axis = cx.axis(0, dims.len())?;
    dims.remove(axis);
    let dtype = cx.result_dtype(0)?;
    cx.means().add(Op::ArgReduce { axis, largest: true }, &[x], Type::plain(dtype, &dims))
}

impl Cx<'_, '_, '_> {
    /// The shape of sums along axes.
    fn reduced_dims(&self, total: &Total) -> Vec<usize> {
        let one = |(axis, dim)| if total.axes.contains(&axis) { 1 } else { dim };
        self.dims(total.x).into_iter().enumerate().map(one).collect()
    }

    /// Sums that become bytes, as a mean; `None` where none has the same results.
    pub(super) fn total(&mut self, total: &Total, dims: &[usize], scale: &Scale) -> Lowered<Option<ValueId>> {
        if scale.unsigned[1] || scale.dtypes[1] != DType::I8 || !scale.is_single() || scale.zeros[0] != 0 {
            return Ok(None);
        }
        let own = self.dims(total.x);
        let count: usize = total.axes.iter().filter_map(|&axis| own.get(axis)).product();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let (least, most) = (count.saturating_mul(-128 - total.zero), count.saturating_mul(127 - total.zero));
        // Floats hold the sums exactly.
        if self.ty(total.x).dtype != DType::I8 || least < -(1 << 24) || most > 1 << 24 {
            return Ok(None);
        }
        let reference = |sum: i64| scale.result(sum.wrapping_mul(total.factor), 0);
        let Some(rescale) = fitted(scale.factor(0) * total.factor as f64, scale, (least, most), reference)
        else {
            return Ok(None);
        };
        let x = self.stored(total.x, total.zero)?;
        let natural = self.reduced_dims(total);
        let ty = Type::quantized(DType::I8, &natural, 1.0, scale.zeros[1] as i32);
        let op = Op::Mean { axes: total.axes.clone(), rescale, clamp: Clamp::I8 };
        let y = self.means().add(op, &[x], ty)?;
        self.means().reshaped(y, dims).map(Some)
    }

    /// The sums in integers of 32 bits.
    pub(super) fn plain_total(&mut self, total: &Total, dims: &[usize]) -> Lowered<ValueId> {
        let x = self.plain(total.x)?;
        let mut cx = self.means();
        let wide = cx.cast(x, DType::I32)?;
        let centred = cx.plus(wide, -(total.zero as f64))?;
        let sum = cx.reduced(Reduction::Sum, centred, &total.axes)?;
        let sum = cx.times(sum, total.factor as f64)?;
        cx.reshaped(sum, dims)
    }
}

/// A factor in floats that gives the same results as a function of the sums in a range, which does not fall. It is compared at every step of the result.
fn fitted(
    by: f64,
    scale: &Scale,
    (least, most): (i64, i64),
    reference: impl Fn(i64) -> i64,
) -> Option<Rescale> {
    let (lo, hi) = scale.range();
    // The smallest sum with at least that result.
    let step = |y: i64| {
        let (mut below, mut above) = (least - 1, most + 1);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if reference(middle) >= y {
                above = middle;
            } else {
                below = middle;
            }
        }
        above
    };
    let (first, last) = (reference(least), reference(most));
    let steps: Vec<(i64, i64)> = (first + 1..=last).map(|y| (y, step(y))).collect();
    factors(by).map(|by| Rescale::Float(vec![by])).find(|rescale| {
        let of = |sum: i64| {
            let result = i32::try_from(sum).ok().and_then(|sum| kiln_interp::rescaled(rescale, sum, 0));
            result.map(|result| (i64::from(result) + scale.zeros[1]).clamp(lo, hi))
        };
        of(least) == Some(first)
            && of(most) == Some(last)
            && steps
                .iter()
                .all(|&(y, at)| of(at - 1).is_some_and(|own| own < y) && of(at).is_some_and(|own| own >= y))
    })
}
