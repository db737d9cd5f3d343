//! Tensors that follow from numbers and shapes.

use super::cx::Cx;
use super::{view, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{DType, Data, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("arange", One(arange)),
    ("empty", One(|cx| filled(cx, "size", Some(0.0)))),
    ("empty_like", One(|cx| like(cx, Some(0.0)))),
    ("eye", One(eye)),
    ("full", One(|cx| filled(cx, "size", None))),
    ("full_like", One(|cx| like(cx, None))),
    ("linspace", One(linspace)),
    ("meshgrid", All(meshgrid)),
    ("new_empty", One(|cx| filled(cx, "size", Some(0.0)))),
    ("new_full", One(|cx| filled(cx, "size", None))),
    ("new_ones", One(|cx| filled(cx, "size", Some(1.0)))),
    ("new_zeros", One(|cx| filled(cx, "size", Some(0.0)))),
    ("ones", One(|cx| filled(cx, "size", Some(1.0)))),
    ("ones_like", One(|cx| like(cx, Some(1.0)))),
    ("diag", One(diag)),
    ("diag_embed", One(diag_embed)),
    ("tril", One(|cx| triangle(cx, 0))),
    ("triu", One(|cx| triangle(cx, 1))),
    ("tril_indices", One(|cx| triangle_indices(cx, false))),
    ("triu_indices", One(|cx| triangle_indices(cx, true))),
    ("zeros", One(|cx| filled(cx, "size", Some(0.0)))),
    ("zeros_like", One(|cx| like(cx, Some(0.0)))),
];

/// Most elements of a constant that a few numbers of the file ask for.
const MOST: usize = 1 << 16;

fn check(count: usize) -> Lowered {
    match count <= MOST {
        true => Ok(()),
        false => {
            let what = format!("it generates {count} elements; at most {MOST} are possible");
            Err(Refusal::unsupported(what, "store them in the model as a buffer"))
        }
    }
}

/// A constant in the type that the program has for the result.
fn constant(cx: &mut Cx<'_, '_, '_>, dims: &[usize], numbers: &[f64]) -> Lowered<ValueId> {
    let dtype = cx.declared(0)?.unwrap_or(DType::F32);
    cx.importer.budget.charge(8 * numbers.len())?;
    let data = match dtype {
        DType::F32 => Data::from_f32(&numbers.iter().map(|&x| x as f32).collect::<Vec<_>>()),
        _ => Data::from_ints(dtype, numbers.iter().map(|&x| x as i64)),
    };
    Ok(cx.importer.graph.add_const("generated", Type::plain(dtype, dims), data))
}

/// One number in all places.
fn all(cx: &mut Cx<'_, '_, '_>, number: Option<f64>, dims: &[usize]) -> Lowered<ValueId> {
    let dtype = cx.declared(0)?.unwrap_or(DType::F32);
    let number = match number {
        Some(number) => constant(cx, &[], &[number])?,
        None => cx.operand("fill_value")?,
    };
    let number = cx.cast(number, dtype)?;
    let number = cx.reshaped(number, &[])?;
    if dims.contains(&0) {
        return Ok(cx.empty(dtype, dims));
    }
    view::spread(cx, number, dims)
}

fn filled(cx: &mut Cx<'_, '_, '_>, name: &str, number: Option<f64>) -> Lowered<ValueId> {
    let given = cx.integers(name)?.unwrap_or_default();
    let dims: Option<Vec<usize>> =
        given.iter().map(|&size| u32::try_from(size).ok().map(|size| size as usize)).collect();
    let dims = dims.ok_or_else(|| malformed!("its size is {given:?}"))?;
    all(cx, number, &dims)
}

fn like(cx: &mut Cx<'_, '_, '_>, number: Option<f64>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    all(cx, number, &dims)
}

fn arange(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (start, step) = (cx.number_or("start", 0.0)?, cx.number_or("step", 1.0)?);
    let end = cx.number_or("end", 0.0)?;
    let count = ((end - start) / step).ceil().max(0.0);
    malformed_if!(!count.is_finite(), "its range from {start} to {end} by {step} is impossible");
    check(count as usize)?;
    let numbers: Vec<f64> = (0..count as usize).map(|k| start + k as f64 * step).collect();
    constant(cx, &[numbers.len()], &numbers)
}

fn linspace(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (start, end, steps) = (cx.number_or("start", 0.0)?, cx.number_or("end", 0.0)?, cx.size("steps", 1)?);
    check(steps)?;
    let gap = (end - start) / steps.saturating_sub(1).max(1) as f64;
    // From both ends, as PyTorch counts.
    let number =
        |k: usize| if 2 * k < steps { start + k as f64 * gap } else { end - (steps - 1 - k) as f64 * gap };
    let numbers: Vec<f64> = (0..steps).map(|k| if steps == 1 { start } else { number(k) }).collect();
    constant(cx, &[steps], &numbers)
}

fn eye(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let rows = cx.size("n", 1)?;
    let columns = cx.size("m", rows)?;
    check(rows.saturating_mul(columns))?;
    let numbers: Vec<f64> =
        (0..rows * columns).map(|at| f64::from(u8::from(at / columns == at % columns))).collect();
    constant(cx, &[rows, columns], &numbers)
}

fn triangle(cx: &mut Cx<'_, '_, '_>, upper: i64) -> Lowered<ValueId> {
    let (x, diagonal) = (cx.tensor("self")?, cx.int("diagonal", 0)?);
    let diagonal = cx.int_constant("diagonal", DType::I64, &[], &[diagonal])?;
    cx.call("Trilu", &[Some(x), Some(diagonal)], &[("upper", Set::Int(upper))])
}

fn meshgrid(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let all = cx.tensors("tensors")?;
    let sizes: Vec<usize> = all.iter().map(|&x| cx.ty(x).shape.numel()).collect();
    let rank = sizes.len();
    let (mut dims, swaps) = (sizes.clone(), cx.words("indexing") == "xy" && rank > 1);
    if swaps {
        dims.swap(0, 1);
    }
    let mut grids = Vec::new();
    for (k, x) in all.into_iter().enumerate() {
        let mut along = vec![1; rank];
        along[if swaps && k < 2 { 1 - k } else { k }] = sizes[k];
        let x = cx.reshaped(x, &along)?;
        grids.push(view::spread(cx, x, &dims)?);
    }
    Ok(grids)
}

/// The coordinates of a triangle's elements, one row for rows and one for columns.
fn triangle_indices(cx: &mut Cx<'_, '_, '_>, upper: bool) -> Lowered<ValueId> {
    let (rows, columns, offset) = (cx.size("row", 1)?, cx.size("col", 1)?, cx.int("offset", 0)?);
    check(rows.saturating_mul(columns))?;
    let inside = |at: &usize| {
        let gap = (at % columns) as i64 - (at / columns) as i64;
        if upper {
            gap >= offset
        } else {
            gap <= offset
        }
    };
    let places: Vec<usize> = (0..rows * columns).filter(inside).collect();
    let numbers = places.iter().map(|at| at / columns).chain(places.iter().map(|at| at % columns));
    let numbers: Vec<f64> = numbers.map(|at| at as f64).collect();
    constant(cx, &[2, places.len()], &numbers)
}

/// The diagonal of a matrix, or a matrix with that diagonal.
fn diag(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    match cx.dims(x).len() {
        1 => with_diagonal(cx, x, cx.int("diagonal", 0)?),
        _ => super::movement::diagonal_of(cx, x, [0, 1], cx.int("diagonal", 0)?),
    }
}

fn diag_embed(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    if (cx.int("dim1", -2)?, cx.int("dim2", -1)?) != (-2, -1) {
        return Err(Refusal::unsupported(
            "its matrices do not lie along the last axes",
            "permute its result",
        ));
    }
    with_diagonal(cx, x, cx.int("offset", 0)?)
}

/// Matrices with the last axis as a diagonal.
fn with_diagonal(cx: &mut Cx<'_, '_, '_>, x: ValueId, offset: i64) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let Some(count) = dims.pop() else { return Err(malformed!("{} has no axes", cx.shown(x))) };
    let shift = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    check(count.saturating_add(shift).saturating_mul(count.saturating_add(shift)))?;
    let size = count + shift;
    let (row, column) = if offset < 0 { (shift, 0) } else { (0, shift) };
    let rank = dims.len();
    // A row for each element, with the element in its place.
    let rows = cx.reshaped(x, &[&dims[..], &[count, 1]].concat())?;
    let mask: Vec<i64> = (0..count * size).map(|at| i64::from(at % size == at / size + column)).collect();
    let mask = cx.int_constant("diagonal", DType::Bool, &[count, size], &mask)?;
    let zero = cx.number(x, 0.0)?;
    let y = cx.choice(mask, rows, zero)?;
    let (mut before, mut after) = (vec![0; rank + 2], vec![0; rank + 2]);
    (before[rank], after[rank]) = (row, size - count - row);
    cx.padded(y, &before, &after, 0)
}
