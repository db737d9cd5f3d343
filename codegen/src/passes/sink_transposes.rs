//! Transposes move towards the outputs: afterwards no elementwise op, concatenation or padding reads transposes by one permutation (and, besides, constants alone) that
//! nothing else reads. Where they meet their inverse, which stands before the next convolution of a model whose images are channel-first, [`simplify`](super::simplify) removes both.
//!
//! Exact: every element is computed from the same elements.

use super::rewrite::{each_split, node_before};
use crate::ir::{Data, Graph, Node, NodeId, Op, Shape, Type, ValueId};
use std::collections::BTreeMap;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = Uses::of(graph);
    each_split(graph, |graph, order, id| {
        let Some(Sunk { op, operands, result, perm, origin }) = sunk(graph, &uses, id) else { return false };
        let operands: Vec<ValueId> = operands.into_iter().map(|operand| operand.into_value(graph)).collect();
        let value = node_before(graph, order, id, op, &operands, result);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (Op::Transpose { perm }, vec![value]);
        node.origin = origin;
        true
    })
}

/// Who reads a value, before the pass.
struct Uses {
    counts: Vec<usize>,
    /// The permutation of each transpose, by what it reads.
    transposes: BTreeMap<ValueId, Vec<Vec<usize>>>,
}

impl Uses {
    fn of(graph: &Graph) -> Uses {
        let mut transposes = BTreeMap::<ValueId, Vec<Vec<usize>>>::new();
        for node in graph.order.iter().map(|&id| graph.node(id)) {
            if let (Op::Transpose { perm }, Some(&operand)) = (&node.op, node.operands.first()) {
                transposes.entry(operand).or_default().push(perm.clone());
            }
        }
        Uses { counts: graph.use_counts(), transposes }
    }

