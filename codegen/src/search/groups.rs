//! Which convolutions are divided into groups of channels, so that less memory is needed where rows may be computed again.
//!
//! All that can be divided are, into two groups, three, and so on, and the best numbers stay. Then those go back to one group without which no more memory is needed.
//! What a trial needs is found without the exact packing, and the number of trials is bounded.

use super::{extra, least, search, search_most, Found};
use crate::ir::{Graph, NodeId};
use crate::passes::channel_groups;
use crate::schedule::order;
use crate::{verify, Input, Optimize, Options};
use kiln_ir::error::Error;
use std::collections::BTreeMap;

/// Into how many groups all convolutions are divided for a trial.
const COUNTS: [usize; 4] = [2, 3, 4, 6];

/// Most groups that a written schedule may ask for.
pub const MOST_GROUPS: usize = 64;

/// So many of them, those that need least memory, are tried with fewer convolutions divided.
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
    let Some((best, needed)) = best_groups(graph, options, found.plan.ram_bytes())? else { return Ok(found) };
    let divided = divided(graph, &best)?;
    let better = search_most(&divided, options, 0, needed)?;
    if better.plan.ram_bytes() >= found.plan.ram_bytes() {
        return Ok(found);
    }
    (*graph, *groups) = (divided, best);
    Ok(better)
}

/// As few divisions as it takes for the least memory that is found, or for the budget, and about how much it is; `None` if it is as much as without.
fn best_groups(graph: &Graph, options: &Options, without: usize) -> Result<Option<(Groups, usize)>, Error> {
    let divisible: Vec<NodeId> =
        graph.nodes().map(|(id, _)| id).filter(|&id| channel_groups::can_split(graph, id)).collect();
    let mut all = Vec::new();
    for count in COUNTS {
        let trial: Groups = divisible.iter().map(|&id| (id, count)).collect();
        all.extend(least(&divided(graph, &trial)?, options, without)?.map(|needed| (needed, trial)));
    }
    all.retain(|&(needed, _)| needed < without);
    all.sort_by_key(|&(needed, _)| needed);
    let mut best: Option<(Groups, usize)> = None;
    for (needed, groups) in all.into_iter().take(REDUCED) {
        let (groups, needed) = fewer(graph, options, groups, needed.max(options.ram.unwrap_or(0)))?;
        if !groups.is_empty() && best.as_ref().is_none_or(|&(_, least)| needed < least) {
            best = Some((groups, needed));
        }
    }
    Ok(best)
}

/// Goes back to one group without which no more memory is needed: all convolutions, then halves of them, quarters and so on. What is saved by it may be spent on rows that
/// are computed again, so that less memory may be needed in the end.
fn fewer(
    graph: &Graph,
    options: &Options,
    mut groups: Groups,
    mut most: usize,
) -> Result<(Groups, usize), Error> {
    let mut left: Vec<Vec<NodeId>> = vec![groups.keys().copied().collect()];
    for _ in 0..MOST_TRIALS {
        let Some(ids) = left.pop() else { break };
        let mut trial = groups.clone();
        trial.retain(|id, _| !ids.contains(id));
        match least(&divided(graph, &trial)?, options, most)?.filter(|&needed| needed <= most) {
            Some(needed) => (groups, most) = (trial, needed.max(options.ram.unwrap_or(0))),
            None if ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                left.extend([first.to_vec(), second.to_vec()]);
            }
            None => {}
        }
    }
    Ok((groups, most))
}
