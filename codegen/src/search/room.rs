//! Larger workspaces that cost no memory: not all steps run when the arena is full.
//!
//! Some kernels are faster with a larger workspace. With `optimize = "memory"` a schedule is planned with the smallest ones. Then steps get the faster kernels, as long as the arena grows no larger.

use crate::ir::{Graph, NodeId};
use crate::plan::{plan, Plan};
use crate::schedule::{BufferId, Schedule, StepKind};
use crate::select::Kernels;
use crate::Options;
use kiln_ir::error::Error;

/// A step that would be faster with a larger workspace.
struct Wish {
    node: NodeId,
    workspace: BufferId,
    bytes: usize,
    /// Bytes of the arena that would be in use while it runs, overlays not considered.
    needed: usize,
}

/// The schedule and its plan with larger workspaces for as many steps as there is room for, those first when least memory is in use. Kernels of these steps are the faster ones.
///
/// # Errors
/// As [`plan`].
pub(super) fn use_room(
    graph: &Graph,
    options: &Options,
    kernels: &mut Kernels,
    schedule: Schedule,
    planned: Plan,
) -> Result<(Schedule, Plan), Error> {
    let wishes = wishes(graph, options, kernels, &schedule, &planned);
    let (most, mut kept) = (planned.arena_bytes, (schedule.clone(), planned));
    // So many fit, and so many do not.
    let (mut fit, mut above) = (0, wishes.len() + 1);
    while above - fit > 1 {
        let count = fit + (above - fit) / 2;
        let mut larger = schedule.clone();
        for wish in wishes.iter().take(count) {
            if let Some(buffer) = larger.storage.buffers.get_mut(wish.workspace.0 as usize) {
                buffer.bytes = wish.bytes;
            }
        }
        let planned = plan(graph, &larger)?;
        if planned.arena_bytes <= most {
            (fit, kept) = (count, (larger, planned));
        } else {
            above = count;
        }
    }
    kernels.give_room(wishes.iter().take(fit).map(|wish| wish.node));
    Ok(kept)
}

/// The steps that would be faster, those first when least memory is in use.
fn wishes(
    graph: &Graph,
    options: &Options,
    kernels: &mut Kernels,
    schedule: &Schedule,
    plan: &Plan,
) -> Vec<Wish> {
    let buffers = &schedule.storage.buffers;
    let in_use = |time: usize| -> usize {
        let live = plan
            .lifetimes
            .iter()
            .zip(buffers)
            .filter(|(life, buffer)| buffer.role.in_arena() && (life.first..=life.last).contains(&time));
        live.map(|(_, buffer)| buffer.bytes).fold(0, usize::saturating_add)
    };
    let mut wishes = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        let (StepKind::Compute(node), Some(workspace)) = (&step.kind, step.workspace) else { continue };
        let whole = schedule.pipeline_of(index).is_none();
        let own = kernels.of(graph, *node, options, whole);
        let faster = kernels.with_room(graph, *node, options, whole);
        let Some(buffer) = buffers.get(workspace.0 as usize) else { continue };
        if faster.cycles < own.cycles && faster.workspace > buffer.bytes {
            let needed = in_use(index + 1).saturating_sub(buffer.bytes).saturating_add(faster.workspace);
            wishes.push(Wish { node: *node, workspace, bytes: faster.workspace, needed });
        }
    }
    wishes.sort_by_key(|wish| wish.needed);
    wishes
}