    fn count(&self, id: ValueId) -> usize {
        self.counts.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// Whether nothing but transposes by one permutation reads a value.
    fn only_transposed(&self, id: ValueId, perm: &[usize]) -> bool {
        let transposes = self.transposes.get(&id).map(Vec::as_slice).unwrap_or_default();
        transposes.len() == self.count(id) && transposes.iter().all(|own| own == perm)
    }
}

/// A node before the transpose.
struct Sunk {
    op: Op,
    operands: Vec<Operand>,
    result: Type,
    /// What transposes its result.
    perm: Vec<usize>,
    /// What was transposed before came of this.
    origin: String,
}

enum Operand {
    /// What was transposed.
    Value(ValueId),
    /// A constant in the order of axes before the transpose.
    Constant(String, Type, Data),
}

impl Operand {
    fn into_value(self, graph: &mut Graph) -> ValueId {
        match self {
            Operand::Value(value) => value,
            Operand::Constant(name, ty, data) => graph.add_const(name, ty, data),
        }
    }
}

fn sunk(graph: &Graph, uses: &Uses, id: NodeId) -> Option<Sunk> {
    let node = graph.node(id);
    if graph.ty(node.result).is_per_axis() {
        return None;
    }
    if let Op::Reshape {} = node.op {
        return reshaped(graph, uses, node);
    }
    // How many operands have the axes of the result.
    let along = match &node.op {
        Op::Concat { .. } => node.operands.len(),
        Op::Pad { .. } | Op::Cast {} => 1,
        op => op.elementwise_operands(),
    };
    if along == 0 {
        return None;
    }
    let transposed = |&operand: &ValueId| {
        let producer = graph.node(graph.producer(operand)?);
        let Op::Transpose { perm } = &producer.op else { return None };
        let all_read_here = uses.count(operand) == node.operands.iter().filter(|&&o| o == operand).count();
        all_read_here.then_some((perm, *producer.operands.first()?, &producer.origin))
    };
    let (perm, _, origin) = node.operands.iter().take(along).find_map(transposed)?;
    let result = graph.ty(node.result);
    let inverse = inverse(perm)?;
    let mut operands = Vec::new();
    for (k, operand) in node.operands.iter().enumerate() {
        operands.push(match (transposed(operand), graph.const_data(*operand)) {
            // Tables and the like stay as they are.
            _ if k >= along => Operand::Value(*operand),
            (Some((own, from, _)), _) if own == perm => Operand::Value(from),
            (_, Some(data)) => turned(graph, *operand, data, &inverse)?,
            _ => return None,
        });
    }
    let op = permuted_op(&node.op, &inverse)?;
    let result = result.with_shape(&permuted(result.shape.dims(), &inverse)?);
    Some(Sunk { op, operands, result, perm: perm.clone(), origin: origin.clone() })
}

/// A reshape of a transposed value that leaves together and in order, in memory, the axes that it joins: the same of what was transposed. If others read the
/// transposed value, only where the transpose behind meets its inverse.
fn reshaped(graph: &Graph, uses: &Uses, node: &Node) -> Option<Sunk> {
    let &[operand] = node.operands.as_slice() else { return None };
    let producer = graph.node(graph.producer(operand)?);
    let Op::Transpose { perm } = &producer.op else { return None };
    let source = *producer.operands.first()?;
    let (from, result) = (graph.ty(operand).shape.dims(), graph.ty(node.result));
    let mut groups = groups(from, result.shape.dims())?;
    // Where its elements lie in the source; axes of one element lie anywhere.
    for group in &mut groups {
        let axes: Vec<usize> = group
            .from
            .clone()
            .filter(|&axis| from[axis] != 1)
            .filter_map(|axis| perm.get(axis).copied())
            .collect();
        let dims = graph.ty(source).shape.dims();
        let together =
            |pair: &[usize]| pair[0] < pair[1] && dims[pair[0] + 1..pair[1]].iter().all(|&dim| dim == 1);
        if !axes.windows(2).all(together) {
            return None;
        }
        group.place = axes.first().copied();
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&k| groups[k].place);
    let axes: Vec<usize> = order.iter().flat_map(|&k| groups[k].to.clone()).collect();
    let perm = inverse(&axes)?;
    if perm.iter().copied().eq(0..perm.len()) {
        return None;
    }
    if uses.count(operand) != 1 && !uses.only_transposed(node.result, &axes) {
        return None;
    }
    let result = result.with_shape(&permuted(result.shape.dims(), &axes)?);
    Some(Sunk {
        op: Op::Reshape {},
        operands: vec![Operand::Value(source)],
        result,
        perm,
        origin: producer.origin.clone(),
    })
}

/// Axes of a shape that become axes of another, with as many elements.
struct Group {
    from: std::ops::Range<usize>,
    to: std::ops::Range<usize>,
    /// Its first axis that has more than one element, in the source.
    place: Option<usize>,
}

/// The smallest groups in which a reshape takes one shape to another, in order.
fn groups(from: &[usize], to: &[usize]) -> Option<Vec<Group>> {
    let (mut groups, mut i, mut j) = (Vec::new(), 0, 0);
    while i < from.len() || j < to.len() {
        let start = (i, j);
        // Axes of one element are groups of their own, from nothing or to nothing.
        match (from.get(i), to.get(j)) {
            (Some(1), _) => i += 1,
            (_, Some(1)) => j += 1,
            (Some(&x), Some(&y)) => {
                let (mut a, mut b) = (x, y);
                (i, j) = (i + 1, j + 1);
                while a != b {
                    if a < b {
                        a *= *from.get(i)?;
                        i += 1;
                    } else {
                        b *= *to.get(j)?;
                        j += 1;
                    }
                }
            }
            _ => return None,
        }
        groups.push(Group { from: start.0..i, to: start.1..j, place: None });
    }
    Some(groups)
}

pub(super) fn inverse(perm: &[usize]) -> Option<Vec<usize>> {
    (0..perm.len()).map(|axis| perm.iter().position(|&from| from == axis)).collect()
}

pub(super) fn permuted<T: Copy>(list: &[T], perm: &[usize]) -> Option<Vec<T>> {
    perm.iter().map(|&axis| list.get(axis).copied()).collect()
}

/// The operation whose operands and result have their axes in that order. One that treats all axes alike stays what it is.
pub(super) fn permuted_op(op: &Op, perm: &[usize]) -> Option<Op> {
    let mut op = op.clone();
    match &mut op {
        Op::Concat { axis } => *axis = perm.iter().position(|from| from == axis)?,
        Op::Pad { before, after, .. } => {
            (*before, *after) = (permuted(before, perm)?, permuted(after, perm)?);
        }
        Op::Slice { begin, step } => (*begin, *step) = (permuted(begin, perm)?, permuted(step, perm)?),
        _ => {}
    }
    Some(op)
}

/// Whether a permutation leaves all elements where they are: axes of one element may go anywhere.
pub(super) fn keeps_order(perm: &[usize], dims: &[usize]) -> bool {
    perm.iter().filter(|&&axis| dims.get(axis) != Some(&1)).is_sorted()
}

/// A constant whose axes are aligned with the last ones of a tensor, before that was transposed.
fn turned(graph: &Graph, id: ValueId, data: &Data, perm: &[usize]) -> Option<Operand> {
    let ty = graph.ty(id);
    if ty.quant.as_ref().is_some_and(|quant| quant.axis.is_some()) || ty.shape.rank() > perm.len() {
        return None;
    }
    let mut dims = vec![1; perm.len() - ty.shape.rank()];
    dims.extend(ty.shape.dims());
    let data = data.transposed(&Shape(dims.clone()), ty.dtype.size(), perm)?;
    let to = Shape(permuted(&dims, perm)?);
    // A single number needs no axes.
    let to = if to.numel() == 1 { ty.shape.clone() } else { to };
    Some(Operand::Constant(graph.value(id).name.clone(), ty.with_shape(to.dims()), data))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn they_move_behind_elementwise_ops() {
        rewrites_used(
            run,
            "input %x: f32[1,2,3,4]
             input %z: f32[1,2,3,4]
             const %c: f32[4,1,1] = [1.0, 2.0, 3.0, 4.0]
             %a: f32[1,4,2,3] = transpose(%x) {perm = [0, 3, 1, 2]}
             %b: f32[1,4,2,3] = transpose(%z) {perm = [0, 3, 1, 2]}
             %s: f32[1,4,2,3] = add(%a, %b) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,4,2,3] = mul(%s, %c) {rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[1,2,3,4]
             input %z: f32[1,2,3,4]
             const %c: f32[4,1,1] = [1.0, 2.0, 3.0, 4.0]
             const %d: f32[1,1,1,4] = [1.0, 2.0, 3.0, 4.0]
             %s: f32[1,2,3,4] = add(%x, %z) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,2,3,4] = mul(%s, %d) {rescale = real, clamp = -inf..=inf}
             %t: f32[1,4,2,3] = transpose(%y) {perm = [0, 3, 1, 2]}
             return %t",
        );
    }

