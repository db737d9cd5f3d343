//! The independent checker of plans.
//!
//! [`check()`] executes the schedule as [`schedule::check`](crate::schedule::check()) does, in the planned memories, where
//! buffers overlap: what one buffer writes over another's data is gone. So it proves anew, of addresses, all that is proven there of
//! buffers, and further:
//!
//! - every buffer lies inside its memory, aligned;
//! - what is retained is apart.

#[cfg(test)]
mod mutations;
#[cfg(test)]
mod tests;

use super::Plan;
use crate::ir::Graph;
use crate::schedule::check::{rules, run, Home, Layout, Objection};
use crate::schedule::Schedule;

/// Indices of the memories.
const ARENA: usize = 0;
const RETAINED: usize = 1;
const FAST: usize = 2;

/// Checks a plan.
///
/// # Errors
/// Every violated invariant, up to a limit.
pub fn check(graph: &Graph, schedule: &Schedule, plan: &Plan) -> Result<(), Objection> {
    rules::check(graph, schedule)?;
    let mut wrong = Vec::new();
    let mut retained = Vec::new();
    let mut homes = Vec::new();
    for (index, buffer) in schedule.storage.buffers.iter().enumerate() {
        let Some(&base) = plan.offsets.get(index) else {
            wrong.push(format!("buffer {index} has no offset"));
            continue;
        };
        let arena = buffer.role.in_arena();
        let Some(&fast) = plan.fast.get(index) else {
            wrong.push(format!("buffer {index} is in no memory"));
            continue;
        };
        let (memory, limit) = match (arena, fast) {
            (true, false) => (ARENA, plan.arena_bytes),
            (true, true) => (FAST, plan.fast_bytes.unwrap_or(0)),
            (false, _) => (RETAINED, plan.state_bytes),
        };
        if fast && !arena {
            wrong.push(format!("buffer {index} is retained, and in the fast arena"));
        }
        let end = base.saturating_add(buffer.bytes);
        if end > limit {
            wrong.push(format!("buffer {index} ends beyond its memory of {limit} bytes"));
        }
        if base.checked_rem(buffer.align) != Some(0) {
            wrong.push(format!("buffer {index} at {base} is not aligned to {}", buffer.align));
        }
        homes.push(Home { memory, base });
        if !arena {
            retained.push(base..end);
        }
    }
    retained.sort_by_key(|bytes| (bytes.start, bytes.end));
    if retained.windows(2).any(|pair| pair[0].end > pair[1].start) {
        wrong.push("two states overlap".into());
    }
    if !wrong.is_empty() {
        return Err(Objection::Broken(wrong));
    }
    let memories =
        vec![("the arena".into(), true), ("the states".into(), false), ("the fast arena".into(), true)];
    run(graph, schedule, &Layout { homes, memories, transient: Vec::new() })
}
