//! Arithmetic on shapes, which follow from constants.

use super::cx::Cx;
use super::{Kept, Lowered, Operators, Slot};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("ADD_SHAPE", Kept(|cx| pair(cx, i64::checked_add))),
    ("ASSERT_EQUAL_SHAPE", Kept(|cx| cx.slot(0).cloned())),
    ("CONCAT_SHAPE", Kept(concat)),
    ("DIM", Kept(dim)),
    ("DIV_CEIL_SHAPE", Kept(|cx| pair(cx, |a, b| a.checked_add(b)?.checked_sub(1)?.checked_div(b)))),
    ("DIV_FLOOR_SHAPE", Kept(|cx| pair(cx, i64::checked_div))),
    ("EXP2_SHAPE", Kept(|cx| single(cx, |a| u32::try_from(a).ok().filter(|a| *a < 62).map(|a| 1i64 << a)))),
    ("LOG2_CEIL_SHAPE", Kept(|cx| single(cx, |a| (a > 0).then(|| i64::from(64 - (a - 1).leading_zeros()))))),
    ("LOG2_FLOOR_SHAPE", Kept(|cx| single(cx, |a| (a > 0).then(|| i64::from(63 - a.leading_zeros()))))),
    ("MAX_SHAPE", Kept(|cx| pair(cx, |a, b| Some(a.max(b))))),
    ("MIN_SHAPE", Kept(|cx| pair(cx, |a, b| Some(a.min(b))))),
    ("MOD_SHAPE", Kept(|cx| pair(cx, i64::checked_rem))),
    ("MUL_SHAPE", Kept(|cx| pair(cx, i64::checked_mul))),
    ("SLICE_SHAPE", Kept(slice)),
    ("SUB_SHAPE", Kept(|cx| pair(cx, i64::checked_sub))),
];

fn pair(cx: &mut Cx<'_, '_, '_>, of: impl Fn(i64, i64) -> Option<i64>) -> Lowered<Slot> {
    let (a, b) = (cx.sizes(0)?, cx.sizes(1)?);
    malformed_if!(a.len() != b.len(), "shapes {a:?} and {b:?} do not fit");
    let all: Option<Rc<[i64]>> = a.iter().zip(b.iter()).map(|(&a, &b)| of(a, b)).collect();
    all.map(Slot::Shape).ok_or_else(|| malformed!("it has no result for {a:?} and {b:?}"))
}

fn single(cx: &mut Cx<'_, '_, '_>, of: impl Fn(i64) -> Option<i64>) -> Lowered<Slot> {
    let a = cx.sizes(0)?;
    let all: Option<Rc<[i64]>> = a.iter().map(|&a| of(a)).collect();
    all.map(Slot::Shape).ok_or_else(|| malformed!("it has no result for {a:?}"))
}

/// DIM: the size of an axis.
fn dim(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let dims = cx.operand_dims(0)?;
    let axis = cx.axis(0, dims.len())?;
    Ok(Slot::Shape(Rc::from([dims[axis] as i64])))
}

fn concat(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let mut all = Vec::new();
    for k in 0..cx.operands.len() {
        all.extend_from_slice(&cx.sizes(k)?);
        malformed_if!(all.len() > 64, "a shape of {} sizes", all.len());
    }
    Ok(Slot::Shape(Rc::from(all)))
}

/// SLICE_SHAPE: where it begins, and how many sizes.
fn slice(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (shape, begin, count) = (cx.sizes(0)?, cx.sizes(1)?, cx.sizes(2)?);
    let at = |list: &[i64]| list.first().and_then(|&size| usize::try_from(size).ok());
    let part =
        at(&begin).zip(at(&count)).and_then(|(begin, count)| shape.get(begin..begin.checked_add(count)?));
    part.map(|part| Slot::Shape(Rc::from(part)))
        .ok_or_else(|| malformed!("{begin:?} and {count:?} do not fit {shape:?}"))
}
