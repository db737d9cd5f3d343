//! Parts of matrices: bands and diagonals.

use super::{Cx, Lowered, One, Operators, Refusal};
use kiln_ir::{DType, Data, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Diag", One(diagonal_matrix)),
    ("DiagPart", One(diagonal)),
    ("MatrixBandPart", One(band)),
    ("MatrixDiag", One(diagonal_matrix)),
    ("MatrixDiagPart", One(diagonal)),
    ("MatrixDiagPartV2", One(diagonal)),
    ("MatrixDiagPartV3", One(diagonal)),
    ("MatrixDiagV2", One(diagonal_matrix)),
    ("MatrixDiagV3", One(diagonal_matrix)),
    ("MatrixSetDiag", One(set_diagonal)),
    ("MatrixSetDiagV2", One(set_diagonal)),
    ("MatrixSetDiagV3", One(set_diagonal)),
];

/// Rows and columns.
fn matrix(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<(usize, usize)> {
    match cx.dims(x)[..] {
        [.., rows, columns] if rows * columns <= 1 << 20 => Ok((rows, columns)),
        _ => Err(malformed!("{} is no matrix, or too large", cx.shown(x))),
    }
}

/// Truth values for the places of a matrix.
fn mask(
    cx: &mut Cx<'_, '_, '_>,
    rows: usize,
    columns: usize,
    inside: impl Fn(i64, i64) -> bool,
) -> Lowered<ValueId> {
    let ty = Type::plain(DType::Bool, &[rows, columns]);
    cx.importer.budget.make(ty.bytes());
    cx.importer.budget.charge(ty.bytes())?;
    let at = |i: usize| u8::from(inside((i / columns) as i64, (i % columns) as i64));
    let data = Data::new((0..rows * columns).map(at).collect::<Vec<u8>>());
    Ok(cx.importer.graph.add_const("mask", ty, data))
}

fn band(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let (lower, upper) =
        (cx.known_int(1, "number of diagonals below")?, cx.known_int(2, "number of diagonals above")?);
    let (rows, columns) = matrix(cx, x)?;
    let mask = mask(cx, rows, columns, |row, column| {
        (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper)
    })?;
    let zero = cx.number(x, 0.0)?;
    cx.choice(mask, x, zero)
}

/// Which diagonal is meant, in operand `k` of newer forms: only one.
fn which(cx: &Cx<'_, '_, '_>, k: usize) -> Lowered<i64> {
    if cx.count() <= k {
        return Ok(0);
    }
    match cx.known_list(k, "diagonals")?[..] {
        [which] => Ok(which),
        [first, last] if first == last => Ok(first),
        _ => Err(Refusal::unsupported("several diagonals cannot be compiled", "use one diagonal at a time")),
    }
}

/// The elements of a diagonal.
fn diagonal(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let which = which(cx, 1)?;
    let (rows, columns) = matrix(cx, x)?;
    let dims = cx.dims(x);
    let places: Vec<usize> = (0..rows)
        .filter_map(|row| {
            usize::try_from(row as i64 + which).ok().filter(|&c| c < columns).map(|c| row * columns + c)
        })
        .collect();
    malformed_if!(places.is_empty(), "{} has no diagonal {which}", cx.shown(x));
    let front = &dims[..dims.len() - 2];
    let flat = cx.reshaped(x, &[front, &[rows * columns]].concat())?;
    cx.picked(flat, front.len(), &places)
}

/// Matrices whose diagonal a tensor is.
fn diagonal_matrix(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let which = which(cx, 1)?;
    let dims = cx.dims(x);
    let Some((&own, front)) = dims.split_last() else { return Err(malformed!("it is no diagonal")) };
    let least = own + usize::try_from(which.unsigned_abs()).unwrap_or(usize::MAX);
    let asked = |k: usize| -> Lowered<usize> {
        if cx.count() <= k {
            return Ok(least);
        }
        Ok(usize::try_from(cx.known_int(k, "size")?).unwrap_or(least))
    };
    let (rows, columns) = (asked(2)?, asked(3)?);
    malformed_if!(rows.saturating_mul(columns) > 1 << 20, "its matrix is too large");
    let other = if cx.count() > 4 { cx.x(4)? } else { cx.number(x, 0.0)? };
    on_diagonal(cx, x, other, which, &[front, &[rows, columns]].concat())
}

fn set_diagonal(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, own) = (cx.x(0)?, cx.x(1)?);
    let which = which(cx, 2)?;
    matrix(cx, x)?;
    let dims = cx.dims(x);
    on_diagonal(cx, own, x, which, &dims)
}

/// Numbers on a diagonal, and others elsewhere.
fn on_diagonal(
    cx: &mut Cx<'_, '_, '_>,
    own: ValueId,
    other: ValueId,
    which: i64,
    dims: &[usize],
) -> Lowered<ValueId> {
    let (rows, columns) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let count = (0..rows as i64).filter(|row| (0..columns as i64).contains(&(row + which))).count();
    malformed_if!(
        cx.dims(own).last() != Some(&count),
        "{} does not fit a diagonal of {dims:?}",
        cx.shown(own)
    );
    // The number of a row, or of a column where the diagonal begins in another row.
    let places: Vec<usize> = (0..rows)
        .map(|row| row.saturating_sub(which.min(0).unsigned_abs() as usize).min(count - 1))
        .collect();
    let axis = cx.dims(own).len() - 1;
    let by_row = cx.picked(own, axis, &places)?;
    let apart = [&cx.dims(by_row)[..], &[1]].concat();
    let by_row = cx.reshaped(by_row, &apart)?;
    let mask = mask(cx, rows, columns, |row, column| column - row == which)?;
    let other = if cx.ty(other).shape.numel() == 1 { cx.reshaped(other, &[])? } else { other };
    let y = cx.choice(mask, by_row, other)?;
    cx.spread(y, dims)
}
