//! Packing into several memories: what is touched most lies in the fastest that has room for it.

use super::problem::{Overlay, Problem, Solution};
use super::{lower_bound, search, solve};
use crate::ir::{Graph, Node, ValueId};
use crate::schedule::{geometry, row_bytes, rows, Schedule, StepKind};
use std::cmp::Reverse;

/// How many pairs of items all the searches for one memory may look at, those that end early aside.
const BUDGET: usize = 240_000_000;

/// For each item of a schedule's [`problem`](super::problem()): the bytes that an inference reads and writes there. A row that several
/// rows of a result are made of counts for each of them.
pub fn accesses(graph: &Graph, schedule: &Schedule) -> Vec<usize> {
    let mut by_buffer = vec![0usize; schedule.storage.buffers.len()];
    let mut add = |id: ValueId, bytes: usize| {
        let slot = schedule.storage.place(id).and_then(|place| by_buffer.get_mut(place.buffer.0 as usize));
        slot.into_iter().for_each(|sum| *sum = sum.saturating_add(bytes));
    };
    for step in &schedule.steps {
        match step.kind {
            StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
                let node = graph.node(id);
                for (k, &operand) in node.operands.iter().enumerate() {
                    add(operand, read(graph, node, k));
                }
                add(node.result, graph.ty(node.result).bytes());
            }
            StepKind::Copy { value, .. } => add(value, graph.ty(value).bytes()),
        }
    }
    super::scratch(schedule).into_iter().map(|b| by_buffer[b]).collect()
}

/// Bytes of an operand that are read for all rows of the result.
fn read(graph: &Graph, node: &Node, k: usize) -> usize {
    let operand = node.operands[k];
    let needed = |row: usize| geometry::needs(graph, node, k, row).map(|rows| rows.len());
    let count: Option<usize> = (0..rows(&graph.ty(node.result).shape)).map(needed).sum();
    count.map_or(graph.ty(operand).bytes(), |rows| rows.saturating_mul(row_bytes(graph, operand)))
}

/// A packing into several memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// By item: the index of its memory.
    pub region: Vec<usize>,
    /// By item: its offset there.
    pub offsets: Vec<usize>,
    /// By memory: the bytes that are used of it.
    pub bytes: Vec<usize>,
}

impl Problem {
    /// Packs the items into memories of these capacities, the fastest first. `accesses` says how many bytes of each item are read and
    /// written in all: items with more of them for each byte of memory and time they take are placed first. Items in different memories never
    /// overlap.
    ///
    /// `None` if that does not fit.
    pub fn solve_regions(&self, accesses: &[usize], capacities: &[usize]) -> Option<Regions> {
        let heat = |i: usize| {
            let item = &self.items[i];
            let room = item.bytes.max(1).saturating_mul(item.last - item.first + 1);
            // Accesses for a mebibyte during one step.
            Reverse(((accesses.get(i).copied().unwrap_or(0) as u128) << 20) / room as u128)
        };
        let mut hottest: Vec<usize> = (0..self.items.len()).collect();
        hottest.sort_by_key(|&i| (heat(i), i));
        let mut largest = hottest.clone();
        largest.sort_by_key(|&i| (Reverse(self.items[i].bytes), heat(i), i));
        [hottest, largest].iter().find_map(|order| self.fill(order, capacities))
    }

    /// Gives each memory, in their order, what of the items that are left still fits, in the order of the items.
    fn fill(&self, order: &[usize], capacities: &[usize]) -> Option<Regions> {
        let n = self.items.len();
        let mut found = Regions { region: vec![0; n], offsets: vec![0; n], bytes: Vec::new() };
        let mut left = order.to_vec();
        for (region, &capacity) in capacities.iter().enumerate() {
            let chosen = self.choose(&left, capacity);
            let solution = self.packing(&chosen);
            for (&i, &offset) in chosen.iter().zip(&solution.offsets) {
                (found.region[i], found.offsets[i]) = (region, offset);
            }
            found.bytes.push(solution.bytes);
            left.retain(|i| chosen.binary_search(i).is_err());
        }
        left.is_empty().then_some(found)
    }

