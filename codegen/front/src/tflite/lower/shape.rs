//! RESHAPE, SQUEEZE, EXPAND_DIMS and SHAPE.

use super::cx::{axis, describe, OpCx};
use super::{Lowered, Operators};
use kiln_ir::{DType, Data};

pub(super) const OPERATORS: Operators = &[(22, reshape), (43, squeeze), (70, expand_dims), (77, shape)];

/// RESHAPE. The target is the second operand, else the attribute, else the declared shape of the result.
fn reshape(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let attribute: Vec<i64> = cx.options(17)?.dims()?.iter().take(64).map(i64::from).collect();
    let operand = match cx.optional_input(1)? {
        None => None,
        Some(target) if cx.is_const(target) => Some(cx.ints(1, "target shape")?),
        // Computed at run time, but the file may know the result.
        Some(_) if !cx.has_static_shape(0)? => Some(cx.ints(1, "target shape")?),
        Some(_) => None,
    };
    let target = match operand {
        Some(target) => target,
        None if !attribute.is_empty() => attribute,
        None => cx.declared(0)?.shape.dims().iter().map(|&d| d as i64).collect(),
    };
    let count = cx.ty(x).shape.numel();
    let dims = resolve(&target, count)
        .ok_or_else(|| malformed!("{} cannot be reshaped to {target:?}", cx.shown(x)))?;
    cx.emit_reshaped(x, 0, &dims)
}

/// The target with its −1, if any, replaced; `None` if the number of elements does not fit.
fn resolve(target: &[i64], count: usize) -> Option<Vec<usize>> {
    // Old files write the scalar shape as a single 0.
    let target = if target == [0] && count == 1 { &[] } else { target };
    let known = target.iter().filter(|&&d| d != -1);
    let known = known.map(|&d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>()?;
    let product = known.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    let missing = match target.len() - known.len() {
        0 => (product == count).then_some(1)?,
        1 if product > 0 && count % product == 0 => count / product,
        _ => return None,
    };
    Some(target.iter().map(|&d| usize::try_from(d).unwrap_or(missing)).collect())
}

/// SQUEEZE: the listed axes of size 1, or all of them.
fn squeeze(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let mut axes = Vec::new();
    for index in cx.options(30)?.dims()?.iter().take(64) {
        axes.push(axis(i64::from(index), dims.len())?);
    }
    let all = axes.is_empty();
    if let Some(axis) = axes.iter().find(|&&i| dims[i] != 1) {
        return Err(malformed!("axis {axis} of {} does not have size 1", cx.shown(x)));
    }
    let kept = |&(i, &d): &(usize, &usize)| if all { d != 1 } else { !axes.contains(&i) };
    let dims: Vec<usize> = dims.iter().enumerate().filter(kept).map(|(_, &d)| d).collect();
    cx.emit_reshaped(x, 0, &dims)
}

/// EXPAND_DIMS: a new axis of size 1.
fn expand_dims(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let &[index] = &*cx.ints(1, "axis")? else {
        return Err(malformed!("its axis is not a single number"));
    };
    let at = axis(index, dims.len() + 1)?;
    dims.insert(at, 1);
    cx.emit_reshaped(x, 0, &dims)
}

/// SHAPE: a constant, since shapes are static.
fn shape(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let mut ty = cx.declared(0)?;
    ty.shape.0 = vec![dims.len()];
    ty.quant = None;
    malformed_if!(!matches!(ty.dtype, DType::I32 | DType::I64), "a shape of {}", describe(&ty));
    let name = cx.output_tensor(0)?.name.text();
    let data = Data::from_ints(ty.dtype, dims.into_iter().map(|dim| dim as i64));
    let value = cx.constant(&name, ty, data);
    cx.bind(0, value)
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn targets() {
        assert_eq!(resolve(&[2, -1], 6), Some(vec![2, 3]));
        assert_eq!(resolve(&[6], 6), Some(vec![6]));
        assert_eq!(resolve(&[0], 1), Some(vec![]));
        assert_eq!(resolve(&[-1, -1], 6), None);
        assert_eq!(resolve(&[4, -1], 6), None);
        assert_eq!(resolve(&[0, -1], 6), None);
        assert_eq!(resolve(&[-2, 3], 6), None);
        assert_eq!(resolve(&[i64::MAX, i64::MAX], 6), None);
    }
}
