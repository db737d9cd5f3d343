//! Branch and bound: a smaller packing, or the proof that there is none.
//!
//! In some optimal packing every item lies at offset 0 or touches, below it, one that it conflicts with: otherwise it could move down. The
//! search places items in ascending order of their offsets, each as low as those already placed permit. An item is not placed
//! where another that is still to come would fit below it. A branch ends when an item, or all that are live together, would
//! exceed the limit.

use super::distance::Distances;
use super::problem::{Item, Problem, Solution};

/// Most items that are searched.
pub(super) const MOST_ITEMS: usize = 128;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is a packing within the limit.
    Found(Solution),
    /// There is none.
    Impossible,
    /// Too many branches.
    Unknown,
}

/// Looks for a packing of at most `limit` bytes, with at most `nodes` branches; takes from `nodes` what it used.
pub(super) fn search(problem: &Problem, limit: usize, nodes: &mut usize) -> Outcome {
    let Some(mut exact) = Exact::new(problem, limit, *nodes) else { return Outcome::Unknown };
    let found = exact.within(0) && exact.place(None);
    *nodes = exact.nodes;
    match (found, exact.nodes) {
        (true, _) => {
            let end = |i: usize| exact.offsets[i] + problem.items[i].bytes;
            let bytes = (0..problem.items.len()).map(end).max().unwrap_or(0);
            Outcome::Found(Solution { offsets: exact.offsets, bytes, bound: problem.floor })
        }
        (false, 0) => Outcome::Unknown,
        (false, _) => Outcome::Impossible,
    }
}

/// Items that are live at one time; of all such sets, one that is in no other.
struct Section {
    items: Vec<usize>,
    /// Pairs that may overlap there, and how many bytes they may share. The later in the order of their births is the second.
    shared: Vec<(usize, usize, usize)>,
}

struct Exact<'p> {
    items: &'p [Item],
    limit: usize,
    nodes: usize,
    /// By item: those it conflicts with, and how far behind the item they begin at least.
    above: Vec<Vec<(usize, usize)>>,
    /// The same as a matrix, by item and other.
    distances: Vec<usize>,
    sections: Vec<Section>,
    placed: Vec<bool>,
    left: usize,
    /// By item: its offset, or the lowest that those already placed permit.
    offsets: Vec<usize>,
}

impl<'p> Exact<'p> {
    fn new(problem: &'p Problem, limit: usize, nodes: usize) -> Option<Self> {
        let items = &problem.items[..];
        let n = items.len();
        if n > MOST_ITEMS || has_cycle(problem) {
            return None;
        }
        let permitted = Distances::of(problem);
        let mut distances = vec![0; n * n];
        let mut above: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i && items[i].conflicts(&items[j])) {
                let distance = permitted.get(j, i).map_or(items[i].bytes, |(above, _)| above);
                above[i].push((j, distance));
                distances[i * n + j] = distance;
            }
        }
        let sections = sections(problem, &distances);
        let placed: Vec<bool> = items.iter().map(|item| item.bytes == 0).collect();
        let left = placed.iter().filter(|&&placed| !placed).count();
        Some(Exact { items, limit, nodes, above, distances, sections, placed, left, offsets: vec![0; n] })
    }

    /// How far behind an item another that conflicts with it begins at least.
    fn distance(&self, item: usize, other: usize) -> usize {
        self.distances[item * self.items.len() + other]
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.items.len()).filter(|&i| !self.placed[i])
    }

    /// Places all items that are left, none below the last one, which is at some offset. Says whether that is possible; then they
    /// are placed.
    fn place(&mut self, last: Option<usize>) -> bool {
        if self.left == 0 {
            return true;
        }
        let fits = self.open().map(|i| self.offsets[i] + self.items[i].bytes).min().unwrap_or(0);
        let in_turn = |&i: &usize| match last {
            // Of two at the same offset that have nothing to do with each other, the first comes first.
            Some(last) if self.offsets[i] == self.offsets[last] => {
                i > last || self.items[i].conflicts(&self.items[last])
            }
            Some(last) => self.offsets[i] > self.offsets[last],
            None => true,
        };
        let mut next: Vec<usize> = self.open().filter(|&i| self.offsets[i] < fits).filter(in_turn).collect();
        let weight = |&i: &usize| {
            let item = &self.items[i];
            (self.offsets[i], std::cmp::Reverse(item.bytes), std::cmp::Reverse(item.last - item.first), i)
        };
        next.sort_unstable_by_key(weight);
        let mut tried: Vec<usize> = Vec::with_capacity(next.len());
        for i in next {
            // An item like one that was tried leads nowhere either.
            if tried.iter().any(|&j| self.is_like(i, j)) {
                continue;
            }
            tried.push(i);
            if self.nodes == 0 {
                return false;
            }
            self.nodes -= 1;
            let before = self.offsets.clone();
            let offset = before[i];
            self.placed[i] = true;
            self.left -= 1;
            for &(j, distance) in self.above[i].iter().filter(|&&(j, _)| !self.placed[j]) {
                let lowest = (offset + distance).next_multiple_of(self.items[j].align);
                self.offsets[j] = self.offsets[j].max(lowest);
            }
            if self.within(offset) && self.place(Some(i)) {
                return true;
            }
            self.offsets = before;
            self.placed[i] = false;
            self.left += 1;
        }
        false
    }

    /// Whether two items that are not placed can be exchanged.
    fn is_like(&self, i: usize, j: usize) -> bool {
        let same = self.items[i] == self.items[j] && self.offsets[i] == self.offsets[j];
        let others = |i: usize, j: usize| -> Vec<(usize, usize)> {
            self.above[i].iter().copied().filter(|&(k, _)| k != j).collect()
        };
        // Distances to those below are the same where neither has overlays.
        let plain = |i: usize| {
            self.above[i].iter().all(|&(k, distance)| {
                distance == self.items[i].bytes && self.distance(k, i) == self.items[k].bytes
            })
        };
        same && others(i, j) == others(j, i) && plain(i) && plain(j)
    }

    /// Whether what is left can end within the limit, as far as sums tell, if no item comes at an offset below `last`.
    fn within(&self, last: usize) -> bool {
        // An item that could lie below has to be lifted by another it conflicts with.
        let lowest = |i: usize| -> usize {
            let now = self.offsets[i];
            if now >= last {
                return now;
            }
            let others = self.above[i].iter().filter(|&&(k, _)| !self.placed[k]);
            let lifted = others.map(|&(k, _)| self.offsets[k].max(last) + self.distance(k, i));
            lifted.min().unwrap_or(usize::MAX / 2)
        };
        let lowest: Vec<usize> =
            (0..self.items.len()).map(|i| if self.placed[i] { 0 } else { lowest(i) }).collect();
        if self.open().any(|i| lowest[i] + self.items[i].bytes > self.limit) {
            return false;
        }
        let fits = |section: &Section| {
            let open = || section.items.iter().copied().filter(|&i| !self.placed[i]);
            let Some(start) = open().map(|i| lowest[i]).min() else { return true };
            let bytes: usize = open().map(|i| self.items[i].bytes).sum();
            start + bytes.saturating_sub(self.saved(section)) <= self.limit
        };
        self.sections.iter().all(fits)
    }

    /// At most how many bytes the items of a section that are not placed can share.
    fn saved(&self, section: &Section) -> usize {
        let open = |&&(i, j, _): &&(usize, usize, usize)| !self.placed[i] && !self.placed[j];
        let side = |by: &dyn Fn(&(usize, usize, usize)) -> usize| -> usize {
            let mut saved = 0;
            for &i in section.items.iter().filter(|&&i| !self.placed[i]) {
                let shared: usize =
                    section.shared.iter().filter(open).filter(|pair| by(pair) == i).map(|pair| pair.2).sum();
                saved += shared.min(self.items[i].bytes);
            }
            saved
        };
        if section.shared.is_empty() {
            return 0;
        }
        side(&|pair| pair.0).min(side(&|pair| pair.1))
    }
}

