//! What the bytes of a value are, as the checker derives it: runs of the data of *sources*.
//!
//! Reshapes, slices of adjacent elements and concats that only put their operands one after the other make no data of their own,
//! so that their results may share memory with their operands. Every other value is its own source.

use crate::ir::{Graph, Node, Op, ValueDef, ValueId};
use std::rc::Rc;

/// `bytes` bytes of the data of `source`, from byte `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) bytes: usize,
    pub(super) source: ValueId,
    pub(super) offset: usize,
}

/// Most runs of one value: a bound on the memory that a hostile tower of concats can make the checker use.
const MOST_RUNS: usize = 1 << 16;

/// The runs of every value.
pub(super) struct Contents(Vec<Rc<[Run]>>);

impl Contents {
    pub(super) fn of(graph: &Graph) -> Result<Self, Vec<String>> {
        let own = |id: ValueId| -> Rc<[Run]> {
            Rc::new([Run { bytes: graph.ty(id).bytes(), source: id, offset: 0 }])
        };
        let mut contents = Contents(graph.values().map(|(id, _)| own(id)).collect());
        for (_, node) in graph.nodes() {
            if let Some(runs) = contents.derive(graph, node) {
                if runs.len() > MOST_RUNS {
                    return Err(vec![format!(
                        "%{} is joined from more than {MOST_RUNS} pieces",
                        node.result.0
                    )]);
                }
                contents.0[node.result.0 as usize] = runs;
            }
        }
        Ok(contents)
    }

    pub(super) fn runs(&self, id: ValueId) -> &[Run] {
        &self.0[id.0 as usize]
    }

    /// The runs of a result that has no data of its own.
    fn derive(&self, graph: &Graph, node: &Node) -> Option<Rc<[Run]>> {
        let operand = *node.operands.first()?;
        if let ValueDef::Const(_) = graph.value(operand).def {
            if !matches!(node.op, Op::Concat { .. }) {
                return None;
            }
        }
        match &node.op {
            Op::Reshape {} => Some(Rc::clone(&self.0[operand.0 as usize])),
            Op::Slice { begin, step } => {
                let shape = &graph.ty(operand).shape;
                let dims = graph.ty(node.result).shape.dims();
                // Steps forward keep the elements in order, so that they are adjacent if first and last are near enough.
                let (mut first, mut last) = (0usize, 0usize);
                for (axis, stride) in shape.strides().into_iter().enumerate() {
                    let reach =
                        usize::try_from(*step.get(axis)?).unwrap_or(0) * dims.get(axis)?.checked_sub(1)?;
                    if *dims.get(axis)? > 1 && step.get(axis)? <= &0 {
                        return None;
                    }
                    first += begin.get(axis)? * stride;
                    last += (begin.get(axis)? + reach) * stride;
                }
                let count = graph.ty(node.result).shape.numel();
                let size = graph.ty(operand).dtype.size();
                (last - first + 1 == count).then(|| self.cut(operand, first * size, count * size))
            }
            Op::Concat { axis } => {
                let outer: usize = graph.ty(node.result).shape.dims().iter().take(*axis).product();
                let runs = || node.operands.iter().flat_map(|id| self.0[id.0 as usize].iter().copied());
                // One run more than allowed suffices to see that there are too many.
                (outer == 1).then(|| join(runs().filter(|run| run.bytes > 0).take(MOST_RUNS + 1)))
            }
            _ => None,
        }
    }

    /// A range of the bytes of a value.
    fn cut(&self, id: ValueId, start: usize, bytes: usize) -> Rc<[Run]> {
        let mut at = 0;
        let mut runs = Vec::new();
        for run in self.runs(id) {
            let (from, to) = (start.max(at), (start + bytes).min(at + run.bytes));
            if from < to {
                runs.push(Run { bytes: to - from, source: run.source, offset: run.offset + from - at });
            }
            at += run.bytes;
        }
        runs.into()
    }
}

/// Joins adjacent runs.
fn join(runs: impl Iterator<Item = Run>) -> Rc<[Run]> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(last) if last.source == run.source && last.offset + last.bytes == run.offset => {
                last.bytes += run.bytes
            }
            _ => joined.push(run),
        }
    }
    joined.into()
}
