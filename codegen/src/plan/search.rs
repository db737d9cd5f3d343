//! The search for a packing.
//!
//! An *order* of the items becomes a packing by placing each item at the lowest offset that is free during its lifetime; for some
//! order that is an optimal packing. The search starts from orders that are good in practice and then changes the best one: an
//! item that ends at the top of the arena, or conflicts with one that does, moves forward. The number of items looked at is
//! bounded, not the time, so that the result is the same everywhere.

use super::bound::lower_bound;
use super::distance::Distances;
use super::problem::{Item, Problem, Solution};
use std::cmp::Reverse;

/// How many pairs of items the search may look at. Each costs about a nanosecond.
pub(super) const BUDGET: usize = 30_000_000;

/// How many changes in a row the search may try without getting better.
const PATIENCE: usize = 4_000;

pub(super) fn solve(problem: &Problem) -> Solution {
    solve_to(problem, 0, BUDGET)
}

/// Searches until a packing has at most `enough` bytes, looking at no more than `budget` pairs. What [`solve`] finds is never larger.
pub(super) fn solve_to(problem: &Problem, enough: usize, budget: usize) -> Solution {
    let bound = lower_bound(problem);
    let mut search = Search {
        bound,
        enough: bound.max(enough),
        budget,
        items: &problem.items,
        distances: Distances::of(problem),
        looked: 0,
        best: None,
    };
    for order in orders(problem) {
        search.attempt(&order);
        if search.is_done() {
            break;
        }
    }
    search.improve();
    search.best.map_or(Solution { offsets: Vec::new(), bytes: 0, bound }, |(_, solution)| solution)
}

/// Orders to start from, the most promising first.
fn orders(problem: &Problem) -> Vec<Vec<usize>> {
    let items = &problem.items;
    let length = |i: usize| items[i].last - items[i].first + 1;
    let pressure = pressures(items);
    let sorted = |key: &dyn Fn(usize) -> (Reverse<usize>, Reverse<usize>)| {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&i| (key(i), i));
        order
    };
    vec![
        sorted(&|i| (Reverse(items[i].bytes), Reverse(length(i)))),
        sorted(&|i| (Reverse(pressure[i]), Reverse(items[i].bytes))),
        sorted(&|i| (Reverse(items[i].bytes.saturating_mul(length(i))), Reverse(length(i)))),
        sorted(&|i| (Reverse(length(i)), Reverse(items[i].bytes))),
        sorted(&|i| (Reverse(usize::MAX - items[i].first), Reverse(items[i].bytes))),
        sorted(&|i| (Reverse(items[i].last), Reverse(items[i].bytes))),
    ]
}

/// For each item, the largest sum of live bytes during its lifetime.
fn pressures(items: &[Item]) -> Vec<usize> {
    let end = items.iter().map(|i| i.last + 2).max().unwrap_or(0);
    let mut change = vec![0isize; end];
    for item in items {
        change[item.first] += item.bytes as isize;
        change[item.last + 1] -= item.bytes as isize;
    }
    let mut live = 0;
    let load: Vec<usize> = change
        .iter()
        .map(|c| {
            live += c;
            live.unsigned_abs()
        })
        .collect();
    let tree = RangeMax::new(&load);
    items.iter().map(|i| tree.max(i.first, i.last)).collect()
}

/// Range maxima in constant time: `rows[k][i]` is the largest of the 2^k values from `i` on.
struct RangeMax {
    rows: Vec<Vec<usize>>,
}

impl RangeMax {
    fn new(values: &[usize]) -> Self {
        let mut rows = vec![values.to_vec()];
        let mut half = 1;
        while 2 * half <= values.len() {
            let below = &rows[rows.len() - 1];
            let row = (0..=values.len() - 2 * half).map(|i| below[i].max(below[i + half])).collect();
            rows.push(row);
            half *= 2;
        }
        RangeMax { rows }
    }

    /// The largest of the values `first..=last`.
    fn max(&self, first: usize, last: usize) -> usize {
        let level = (last - first + 1).ilog2() as usize;
        let row = &self.rows[level];
        row[first].max(row[last + 1 - (1 << level)])
    }
}

