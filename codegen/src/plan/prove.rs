//! Improves a packing by an exact search, or proves that there is no better one.
//!
//! What makes a packing impossible is mostly a few items that are live about the same time. So the exact search is given *windows* of
//! time that grow: if the items of one do not fit into fewer bytes, all of them do not either.

use super::exact::{self, Outcome};
use super::problem::{Item, Overlay, Problem, Solution};

/// Branches for one window.
const NODES: usize = 20_000;

/// Branches in all.
const MOST_NODES: usize = 100_000;

/// Around how many times windows grow.
const CENTERS: usize = 3;

/// The best packing that is found, starting from one, and the best bound.
pub(super) fn improve(problem: &Problem, mut best: Solution) -> Solution {
    let mut left = MOST_NODES;
    while !best.is_optimal() && left > 0 {
        match attempt(problem, best.bytes, &mut left) {
            Outcome::Found(solution) => best = Solution { bound: best.bound, ..solution },
            Outcome::Impossible => best.bound = best.bytes,
            Outcome::Unknown => break,
        }
    }
    best
}

/// Looks for a packing of fewer bytes.
fn attempt(problem: &Problem, bytes: usize, left: &mut usize) -> Outcome {
    let Some(limit) = bytes.checked_sub(1) else { return Outcome::Impossible };
    let mut outcome = Outcome::Unknown;
    for center in centers(problem) {
        for radius in (0..).map(|k| 1 << k) {
            let window = Window::new(problem, center, radius);
            if window.items.len() > exact::MOST_ITEMS {
                break;
            }
            let mut nodes = NODES.min(*left);
            let given = nodes;
            let found = exact::search(&window.problem, limit, &mut nodes);
            *left -= given - nodes;
            match found {
                Outcome::Impossible => return Outcome::Impossible,
                Outcome::Found(solution) if window.all => {
                    return Outcome::Found(window.whole(problem, solution))
                }
                Outcome::Found(_) => {}
                Outcome::Unknown => break,
            }
        }
        outcome = Outcome::Unknown;
    }
    outcome
}

/// The times at which most is live, each but the first not next to one before it.
fn centers(problem: &Problem) -> Vec<usize> {
    let end = problem.items.iter().map(|item| item.last + 2).max().unwrap_or(0);
    let mut change = vec![0isize; end];
    for item in &problem.items {
        change[item.first] += item.bytes as isize;
        change[item.last + 1] -= item.bytes as isize;
    }
    let mut live = 0;
    let mut times: Vec<(isize, usize)> = Vec::new();
    for (time, change) in change.into_iter().enumerate() {
        live += change;
        times.push((-live, time));
    }
    times.sort_unstable();
    let mut centers: Vec<usize> = Vec::new();
    for (_, time) in times {
        if centers.len() < CENTERS && centers.iter().all(|c| c.abs_diff(time) > 2) {
            centers.push(time);
        }
    }
    centers
}

/// The items that are live around a time.
struct Window {
    problem: Problem,
    /// Their indices, ascending.
    items: Vec<usize>,
    /// Whether there are no others.
    all: bool,
}

impl Window {
    fn new(problem: &Problem, center: usize, radius: usize) -> Window {
        let near = |item: &Item| item.first <= center + radius && item.last + radius >= center;
        let full = |&i: &usize| problem.items[i].bytes > 0;
        let items: Vec<usize> =
            (0..problem.items.len()).filter(full).filter(|&i| near(&problem.items[i])).collect();
        let inside = |i: usize| items.binary_search(&i).ok();
        let overlay = |o: &Overlay| Some(Overlay { upper: inside(o.upper)?, lower: inside(o.lower)?, ..*o });
        let window = Problem {
            items: items.iter().map(|&i| problem.items[i]).collect(),
            overlays: problem.overlays.iter().filter_map(overlay).collect(),
            floor: 0,
        };
        let all = items.len() == (0..problem.items.len()).filter(full).count();
        Window { problem: window, items, all }
    }

    /// A solution of the window as one of the problem, if the window has all items.
    fn whole(&self, problem: &Problem, solution: Solution) -> Solution {
        let mut offsets = vec![0; problem.items.len()];
        for (&i, offset) in self.items.iter().zip(&solution.offsets) {
            offsets[i] = *offset;
        }
        Solution { offsets, ..solution }
    }
}
