//! How many ticks pass from one row of a value to the next: the strides on the way to it.

use super::super::geometry::needs;
use super::{Draft, Obstacle};
use crate::ir::{Graph, Node, ValueId};
use crate::schedule::{Feed, MOST_ROWS};
use std::collections::BTreeMap;

/// A positive fraction, reduced.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rate(usize, usize);

impl Rate {
    fn new(a: usize, b: usize) -> Self {
        let d = gcd(a, b).max(1);
        Rate(a / d, b / d)
    }

    fn times(self, n: usize) -> Self {
        self.by(n, 1)
    }

    /// Times `a / b`. What is beyond any number of rows stays beyond it.
    fn by(self, a: usize, b: usize) -> Self {
        Rate::new(self.0.saturating_mul(a), self.1.saturating_mul(b))
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// Rows of the operand from one row of the result to the next.
fn stride(node: &Node) -> usize {
    node.op.window().map_or(1, |window| window.stride[0])
}

/// Sets `every` of each lane.
pub(super) fn assign(graph: &Graph, draft: &mut Draft) -> Result<(), Obstacle> {
    let mut rates: BTreeMap<ValueId, Rate> = BTreeMap::new();
    // Values whose rates are known relative to each other, by their first.
    let mut families: BTreeMap<ValueId, Vec<ValueId>> = BTreeMap::new();
    let mut family: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    let mut found = Vec::new();
    for lane in &draft.lanes {
        let node = graph.node(lane.node);
        let step = if lane.absorbs { 1 } else { stride(node) };
        let by_row = |k: usize| lane.absorbs || needs(graph, node, k, 0).is_some();
        let operands: Vec<ValueId> = (0..node.operands.len())
            .filter(|&k| graph.const_data(node.operands[k]).is_none() && by_row(k))
            .map(|k| node.operands[k])
            .collect();
        for &id in &operands {
            if let std::collections::btree_map::Entry::Vacant(slot) = rates.entry(id) {
                slot.insert(Rate(1, 1));
                families.insert(id, vec![id]);
                family.insert(id, id);
            }
        }
        let Some(&lead) = operands.first() else { continue };
        let rate = rates[&lead];
        for other in &operands[1..] {
            let (into, from) = (family[&lead], family[other]);
            if into != from {
                let theirs = rates[other];
                for id in families.remove(&from).unwrap_or_default() {
                    rates.insert(id, rates[&id].by(rate.0, rate.1).by(theirs.1, theirs.0));
                    family.insert(id, into);
                    families.entry(into).or_default().push(id);
                }
            } else if rates[other] != rate {
                return Err(Obstacle { node: lane.node, why: "joins rows of different strides".into() });
            }
        }
        let result = rate.times(step);
        rates.insert(node.result, result);
        let into = family[&lead];
        family.insert(node.result, into);
        families.entry(into).or_default().push(node.result);
        found.push((lane.node, if lane.absorbs { lead } else { node.result }));
    }
    // In whole ticks: those of a fed input are its rows, otherwise the fastest value sets the pace.
    let fed =
        (draft.feed != Feed::Whole).then(|| graph.inputs.first().and_then(|id| rates.get(id))).flatten();
    let unit = match fed {
        Some(&rate) => rate,
        None => found.iter().filter_map(|(_, id)| rates.get(id)).fold(Rate(0, 1), |unit, rate| {
            // The greatest common divisor of fractions.
            let parts = [unit.0.saturating_mul(rate.1), rate.0.saturating_mul(unit.1)];
            Rate::new(gcd(parts[0], parts[1]), unit.1.saturating_mul(rate.1))
        }),
    };
    for (lane, (node, id)) in draft.lanes.iter_mut().zip(found) {
        let rate = rates.get(&id).copied().unwrap_or(Rate(1, 1));
        let ticks = rate.by(unit.1, unit.0);
        if ticks.1 != 1 || ticks.0 == 0 {
            return Err(Obstacle { node, why: "has more rows than the input that feeds it".into() });
        }
        // Nodes of one row may have any stride.
        if ticks.0 > MOST_ROWS {
            return Err(Obstacle { node, why: format!("moves on by more than {MOST_ROWS} rows at a time") });
        }
        lane.beat.every = ticks.0;
    }
    Ok(())
}
