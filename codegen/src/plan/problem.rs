//! Packing buffers with lifetimes into one arena: `Problem` → `Solution`.

use super::search;

/// One buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its size.
    pub bytes: usize,
    /// Its offset is a multiple of this.
    pub align: usize,
    /// First time at which it is live.
    pub first: usize,
    /// Last time at which it is live, inclusive.
    pub last: usize,
}

impl Item {
    /// Whether both need memory of their own: some time belongs to both lifetimes.
    pub fn conflicts(&self, other: &Item) -> bool {
        self.bytes > 0 && other.bytes > 0 && self.first <= other.last && other.first <= self.last
    }
}

/// Buffers to be packed. The sum of all sizes and alignments must not overflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The buffers.
    pub items: Vec<Item>,
}

/// A packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The offset of each item.
    pub offsets: Vec<usize>,
    /// The end of the item that reaches farthest.
    pub bytes: usize,
}

impl Problem {
    /// The largest sum of sizes live at one time: no solution is smaller.
    pub fn lower_bound(&self) -> usize {
        // Births sort before deaths of the same time, as lifetimes include their ends.
        let mut events: Vec<(usize, bool, usize)> = Vec::with_capacity(2 * self.items.len());
        for item in &self.items {
            events.push((item.first, false, item.bytes));
            events.push((item.last, true, item.bytes));
        }
        events.sort_unstable();
        let (mut live, mut most) = (0usize, 0);
        for (_, dies, bytes) in events {
            live = if dies { live.saturating_sub(bytes) } else { live.saturating_add(bytes) };
            most = most.max(live);
        }
        most
    }

    /// A good packing: the best of several greedy ones, improved by a bounded search. Equal problems have equal solutions.
    pub fn solve(&self) -> Solution {
        search::solve(self)
    }

    /// Whether the solution is one: aligned, inside its bytes, and no two conflicting items overlap. Quadratic; for tests.
    pub fn accepts(&self, solution: &Solution) -> bool {
        let range = |i: usize| (solution.offsets[i], solution.offsets[i] + self.items[i].bytes);
        let n = self.items.len();
        solution.offsets.len() == n
            && (0..n).all(|i| range(i).0 % self.items[i].align == 0 && range(i).1 <= solution.bytes)
            && (0..n).all(|i| {
                (0..i).all(|j| {
                    let ((a, b), (c, d)) = (range(i), range(j));
                    !self.items[i].conflicts(&self.items[j]) || b <= c || d <= a
                })
            })
    }
}
