//! The order of the nodes: one that lowers the peak of memory where a graph branches.
//!
//! Between points that every order passes (`segments`) a graph falls apart into segments. A segment is ordered exactly, or, where that
//! takes too long, from the better of the file's order and a greedy one, window by window around the peak. A segment keeps the file's order
//! unless another one has a lower peak. The estimate of memory is in `model`; which nodes become pipelines is decided later, and what
//! the nodes compute does not depend on their order.

mod large;
mod model;
#[cfg(test)]
mod tests;
mod window;

use crate::ir::{Graph, NodeId, Op, ValueId};
use model::{is_view, profile, Model, Progress};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use window::{Outcome, Window};

/// How many sets of items the searches of a graph may look at.
const BUDGET: usize = 20_000;

/// How many concats may be tried apart from their operands, in a graph of at most [`SMALL`] nodes.
const MOST_TRIALS: usize = 16;

/// Nodes of a graph that is small enough for trials.
const SMALL: usize = 1000;

/// An order of the live nodes, with a peak that is estimated to be lower than that of the graph's own; that one if none is found.
///
/// It is a topological order. Exact for small graphs, as far as the estimate goes; the time is bounded for large ones.
pub fn order(graph: &Graph) -> Vec<NodeId> {
    let mut best = graph.order.clone();
    let mut lowest = estimate(graph);
    // What is computed inside a concat depends on the order, and the best order on that.
    let mut trial = graph.clone();
    let mut budget = BUDGET;
    loop {
        let apart = apart(&trial);
        trial.order = reorder(&trial, &apart, &mut budget);
        let bytes = estimate(&trial);
        if bytes >= lowest {
            return best;
        }
        (best, lowest) = (trial.order.clone(), bytes);
    }
}

/// The estimated peak of a graph's own order, in bytes of the arena.
pub fn estimate(graph: &Graph) -> usize {
    most(graph, &apart(graph))
}

fn most(graph: &Graph, apart: &BTreeSet<ValueId>) -> usize {
    let model = Model::of(graph, apart);
    let order: Vec<usize> = (0..model.items.len()).collect();
    profile(Progress::new(&model), &order).into_iter().max().unwrap_or(0)
}

/// The concats that had better copy their operands: where an operand, computed in place, would keep the memory of all too long.
fn apart(graph: &Graph) -> BTreeSet<ValueId> {
    let mut apart = BTreeSet::new();
    let is_concat = |id: &&NodeId| matches!(graph.node(**id).op, Op::Concat { .. });
    let concats: Vec<&NodeId> = graph.order.iter().filter(is_concat).collect();
    if concats.is_empty() || concats.len() > MOST_TRIALS || graph.order.len() > SMALL {
        return apart;
    }
    let mut lowest = most(graph, &apart);
    for id in concats {
        let concat = graph.node(*id).result;
        apart.insert(concat);
        let bytes = most(graph, &apart);
        if bytes < lowest {
            lowest = bytes;
        } else {
            apart.remove(&concat);
        }
    }
    apart
}

/// The best order that is found for those concats.
fn reorder(graph: &Graph, apart: &BTreeSet<ValueId>, budget: &mut usize) -> Vec<NodeId> {
    let model = Model::of(graph, apart);
    let mut order: Vec<usize> = Vec::with_capacity(model.items.len());
    let mut progress = Progress::new(&model);
    for segment in segments(&model) {
        let items: Vec<usize> = segment.collect();
        let sorted = sort(&model, &progress, items, budget);
        for &item in &sorted {
            progress.run(item);
        }
        order.extend(sorted);
    }
    match order.is_sorted() {
        true => graph.order.clone(),
        false => with_views(graph, &model, &order),
    }
}

/// The runs of items that every order runs in turn. Each ends with an item that all earlier ones lead to and all later ones come from.
fn segments(model: &Model) -> Vec<Range<usize>> {
    let n = model.items.len();
    // By item: the latest that any later item is content to need at most.
    let mut loosest = vec![usize::MAX; n + 1];
    for (i, item) in model.items.iter().enumerate().rev() {
        let latest = item.needs.iter().max().map_or(0, |&latest| latest + 1);
        loosest[i] = loosest[i + 1].min(latest);
    }
    let (mut segments, mut start, mut pending) = (Vec::new(), 0, 0);
    for (i, item) in model.items.iter().enumerate() {
        let awaited = pending <= i;
        pending = pending.max(item.users.iter().min().copied().unwrap_or(usize::MAX));
        if i + 1 == n || (awaited && loosest[i + 1] > i) {
            segments.push(start..i + 1);
            start = i + 1;
        }
    }
    segments
}

/// The items of a segment in the best order that is found.
fn sort(model: &Model, progress: &Progress<'_>, items: Vec<usize>, budget: &mut usize) -> Vec<usize> {
    if items.len() < 2 {
        return items;
    }
    if items.len() <= window::MOST {
        let mut share = *budget / 2;
        let spare = *budget - share;
        let better = Window::new(model, progress, &items).better(&mut share);
        *budget = spare + share;
        match better {
            Outcome::Better(order) => return order.into_iter().map(|i| items[i]).collect(),
            Outcome::Optimal => return items,
            Outcome::Unknown => {}
        }
    }
    large::sort(model, progress, items, budget)
}

/// The order of all nodes for that of the items: views follow what they are views of.
fn with_views(graph: &Graph, model: &Model, order: &[usize]) -> Vec<NodeId> {
    let mut views: HashMap<ValueId, Vec<NodeId>> = HashMap::new();
    for (id, node) in graph.nodes().filter(|(_, node)| is_view(graph, node)) {
        node.operands.iter().for_each(|&base| views.entry(base).or_default().push(id));
    }
    let mut all = Vec::with_capacity(graph.order.len());
    let mut follow = |all: &mut Vec<NodeId>, value: ValueId| {
        let mut next = VecDeque::from([value]);
        while let Some(value) = next.pop_front() {
            for id in views.remove(&value).unwrap_or_default() {
                all.push(id);
                next.push_back(graph.node(id).result);
            }
        }
    };
    graph.inputs.iter().for_each(|&id| follow(&mut all, id));
    graph.states.iter().for_each(|state| follow(&mut all, state.current));
    for &item in order {
        let id = model.items[item].node;
        all.push(id);
        follow(&mut all, graph.node(id).result);
    }
    all
}
