//! Algebraic simplification: afterwards there is no op that returns its operand as it is, no reshape of a reshape, transpose of a
//! transpose, slice of a slice or clip of a clip, no pad of a pad with the same value, and no transpose or clip that a reshape or
//! nothing could stand for, and no product of a float with itself that is no square.

use super::fuse_activation::then;
use super::rewrite::{each_node, first_producer, Rewrite};
use super::sink_transposes::keeps_order;
use crate::interp;
use crate::ir::{AddRescale, Clamp, DType, Graph, Node, NodeId, Op, Rescale, Type, Unary, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| {
        let mut changed = false;
        // Each rule leaves a simpler node, on which another may fit.
        while let Some((op, operand)) = simpler(graph, id) {
            let node = graph.node_mut(id);
            node.op = op;
            node.operands = vec![operand];
            changed = true;
        }
        let node = graph.node(id);
        match node.operands.first() {
            Some(&operand) if does_nothing(graph, node) => Rewrite::Same(operand),
            _ if changed => Rewrite::Changed,
            _ => Rewrite::Keep,
        }
    })
}

/// Whether the result is the first operand, in all and with the same type.
fn does_nothing(graph: &Graph, node: &Node) -> bool {
    let Some(&operand) = node.operands.first() else { return false };
    let ty = graph.ty(operand);
    if ty != graph.ty(node.result) {
        return false;
    }
    match &node.op {
        Op::Clip { clamp } => is_full(clamp, ty.dtype),
        op => matches!(op, Op::Reshape {}) || keeps_bytes(graph, node),
    }
}

/// Whether a movement leaves every element where it is.
fn keeps_bytes(graph: &Graph, node: &Node) -> bool {
    let Some(&operand) = node.operands.first() else { return false };
    match &node.op {
        Op::Concat { .. } => node.operands.len() == 1,
        Op::Pad { before, after, .. } => before.iter().chain(after).all(|&n| n == 0),
        Op::Slice { step, .. } => {
            let (from, to) = (graph.ty(operand).shape.dims(), graph.ty(node.result).shape.dims());
            from == to && step.iter().zip(to).all(|(&step, &d)| step == 1 || d <= 1)
        }
        Op::Transpose { perm } => keeps_order(perm, graph.ty(operand).shape.dims()),
        _ => false,
    }
}

/// One step towards a simpler op with one operand.
fn simpler(graph: &Graph, id: NodeId) -> Option<(Op, ValueId)> {
    let node = graph.node(id);
    let operand = *node.operands.first()?;
    if keeps_bytes(graph, node) && graph.ty(operand) != graph.ty(node.result) {
        return Some((Op::Reshape {}, operand));
    }
    if let Some(simple) = neutral_operand(graph, node) {
        return Some(simple);
    }
    if let Some(square) = square(graph, node) {
        return Some(square);
    }
    if let Op::Requantize { .. } = node.op {
        return Some((Op::Clip { clamp: requantize_as_clip(graph, node)? }, operand));
    }
    let inner = first_producer(graph, node)?;
    let source = *inner.operands.first()?;
    let op = match (&inner.op, &node.op) {
        (Op::Reshape {}, Op::Reshape {}) => Op::Reshape {},
        (Op::Clip { clamp: first }, Op::Clip { clamp: second })
            if graph.ty(source) == graph.ty(node.result) =>
        {
            Op::Clip { clamp: then(*first, *second)? }
        }
        (Op::Transpose { perm: first }, Op::Transpose { perm: second }) => Op::Transpose {
            perm: second.iter().map(|&axis| first.get(axis).copied()).collect::<Option<_>>()?,
        },
        (Op::Slice { begin: b, step: s }, Op::Slice { begin, step }) => {
            let start = |(k, &first): (usize, &usize)| {
                let moved = i64::try_from(first).ok()?.checked_mul(*s.get(k)?)?;
                usize::try_from(i64::try_from(*b.get(k)?).ok()?.checked_add(moved)?).ok()
            };
            let stride = |(k, &by): (usize, &i64)| by.checked_mul(*s.get(k)?);
            Op::Slice {
                begin: begin.iter().enumerate().map(start).collect::<Option<_>>()?,
                step: step.iter().enumerate().map(stride).collect::<Option<_>>()?,
            }
        }
        (Op::Pad { before: b, after: a, value: v }, Op::Pad { before, after, value }) if v == value => {
            let sum = |x: &[usize], y: &[usize]| {
                x.iter().zip(y).map(|(&x, &y)| x.checked_add(y)).collect::<Option<Vec<_>>>()
            };
            Op::Pad { before: sum(b, before)?, after: sum(a, after)?, value: *value }
        }
        _ => return None,
    };
    Some((op, source))
}

