//! Layers of one or two operands, element by element: compared for all stored values.

use super::error::{between_roundings, reach};
use crate::interp::eval;
use crate::ir::{AddRescale, DType, Data, Graph, NodeId, Op, Type, ValueId};
use std::collections::BTreeSet;

/// A cheap form may differ in one of so many pairs of stored values. If it differs in more, it rounds all halves the same way, and that adds up.
const SELDOM: usize = 16;

/// Of the integer forms of the layer before a QUANTIZE the one that differs least from the floats, and by how many steps it does. The dear ones count where all cheap ones differ often.
pub(super) fn nearest(
    graph: &Graph,
    id: NodeId,
    operands: [ValueId; 2],
    [cheap, dear]: [Vec<Op>; 2],
) -> Option<(Op, u32)> {
    let node = graph.node(id);
    let y = graph.ty(node.result);
    let types = operands.map(|operand| graph.ty(operand));
    if types.iter().any(|ty| ty.dtype != DType::I8) {
        let form = cheap.into_iter().next()?;
        let steps = of_16_bits(&form, types, y)?;
        return Some((form, steps));
    }
    let [a, b] = operands.map(|operand| values(graph, operand));
    let (a, b) = (a?, b?);
    let (of_a, of_b) = (types[0].with_shape(&[a.len(), 1]), types[1].with_shape(&[1, b.len()]));
    let (a, b) = (Data::from_i8(&a), Data::from_i8(&b));
    let dims = [of_a.shape.dims()[0], of_b.shape.dims()[1]];
    let float = graph.node(graph.producer(*node.operands.first()?)?);
    let real = |ty: &Type, data: &Data| {
        let plain = Type::plain(DType::F32, ty.shape.dims());
        eval(&Op::Dequantize {}, &[(ty, data)], &plain).ok().map(|data| (plain, data))
    };
    let ((p, x), (q, z)) = (real(&of_a, &a)?, real(&of_b, &b)?);
    let between = Type::plain(DType::F32, &dims);
    let sum = eval(&float.op, &[(&p, &x), (&q, &z)], &between).ok()?;
    let stored = y.with_shape(&dims);
    let wanted = eval(&node.op, &[(&between, &sum)], &stored).ok()?.to_ints(y.dtype);
    let seldom = wanted.len() / SELDOM;
    let mut best: Option<(u32, usize, Op)> = None;
    for (forms, enough) in [(cheap, 0), (dear, seldom)] {
        for form in forms {
            if best.as_ref().is_some_and(|(_, count, _)| *count <= enough) {
                break;
            }
            let Ok(given) = eval(&form, &[(&of_a, &a), (&of_b, &b)], &stored) else { continue };
            let apart = apart(&wanted, &given.to_ints(y.dtype));
            if best.as_ref().is_none_or(|(steps, count, _)| apart < (*steps, *count)) {
                best = Some((apart.0, apart.1, form));
            }
        }
    }
    best.map(|(steps, _, form)| (form, steps))
}

/// By how many steps a conversion between widths differs from the floats.
pub(super) fn of_one(graph: &Graph, id: NodeId, from: ValueId, op: &Op) -> Option<u32> {
    let node = graph.node(id);
    let (x, y) = (graph.ty(from), graph.ty(node.result));
    let (lo, hi) = x.dtype.int_range()?;
    let count = usize::try_from(hi - lo + 1).ok().filter(|&count| count <= 1 << 16)?;
    let (own, plain, result) =
        (x.with_shape(&[count]), Type::plain(DType::F32, &[count]), y.with_shape(&[count]));
    let all = Data::from_ints(x.dtype, lo..=hi);
    let floats = eval(&Op::Dequantize {}, &[(&own, &all)], &plain).ok()?;
    let wanted = eval(&node.op, &[(&plain, &floats)], &result).ok()?;
    let given = eval(op, &[(&own, &all)], &result).ok()?;
    Some(apart(&wanted.to_ints(y.dtype), &given.to_ints(y.dtype)).0)
}

/// The largest difference, and how many there are.
fn apart(a: &[i64], b: &[i64]) -> (u32, usize) {
    let differences = || a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).filter(|&apart| apart > 0);
    (differences().max().unwrap_or(0).min(u32::MAX.into()) as u32, differences().count())
}

/// The stored values that an operand can have: those of a constant, otherwise all.
fn values(graph: &Graph, id: ValueId) -> Option<Vec<i8>> {
    Some(match graph.const_data(id) {
        Some(data) => data.to_i8().into_iter().collect::<BTreeSet<i8>>().into_iter().collect(),
        None => (i8::MIN..=i8::MAX).collect(),
    })
}

/// By how many steps TFLite's sums and products of 16 bits may differ.
fn of_16_bits(form: &Op, [a, b]: [&Type; 2], y: &Type) -> Option<u32> {
    let scale = |ty: &Type| ty.scale().map(f64::from);
    let (of_a, of_b, of_y) = (scale(a)?, scale(b)?, scale(y)?);
    let largest = match form {
        Op::Mul { .. } => reach(a)? * reach(b)? * of_a * of_b / of_y,
        _ => (reach(a)? * of_a + reach(b)? * of_b) / of_y,
    };
    // A few operations of floats; factors of 31 bits.
    let relative = largest * 8.0 / 16_777_216.0;
    let first = match form {
        Op::Add { rescale: AddRescale::FixedPoint { left_shift, .. }, .. }
        | Op::Sub { rescale: AddRescale::FixedPoint { left_shift, .. }, .. } => {
            // Both operands and their sum, in units of the sum.
            2.0 * 2.0 * of_a.max(of_b) / of_y / f64::from(1u32 << left_shift)
        }
        _ => of_a * of_b / of_y,
    };
    Some(between_roundings(relative + first))
}
