//! scatter: elements of updates take the places of others, or join them.

use super::attributes;
use super::cx::Cx;
use super::gather::Numbers;
use super::reduce::{self, Body, Join};
use super::slot::{self, Slot, Tensor};
use super::{bits, All, Lowered, Operators, Refusal};
use crate::onnx::lower::{NodeCx, Set};
use kiln_ir::{Comparison, DType, Op, Reduction, Type, ValueId};

pub(super) const OPERATORS: Operators = &[("scatter", All(scatter))];

/// Most pairs of places and updates that are compared.
const MOST_PAIRS: usize = 1 << 22;

fn scatter(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let tensors = cx.tensors()?;
    let count = tensors.len().saturating_sub(1) / 2;
    malformed_if!(count == 0 || tensors.len() != 2 * count + 1, "it has {} operands", tensors.len());
    let region = cx.operation.regions.first().ok_or_else(|| malformed!("it has no body"))?;
    let joins = match reduce::body(region, count)? {
        Body::Each(joins) => joins,
        Body::Region(_) => return Err(reduce::unknown_body()),
    };
    let mut results = Vec::new();
    for (k, &join) in joins.iter().enumerate() {
        let [x, indices, updates] = [k, count, count + 1 + k].map(|k| tensors[k].clone());
        results.push(Slot::Tensor(one(cx, &x, &indices, &updates, join)?));
    }
    Ok(results)
}

fn one(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    join: Join,
) -> Lowered<Tensor> {
    let names = ["scatter_dims_to_operand_dims", "input_batching_dims", "scatter_indices_batching_dims"];
    let numbers = Numbers::read(cx, "scatter_dimension_numbers", names)?;
    let parts = attributes::parts(&cx.operation.attributes, "scatter_dimension_numbers")?;
    let (windows, inserted) =
        (attributes::sizes(parts, "update_window_dims")?, attributes::sizes(parts, "inserted_window_dims")?);
    let rank = x.dims.len();
    let misfit = || malformed!("updates {:?} do not fit {:?}", updates.dims, x.dims);
    if updates.numel() == 0 {
        return Ok(x.clone());
    }
    // The sizes of updates along the operand's axes.
    let mut of_windows = windows.iter();
    let (mut sizes, mut from) = (vec![1; rank], vec![None; rank]);
    for axis in (0..rank).filter(|axis| !inserted.contains(axis) && !numbers.operand_batch.contains(axis)) {
        let &window = of_windows.next().ok_or_else(misfit)?;
        sizes[axis] = *updates.dims.get(window).ok_or_else(misfit)?;
        malformed_if!(sizes[axis] > x.dims[axis], "updates {:?} do not fit {:?}", updates.dims, x.dims);
        from[axis] = Some(window);
    }
    malformed_if!(of_windows.next().is_some(), "updates {:?} do not fit {:?}", updates.dims, x.dims);
    let places = numbers.places(cx, indices, &x.dims, &sizes, false)?;
    let runs: Vec<usize> = (0..rank).filter(|axis| !places.axes.contains(axis)).collect();
    // Updates in rows, one for each place.
    let batch = (0..updates.dims.len()).filter(|axis| !windows.contains(axis));
    let moved = places.windows.iter().map(|&(axis, _)| axis).chain(runs.iter().copied());
    let perm: Vec<usize> = batch.chain(moved.filter_map(|axis| from[axis])).collect();
    let named: usize = places.batch.iter().chain(places.windows.iter().map(|(_, size)| size)).product();
    let run: usize = runs.iter().map(|&axis| x.dims[axis]).product();
    malformed_if!(
        Some(updates.numel()) != named.checked_mul(run),
        "updates {:?} do not fit indices",
        updates.dims
    );
    let rows = cx.spread(updates)?;
    // Axes of one update are left out.
    let mut perm = perm;
    let left: Vec<usize> = (0..updates.dims.len()).filter(|axis| !perm.contains(axis)).collect();
    perm.extend(left);
    let rows = cx.means().transposed(rows, &perm)?;
    let rows = cx.reshaped(rows, &[named, run])?;
    // The operand in rows.
    let order: Vec<usize> = places.axes.iter().chain(&runs).copied().collect();
    let ordered: Vec<usize> = order.iter().map(|&axis| x.dims[axis]).collect();
    let all: usize = places.axes.iter().map(|&axis| x.dims[axis]).product();
    let own = cx.spread(x)?;
    let own = cx.means().transposed(own, &order)?;
    let own = cx.reshaped(own, &[all, run])?;
    let around: Vec<usize> =
        places.batch.iter().copied().chain(places.windows.iter().map(|(_, size)| *size)).collect();
    let at = flat_places(cx, &places.axes, &places.coordinates, &x.dims, &around, named)?;
    let y = joined(cx, x, own, rows, at, join)?;
    let y = cx.reshaped(y, &ordered)?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(k, &axis)| back[axis] = k);
    let y = cx.means().transposed(y, &back)?;
    Ok(Tensor::of(y, &x.dims, &x.element))
}

