//! Systems of equations with triangular matrices, and roots of matrices, written out row by row.

use super::cx::Cx;
use super::slot::Tensor;
use super::{Lowered, One, Operators, Refusal};
use crate::onnx::lower::NodeCx;
use kiln_ir::{Unary, ValueId};

pub(super) const OPERATORS: Operators =
    &[("cholesky", One(cholesky)), ("triangular_solve", One(triangular_solve))];

/// Most rows of a matrix.
const MOST_ROWS: usize = 32;

/// The rows of a square matrix.
fn rows(x: &Tensor) -> Lowered<usize> {
    let &[.., n, columns] = &x.dims[..] else { return Err(malformed!("{:?} is no matrix", x.dims)) };
    malformed_if!(n != columns || n == 0, "the matrix {:?} is not square", x.dims);
    match n > MOST_ROWS {
        true => {
            let what = format!("a matrix of {n} rows cannot be compiled");
            Err(Refusal::unsupported(what, format!("use at most {MOST_ROWS} rows")))
        }
        false => Ok(n),
    }
}

/// Element, row or column of matrices: so many elements along the last two axes.
fn block(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    [row, rows]: [usize; 2],
    [column, columns]: [usize; 2],
) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let part = cx.part(x, rank - 2, row, rows, 1)?;
    cx.part(part, rank - 1, column, columns, 1)
}

/// The last two axes in the other order.
fn turned(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    cx.swapped(x, rank - 2)
}

/// The matrix of which the operand is a triangular one times the unknown.
fn triangular_solve(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let n = rows(&a)?;
    cx.written_out(12 * n)?;
    let is_turned = !matches!(cx.word("transpose_a"), "" | "NO_TRANSPOSE");
    let (is_left, is_unit) = (cx.flag("left_side"), cx.flag("unit_diagonal"));
    let mut is_lower = cx.flag("lower");
    let (left, right) = (cx.spread(&a)?, cx.spread(&b)?);
    let rank = a.dims.len();
    let size = if is_left { rank - 2 } else { rank - 1 };
    malformed_if!(b.dims.len() != rank || b.dims[size] != n, "{:?} and {:?} do not fit", a.dims, b.dims);
    let mut means = cx.means();
    let (mut matrix, mut wanted) = (left, right);
    // X · A = B is Aᵀ · Xᵀ = Bᵀ.
    if is_turned == is_left {
        matrix = turned(&mut means, matrix)?;
        is_lower = !is_lower;
    }
    if !is_left {
        wanted = turned(&mut means, wanted)?;
    }
    let columns = means.dims(wanted)[rank - 1];
    let mut found: Vec<ValueId> = Vec::new();
    for step in 0..n {
        let row = if is_lower { step } else { n - 1 - step };
        let mut y = block(&mut means, wanted, [row, 1], [0, columns])?;
        if !found.is_empty() {
            let known = means.joined(&found, rank - 2)?;
            let from = if is_lower { 0 } else { row + 1 };
            let factors = block(&mut means, matrix, [row, 1], [from, step])?;
            let known = turned(&mut means, known)?;
            let sum = means.matrix_product(factors, known)?;
            y = means.difference(y, sum)?;
        }
        if !is_unit {
            let diagonal = block(&mut means, matrix, [row, 1], [row, 1])?;
            y = means.quotient(y, diagonal)?;
        }
        match is_lower {
            true => found.push(y),
            false => found.insert(0, y),
        }
    }
    let mut value = means.joined(&found, rank - 2)?;
    if !is_left {
        value = turned(&mut means, value)?;
    }
    Ok(Tensor::of(value, &b.dims, &b.element))
}

/// The triangular matrix whose product with its transpose is the operand.
fn cholesky(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let a = cx.tensor(0)?;
    let n = rows(&a)?;
    cx.written_out(16 * n)?;
    let is_lower = cx.flag("lower");
    let value = cx.spread(&a)?;
    let rank = a.dims.len();
    let mut means = cx.means();
    let matrix = if is_lower { value } else { turned(&mut means, value)? };
    let mut columns: Vec<ValueId> = Vec::new();
    for k in 0..n {
        // From the diagonal on; what is above it is 0.
        let mut column = block(&mut means, matrix, [k, n - k], [k, 1])?;
        if !columns.is_empty() {
            let known = means.joined(&columns, rank - 1)?;
            let (below, own) =
                (block(&mut means, known, [k, n - k], [0, k])?, block(&mut means, known, [k, 1], [0, k])?);
            let sum = means.matrix_product(below, own)?;
            column = means.difference(column, sum)?;
        }
        let square = block(&mut means, column, [0, 1], [0, 1])?;
        let root = means.unary(Unary::Sqrt, square)?;
        let column = means.quotient(column, root)?;
        let mut before = vec![0; rank];
        before[rank - 2] = k;
        columns.push(means.padded(column, &before, &vec![0; rank], 0)?);
    }
    let mut value = means.joined(&columns, rank - 1)?;
    if !is_lower {
        value = turned(&mut means, value)?;
    }
    Ok(Tensor::of(value, &a.dims, &a.element))
}