    #[test]
    fn they_move_behind_reshapes() {
        rewrites_used(
            run,
            "input %x: f32[1,2,3,4]
             %a: f32[1,4,2,3] = transpose(%x) {perm = [0, 3, 1, 2]}
             %y: f32[1,4,6,1] = reshape(%a)
             return %y",
            "input %x: f32[1,2,3,4]
             %r: f32[1,1,6,4] = reshape(%x)
             %y: f32[1,4,6,1] = transpose(%r) {perm = [0, 3, 2, 1]}
             return %y",
        );
        keeps(
            run,
            "input %x: f32[1,2,3,4]
             %a: f32[1,4,2,3] = transpose(%x) {perm = [0, 3, 1, 2]}
             %y: f32[1,8,3] = reshape(%a)
             return %y",
        );
    }

    #[test]
    fn they_move_behind_reshapes_to_their_inverse() {
        rewrites_used(
            run,
            "input %x: f32[1,3,4]
             %a: f32[1,4,3] = transpose(%x) {perm = [0, 2, 1]}
             %r: f32[1,4,1,3] = reshape(%a)
             %y: f32[1,1,3,4] = transpose(%r) {perm = [0, 2, 3, 1]}
             return %a, %y",
            "input %x: f32[1,3,4]
             %a: f32[1,4,3] = transpose(%x) {perm = [0, 2, 1]}
             %r: f32[1,1,3,4] = reshape(%x)
             %t: f32[1,4,1,3] = transpose(%r) {perm = [0, 3, 1, 2]}
             %y: f32[1,1,3,4] = transpose(%t) {perm = [0, 2, 3, 1]}
             return %a, %y",
        );
        keeps(
            run,
            "input %x: f32[1,3,4]
             %a: f32[1,4,3] = transpose(%x) {perm = [0, 2, 1]}
             %r: f32[1,4,1,3] = reshape(%a)
             return %a, %r",
        );
    }

    #[test]
    fn scales_of_an_axis_stay_where_they_are() {
        keeps(
            run,
            "input %x: i8[2,3,1,2] q(axis 0, [0.5, 0.25] : [0, 0])
             %a: i8[3,1,2,2] q(axis 3, [0.5, 0.25] : [0, 0]) = transpose(%x) {perm = [1, 2, 3, 0]}
             %y: i8[3,2,1,2] q(axis 3, [0.5, 0.25] : [0, 0]) = reshape(%a)
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        // Another permutation, a value that is not transposed, another reader.
        keeps(
            run,
            "input %x: f32[2,2,2]
             input %z: f32[2,2,2]
             %a: f32[2,2,2] = transpose(%x) {perm = [0, 2, 1]}
             %b: f32[2,2,2] = transpose(%z) {perm = [1, 0, 2]}
             %s: f32[2,2,2] = add(%a, %b) {rescale = real, clamp = -inf..=inf}
             %t: f32[2,2,2] = add(%s, %z) {rescale = real, clamp = -inf..=inf}
             return %t, %a",
        );
    }
}
