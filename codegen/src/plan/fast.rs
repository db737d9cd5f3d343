//! Two arenas: a fast one of limited size, and a slow one for the rest.

use super::{accesses, problem, scratch, Plan, MAX_BYTES};
use crate::ir::Graph;
use crate::schedule::Schedule;
use kiln_ir::error::Error;

/// Alignment of an arena, which its size is a multiple of.
const ALIGN: usize = 16;

/// Moves the values with most accesses into a fast arena, which has at most `capacity` bytes. The fast arena stays empty where nothing fits,
/// or where both arenas together exceed `most` bytes: two can need more than one.
///
/// # Errors
/// [`Error::Unsupported`] if the arena exceeds [`MAX_BYTES`].
pub fn with_fast(
    graph: &Graph,
    schedule: &Schedule,
    plan: Plan,
    capacity: usize,
    most: usize,
) -> Result<Plan, Error> {
    let whole = Plan { fast_bytes: Some(0), ..plan };
    let capacities = [capacity / ALIGN * ALIGN, MAX_BYTES];
    let problem = problem(graph, schedule)?;
    let Some(found) = problem.solve_regions(&accesses(graph, schedule), &capacities) else {
        return Ok(whole);
    };
    let [fast_bytes, arena_bytes] = found.bytes[..] else { return Ok(whole) };
    let mut split = Plan { arena_bytes, fast_bytes: Some(fast_bytes), ..whole.clone() };
    for (item, b) in scratch(schedule).into_iter().enumerate() {
        (split.offsets[b], split.fast[b]) = (found.offsets[item], found.region[item] == 0);
    }
    Ok(if split.scratch_bytes() <= most { split } else { whole })
}
