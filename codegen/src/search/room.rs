//! Faster kernels that cost no memory: not all steps run when the arena is full.
//!
//! Some kernels are faster with a larger workspace, or compute several rows at the same time, so that what these read stays longer. With `optimize = "memory"` a schedule is planned without
//! them. Then steps get the faster kernels, as long as the arena grows no larger.

use super::rows_at_once;
use crate::ir::{Graph, NodeId};
use crate::plan::{plan, Plan};
use crate::schedule::{BufferId, Schedule, StepKind};
use crate::select::Kernels;
use crate::Options;
use kiln_ir::error::Error;

/// How many steps behind the first one that does not fit are tried, each of which takes a plan.
const MOST_OTHERS: usize = 4;

/// A step that would be faster with more memory.
struct Wish {
    node: NodeId,
    step: usize,
    /// A larger workspace, and its bytes.
    workspace: Option<(BufferId, usize)>,
    /// Rows that it computes at the same time.
    at_once: usize,
    /// Bytes of the arena that would be in use while it runs, overlays not considered.
    needed: usize,
}

/// The schedule and its plan with faster kernels for as many steps as there is room for, those first when least memory is in use.
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
    // So many of the first ones fit, and so many do not.
    let (mut fit, mut above) = (0, wishes.len() + 1);
    while above - fit > 1 {
        let count = fit + (above - fit) / 2;
        let mut larger = schedule.clone();
        wishes.iter().take(count).for_each(|wish| wish.grant(&mut larger));
        let planned = plan(graph, &larger)?;
        if planned.arena_bytes <= most {
            (fit, kept) = (count, (larger, planned));
        } else {
            above = count;
        }
    }
    let mut granted: Vec<NodeId> = wishes.iter().take(fit).map(|wish| wish.node).collect();
    // The next one does not fit. Others may.
    for wish in wishes.iter().skip(fit + 1).take(MOST_OTHERS) {
        let mut larger = kept.0.clone();
        wish.grant(&mut larger);
        let planned = plan(graph, &larger)?;
        if planned.arena_bytes <= most {
            kept = (larger, planned);
            granted.push(wish.node);
        }
    }
    kernels.give_room(granted);
    Ok(kept)
}

/// Most bytes of the arena of two cores, in tenths of what one core takes.
const MOST_TENTHS: usize = 11;

/// The schedule of several cores and its plan, with smaller tiles of Winograd's algorithm where larger ones would take more than a tenth more memory than one core does: each core has a workspace,
/// and computes rows of its own. Steps at which most memory is in use come first.
///
/// # Errors
/// As [`plan`].
pub(super) fn within_a_tenth(
    graph: &Graph,
    options: &Options,
    kernels: &mut Kernels,
    mut schedule: Schedule,
    mut planned: Plan,
) -> Result<(Schedule, Plan), Error> {
    let mut alone = schedule.clone();
    let mut large = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        let StepKind::Compute(node) = &step.kind else { continue };
        let (Some(workspace), true) = (step.workspace, schedule.pipeline_of(index).is_none()) else {
            continue;
        };
        let choice = kernels.of(graph, *node, options, true);
        resize(&mut alone, index, Some((workspace, choice.workspace)), choice.rows_at_once);
        if choice.rows_at_once > 2 {
            large.push((in_use(&schedule, &planned, index + 1), index, *node, workspace));
        }
    }
    if large.is_empty() {
        return Ok((schedule, planned));
    }
    let most = plan(graph, &alone)?.arena_bytes.saturating_mul(MOST_TENTHS) / 10;
    large.sort_by_key(|&(bytes, ..)| std::cmp::Reverse(bytes));
    for (_, index, node, workspace) in large {
        if planned.arena_bytes <= most {
            break;
        }
        kernels.take_small_tiles(node);
        let choice = kernels.of(graph, node, options, true);
        let cores = options.cores();
        let Some(bytes) = choice.shared_workspaces(graph, graph.node(node), cores) else { continue };
        let at_once = rows_at_once(options.optimize).max(choice.rows_at_once) * cores;
        resize(&mut schedule, index, Some((workspace, bytes)), at_once);
        planned = plan(graph, &schedule)?;
    }
    Ok((schedule, planned))
}

/// Gives a step so many rows at once, and its workspace so many bytes.
fn resize(schedule: &mut Schedule, step: usize, workspace: Option<(BufferId, usize)>, at_once: usize) {
    if let Some(step) = schedule.steps.get_mut(step) {
        step.at_once = at_once;
    }
    let Some((workspace, bytes)) = workspace else { return };
    if let Some(buffer) = schedule.storage.buffers.get_mut(workspace.0 as usize) {
        buffer.bytes = bytes;
    }
}

/// Bytes of the arena that are in use at a time, overlays not considered.
fn in_use(schedule: &Schedule, plan: &Plan, time: usize) -> usize {
    let buffers = plan.lifetimes.iter().zip(&schedule.storage.buffers);
    let live =
        buffers.filter(|(life, buffer)| buffer.role.in_arena() && (life.first..=life.last).contains(&time));
    live.map(|(_, buffer)| buffer.bytes).fold(0, usize::saturating_add)
}

impl Wish {
    /// Gives its step what it wishes.
    fn grant(&self, schedule: &mut Schedule) {
        resize(schedule, self.step, self.workspace, self.at_once);
    }
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
    let mut wishes = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        let StepKind::Compute(node) = &step.kind else { continue };
        let whole = schedule.pipeline_of(index).is_none();
        let own = kernels.of(graph, *node, options, whole);
        let faster = kernels.with_room(graph, *node, options, whole);
        if faster.cycles >= own.cycles {
            continue;
        }
        let has = |workspace: BufferId| buffers.get(workspace.0 as usize).map(|buffer| buffer.bytes);
        let has = step.workspace.and_then(|workspace| Some((workspace, has(workspace)?)));
        let workspace = has.filter(|(_, bytes)| faster.workspace > *bytes);
        // A step without a workspace cannot get one.
        let possible = has.is_some() || faster.workspace == 0;
        if possible && (workspace.is_some() || faster.rows_at_once > own.rows_at_once) {
            let bytes = workspace.map_or(0, |(_, bytes)| faster.workspace - bytes);
            // Cores that share the step compute so many rows each.
            let cores = step.at_once.max(1) / own.rows_at_once.max(1);
            wishes.push(Wish {
                node: *node,
                step: index,
                workspace: workspace.map(|(workspace, _)| (workspace, faster.workspace)),
                at_once: cores.max(1) * faster.rows_at_once,
                needed: in_use(schedule, plan, index + 1).saturating_add(bytes),
            });
        }
    }
    wishes.sort_by_key(|wish| wish.needed);
    wishes
}
