//! The memory plan: where each buffer lies in the arena, and where each state lies in retained memory.
//!
//! [`plan`] derives every buffer's [`Lifetime`] from the schedule and solves a packing [`Problem`]; [`check()`] proves
//! the result on every compile by running the schedule over tagged memory.

mod check;
mod problem;
#[cfg(any(test, feature = "testing"))]
pub mod replay;
mod search;
#[cfg(test)]
mod tests;

pub use check::check;
pub use problem::{Item, Problem, Solution};

use crate::error::{self, Error};
use crate::ir::Graph;
use crate::schedule::{lifetimes, Role, Schedule};

pub use crate::schedule::Lifetime;

/// The largest arena or state memory, in bytes: offsets fit 32-bit targets.
pub const MAX_BYTES: usize = i32::MAX as usize;

/// Where everything lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By buffer: its offset in the arena, for buffers of [`Role::Scratch`].
    pub offsets: Vec<Option<usize>>,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// By index in [`Graph::states`]: its offset in retained memory.
    pub state: Vec<usize>,
    /// Bytes of retained memory.
    pub state_bytes: usize,
    /// No arena of this schedule can be smaller: the largest sum of bytes that are live at the same time.
    pub lower_bound: usize,
    /// By buffer: when it is live.
    pub lifetimes: Vec<Lifetime>,
}

/// Plans the memory of a schedule.
///
/// # Errors
/// [`Error::Unsupported`] if the arena or the states exceed [`MAX_BYTES`].
pub fn plan(graph: &Graph, schedule: &Schedule) -> Result<Plan, Error> {
    let lifetimes = lifetimes(graph, schedule);
    let buffers = &schedule.storage.buffers;
    let scratch: Vec<usize> = (0..buffers.len()).filter(|&b| buffers[b].role == Role::Scratch).collect();
    let item = |&b: &usize| Item {
        bytes: buffers[b].bytes,
        align: buffers[b].align,
        first: lifetimes[b].first,
        last: lifetimes[b].last,
    };
    let problem = Problem { items: scratch.iter().map(item).collect() };
    let lower_bound = problem.lower_bound();
    let total = problem
        .items
        .iter()
        .try_fold(0usize, |sum, item| sum.checked_add(item.bytes)?.checked_add(item.align));
    if lower_bound > MAX_BYTES || total.is_none() {
        return Err(too_large("activations", lower_bound));
    }
    let solution = problem.solve();
    let mut offsets = vec![None; buffers.len()];
    for (&b, &offset) in scratch.iter().zip(&solution.offsets) {
        offsets[b] = Some(offset);
    }
    let (state, state_bytes) = place_states(graph, schedule)?;
    if solution.bytes > MAX_BYTES {
        return Err(too_large("activations", solution.bytes));
    }
    Ok(Plan { offsets, arena_bytes: solution.bytes, state, state_bytes, lower_bound, lifetimes })
}

/// States lie one after the other, those of the largest alignment first, so that nothing is lost between them.
fn place_states(graph: &Graph, schedule: &Schedule) -> Result<(Vec<usize>, usize), Error> {
    let mut states: Vec<(usize, usize, usize)> = Vec::new();
    for buffer in &schedule.storage.buffers {
        if let Role::State(index) = buffer.role {
            states.push((buffer.align, index, buffer.bytes));
        }
    }
    states.sort_by_key(|&(align, index, _)| (std::cmp::Reverse(align), index));
    let mut offsets = vec![0; graph.states.len()];
    let mut end = 0usize;
    for (align, index, bytes) in states {
        offsets[index] = end.next_multiple_of(align);
        end = offsets[index].saturating_add(bytes);
        if end > MAX_BYTES {
            return Err(too_large("states", end));
        }
    }
    Ok((offsets, end))
}

fn too_large(what: &str, bytes: usize) -> Error {
    Error::Unsupported(vec![error::Problem {
        place: String::new(),
        what: format!("the {what} need {bytes} bytes of memory at once"),
        help: format!("at most {MAX_BYTES} bytes are possible: use a smaller model or input"),
    }])
}
