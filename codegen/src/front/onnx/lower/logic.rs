//! Comparisons, logic and choices.

use super::cx::NodeCx;
use super::elementwise::broadcast;
use super::{describe, Lowered, Refusal};
use crate::ir::{CompareRescale, Comparison, DType, Data, Op, Type, ValueId};

macro_rules! comparisons {
    ($( $name:ident $function:ident )+) => {$(
        pub(super) fn $name(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
            let (x, y) = (cx.input(0)?, cx.input(1)?);
            let truth = compared(cx, Comparison::$function, x, y)?;
            cx.bind(0, truth)
        }
    )+};
}

comparisons! {
    equal Equal
    greater Greater
    greater_or_equal GreaterEqual
    less Less
    less_or_equal LessEqual
    xor NotEqual
}

fn compared(cx: &mut NodeCx<'_, '_, '_>, function: Comparison, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    if cx.ty(x).dtype != cx.ty(y).dtype {
        let what = format!("{} is compared with {}", describe(cx.ty(x)), describe(cx.ty(y)));
        return Err(Refusal::malformed(what));
    }
    let dims = broadcast(cx, x, y)?;
    let op = Op::Compare { function, rescale: CompareRescale::Stored };
    cx.add(op, &[x, y], Type::plain(DType::Bool, &dims))
}

fn constant(cx: &mut NodeCx<'_, '_, '_>, truth: bool) -> ValueId {
    cx.importer.graph.add_const("truth", Type::plain(DType::Bool, &[]), Data::new(vec![u8::from(truth)]))
}

fn want_truth(cx: &NodeCx<'_, '_, '_>, x: ValueId) -> Lowered {
    match cx.ty(x).dtype {
        DType::Bool => Ok(()),
        _ => Err(Refusal::malformed(format!("{} is no condition", describe(cx.ty(x))))),
    }
}

/// Not.
pub(super) fn not(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    want_truth(cx, x)?;
    let no = constant(cx, false);
    let truth = compared(cx, Comparison::Equal, x, no)?;
    cx.bind(0, truth)
}

/// And: the second, if the first holds.
pub(super) fn and(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let no = constant(cx, false);
    chosen(cx, x, y, no)
}

/// Or: the second, unless the first holds.
pub(super) fn or(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let yes = constant(cx, true);
    chosen(cx, x, yes, y)
}

/// Where.
pub(super) fn choose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (condition, x, y) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    chosen(cx, condition, x, y)
}

fn chosen(cx: &mut NodeCx<'_, '_, '_>, condition: ValueId, x: ValueId, y: ValueId) -> Lowered {
    want_truth(cx, condition)?;
    let ty = cx.ty(x).clone();
    if ty.dtype != cx.ty(y).dtype {
        let what = format!("{} or {}", describe(&ty), describe(cx.ty(y)));
        return Err(Refusal::malformed(format!("it chooses between {what}")));
    }
    let both = broadcast(cx, x, y)?;
    // Whatever has the common shape of the operands, for the common shape of all three.
    let of_all = common(&cx.dims(condition), &both);
    let dims = of_all.ok_or_else(|| {
        Refusal::malformed(format!("condition {} does not fit", describe(cx.ty(condition))))
    })?;
    let value = cx.add(Op::Select {}, &[condition, x, y], ty.with_shape(&dims))?;
    cx.bind(0, value)
}

/// The common shape of two, as NumPy does it, if there is one.
pub(super) fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let dim = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |own| dims[own]);
    let join = |axis| match (dim(a, axis), dim(b, axis)) {
        (p, q) if p == q || q == 1 => Some(p),
        (1, q) => Some(q),
        _ => None,
    };
    (0..rank).map(join).collect()
}
