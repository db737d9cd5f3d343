//! The memory plan: where each buffer lies in the arena, and where each state lies in retained memory.
//!
//! [`plan`] derives every buffer's [`Lifetime`] from the schedule and solves a packing [`Problem`]; [`check()`] proves
//! the result on every compile by running the schedule over tagged memory.

mod bound;
mod check;
mod distance;
mod exact;
mod fast;
mod overlay;
mod problem;
mod prove;
mod regions;
#[doc(hidden)]
pub mod replay;
mod search;
#[cfg(test)]
mod tests;
mod trace;

pub use bound::lower_bound;
pub use check::check;
pub use fast::with_fast;
pub use problem::{Item, Overlay, Problem, Solution};
pub use regions::{accesses, Regions};

use crate::ir::Graph;
use crate::schedule::{lifetimes, Role, Schedule};
use kiln_ir::error::{self, Error};
use overlay::Overlays;

pub use crate::schedule::Lifetime;

/// The largest arena or state memory, in bytes: offsets fit 32-bit targets.
pub const MAX_BYTES: usize = i32::MAX as usize;

/// Where everything lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By buffer: its offset in the arena or, where its role says so, in retained memory.
    pub offsets: Vec<usize>,
    /// By buffer: whether it lies in the fast arena, where there is one.
    pub fast: Vec<bool>,
    /// Bytes of the arena; of the slow one, where there are two.
    pub arena_bytes: usize,
    /// Bytes of the fast arena; `None` where there is one arena only.
    pub fast_bytes: Option<usize>,
    /// Bytes of retained memory.
    pub state_bytes: usize,
    /// No arena of this schedule can be smaller, as has been proved: the most bytes that are in use at the same time, or `arena_bytes`
    /// itself where everything smaller was tried. Of two arenas: their sum cannot be smaller, but for what alignment takes.
    pub lower_bound: usize,
    /// By buffer: when it is live.
    pub lifetimes: Vec<Lifetime>,
}

impl Plan {
    /// Bytes of the arena, or of both.
    pub fn scratch_bytes(&self) -> usize {
        self.arena_bytes.saturating_add(self.fast_bytes.unwrap_or(0))
    }

    /// Bytes of RAM in all.
    pub fn ram_bytes(&self) -> usize {
        self.scratch_bytes().saturating_add(self.state_bytes)
    }
}

/// How many pairs of items [`quick_bytes`] looks at.
const QUICK: usize = search::BUDGET / 100;

/// Plans the memory of a schedule.
///
/// # Errors
/// [`Error::Unsupported`] if the arena or the states exceed [`MAX_BYTES`].
pub fn plan(graph: &Graph, schedule: &Schedule) -> Result<Plan, Error> {
    plan_with(schedule, lifetimes(graph, schedule), problem(graph, schedule)?)
}

/// About how many bytes of RAM a schedule needs: what [`plan`] finds is mostly less, and takes much longer to find.
///
/// # Errors
/// As [`plan`].
pub fn quick_bytes(graph: &Graph, schedule: &Schedule) -> Result<usize, Error> {
    let solution = search::solve_to(&problem(graph, schedule)?, 0, QUICK);
    let retained = schedule.storage.buffers.iter().filter(|buffer| !buffer.role.in_arena());
    Ok(retained.fold(solution.bytes, |sum, buffer| sum.saturating_add(buffer.bytes)))
}

/// The packing problem of a schedule: one item for each buffer in the arena, in their order.
///
/// # Errors
/// [`Error::Unsupported`] if the arena exceeds [`MAX_BYTES`].
pub fn problem(graph: &Graph, schedule: &Schedule) -> Result<Problem, Error> {
    let lifetimes = lifetimes(graph, schedule);
    let buffers = &schedule.storage.buffers;
    let scratch = scratch(schedule);
    let item = |&b: &usize| Item {
        bytes: buffers[b].bytes,
        align: buffers[b].align,
        first: lifetimes[b].first,
        last: lifetimes[b].last,
    };
    let mut problem = Problem::new(scratch.iter().map(item).collect());
    let add = |sum: usize, item: &Item| sum.checked_add(item.bytes)?.checked_add(item.align);
    if problem.items.iter().try_fold(0, add).is_none() {
        return Err(too_large("activations", usize::MAX));
    }
    let overlays = Overlays::of(graph, schedule, &lifetimes);
    let item = |buffer: usize| scratch.binary_search(&buffer).ok();
    let by_item = |o: &Overlay| Some(Overlay { upper: item(o.upper)?, lower: item(o.lower)?, gap: o.gap });
    problem.overlays = overlays.pairs.iter().filter_map(by_item).collect();
    problem.floor = overlays.floor;
    Ok(problem)
}

/// The buffers in the arena.
fn scratch(schedule: &Schedule) -> Vec<usize> {
    let buffers = &schedule.storage.buffers;
    (0..buffers.len()).filter(|&b| buffers[b].role.in_arena()).collect()
}

/// A good packing: the best of several greedy ones, improved by a bounded search, and then by one that either finds a smaller
/// one or proves that there is none, as far as its bounds allow. Equal problems have equal solutions.
pub fn solve(problem: &Problem) -> Solution {
    prove::improve(problem, search::solve(problem))
}

fn plan_with(schedule: &Schedule, lifetimes: Vec<Lifetime>, problem: Problem) -> Result<Plan, Error> {
    let bound = lower_bound(&problem);
    if bound > MAX_BYTES {
        return Err(too_large("activations", bound));
    }
    let solution = solve(&problem);
    if solution.bytes > MAX_BYTES {
        return Err(too_large("activations", solution.bytes));
    }
    let mut offsets = vec![0; schedule.storage.buffers.len()];
    for (b, &offset) in scratch(schedule).into_iter().zip(&solution.offsets) {
        offsets[b] = offset;
    }
    let state_bytes = place_states(schedule, &mut offsets)?;
    let (arena_bytes, lower_bound) = (solution.bytes, solution.bound);
    let fast = vec![false; offsets.len()];
    Ok(Plan { offsets, fast, arena_bytes, fast_bytes: None, state_bytes, lower_bound, lifetimes })
}

/// What is retained lies one after the other, that of the largest alignment first, so that nothing is lost between. Returns the bytes.
fn place_states(schedule: &Schedule, offsets: &mut [usize]) -> Result<usize, Error> {
    let buffers = &schedule.storage.buffers;
    let mut retained: Vec<usize> = (0..buffers.len()).filter(|&b| !buffers[b].role.in_arena()).collect();
    let state = |b: usize| match buffers[b].role {
        Role::State(index) => index,
        _ => usize::MAX,
    };
    retained.sort_by_key(|&b| (std::cmp::Reverse(buffers[b].align), state(b), b));
    let mut end = 0usize;
    for b in retained {
        offsets[b] = end.next_multiple_of(buffers[b].align);
        end = offsets[b].saturating_add(buffers[b].bytes);
        if end > MAX_BYTES {
            return Err(too_large("states", end));
        }
    }
    Ok(end)
}

fn too_large(what: &str, bytes: usize) -> Error {
    Error::Unsupported(vec![error::Problem {
        place: String::new(),
        what: format!("the {what} need {bytes} bytes of memory at once"),
        help: format!("at most {MAX_BYTES} bytes are possible: use a smaller model or input"),
    }])
}
