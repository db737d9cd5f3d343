//! What moves elements.

use super::cx::Cx;
use super::lazy::{Kind, LazyId};
use super::reduce::Total;
use super::scale::Scale;
use super::{Kept, Lowered, One, Operators, Slot};
use crate::onnx::lower::check_size;
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("CONCAT", One(concat)),
    ("PAD", One(pad)),
    ("RESHAPE", Kept(reshape)),
    ("REVERSE", One(reverse)),
    ("SLICE", One(slice)),
    ("TILE", One(tile)),
    ("TRANSPOSE", Kept(transpose)),
];

/// Sizes that count.
pub(super) fn sizes(list: &[i64], what: &str) -> Lowered<Vec<usize>> {
    let sizes: Option<Vec<usize>> = list.iter().map(|&size| usize::try_from(size).ok()).collect();
    sizes.ok_or_else(|| malformed!("its {what} is {list:?}"))
}

/// CONCAT: stored values of all operands as those of the first.
fn concat(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let values = cx.values()?;
    let &[first, ..] = &*values else { return Err(malformed!("it has no operands")) };
    let mut dims = cx.dims(first);
    let axis = cx.axis(0, dims.len())?;
    dims[axis] = 0;
    for &value in &values {
        let own = cx.dims(value);
        let fits = own.len() == dims.len() && (0..dims.len()).all(|k| k == axis || own[k] == dims[k]);
        malformed_if!(!fits, "{own:?} and {dims:?} cannot be joined along axis {axis}");
    }
    let alike = values.into_iter().map(|value| cx.like(value, first)).collect::<Lowered<Vec<ValueId>>>()?;
    // Nothing of a part without elements is left.
    let some: Vec<ValueId> = alike.iter().copied().filter(|&value| cx.ty(value).shape.numel() > 0).collect();
    cx.means().joined(if some.is_empty() { &alike } else { &some }, axis)
}

/// PAD: pairs of sizes for each axis, with an element.
fn pad(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let list = sizes(&cx.sizes(1)?, "padding")?;
    let (dims, dtype) = (cx.dims(x), cx.ty(x).dtype);
    malformed_if!(list.len() != 2 * dims.len(), "its padding is {list:?} for {dims:?}");
    let before: Vec<usize> = list.iter().step_by(2).copied().collect();
    let after: Vec<usize> = list.iter().skip(1).step_by(2).copied().collect();
    let wide = dims.iter().zip(before.iter().zip(&after));
    let wide: Option<Vec<usize>> =
        wide.map(|(dim, (before, after))| dim.checked_add(*before)?.checked_add(*after)).collect();
    check_size(dtype, &wide.ok_or_else(|| malformed!("its padding is {list:?}"))?)?;
    let value = match cx.operands.len() {
        0..=2 => 0,
        _ => {
            let value = cx.value(2)?;
            let own = cx.ty(value).dtype;
            let data = cx.data(value).filter(|_| own == dtype);
            let data =
                data.ok_or_else(|| malformed!("the element of its padding is no constant {}", dtype.name()))?;
            match dtype {
                DType::F32 => data.to_f32().first().map_or(0, |real| i64::from(real.to_bits())),
                _ => data.to_ints(dtype).first().copied().unwrap_or(0),
            }
        }
    };
    cx.means().padded(x, &before, &after, value)
}

impl Cx<'_, '_, '_> {
    /// An expression of bytes of which each is scaled, as the bytes and the scale.
    fn scaled_bytes(&self, id: LazyId) -> Option<(ValueId, Scale)> {
        let Kind::Rescaled(x, scale) = &self.importer.lazies.get(id).kind else { return None };
        match self.importer.lazies.get(*x).kind {
            Kind::Leaf(x) => Some((x, scale.clone())),
            _ => None,
        }
    }

    /// The same scale for bytes that were moved.
    fn rescaled_bytes(&mut self, x: ValueId, scale: Scale) -> Lowered<Slot> {
        let (dims, dtype) = (self.dims(x), scale.dtypes[1]);
        match self.importer.lazies.add(Kind::Leaf(x), &dims, DType::I8) {
            Some(leaf) => self.kept(Kind::Rescaled(leaf, scale), &dims, dtype),
            None => self.rescaled(x, &scale).map(Slot::Value),
        }
    }
}