/// x + −0.0, x − 0.0, x · 1.0 on floats, x + 0, x − 0, x · 1 on plain integers, as the clip that is left. (x + 0.0 is not x where
/// x is −0.0.)
fn neutral_operand(graph: &Graph, node: &Node) -> Option<(Op, ValueId)> {
    let &[a, b] = node.operands.as_slice() else { return None };
    let (real, integer, clamp, commutes) = match &node.op {
        Op::Add { rescale: AddRescale::Real, clamp } => (-0.0f32, 0, clamp, true),
        Op::Sub { rescale: AddRescale::Real, clamp } => (0.0, 0, clamp, false),
        Op::Mul { rescale: Rescale::Real, clamp } => (1.0, 1, clamp, true),
        _ => return None,
    };
    let result = graph.ty(node.result);
    let neutral = |id: ValueId| {
        graph.const_data(id).is_some_and(|data| match result.dtype {
            DType::F32 => data.to_f32().iter().all(|x| x.to_bits() == real.to_bits()),
            dtype => data.to_ints(dtype).iter().all(|&x| x == integer),
        })
    };
    let clip = |id: ValueId| (graph.ty(id) == result).then_some((Op::Clip { clamp: *clamp }, id));
    match () {
        () if neutral(b) => clip(a),
        () if commutes && neutral(a) => clip(b),
        () => None,
    }
}

/// x · x on floats, which reads one operand.
fn square(graph: &Graph, node: &Node) -> Option<(Op, ValueId)> {
    let &[a, b] = node.operands.as_slice() else { return None };
    let is_product =
        matches!(&node.op, Op::Mul { rescale: Rescale::Real, clamp } if is_full(clamp, DType::F32));
    (a == b && is_product && graph.ty(a).dtype == DType::F32)
        .then_some((Op::Unary { function: Unary::Square }, a))
}

/// Whether clamping changes no element of that type.
fn is_full(clamp: &Clamp, dtype: DType) -> bool {
    match (clamp, dtype.int_range()) {
        (Clamp::Float { lo, hi }, None) => lo.0 == f32::NEG_INFINITY && hi.0 == f32::INFINITY,
        (Clamp::Int { lo, hi }, Some((low, high))) => {
            // A bound at the end of the i32 range is none for i64.
            let (low, high) = (low.max(i64::from(i32::MIN)), high.min(i64::from(i32::MAX)));
            i64::from(*lo) <= low && i64::from(*hi) >= high
        }
        _ => false,
    }
}