struct Search<'p> {
    /// The lower bound.
    bound: usize,
    /// The bytes at which it ends.
    enough: usize,
    /// How many pairs of items it may look at.
    budget: usize,
    items: &'p [Item],
    distances: Distances,
    looked: usize,
    best: Option<(Vec<usize>, Solution)>,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        let optimal = self.best.as_ref().is_some_and(|(_, s)| s.bytes <= self.enough);
        optimal || (self.best.is_some() && self.looked >= self.budget)
    }

    /// Places the items in that order, and keeps the packing if it is not worse than the best. Says whether it is better.
    fn attempt(&mut self, order: &[usize]) -> bool {
        let limit = self.best.as_ref().map_or(usize::MAX, |(_, s)| s.bytes);
        let Some(solution) = self.first_fit(order, limit) else { return false };
        let better = solution.bytes < limit;
        self.best = Some((order.to_vec(), solution));
        better
    }

    /// Each item at the lowest free offset; `None` as soon as `limit` bytes are exceeded.
    fn first_fit(&mut self, order: &[usize], limit: usize) -> Option<Solution> {
        let mut offsets = vec![0; self.items.len()];
        let mut bytes = 0;
        // Placed items by offset.
        let mut placed: Vec<usize> = Vec::with_capacity(order.len());
        for &i in order {
            if self.items[i].bytes > 0 {
                offsets[i] = self.lowest(i, &placed, &offsets);
                let end = offsets[i] + self.items[i].bytes;
                if end > limit {
                    return None;
                }
                bytes = bytes.max(end);
                let at = placed.partition_point(|&j| offsets[j] <= offsets[i]);
                placed.insert(at, i);
            }
        }
        Some(Solution { offsets, bytes, bound: self.bound })
    }

    /// The lowest offset of an item that those already placed leave free.
    fn lowest(&mut self, i: usize, placed: &[usize], offsets: &[usize]) -> usize {
        let item = &self.items[i];
        self.looked += placed.len();
        // Where the item may overlap another, more offsets are free: these intervals begin later than those of items at the same offset.
        let mut overlaid: Vec<(usize, usize, usize)> = Vec::new();
        let mut offset = 0;
        for &j in placed {
            if offsets[j] >= offset + item.bytes {
                break;
            }
            if !self.items[j].conflicts(item) {
                continue;
            }
            match self.distances.get(i, j) {
                None => offset = offset.max((offsets[j] + self.items[j].bytes).next_multiple_of(item.align)),
                Some((above, below)) => overlaid.push((offsets[j], above, below)),
            }
            // Again, as the item has moved up.
            while let Some(&(at, above, _)) =
                overlaid.iter().find(|&&(at, above, below)| offset + below > at && offset < at + above)
            {
                offset = (at + above).next_multiple_of(item.align);
            }
        }
        offset
    }

    /// Changes the best order until the bound or the end of the budget is reached.
    fn improve(&mut self) {
        let mut random = XorShift(0x9E37_79B9_7F4A_7C15);
        let mut failures = 0;
        while !self.is_done() && failures < PATIENCE {
            let Some((order, solution)) = &self.best else { return };
            if order.len() < 2 {
                return;
            }
            let mut order = order.clone();
            let top = |i: usize| solution.offsets[i] + self.items[i].bytes == solution.bytes;
            let late: Vec<usize> = (0..order.len()).filter(|&at| top(order[at])).collect();
            self.looked += order.len();
            for _ in 0..=random.below(2) {
                // Mostly one of the items that reach the top, or one at random.
                let from = match random.below(3) {
                    0 => random.below(order.len()),
                    _ => late[random.below(late.len())],
                };
                let to = random.below(order.len());
                if random.below(2) == 0 {
                    order.swap(from, to);
                } else {
                    let item = order.remove(from);
                    order.insert(to, item);
                }
            }
            failures = if self.attempt(&order) { 0 } else { failures + 1 };
        }
    }
}

/// Marsaglia's xorshift generator (64 bits, shifts 13, 7, 17).
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(bytes: usize, first: usize, last: usize) -> Item {
        Item { bytes, align: 4, first, last }
    }

    #[test]
    fn range_maxima_agree_with_the_definition() {
        let values: Vec<usize> = (0..37).map(|i| i * 7919 % 101).collect();
        let tree = RangeMax::new(&values);
        for first in 0..values.len() {
            for last in first..values.len() {
                assert_eq!(tree.max(first, last), *values[first..=last].iter().max().unwrap());
            }
        }
    }

    #[test]
    fn a_chain_needs_its_largest_pair() {
        let problem = Problem::new(vec![item(100, 0, 1), item(60, 1, 2), item(120, 2, 3), item(8, 3, 4)]);
        let solution = crate::plan::solve(&problem);
        assert!(problem.accepts(&solution));
        assert_eq!((solution.bytes, lower_bound(&problem)), (180, 180));
    }

    #[test]
    fn search_mends_what_greedy_orders_leave() {
        // A case in which each greedy order alone fragments: the search reaches the lower bound.
        let sizes = [
            (36, 0, 3),
            (28, 2, 5),
            (24, 4, 7),
            (12, 0, 5),
            (40, 6, 9),
            (16, 4, 9),
            (20, 8, 12),
            (32, 1, 1),
            (8, 7, 12),
        ];
        let problem = Problem::new(sizes.iter().map(|&(b, f, l)| item(b, f, l)).collect());
        let solution = crate::plan::solve(&problem);
        assert!(problem.accepts(&solution));
        assert_eq!(solution.bytes, lower_bound(&problem));
    }

    #[test]
    fn random_problems_are_packed_soundly_and_repeatably() {
        let mut random = XorShift(42);
        for case in 0..60 {
            let items = (0..random.below(24))
                .map(|_| {
                    let first = random.below(20);
                    let align = [1, 4, 8, 16][random.below(4)];
                    Item { bytes: random.below(200), align, first, last: first + random.below(6) }
                })
                .collect();
            let problem = Problem::new(items);
            let solution = crate::plan::solve(&problem);
            assert!(problem.accepts(&solution), "case {case}");
            assert!(solution.bytes >= lower_bound(&problem));
            if case % 20 == 0 {
                assert_eq!(solution, crate::plan::solve(&problem));
            }
        }
    }

    #[test]
    fn large_problems_end() {
        let mut random = XorShift(7);
        let mut items = Vec::new();
        for i in 0..6000 {
            items.push(item(1 + random.below(5000), i, i + 1 + random.below(30)));
        }
        let problem = Problem::new(items);
        let solution = crate::plan::solve(&problem);
        assert!(solution.bytes >= lower_bound(&problem));
    }
}
