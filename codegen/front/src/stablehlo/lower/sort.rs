//! Sorting, and the largest elements.

use super::super::module::{Attribute, Element};
use super::attributes;
use super::cx::Cx;
use super::slot::{self, Slot, Tensor};
use super::{bits, All, Lowered, Operators, Refusal};
use kiln_ir::{DType, Op, Type, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[("chlo.top_k", All(top_k)), ("sort", All(sort))];

/// Most operands that are sorted together.
const MOST_OPERANDS: usize = 16;

/// An operand by which others are ordered.
struct Key {
    operand: usize,
    rises: bool,
}

fn sort(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let mut tensors = cx.tensors()?;
    let dims = tensors.first().map(|x| x.dims.clone()).unwrap_or_default();
    malformed_if!(tensors.iter().any(|x| x.dims != dims), "its operands have different shapes");
    let rank = dims.len();
    let axis = match cx.list("dimension")?.and_then(|list| list.first().copied()) {
        Some(axis) if axis < 0 => usize::try_from(axis + rank as i64).ok(),
        Some(axis) => usize::try_from(axis).ok(),
        None => rank.checked_sub(1),
    };
    let axis =
        axis.filter(|&axis| axis < rank).ok_or_else(|| malformed!("its dimension is none of {rank}"))?;
    if dims.contains(&0) || dims[axis] == 1 {
        return Ok(tensors.into_iter().map(Slot::Tensor).collect());
    }
    let keys = keys(cx, &tensors)?;
    // By the least important key first: what follows keeps the order of equal elements.
    for key in keys.iter().rev() {
        let order = order(cx, &tensors[key.operand], axis, dims[axis], !key.rises)?;
        for x in &mut tensors {
            *x = taken(cx, x, axis, order)?;
        }
    }
    Ok(tensors.into_iter().map(Slot::Tensor).collect())
}

/// By what a comparator orders: it is tried on a few numbers.
fn keys(cx: &mut Cx<'_, '_, '_>, tensors: &[Tensor]) -> Lowered<Vec<Key>> {
    let region = cx.operation.regions.first().ok_or_else(|| malformed!("it has no comparator"))?;
    let count = tensors.len();
    if count > MOST_OPERANDS {
        let what = format!("sorting {count} tensors together cannot be compiled");
        return Err(Refusal::unsupported(what, "sort places, and gather the others by them"));
    }
    // For each trial, the operand that differs and whether the first is smaller; then pairs of operands that contradict each other.
    let mut trials: Vec<Vec<(usize, bool)>> = Vec::new();
    for k in 0..count {
        trials.push(vec![(k, true)]);
        trials.push(vec![(k, false)]);
    }
    trials.push(Vec::new());
    let own = trials.len();
    for i in 0..count {
        for j in 0..count {
            for up in [(true, true), (true, false), (false, true), (false, false)] {
                trials.push(vec![(i, up.0), (j, up.1)]);
            }
        }
    }
    let mut arguments = Vec::new();
    for (k, x) in tensors.iter().enumerate() {
        for side in [false, true] {
            let number = |trial: &Vec<(usize, bool)>| {
                let given = trial.iter().rev().find(|(of, _)| *of == k);
                i64::from(given.is_some_and(|&(_, first_is_less)| first_is_less == side))
            };
            let list: Vec<i64> = trials.iter().map(number).collect();
            let dtype = cx.ty(x.value).dtype;
            let value = match dtype {
                DType::F32 => {
                    let list: Vec<f32> = list.iter().map(|&x| x as f32).collect();
                    cx.means().float_constant("trial", &[list.len()], &list)?
                }
                dtype => cx.means().int_constant("trial", dtype, &[list.len()], &list)?,
            };
            arguments.push(Slot::Tensor(Tensor::of(value, &[trials.len()], &x.element)));
        }
    }
    let unknown = || {
        let help = "compare the operands with LT or GT, one after the other";
        Refusal::unsupported("its comparator cannot be compiled", help)
    };
    let results = cx.importer.inner(cx.function, cx.slots, region, arguments)?;
    let [Slot::Tensor(less)] = &results[..] else { return Err(unknown()) };
    let value = cx.repeated(less.value, &[trials.len()])?;
    let is_less: Vec<bool> =
        cx.known_ints(value).ok_or_else(unknown)?.iter().map(|&truth| truth != 0).collect();
    let mut keys: Vec<Key> = Vec::new();
    for operand in 0..count {
        match (is_less[2 * operand], is_less[2 * operand + 1]) {
            (true, false) => keys.push(Key { operand, rises: true }),
            (false, true) => keys.push(Key { operand, rises: false }),
            _ => {}
        }
    }
    // A key is more important than another where it decides against it.
    let decides = |a: &Key, b: &Key| -> bool {
        let wanted = vec![(a.operand, a.rises), (b.operand, !b.rises)];
        trials[own..].iter().position(|trial| *trial == wanted).is_some_and(|at| is_less[own + at])
    };
    let wins =
        |key: &Key| keys.iter().filter(|other| other.operand != key.operand && decides(key, other)).count();
    let mut ranked: Vec<(usize, Key)> =
        keys.iter().map(|key| (wins(key), Key { operand: key.operand, rises: key.rises })).collect();
    ranked.sort_by_key(|(wins, _)| std::cmp::Reverse(*wins));
    let is_order = ranked.iter().enumerate().all(|(at, (wins, _))| wins + at + 1 == ranked.len());
    match is_order && !ranked.is_empty() {
        true => Ok(ranked.into_iter().map(|(_, key)| key).collect()),
        false => Err(unknown()),
    }
}

/// The places of the `count` first elements along an axis, as the last axis: the largest or the smallest ones, of equal ones the first.
fn order(cx: &mut Cx<'_, '_, '_>, x: &Tensor, axis: usize, count: usize, largest: bool) -> Lowered<ValueId> {
    let x = if slot::is_wide_unsigned(&x.element) { bits::flipped(cx, x)? } else { x.clone() };
    let value = cx.spread(&x)?;
    let mut means = cx.means();
    let value = match means.ty(value).dtype {
        DType::Bool | DType::U8 => means.cast(value, DType::I32)?,
        _ => value,
    };
    let value = match (largest, means.ty(value).dtype) {
        (true, _) => value,
        (false, DType::F32) => means.unary(Unary::Neg, value)?,
        (false, _) => {
            let mirror = means.number(value, -1.0)?;
            means.difference(mirror, value)?
        }
    };
    let rows = means.swapped(value, axis)?;
    let mut dims = means.dims(rows);
    let last = dims.len() - 1;
    dims[last] = count;
    means.add(Op::TopK {}, &[rows], Type::plain(DType::I32, &dims))
}

/// The elements at these places, which lie along the last axis.
fn taken(cx: &mut Cx<'_, '_, '_>, x: &Tensor, axis: usize, order: ValueId) -> Lowered<Tensor> {
    let value = cx.spread(x)?;
    let mut means = cx.means();
    let rows = means.swapped(value, axis)?;
    let dims = means.dims(order);
    let last = dims.len() - 1;
    let each = means.reshaped(order, &[&dims[..], &[1]].concat())?;
    let y = means.add_like(Op::Gather { batch: last, axis: last, depth: 1 }, &[rows, each], &dims)?;
    let y = means.swapped(y, axis)?;
    Ok(cx.whole(y, &x.element))
}

fn top_k(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let k = cx.size("k")?.ok_or_else(|| malformed!("its k is missing"))?;
    largest(cx, k, true)
}

/// The largest or smallest elements along the last axis, and their places.
pub(super) fn largest(cx: &mut Cx<'_, '_, '_>, k: usize, largest: bool) -> Lowered<Vec<Slot>> {
    let x = cx.tensor(0)?;
    let axis = x.dims.len().checked_sub(1).ok_or_else(|| malformed!("its operand has no axes"))?;
    malformed_if!(k == 0 || k > x.dims[axis], "its k is {k} of {:?}", x.dims);
    let order = order(cx, &x, axis, k, largest)?;
    let values = taken(cx, &x, axis, order)?;
    let places = cx.whole(order, &Element::Signed(32));
    Ok(vec![Slot::Tensor(values), Slot::Tensor(places)])
}

/// mhlo.topk as a call: its parameters are in a dictionary.
pub(super) fn called(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let own = &cx.operation.attributes;
    let parts = match own.get("mhlo.attributes") {
        Some(Attribute::Parts(parts)) => parts,
        _ => own,
    };
    let k = match attributes::size(parts, "k")? {
        Some(k) => k,
        None => cx.result_dims(0)?.last().copied().unwrap_or(0),
    };
    let is_smallest = parts.get("largest").is_some() && !attributes::flag(parts, "largest");
    largest(cx, k, !is_smallest)
}