/// Whether overlays without gap go round in a circle: items at the same offset then have no order.
fn has_cycle(problem: &Problem) -> bool {
    let n = problem.items.len();
    let mut above = vec![0usize; n];
    let mut uppers = vec![Vec::new(); n];
    for overlay in problem.overlays.iter().filter(|o| o.gap == 0) {
        above[overlay.upper] += 1;
        uppers[overlay.lower].push(overlay.upper);
    }
    let mut free: Vec<usize> = (0..n).filter(|&i| above[i] == 0).collect();
    let mut seen = 0;
    while let Some(i) = free.pop() {
        seen += 1;
        for &upper in &uppers[i] {
            above[upper] -= 1;
            if above[upper] == 0 {
                free.push(upper);
            }
        }
    }
    seen < n
}

/// The largest sets of items that are live together.
fn sections(problem: &Problem, distances: &[usize]) -> Vec<Section> {
    let items = &problem.items;
    let mut starts: Vec<usize> = items.iter().filter(|i| i.bytes > 0).map(|i| i.first).collect();
    starts.sort_unstable();
    starts.dedup();
    let sets: Vec<Vec<usize>> = starts
        .iter()
        .map(|&t| {
            let live = |&i: &usize| items[i].bytes > 0 && items[i].first <= t && t <= items[i].last;
            (0..items.len()).filter(live).collect()
        })
        .collect();
    let inside = |a: &[usize], b: &[usize]| a.iter().all(|i| b.contains(i));
    let kept = sets.iter().enumerate().filter(|&(k, set)| {
        let swallowed = |&(m, other): &(usize, &Vec<usize>)| {
            m != k && inside(set, other) && (other.len() > set.len() || m < k)
        };
        !sets.iter().enumerate().any(|(m, other)| swallowed(&(m, other)))
    });
    let order = |i: usize| (items[i].first, i);
    kept.map(|(_, set)| {
        let mut shared = Vec::new();
        for &i in set {
            for &j in set.iter().filter(|&&j| order(i) < order(j)) {
                let reach = |low: usize, high: usize| {
                    let gap = distances[low * items.len() + high];
                    items[high].bytes.min(items[low].bytes.saturating_sub(gap))
                };
                let bytes = reach(i, j).max(reach(j, i));
                if bytes > 0 {
                    shared.push((i, j, bytes));
                }
            }
        }
        Section { items: set.clone(), shared }
    })
    .collect()
}