    /// Those of some items that fit into a memory together, each tried in turn; ascending.
    fn choose(&self, items: &[usize], capacity: usize) -> Vec<usize> {
        let mut all = items.to_vec();
        all.sort_unstable();
        if self.fits(&all, capacity, search::BUDGET) {
            return all;
        }
        let budget = search::BUDGET.min(BUDGET / items.len().max(1));
        let mut chosen: Vec<usize> = Vec::new();
        for &i in items {
            let at = chosen.partition_point(|&j| j < i);
            chosen.insert(at, i);
            if self.items[i].bytes > capacity || !self.fits(&chosen, capacity, budget) {
                chosen.remove(at);
            }
        }
        chosen
    }

    /// A packing of some of the items, by ascending index.
    fn packing(&self, chosen: &[usize]) -> Solution {
        solve(&self.part(chosen))
    }

    /// Whether a packing of some of the items that is quickly found has at most so many bytes: then that of [`Self::packing`] has too.
    fn fits(&self, chosen: &[usize], capacity: usize, budget: usize) -> bool {
        let part = self.part(chosen);
        lower_bound(&part) <= capacity && search::solve_to(&part, capacity, budget).bytes <= capacity
    }

    /// The problem of some of the items, by ascending index.
    fn part(&self, chosen: &[usize]) -> Problem {
        let inside = |i: usize| chosen.binary_search(&i).ok();
        let overlay = |o: &Overlay| Some(Overlay { upper: inside(o.upper)?, lower: inside(o.lower)?, ..*o });
        Problem {
            items: chosen.iter().map(|&i| self.items[i]).collect(),
            overlays: self.overlays.iter().filter_map(overlay).collect(),
            floor: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Item;

    fn item(bytes: usize, first: usize, last: usize) -> Item {
        Item { bytes, align: 4, first, last }
    }

    #[test]
    fn the_hottest_values_are_in_the_fast_memory() {
        // Both 100 and the 60 are live at time 1; only one of the large ones has room beside the 60.
        let problem = Problem::new(vec![item(100, 0, 1), item(100, 1, 2), item(60, 1, 1), item(40, 2, 3)]);
        let found = problem.solve_regions(&[100, 900, 600, 10], &[160, 200]).unwrap();
        assert_eq!(found.region, [1, 0, 0, 0]);
        assert_eq!(found.bytes, [160, 100]);
        let found = problem.solve_regions(&[900, 100, 600, 10], &[160, 200]).unwrap();
        assert_eq!(found.region, [0, 1, 0, 0]);
        assert_eq!(problem.solve_regions(&[1; 4], &[160, 60]), None);
    }

    #[test]
    fn rows_that_several_rows_are_made_of_count_for_each() {
        let graph = Graph::parse(
            "graph \"g\" {
               input %x: i8[1,6,4,2] q(1.0 : 0)
               %y: i8[1,4,4,2] q(1.0 : 0) = max_pool2d(%x) {window = [3, 1], clamp = -128..=127}
               return %y
             }",
        )
        .unwrap();
        let schedule = crate::schedule::schedule(&graph);
        assert_eq!(accesses(&graph, &schedule), [4 * 3 * 8, 4 * 8]);
    }

    #[test]
    fn one_memory_that_is_large_enough_holds_everything() {
        let mut problem = Problem::new(vec![item(64, 0, 1), item(64, 1, 2)]);
        problem.overlays.push(Overlay { upper: 0, lower: 1, gap: 8 });
        let found = problem.solve_regions(&[1, 1], &[72, 1000]).unwrap();
        assert_eq!((found.region, found.bytes), (vec![0, 0], vec![72, 0]));
    }
}
