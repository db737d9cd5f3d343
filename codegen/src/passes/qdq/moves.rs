//! What only moves or compares elements works on stored values as on floats.

use super::super::rewrite::{each_split, node_before};
use super::{quantised, quantize_of, stored_clamp, whole};
use crate::ir::{Binary, Clamp, DType, Graph, Node, NodeId, Op, Reduction, Rescale, Type, ValueId};

/// Moves DEQUANTIZEs behind such ops, and QUANTIZEs before them.
pub(super) fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_split(graph, |graph, order, id| {
        let moved = sunk(graph, id).or_else(|| hoisted(graph, &uses, id));
        let Some(Moved { inner, outer }) = moved else { return false };
        let inner = inner
            .into_iter()
            .map(|Inner { op, operands, ty }| node_before(graph, order, id, op, &operands, ty));
        let mut operands: Vec<ValueId> = inner.collect();
        operands.extend(outer.1);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (outer.0, operands);
        true
    })
}

/// A node as others before it, and what it becomes: an op on their results, and on further operands.
struct Moved {
    inner: Vec<Inner>,
    outer: (Op, Vec<ValueId>),
}

struct Inner {
    op: Op,
    operands: Vec<ValueId>,
    ty: Type,
}

/// What reads stored values and gives them another form, element by element: DEQUANTIZE, and signed values as unsigned ones.
fn form(graph: &Graph, id: ValueId) -> Option<(&Op, ValueId)> {
    let node = graph.node(graph.producer(id)?);
    let from = *node.operands.first()?;
    let (ty, to) = (graph.ty(from), graph.ty(node.result));
    let unsigned = || {
        let same = ty.scale() == to.scale() && ty.zero_point() + 128 == to.zero_point();
        (ty.dtype, to.dtype) == (DType::I8, DType::U8) && same
    };
    let changes = match node.op {
        Op::Dequantize {} => true,
        Op::Requantize { .. } => unsigned(),
        _ => false,
    };
    (changes && ty.scale().is_some()).then_some((&node.op, from))
}

/// A movement of a form as the form of a movement.
fn sunk(graph: &Graph, id: NodeId) -> Option<Moved> {
    let node = graph.node(id);
    let result = graph.ty(node.result);
    let (outer, from) = form(graph, *node.operands.first()?)?;
    let stored = graph.ty(from);
    let mut operands = vec![from];
    let op = match &node.op {
        Op::Transpose { .. } | Op::Reshape {} | Op::Slice { .. } | Op::Broadcast {} => node.op.clone(),
        Op::Gather { .. } => {
            operands.extend(node.operands.get(1));
            node.op.clone()
        }
        Op::Reduce { function: Reduction::Max | Reduction::Min, .. } => node.op.clone(),
        Op::MaxPool2d { window, clamp } if is_open(clamp, result) => {
            Op::MaxPool2d { window: *window, clamp: whole(stored)? }
        }
        Op::Pad { before, after, value } => {
            let value = match result.dtype {
                DType::F32 => {
                    let float = f32::from_bits(u32::try_from(*value).ok()?);
                    let value = quantised(float, stored)?;
                    let back = stored.scale()? * value.wrapping_sub(stored.zero_point()) as f32;
                    i64::from(value).checked_sub(if back == float { 0 } else { return None })?
                }
                _ => value - 128,
            };
            Op::Pad { before: before.clone(), after: after.clone(), value }
        }
        Op::Binary { function: function @ (Binary::Max | Binary::Min), clamp, .. }
            if is_open(clamp, result) =>
        {
            operands = alike(graph, node, outer, stored)?;
            Op::Binary { function: *function, rescale: Rescale::Real, clamp: whole(stored)? }
        }
        Op::Concat { .. } => {
            operands = alike(graph, node, outer, stored)?;
            node.op.clone()
        }
        _ => return None,
    };
    let ty = stored.with_shape(result.shape.dims());
    // A form keeps its type's scale.
    let from_same = result.dtype == DType::F32 || result.scale() == stored.scale();
    from_same.then(|| Moved { inner: vec![Inner { op, operands, ty }], outer: (outer.clone(), vec![]) })
}

/// What operands are the same form of, if they are all of one type.
fn alike(graph: &Graph, node: &Node, outer: &Op, stored: &Type) -> Option<Vec<ValueId>> {
    let one = |&operand: &ValueId| {
        let (own, from) = form(graph, operand)?;
        let ty = graph.ty(from);
        (own == outer && ty.dtype == stored.dtype && ty.quant == stored.quant).then_some(from)
    };
    node.operands.iter().map(one).collect()
}

/// Whether a range is none.
fn is_open(clamp: &Clamp, ty: &Type) -> bool {
    match *clamp {
        Clamp::Float { .. } => clamp.holds_finite(),
        Clamp::Int { .. } => whole(ty) == Some(*clamp),
    }
}

/// A QUANTIZE of a movement as the movement of a QUANTIZE.
fn hoisted(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Moved> {
    let (float, ty) = quantize_of(graph, id)?;
    let quantize = &graph.node(id).op;
    let Node { op, operands, .. } = graph.node(graph.producer(float)?);
    if uses.get(float.0 as usize) != Some(&1) {
        return None;
    }
    let op = match op {
        Op::Transpose { .. } | Op::Reshape {} | Op::Concat { .. } => op.clone(),
        Op::Reduce { function: Reduction::Max | Reduction::Min, .. } => op.clone(),
        Op::MaxPool2d { window, clamp } => Op::MaxPool2d { window: *window, clamp: stored_clamp(clamp, ty)? },
        Op::Clip { clamp } => Op::Clip { clamp: stored_clamp(clamp, ty)? },
        Op::Pad { before, after, value } => {
            let value = quantised(f32::from_bits(u32::try_from(*value).ok()?), ty)?;
            Op::Pad { before: before.clone(), after: after.clone(), value: value.into() }
        }
        _ => return None,
    };
    let inner = |&part: &ValueId| Inner {
        op: quantize.clone(),
        operands: vec![part],
        ty: ty.with_shape(graph.ty(part).shape.dims()),
    };
    Some(Moved { inner: operands.iter().map(inner).collect(), outer: (op, vec![]) })
}