/// The clamp that an 8-bit requantisation to its operand's type amounts to, found by trying all 256 operands.
fn requantize_as_clip(graph: &Graph, node: &Node) -> Option<Clamp> {
    let operand: &Type = graph.ty(*node.operands.first()?);
    let Op::Requantize { clamp, .. } = &node.op else { return None };
    let (low, high) = operand.dtype.int_range()?;
    if operand != graph.ty(node.result) || operand.dtype.size() != 1 || operand.quant.as_ref()?.axis.is_some()
    {
        return None;
    }
    let table = interp::unary_table(&node.op, operand, operand).ok()?;
    let (lo, hi) = clamp.int_bounds();
    if lo > hi {
        return None;
    }
    let clips = |x: i64| table[usize::from(x as u8)] == x.clamp(lo.into(), hi.into()) as u8;
    (low..=high).all(clips).then_some(*clamp)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    #[test]
    fn movements_that_move_nothing_go() {
        rewrites(
            run,
            "input %x: f32[1,2,3]
             %a: f32[1,2,3] = reshape(%x)
             %b: f32[1,2,3] = slice(%a) {begin = [0, 0, 0], step = [1, 1, 1]}
             %c: f32[1,2,3] = pad(%b) {before = [0, 0, 0], after = [0, 0, 0], value = 0}
             %d: f32[1,2,3] = transpose(%c) {perm = [0, 1, 2]}
             %e: f32[1,2,3] = concat(%d) {axis = 1}
             %f: f32[1,2,3] = clip(%e) {clamp = -inf..=inf}
             %y: f32[1,2,3] = tanh(%f)
             return %y",
            "input %x: f32[1,2,3]
             %y: f32[1,2,3] = tanh(%x)
             return %y",
        );
    }

    #[test]
    fn products_of_a_float_with_itself_are_squares() {
        rewrites(
            run,
            "input %x: f32[6]
             input %i: i32[6]
             %a: f32[6] = mul(%x, %x) {rescale = real, clamp = -inf..=inf}
             %b: i32[6] = mul(%i, %i) {rescale = real, clamp = -2147483648..=2147483647}
             %c: f32[6] = mul(%x, %a) {rescale = real, clamp = -inf..=inf}
             return %a, %b, %c",
            "input %x: f32[6]
             input %i: i32[6]
             %a: f32[6] = unary(%x) {function = square}
             %b: i32[6] = mul(%i, %i) {rescale = real, clamp = -2147483648..=2147483647}
             %c: f32[6] = mul(%x, %a) {rescale = real, clamp = -inf..=inf}
             return %a, %b, %c",
        );
    }

    #[test]
    fn reshapes_collapse() {
        rewrites(
            run,
            "input %x: f32[6]
             %a: f32[2,3] = reshape(%x)
             %y: f32[3,2] = reshape(%a)
             return %y",
            "input %x: f32[6]
             %a: f32[2,3] = reshape(%x)
             %y: f32[3,2] = reshape(%x)
             return %y",
        );
    }

    #[test]
    fn transposes_compose_and_those_of_single_elements_are_reshapes() {
        rewrites(
            run,
            "input %x: i32[1,2,3,4]
             %a: i32[2,3,4,1] = transpose(%x) {perm = [1, 2, 3, 0]}
             %b: i32[4,3,2,1] = transpose(%a) {perm = [2, 1, 0, 3]}
             %y: i32[2,3,1,4] = transpose(%b) {perm = [2, 1, 3, 0]}
             return %a, %y",
            "input %x: i32[1,2,3,4]
             %a: i32[2,3,4,1] = reshape(%x)
             %b: i32[4,3,2,1] = transpose(%a) {perm = [2, 1, 0, 3]}
             %y: i32[2,3,1,4] = reshape(%x)
             return %a, %y",
        );
    }

    #[test]
    fn slices_compose() {
        rewrites(
            run,
            "input %x: i32[20]
             %a: i32[6] = slice(%x) {begin = [15], step = [-3]}
             %y: i32[2] = slice(%a) {begin = [1], step = [2]}
             return %y",
            "input %x: i32[20]
             %a: i32[6] = slice(%x) {begin = [15], step = [-3]}
             %y: i32[2] = slice(%x) {begin = [12], step = [-6]}
             return %y",
        );
    }

    #[test]
    fn pads_add_up_if_their_values_agree() {
        let pads = |first: i32, second: i32| {
            format!(
                "input %x: i32[2]
                 %a: i32[4] = pad(%x) {{before = [1], after = [1], value = {first}}}
                 %y: i32[7] = pad(%a) {{before = [0], after = [3], value = {second}}}
                 return %y"
            )
        };
        let after = "input %x: i32[2]
             %a: i32[4] = pad(%x) {before = [1], after = [1], value = 5}
             %y: i32[7] = pad(%x) {before = [1], after = [4], value = 5}
             return %y";
        rewrites(run, &pads(5, 5), after);
        keeps(run, &pads(5, 6));
    }

    #[test]
    fn neutral_operands_leave_the_clamp() {
        rewrites(
            run,
            "input %x: f32[2]
             const %one: f32[1] = [1.0]
             const %zero: f32[2] = [0.0, 0.0]
             %a: f32[2] = mul(%one, %x) {rescale = real, clamp = 0.0..=inf}
             %b: f32[2] = sub(%a, %zero) {rescale = real, clamp = -inf..=6.0}
             return %b",
            "input %x: f32[2]
             %a: f32[2] = clip(%x) {clamp = 0.0..=inf}
             %b: f32[2] = clip(%x) {clamp = 0.0..=6.0}
             return %b",
        );
    }

    #[test]
    fn inexact_neutral_operands_stay() {
        keeps(
            run,
            "input %x: f32[2]
             const %zero: f32[2] = [0.0, 0.0]
             const %row: f32[2,1] = [1.0, 1.0]
             %a: f32[2] = add(%x, %zero) {rescale = real, clamp = -inf..=inf}
             %b: f32[2] = sub(%zero, %x) {rescale = real, clamp = -inf..=inf}
             %c: f32[2,2] = mul(%x, %row) {rescale = real, clamp = -inf..=inf}
             return %a, %b, %c",
        );
    }

    #[test]
    fn requantisation_to_the_same_type_is_a_clip() {
        rewrites(
            run,
            "input %x: i8[4] q(0.5 : -3)
             %a: i8[4] q(0.5 : -3) = requantize(%x) {rescale = [1073741824 * 2^1], clamp = -128..=127}
             %y: i8[4] q(0.5 : -3) = requantize(%a) {rescale = [1073741824 * 2^1], clamp = -3..=127}
             return %y",
            "input %x: i8[4] q(0.5 : -3)
             %y: i8[4] q(0.5 : -3) = clip(%x) {clamp = -3..=127}
             return %y",
        );
        keeps(
            run,
            "input %x: i8[4] q(0.5 : -3)
             %y: i8[4] q(0.5 : -2) = requantize(%x) {rescale = [1073741824 * 2^1], clamp = -128..=127}
             %z: i8[4] q(0.5 : -3) = requantize(%x) {rescale = [1073741824 * 2^0], clamp = -128..=127}
             return %y, %z",
        );
    }
}
