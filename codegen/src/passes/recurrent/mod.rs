//! Recurrent layers that are written out: afterwards no steps of a plain LSTM follow each other that one `lstm` could compute.
//!
//! Frameworks write a layer out, and so do readers with loops. What a step computes is found again whatever it is made of: `trace` sees through ops that only move elements,
//! `affine` says which products and constants a gate's sum has, `cells` knows the steps. `chain` puts steps with the same weights in a row, and `build` makes the op of them. What was stacked of
//! their outputs is a part of the op's result (`gather`), which keeps no outputs that nobody reads (`shrink`).
//!
//! A step alone stays as it is: its operators are not larger than the op with what surrounds it.
//! Sums are added in another order, which may change the last bits of floats.

mod affine;
mod build;
mod cells;
mod chain;
mod gather;
mod shrink;
#[cfg(test)]
mod tests;
mod trace;

use crate::ir::{Graph, ValueId};
use std::collections::{HashMap, HashSet};

/// Most operators between a gate's activation and its products.
const DEEPEST: usize = 16;

/// Elements that are traced in all: a bound on time.
const MOST_WORK: usize = 1 << 27;

/// Fewest steps that become an op.
const FEWEST: usize = 2;

/// What may still be traced.
struct Work(usize);

impl Work {
    fn spend(&mut self, elements: usize) -> Option<()> {
        self.0 = self.0.checked_sub(elements)?;
        Some(())
    }
}

/// A graph, while steps are searched in it.
struct Search<'g> {
    graph: &'g Graph,
    work: Work,
    /// Values that may be outputs of steps.
    hidden: HashSet<ValueId>,
    /// Whether a constant consists of copies of one matrix.
    copies: HashMap<ValueId, bool>,
}

impl Search<'_> {
    /// Whether a constant of floats has one matrix of so many elements, or copies of one alone.
    fn is_one_matrix(&mut self, id: ValueId, elements: usize) -> bool {
        let Some(data) = self.graph.const_data(id) else { return false };
        let compared = || {
            let mut all = data.bytes().chunks(elements.saturating_mul(4).max(1));
            let first = all.next();
            all.all(|other| Some(other) == first)
        };
        *self.copies.entry(id).or_insert_with(compared)
    }
}

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut changed = false;
    let mut work = MOST_WORK;
    // Outputs of chains that could not be replaced.
    let mut kept = HashSet::new();
    while let Some((chain, left)) = chain::first(graph, &kept, Work(work)) {
        work = left.0;
        let last = chain.results.last().copied();
        match build::replaced(graph, &chain) {
            Some(new) => {
                *graph = new;
                changed = true;
            }
            None => kept.extend(last),
        }
    }
    changed |= gather::run(graph, &mut Work(MOST_WORK));
    changed | shrink::run(graph, &mut Work(MOST_WORK))
}