/// The row of each update, −1 outside of the operand.
fn flat_places(
    cx: &mut Cx<'_, '_, '_>,
    axes: &[usize],
    coordinates: &[ValueId],
    dims: &[usize],
    around: &[usize],
    named: usize,
) -> Lowered<ValueId> {
    let mut means = cx.means();
    let (mut flat, mut inside) = (None::<ValueId>, None::<ValueId>);
    for (&axis, &coordinate) in axes.iter().zip(coordinates) {
        let coordinate = means.cast(coordinate, DType::I64)?;
        let (zero, size) = (means.number(coordinate, 0.0)?, means.number(coordinate, dims[axis] as f64)?);
        let is_behind = means.compared(Comparison::GreaterEqual, coordinate, zero)?;
        let is_before = means.compared(Comparison::Less, coordinate, size)?;
        let both = means.both(is_behind, is_before)?;
        inside = Some(match inside {
            Some(inside) => means.both(inside, both)?,
            None => both,
        });
        flat = Some(match flat {
            Some(flat) => {
                let rows = means.product(flat, size)?;
                means.sum(rows, coordinate)?
            }
            None => coordinate,
        });
    }
    let value = match (flat, inside) {
        (Some(flat), Some(inside)) => {
            let outside = means.number(flat, -1.0)?;
            means.choice(inside, flat, outside)?
        }
        _ => means.int_constant("place", DType::I64, &vec![1; around.len()], &[0])?,
    };
    let value = means.cast(value, DType::I32)?;
    let value = cx.repeated(value, around)?;
    cx.reshaped(value, &[named])
}

/// Rows that join others, or take their places.
fn joined(
    cx: &mut Cx<'_, '_, '_>,
    like: &Tensor,
    x: ValueId,
    rows: ValueId,
    at: ValueId,
    join: Join,
) -> Lowered<ValueId> {
    let [all, run] = cx.dims(x)[..] else { return Err(malformed!("no rows")) };
    let named = cx.dims(rows)[0];
    let flips = slot::is_wide_unsigned(&like.element) && matches!(join, Join::Max | Join::Min);
    let dtype = cx.ty(x).dtype;
    let (mut x, mut rows) = (x, rows);
    if flips {
        let [a, b] = [x, rows].map(|value| cx.whole(value, &like.element));
        (x, rows) = (bits::flipped(cx, &a)?.value, bits::flipped(cx, &b)?.value);
    }
    let join = match (join, dtype) {
        (Join::Add, DType::Bool) | (Join::Or, DType::Bool) => Join::Max,
        (Join::Multiply, DType::Bool) | (Join::And, DType::Bool) => Join::Min,
        (Join::And | Join::Or | Join::Xor, _) => return Err(reduce::unknown_body()),
        (join, _) => join,
    };
    let (x, rows) = match join {
        Join::Last => (x, rows),
        _ => (cx.means().widened(x)?, cx.means().widened(rows)?),
    };
    let known = cx.known_ints(at);
    let y = match known {
        Some(places) => at_known(&mut cx.means(), x, rows, &places, join)?,
        None => None,
    };
    let y = match y {
        Some(y) => y,
        None => {
            if all.saturating_mul(named) > MOST_PAIRS {
                let what =
                    format!("{named} updates of {all} places, which are computed at run time, are too many");
                return Err(Refusal::unsupported(what, "use constant indices, or fewer updates"));
            }
            at_computed(&mut cx.means(), x, rows, at, join, [all, named, run])?
        }
    };
    let y = cx.means().cast(y, dtype)?;
    match flips {
        true => {
            let y = cx.whole(y, &like.element);
            Ok(bits::flipped(cx, &y)?.value)
        }
        false => Ok(y),
    }
}

