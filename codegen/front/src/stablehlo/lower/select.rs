//! select_and_scatter: each window's largest or smallest element takes a number. It is what the gradient of a pooling is.

use super::super::module::Element;
use super::cx::Cx;
use super::reduce::{self, Body};
use super::slot::Tensor;
use super::{compare, shape, window, Lowered, One, Operators, Refusal};
use kiln_ir::{Comparison, DType};

pub(super) const OPERATORS: Operators = &[("select_and_scatter", One(select_and_scatter))];

/// Most elements of a window.
const MOST_TAPS: usize = 256;

fn select_and_scatter(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, source, start) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let rank = x.dims.len();
    let axes = window::axes(cx, rank)?;
    let [select, scatter] = cx.operation.regions.as_slice() else {
        return Err(malformed!("it needs two bodies"));
    };
    let fits = source.dims.len() == rank
        && (0..rank).all(|k| axes[k].windows(x.dims[k]) == Some(source.dims[k]) && source.dims[k] > 0);
    malformed_if!(!fits, "windows over {:?} do not fit {:?}", x.dims, source.dims);
    let Body::Each(joins) = reduce::body(scatter, 1)? else { return Err(reduce::unknown_body()) };
    let join = joins[0];
    let direction = select.operations.iter().find(|operation| operation.name == "stablehlo.compare");
    let direction =
        direction.map(|operation| super::attributes::word(&operation.attributes, "comparison_direction"));
    let (function, filler) = match direction {
        Some("GE") => (Comparison::GreaterEqual, reduce::Join::Max),
        Some("GT") => (Comparison::Greater, reduce::Join::Max),
        Some("LE") => (Comparison::LessEqual, reduce::Join::Min),
        Some("LT") => (Comparison::Less, reduce::Join::Min),
        _ => return Err(reduce::unknown_body()),
    };
    let taps: usize = axes.iter().map(|axis| axis.size).product();
    if taps > MOST_TAPS {
        let what = format!("windows of {taps} elements cannot be compiled");
        return Err(Refusal::unsupported(what, format!("use windows of at most {MOST_TAPS}")));
    }
    let offsets = |mut tap: usize| -> Vec<usize> {
        let mut at = vec![0; rank];
        for k in (0..rank).rev() {
            (at[k], tap) = (tap % axes[k].size, tap / axes[k].size);
        }
        at
    };
    // Around the operand is what is never chosen.
    let (low, high): (Vec<i64>, Vec<i64>) = axes.iter().map(|axis| axis.pad).unzip();
    let filler = filler.neutral(cx, &x)?;
    let wide = shape::padded(cx, &x, &filler, &low, &high, &vec![0; rank])?;
    let strides: Vec<usize> = axes.iter().map(|axis| axis.stride).collect();
    let mut best: Option<(Tensor, Tensor)> = None;
    let element = Element::Signed(32);
    for tap in 0..taps {
        let begin = offsets(tap);
        let limit: Vec<usize> = (0..rank).map(|k| begin[k] + (source.dims[k] - 1) * strides[k] + 1).collect();
        let own = shape::sliced(cx, &wide, &begin, &limit, &strides)?;
        let number = cx.means().int_constant("tap", DType::I32, &vec![1; rank], &[tap as i64])?;
        let number = Tensor::of(number, &source.dims, &element);
        best = Some(match best {
            None => (own, number),
            Some((value, index)) => {
                let stays = compare::compared(cx, function, &value, &own)?;
                (compare::chosen(cx, &stays, &value, &own)?, compare::chosen(cx, &stays, &index, &number)?)
            }
        });
    }
    let Some((_, index)) = best else { return Err(malformed!("its windows are empty")) };
    let value = cx.means().reshaped(start.value, &vec![1; rank])?;
    let mut y = Tensor::of(value, &x.dims, &x.element);
    let neutral = join.neutral(cx, &source)?;
    for tap in 0..taps {
        let here = reduce::is_at(cx, &index, tap as i64)?;
        let part = compare::chosen(cx, &here, &source, &neutral)?;
        let begin = offsets(tap);
        let between: Vec<i64> = strides.iter().map(|&stride| stride as i64 - 1).collect();
        let before: Vec<i64> = (0..rank).map(|k| begin[k] as i64 - low[k]).collect();
        let after: Vec<i64> = (0..rank)
            .map(|k| {
                let inner = ((source.dims[k] - 1) * strides[k] + 1) as i64;
                x.dims[k] as i64 - inner - before[k]
            })
            .collect();
        let spread = shape::padded(cx, &part, &neutral, &before, &after, &between)?;
        y = join.apply(cx, &y, &spread)?;
    }
    Ok(y)
}
