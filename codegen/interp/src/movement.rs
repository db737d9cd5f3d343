//! Ops that move elements without looking at them.

use super::tensor::{broadcast_strides, for_each_index, offset};
use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Data, Op, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Gather { batch, axis, depth } => gather_at(*batch, *axis, *depth, operands, result)?,
        Op::Broadcast {} => broadcast(first, result)?,
        Op::Pad { before, value, .. } => pad(before, *value, first, result)?,
        Op::Concat { axis } => concat(*axis, operands, result),
        Op::Slice { begin, step } => slice(begin, step, first, result)?,
        Op::Transpose { perm } => transpose(perm, first, result)?,
        Op::Reshape {} => first.1.clone(),
        _ => return Ok(None),
    }))
}

/// Copies element `source(index)` of `from` to every index of the result.
fn gather(from: &Data, result: &Type, source: impl Fn(&[usize]) -> Option<usize>, fill: &[u8]) -> Computed {
    let size = result.dtype.size();
    let mut bytes = Vec::with_capacity(result.bytes());
    let mut outside = false;
    for_each_index(result.shape.dims(), |index| match source(index) {
        None => bytes.extend_from_slice(fill),
        Some(at) => match from.bytes().get(at * size..(at + 1) * size) {
            Some(element) => bytes.extend_from_slice(element),
            None => outside = true,
        },
    });
    if outside {
        return Err(InterpError::new("an element outside the operand is wanted"));
    }
    Ok(Data::new(bytes))
}

/// See `pad` in the op table.
fn pad(before: &[usize], value: i64, (ty, data): Tensor<'_>, result: &Type) -> Computed {
    let strides = ty.shape.strides();
    let source = |index: &[usize]| {
        let mut at = 0;
        for axis in 0..index.len() {
            let inner = index[axis].checked_sub(before[axis])?;
            if inner >= ty.shape.dims()[axis] {
                return None;
            }
            at += inner * strides[axis];
        }
        Some(at)
    };
    gather(data, result, source, &value.to_le_bytes()[..result.dtype.size()])
}

/// See `concat` in the op table.
fn concat(axis: usize, operands: &[Tensor<'_>], result: &Type) -> Data {
    let size = result.dtype.size();
    let outer: usize = result.shape.dims()[..axis].iter().product();
    let mut bytes = Vec::with_capacity(result.bytes());
    for block in 0..outer {
        for (ty, data) in operands {
            let run = ty.shape.dims()[axis..].iter().product::<usize>() * size;
            bytes.extend_from_slice(&data.bytes()[block * run..(block + 1) * run]);
        }
    }
    Data::new(bytes)
}

/// See `slice` in the op table.
fn slice(begin: &[usize], step: &[i64], (ty, data): Tensor<'_>, result: &Type) -> Computed {
    let strides = ty.shape.strides();
    let source = |index: &[usize]| {
        let element = |axis: usize| (begin[axis] as i64 + index[axis] as i64 * step[axis]) as usize;
        let index: Vec<usize> = (0..index.len()).map(element).collect();
        Some(offset(&index, &strides))
    };
    gather(data, result, source, &[])
}

/// See `transpose` in the op table.
fn transpose(perm: &[usize], (ty, data): Tensor<'_>, result: &Type) -> Computed {
    let strides = ty.shape.strides();
    let strides: Vec<usize> = perm.iter().map(|&axis| strides[axis]).collect();
    gather(data, result, |index| Some(offset(index, &strides)), &[])
}

/// See `gather` in the op table.
fn gather_at(batch: usize, axis: usize, depth: usize, operands: &[Tensor<'_>], result: &Type) -> Computed {
    let ((ty, data), (named, indices)) = (operands[0], operands[1]);
    let indices = indices.to_ints(named.dtype);
    let (strides, of_indices) = (ty.shape.strides(), named.shape.strides());
    // Axes of the result that come from the indices.
    let named = named.shape.rank() - 1 - batch;
    let source = |index: &[usize]| {
        let (lead, rest) = index.split_at(axis);
        let (chosen, inner) = rest.split_at(named);
        let first = offset(&lead[..batch], &of_indices) + offset(chosen, &of_indices[batch..]);
        let along = |k: usize| {
            let last = ty.shape.dims()[axis + k] as i64 - 1;
            indices[first + k].clamp(0, last) as usize * strides[axis + k]
        };
        let chosen: usize = (0..depth).map(along).sum();
        Some(offset(lead, &strides) + chosen + offset(inner, &strides[axis + depth..]))
    };
    gather(data, result, source, &[])
}

/// See `broadcast` in the op table.
fn broadcast((ty, data): Tensor<'_>, result: &Type) -> Computed {
    let strides = broadcast_strides(ty, result.shape.rank());
    gather(data, result, |index| Some(offset(index, &strides)), &[])
}