/// The places are known. Rows of no place go to one behind all others.
fn at_known(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    rows: ValueId,
    places: &[i64],
    join: Join,
) -> Lowered<Option<ValueId>> {
    let [all, run] = cx.dims(x)[..] else { return Ok(None) };
    let mut counts = vec![0usize; all + 1];
    let at: Vec<i64> = places.iter().map(|&at| if at < 0 { all as i64 } else { at }).collect();
    at.iter().for_each(|&at| counts[at as usize] += 1);
    if join != Join::Last && counts.iter().any(|&count| count > 16) {
        return Ok(None);
    }
    let is_outside = counts[all] > 0;
    let wide = match is_outside {
        true => cx.padded(x, &[0, 0], &[1, 0], 0)?,
        false => x,
    };
    let reduction = match join {
        Join::Add => "add",
        Join::Multiply => "mul",
        Join::Max => "max",
        Join::Min => "min",
        _ => "none",
    };
    let at = cx.int_constant("places", DType::I64, &[at.len(), 1], &at)?;
    let y =
        cx.call("ScatterND", &[Some(wide), Some(at), Some(rows)], &[("reduction", Set::Text(reduction))])?;
    debug_assert_eq!(cx.dims(y)[1], run);
    cx.part(y, 0, 0, all, 1).map(Some)
}

/// Each place is compared with those of all updates.
fn at_computed(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    rows: ValueId,
    at: ValueId,
    join: Join,
    [all, named, run]: [usize; 3],
) -> Lowered<ValueId> {
    cx.importer.budget.make(16 * all);
    let places = cx.counted(DType::I32, all)?;
    let places = cx.reshaped(places, &[all, 1])?;
    let at = cx.reshaped(at, &[1, named])?;
    let mask = cx.compared(Comparison::Equal, places, at)?;
    match join {
        Join::Last => {
            // The last update of a place, counted from 1.
            cx.importer.budget.make(16 * named);
            let numbers: Vec<i64> = (1..=named as i64).collect();
            let numbers = cx.int_constant("updates", DType::I32, &[1, named], &numbers)?;
            let none = cx.number(numbers, 0.0)?;
            let each = cx.choice(mask, numbers, none)?;
            let last = cx.reduced(Reduction::Max, each, &[1])?;
            let has = cx.compared(Comparison::Greater, last, none)?;
            let from = cx.plus(last, -1.0)?;
            let taken =
                cx.add_like(Op::Gather { batch: 0, axis: 0, depth: 1 }, &[rows, from], &[all, run])?;
            cx.choice(has, taken, x)
        }
        Join::Add if cx.ty(x).dtype == DType::F32 => {
            let mask = cx.cast(mask, DType::F32)?;
            let turned = cx.transposed(rows, &[1, 0])?;
            let sums = cx.matrix_product(mask, turned)?;
            cx.sum(x, sums)
        }
        _ => {
            let dtype = cx.ty(x).dtype;
            if all.saturating_mul(named).saturating_mul(run) > MOST_PAIRS {
                let what =
                    format!("{named} updates of {all} places, which are computed at run time, are too many");
                return Err(Refusal::unsupported(what, "use constant indices, or fewer updates"));
            }
            let (least, most) = dtype.int_range().unwrap_or((0, 0));
            let (function, neutral, float) = match join {
                Join::Add => (Reduction::Sum, 0, 0.0),
                Join::Multiply => (Reduction::Product, 1, 1.0),
                Join::Max => (Reduction::Max, least, f64::NEG_INFINITY),
                _ => (Reduction::Min, most, f64::INFINITY),
            };
            let neutral = match dtype {
                DType::F32 => cx.number(x, float)?,
                dtype => cx.int_constant("neutral", dtype, &[], &[neutral])?,
            };
            let mask = cx.reshaped(mask, &[all, named, 1])?;
            let rows = cx.reshaped(rows, &[1, named, run])?;
            let ty = Type::plain(dtype, &[all, named, run]);
            let each = cx.add(Op::Select {}, &[mask, rows, neutral], ty)?;
            let made = cx.reduced(function, each, &[1])?;
            let made = cx.reshaped(made, &[all, run])?;
            match join {
                Join::Add => cx.sum(x, made),
                Join::Multiply => cx.product(x, made),
                Join::Max => cx.binary(kiln_ir::Binary::Max, x, made),
                _ => cx.binary(kiln_ir::Binary::Min, x, made),
            }
        }
    }
}
