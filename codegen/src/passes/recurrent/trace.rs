//! Where elements come from, through all ops that only move them.

use super::Work;
use crate::ir::{Data, Graph, Node, Op, Shape, ValueId};
use std::collections::HashMap;

/// Consecutive elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) value: ValueId,
    pub(super) start: usize,
    pub(super) len: usize,
}

/// The node that computes the elements of a run, which only moves nothing, and the elements of its result.
pub(super) fn root(graph: &Graph, run: Run, work: &mut Work) -> Option<Run> {
    let mut run = run;
    while let Some(node) = graph.producer(run.value).map(|id| graph.node(id)) {
        match hop(graph, node, run, work)?[..] {
            [] => break,
            [alone] => run = alone,
            _ => break,
        }
    }
    Some(run)
}

/// The runs that a run consists of, in order; each is as far back as it goes in one piece.
pub(super) fn roots(graph: &Graph, run: Run, work: &mut Work) -> Option<Vec<Run>> {
    roots_among(graph, run, &HashMap::new(), work)
}

/// As [`roots`], with the runs that some values consist of.
pub(super) fn roots_among(
    graph: &Graph,
    run: Run,
    known: &HashMap<ValueId, Vec<Run>>,
    work: &mut Work,
) -> Option<Vec<Run>> {
    let (mut pending, mut found) = (vec![run], Vec::new());
    while let Some(run) = pending.pop() {
        if let Some(all) = known.get(&run.value) {
            work.spend(all.len())?;
            within(all, run).for_each(|run| push(&mut found, run));
            continue;
        }
        let node = graph.producer(run.value).map(|id| graph.node(id));
        let parts = node.map(|node| hop(graph, node, run, work)).unwrap_or(Some(Vec::new()))?;
        match parts.is_empty() {
            true => push(&mut found, run),
            false => pending.extend(parts.into_iter().rev()),
        }
    }
    Some(found)
}

/// What a run has of the runs that its value consists of.
fn within(all: &[Run], run: Run) -> impl Iterator<Item = Run> + '_ {
    let mut first = 0;
    all.iter().filter_map(move |part| {
        let (begin, end) = (run.start.max(first), (run.start + run.len).min(first + part.len));
        let start = part.start + begin.saturating_sub(first);
        first += part.len;
        (begin < end).then(|| Run { start, len: end - begin, ..*part })
    })
}

/// Adds a run behind others, of which the last may go on in it.
fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.value == run.value && last.start + last.len == run.start => last.len += run.len,
        _ => runs.push(run),
    }
}

/// The runs of operands that a node moves to a run of its result; none if it computes. `None` if there is no more work to spend.
fn hop(graph: &Graph, node: &Node, run: Run, work: &mut Work) -> Option<Vec<Run>> {
    let Some(&operand) = node.operands.first() else { return Some(Vec::new()) };
    let (from, to) = (&graph.ty(operand).shape, &graph.ty(node.result).shape);
    if matches!(node.op, Op::Reshape {}) {
        return Some(vec![Run { value: operand, ..run }]);
    }
    if !matches!(node.op, Op::Slice { .. } | Op::Transpose { .. } | Op::Concat { .. } | Op::Broadcast {}) {
        return Some(Vec::new());
    }
    work.spend(run.len)?;
    let (strides, back) = (to.strides(), from.strides());
    let mut runs = Vec::new();
    for at in run.start..run.start.checked_add(run.len)? {
        let place = strides.iter().zip(to.dims()).map(|(&stride, &dim)| at / stride.max(1) % dim.max(1));
        let place: Vec<usize> = place.collect();
        let (value, start) = match &node.op {
            Op::Slice { begin, step } => {
                let axis = |axis: usize| {
                    let by = i64::try_from(place[axis]).ok()?.checked_mul(*step.get(axis)?)?;
                    usize::try_from(i64::try_from(*begin.get(axis)?).ok()?.checked_add(by)?).ok()
                };
                (operand, flat(&back, axis)?)
            }
            Op::Transpose { perm } => {
                let axis = |axis: usize| place.get(perm.iter().position(|&own| own == axis)?).copied();
                (operand, flat(&back, axis)?)
            }
            Op::Broadcast {} => (operand, broadcast(from, &place)?),
            Op::Concat { axis } => part(graph, node, *axis, &place)?,
            _ => return Some(Vec::new()),
        };
        push(&mut runs, Run { value, start, len: 1 });
    }
    Some(runs)
}

/// The index of an element, of which `at` gives the place along each axis.
fn flat(strides: &[usize], at: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    strides
        .iter()
        .enumerate()
        .try_fold(0, |sum: usize, (axis, &stride)| sum.checked_add(at(axis)?.checked_mul(stride)?))
}

/// The index of the element that stands for the one at that place of a larger shape.
fn broadcast(from: &Shape, place: &[usize]) -> Option<usize> {
    let missing = place.len().checked_sub(from.rank())?;
    flat(&from.strides(), |axis| Some(if from.dims()[axis] == 1 { 0 } else { *place.get(missing + axis)? }))
}

/// The operand of a concatenation that has the element at that place, and its index there.
fn part(graph: &Graph, node: &Node, axis: usize, place: &[usize]) -> Option<(ValueId, usize)> {
    let mut first = *place.get(axis)?;
    for &operand in &node.operands {
        let shape = &graph.ty(operand).shape;
        let own = *shape.dims().get(axis)?;
        if first < own {
            let at = |k: usize| if k == axis { Some(first) } else { place.get(k).copied() };
            return Some((operand, flat(&shape.strides(), at)?));
        }
        first -= own;
    }
    None
}

/// The run of an operand that an elementwise op with broadcasting reads for a run of its result, if it is one.
pub(super) fn operand(graph: &Graph, node: &Node, k: usize, run: Run, work: &mut Work) -> Option<Run> {
    let value = *node.operands.get(k)?;
    let (from, to) = (&graph.ty(value).shape, &graph.ty(node.result).shape);
    if from.numel() == to.numel() {
        return Some(Run { value, ..run });
    }
    let all = indices(from, to, run, work)?;
    let start = *all.first()?;
    let is_run = all.iter().enumerate().all(|(k, &at)| at == start + k);
    is_run.then_some(Run { value, start, len: run.len })
}

/// The numbers of a constant operand of an elementwise op for a run of its result.
pub(super) fn numbers(graph: &Graph, node: &Node, k: usize, run: Run, work: &mut Work) -> Option<Vec<f64>> {
    let value = *node.operands.get(k)?;
    let data = graph.const_data(value)?;
    let all = indices(&graph.ty(value).shape, &graph.ty(node.result).shape, run, work)?;
    all.into_iter().map(|at| floats(data, at, 1)?.next()).collect()
}

/// Some elements of a constant of floats.
pub(super) fn floats(data: &Data, start: usize, len: usize) -> Option<impl Iterator<Item = f64> + '_> {
    let end = start.checked_add(len)?.checked_mul(4)?;
    let bytes = data.bytes().get(start.checked_mul(4)?..end)?;
    Some(bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))))
}

fn indices(from: &Shape, to: &Shape, run: Run, work: &mut Work) -> Option<Vec<usize>> {
    work.spend(run.len)?;
    let strides = to.strides();
    let place = |at: usize| -> Vec<usize> {
        strides.iter().zip(to.dims()).map(|(&stride, &dim)| at / stride.max(1) % dim.max(1)).collect()
    };
    (run.start..run.start.checked_add(run.len)?).map(|at| broadcast(from, &place(at))).collect()
}
