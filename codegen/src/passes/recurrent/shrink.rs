//! A recurrent op of which only the last outputs are read does not keep the others.

use super::build::{ordered, replace, Builder};
use super::gather::gathered;
use super::trace::{roots, Run};
use super::Work;
use crate::ir::{DType, Graph, NodeId, Op, ValueId};
use std::collections::{HashMap, HashSet};

/// Outputs that an op keeps at least: that of the step before is read for the next one.
const FEWEST: usize = 2;

/// Lets recurrent ops keep their last two outputs if no others are read. Says whether there were any.
pub(super) fn run(graph: &mut Graph, work: &mut Work) -> bool {
    let all: Vec<NodeId> = graph.nodes().filter_map(|(id, _)| Rows::of(graph, id).map(|_| id)).collect();
    let mut changed = false;
    for id in all {
        if let Some(new) = shrunk(graph, id, work) {
            *graph = new;
            changed = true;
        }
    }
    changed
}

/// What lies in a row of a recurrent op's result, in front of its outputs and behind.
struct Rows {
    sequences: usize,
    /// Elements in front of the outputs.
    kept: usize,
    units: usize,
    outputs: usize,
}

impl Rows {
    /// Those of a node that could keep fewer outputs.
    fn of(graph: &Graph, id: NodeId) -> Option<Rows> {
        let node = Some(graph.node(id)).filter(|node| node.op.is_recurrent())?;
        let own = |k: usize| node.operands.get(k).map(|&id| graph.ty(id).shape.dims());
        let units = *own(1)?.last()?;
        let kept = node.op.before_outputs(units);
        let ty = graph.ty(node.result);
        let &[sequences, width] = ty.shape.dims() else { return None };
        let outputs = width.checked_sub(kept)?.checked_div(units)?;
        let fits = ty.dtype == DType::F32 && outputs > FEWEST && units > 0;
        fits.then_some(Rows { sequences, kept, units, outputs })
    }

    fn width(&self, outputs: usize) -> usize {
        self.kept + outputs * self.units
    }

    /// Where a run lies once only the last outputs are kept, if it is among these.
    fn moved(&self, run: Run) -> Option<usize> {
        let width = self.width(self.outputs);
        let gone = (self.outputs - FEWEST) * self.units;
        let (sequence, first) = (run.start / width, run.start % width);
        let end = first.checked_add(run.len)?;
        let start = match first {
            _ if end <= self.kept => first,
            _ if first >= self.kept + gone && end <= width => first - gone,
            _ => return None,
        };
        Some(sequence * self.width(FEWEST) + start)
    }
}

fn shrunk(graph: &Graph, id: NodeId, work: &mut Work) -> Option<Graph> {
    let (rows, node) = (Rows::of(graph, id)?, graph.node(id));
    let mut read = Vec::new();
    for value in frontier(graph, node.result)? {
        let run = Run { value, start: 0, len: graph.ty(value).shape.numel() };
        let mut runs = roots(graph, run, work)?;
        for run in &mut runs {
            run.start = rows.moved(*run)?;
        }
        read.push((value, runs));
    }
    let mut after = graph.clone();
    let mut builder = Builder::at(&mut after, id);
    let dims = [rows.sequences, rows.width(FEWEST)];
    let new = builder.node(node.op.clone(), &node.operands, &dims);
    let mut values = HashMap::new();
    for (value, mut runs) in read {
        runs.iter_mut().for_each(|run| run.value = new);
        values.insert(value, gathered(&mut builder, &runs, graph.ty(value).shape.dims())?);
    }
    replace(&mut after, &values);
    after.order = ordered(&after)?;
    Some(after)
}

/// The values that consist of nothing but elements of one, as far as they are read by others than such. `None` if that itself is read.
fn frontier(graph: &Graph, source: ValueId) -> Option<Vec<ValueId>> {
    let mut pure = HashSet::from([source]);
    let mut read = Vec::new();
    for (_, node) in graph.nodes() {
        let moves = matches!(
            node.op,
            Op::Reshape {} | Op::Slice { .. } | Op::Transpose { .. } | Op::Concat { .. } | Op::Broadcast {}
        );
        if moves && node.operands.iter().all(|id| pure.contains(id)) {
            pure.insert(node.result);
        } else {
            read.extend(node.operands.iter().copied().filter(|id| pure.contains(id)));
        }
    }
    let ends = graph.outputs.iter().copied().chain(graph.states.iter().map(|state| state.next));
    read.extend(ends.filter(|id| pure.contains(id)));
    read.sort();
    read.dedup();
    (!read.contains(&source)).then_some(read)
}
