//! Which convolutions are divided into groups of channels, so that less memory is needed where rows may be computed again.
//!
//! All that can be divided are, into two groups, three, and so on, and the best numbers stay. Then those go back to one group without which no more memory is needed.
//! What a trial needs is found without the exact packing, and the number of trials is bounded.

use super::{extra, flow_of, least, search, search_most, Found};
use crate::ir::{Graph, NodeId};
use crate::passes::channel_groups;
use crate::schedule::{order, Flow};
use crate::{verify, Input, Optimize, Options};
use kiln_ir::error::Error;
use std::collections::BTreeMap;

/// Into how many groups all convolutions are divided for a trial.
const COUNTS: [usize; 4] = [2, 3, 4, 6];

/// Most groups that a written schedule may ask for.
pub const MOST_GROUPS: usize = 64;

/// Whether rings share a ring in trials, and the parts of the multiply-accumulates that may be spent which they spend at most: what computes fewer rows again may need
/// less memory.
const KINDS: [(bool, &[u32]); 2] = [(false, &[1]), (true, &[1, 2])];

/// So many trials, those that need least memory, are tried with fewer convolutions divided.
const REDUCED: usize = 2;

/// Most trials of dividing fewer.
const MOST_TRIALS: usize = 24;

/// Convolutions that are divided, and into how many groups.
pub type Groups = BTreeMap<NodeId, usize>;

/// A graph with some of its convolutions divided, in the order of least memory.
///
/// # Errors
/// [`Error::Internal`] if the graph is broken by it.
pub fn divided(graph: &Graph, groups: &Groups) -> Result<Graph, Error> {
    let mut graph = graph.clone();
    for (&id, &count) in groups {
        channel_groups::split(&mut graph, id, count);
    }
    verify::after_stage("pass channel_groups", &graph)?;
    graph.order = order::order(&graph);
    verify::after_stage("order", &graph)?;
    Ok(graph)
}

/// As [`search`], with convolutions divided where the options let rows be computed again and less memory is asked for than it takes without: the graph and `groups` say which are.
///
/// # Errors
/// As [`search`].
pub fn search_groups(graph: &mut Graph, options: &Options, groups: &mut Groups) -> Result<Found, Error> {
    let found = search(graph, options)?;
    let enough = match options.ram {
        Some(ram) => found.plan.ram_bytes() <= ram,
        None => options.optimize != Optimize::Memory,
    };
    let repeats = extra(graph, options).is_some() && options.input != Input::Sliding;
    if enough || !repeats {
        return Ok(found);
    }
    let (undivided, mut best) = (graph.clone(), found);
    for Trial { groups: trial, options, shares, needed } in
        best_groups(&undivided, options, best.plan.ram_bytes())?
    {
        let divided = divided(&undivided, &trial)?;
        let flow = flow(&divided, &options, shares);
        let found = search_most(&divided, &options, &[flow], 0, needed)?;
        if found.plan.ram_bytes() < best.plan.ram_bytes() {
            (best, *graph, *groups) = (found, divided, trial);
        }
        if options.ram.is_some_and(|ram| best.plan.ram_bytes() <= ram) {
            break;
        }
    }
    Ok(best)
}

/// The uses of a graph's values, for pipelines whose rings share a ring or not.
fn flow(graph: &Graph, options: &Options, shares: bool) -> Flow {
    let flow = flow_of(graph, options);
    if shares {
        flow
    } else {
        flow.without_sharing()
    }
}

/// A division that may be worth planning.
struct Trial {
    groups: Groups,
    /// With the part of the multiply-accumulates that it may spend.
    options: Options,
    /// Whether rings share a ring.
    shares: bool,
    /// About how many bytes it needs.
    needed: usize,
}

/// The divisions worth planning: of each as few as it takes for the least memory that is found, or for the budget.
fn best_groups(graph: &Graph, options: &Options, without: usize) -> Result<Vec<Trial>, Error> {
    let divisible: Vec<NodeId> =
        graph.nodes().map(|(id, _)| id).filter(|&id| channel_groups::can_split(graph, id)).collect();
    let mut all: Vec<Trial> = Vec::new();
    for count in COUNTS {
        let groups: Groups = divisible.iter().map(|&id| (id, count)).collect();
        let divided = divided(graph, &groups)?;
        for (shares, parts) in KINDS {
            let with = |part: &u32| {
                let recompute = options.recompute.map(|most| 1000 + most.saturating_sub(1000) / part);
                Options { recompute, ..options.clone() }
            };
            let kinds: Vec<Options> = parts.iter().map(with).collect();
            let limits: Vec<u64> =
                kinds.iter().map(|options| extra(&divided, options).unwrap_or(0)).collect();
            let needed = least(&divided, options, &flow(&divided, options, shares), &limits, without)?;
            for (needed, options) in needed.into_iter().zip(kinds) {
                let trial = |needed| Trial { groups: groups.clone(), options, shares, needed };
                all.extend(needed.filter(|&needed| needed < without).map(trial));
            }
        }
    }
    // Of equals those with rings of their own: what is found for them is closer to what they need.
    all.sort_by_key(|trial| (trial.needed, trial.shares));
    all.truncate(REDUCED);
    for trial in &mut all {
        fewer(graph, trial)?;
    }
    all.retain(|trial| !trial.groups.is_empty());
    all.sort_by_key(|trial| trial.needed);
    Ok(all)
}

/// Goes back to one group without which no more memory is needed: all convolutions, then halves of them, quarters and so on. What is saved by it may be spent on rows that
/// are computed again, so that less memory may be needed in the end.
fn fewer(graph: &Graph, trial: &mut Trial) -> Result<(), Error> {
    let Trial { groups, options, shares, needed } = trial;
    let budget = options.ram.unwrap_or(0);
    *needed = budget.max(*needed);
    let mut left: Vec<Vec<NodeId>> = vec![groups.keys().copied().collect()];
    for _ in 0..MOST_TRIALS {
        let Some(ids) = left.pop() else { break };
        let mut without = groups.clone();
        without.retain(|id, _| !ids.contains(id));
        let divided = divided(graph, &without)?;
        let limit = [extra(&divided, options).unwrap_or(0)];
        let less = least(&divided, options, &flow(&divided, options, *shares), &limit, *needed)?;
        match less.into_iter().flatten().find(|less| less <= needed) {
            Some(less) => (*groups, *needed) = (without, budget.max(less)),
            None if ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                left.extend([first.to_vec(), second.to_vec()]);
            }
            None => {}
        }
    }
    Ok(())
}