/// RESHAPE. One size may be −1.
fn reshape(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let count: usize = cx.operand_dims(0)?.iter().product();
    let list = cx.sizes(1)?;
    let known: usize = sizes(&list.iter().copied().filter(|&size| size != -1).collect::<Vec<_>>(), "shape")?
        .into_iter()
        .try_fold(1usize, usize::checked_mul)
        .ok_or_else(|| malformed!("its shape is {list:?}"))?;
    let rest = count.checked_div(known).unwrap_or(0);
    let dims: Vec<usize> = list.iter().map(|&size| usize::try_from(size).unwrap_or(rest)).collect();
    let all = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim));
    malformed_if!(all != Some(count), "{count} elements do not fit {list:?}");
    check_size(DType::I64, &dims)?;
    if let Some(id) = cx.lazy(0) {
        if let Kind::Total(total) = &cx.importer.lazies.get(id).kind {
            let total: Total = total.clone();
            return cx.kept(Kind::Total(total), &dims, DType::I32);
        }
        if let Some((x, scale)) = cx.scaled_bytes(id) {
            let x = cx.means().reshaped(x, &dims)?;
            return cx.rescaled_bytes(x, scale);
        }
    }
    let x = cx.value(0)?;
    cx.means().reshaped(x, &dims).map(Slot::Value)
}

/// TRANSPOSE.
fn transpose(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let rank = cx.operand_dims(0)?.len();
    let perm = sizes(&cx.operator.list(0).map_err(super::cx::broken)?, "permutation")?;
    let is_permutation = perm.len() == rank && (0..rank).all(|axis| perm.contains(&axis));
    malformed_if!(!is_permutation, "{perm:?} is no permutation of {rank} axes");
    if let Some((x, scale)) = cx.lazy(0).and_then(|id| cx.scaled_bytes(id)) {
        let x = cx.means().transposed(x, &perm)?;
        return cx.rescaled_bytes(x, scale);
    }
    let x = cx.value(0)?;
    cx.means().transposed(x, &perm).map(Slot::Value)
}

/// REVERSE.
fn reverse(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let dims = cx.dims(x);
    let axis = cx.axis(0, dims.len())?;
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    (begin[axis], step[axis]) = (dims[axis].saturating_sub(1), -1);
    cx.means().add_like(Op::Slice { begin, step }, &[x], &dims)
}

/// SLICE: where it begins, and how many elements there are along each axis.
fn slice(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let dims = cx.dims(x);
    let begin = sizes(&cx.sizes(1)?, "beginning")?;
    let list = cx.sizes(2)?;
    // −1 is all that is left.
    let size = |(k, &size): (usize, &i64)| match size {
        -1 => dims.get(k)?.checked_sub(*begin.get(k)?),
        size => usize::try_from(size).ok(),
    };
    let size: Option<Vec<usize>> = list.iter().enumerate().map(size).collect();
    let size = size.filter(|size| size.len() == dims.len() && begin.len() == dims.len());
    let fits = |k: usize, size: &[usize]| begin[k].checked_add(size[k]).is_some_and(|end| end <= dims[k]);
    let size = size.filter(|size| (0..dims.len()).all(|k| fits(k, size)));
    let size =
        size.ok_or_else(|| malformed!("a part of {list:?} from {begin:?} on does not fit {dims:?}"))?;
    if size == dims {
        return Ok(x);
    }
    cx.means().add_like(Op::Slice { step: vec![1; dims.len()], begin }, &[x], &size)
}

/// TILE: how often it is repeated along each axis.
fn tile(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.value(0)?;
    let (dims, often) = (cx.dims(x), sizes(&cx.sizes(1)?, "multiples")?);
    malformed_if!(often.len() != dims.len(), "{often:?} does not fit {dims:?}");
    let wide: Option<Vec<usize>> =
        dims.iter().zip(&often).map(|(dim, often)| dim.checked_mul(*often)).collect();
    let wide = wide.ok_or_else(|| malformed!("its multiples are {often:?}"))?;
    check_size(DType::I64, &wide)?;
    let mut y = x;
    for axis in 0..dims.len() {
        let mut now = cx.dims(y);
        if often[axis] == 1 {
            continue;
        }
        let mut cx = cx.means();
        let split = [&now[..axis], &[1], &now[axis..]].concat();
        let mut spread = split.clone();
        spread[axis] = often[axis];
        now[axis] = wide[axis];
        y = cx.reshaped(y, &split)?;
        y = cx.repeated(y, &spread)?;
        y = cx.reshaped(y, &now)?;
    }
    Ok(y)
}
