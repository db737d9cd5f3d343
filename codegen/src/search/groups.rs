//! Schedules that compute rows again, and convolutions that are divided into groups of channels for it, so that less memory is needed.
//!
//! All convolutions that can be divided are, into two groups, three, and so on. Each of these graphs has schedules that compute many rows again, and fewer. What they need is found without the
//! exact packing. Those are planned of which no other one needs less memory with as few multiply-accumulates. Then convolutions go back to one group without which no more memory is needed.
//!
//! A limit of multiply-accumulates leaves out what takes more, and changes nothing else: with a larger limit, all is tried that is tried with a smaller one.

use super::repeat::Repeated;
use super::{cuts, feed, flow_of, search, Found, Tried};
use crate::ir::{macs, Graph, NodeId};
use crate::passes::channel_groups;
use crate::plan::quick_bytes;
use crate::schedule::pipeline::Draft;
use crate::schedule::{order, Flow};
use crate::{verify, Input, Optimize, Options};
use kiln_ir::error::Error;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Into how many groups all convolutions are divided for a trial.
const COUNTS: [usize; 5] = [1, 2, 3, 4, 6];

/// Most groups that a written schedule may ask for.
pub const MOST_GROUPS: usize = 64;

/// Most divisions of a graph into pipelines in which rows are computed again.
const MOST_TRIED: usize = 4;

/// A trial with more multiply-accumulates needs so many parts less memory, at least, to be planned.
const WORTH: usize = 128;

/// Most trials of dividing fewer, of all schedules together.
const MOST_TRIALS: usize = 32;

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

/// As [`search`], with rows that are computed again and convolutions divided where the options allow it and less memory is asked for than it takes without: the graph and `groups` say which are.
///
/// # Errors
/// As [`search`].
pub fn search_groups(graph: &mut Graph, options: &Options, groups: &mut Groups) -> Result<Found, Error> {
    let found = search(graph, options)?;
    let enough = match options.ram {
        Some(ram) => found.plan.ram_bytes() <= ram,
        None => options.optimize != Optimize::Memory,
    };
    let limit = options.extra_macs(graph.nodes().map(|(_, node)| macs(graph, node)).sum());
    let Some(limit) = limit.filter(|_| !enough && options.input != Input::Sliding) else { return Ok(found) };
    let undivided = graph.clone();
    let mut best: Option<Trial> = None;
    let mut bytes = found.plan.ram_bytes();
    let mut fewer = Fewer { graph: &undivided, options, limit, left: MOST_TRIALS, others: Vec::new() };
    let mut trials = trials(&undivided, options, limit, bytes)?;
    // What is done until so many multiply-accumulates are reached depends on no limit beyond them: a larger one never leads to more memory.
    while let Some(mut trial) = trials.pop() {
        if trial.needed >= bytes {
            continue;
        }
        let planned = trial.planned(&undivided, options)?;
        if planned < bytes {
            bytes = planned;
            if fewer.reduce(&mut trial, planned)? {
                bytes = trial.planned(&undivided, options)?.min(planned);
            }
            best = Some(trial);
            trials.append(&mut fewer.others);
            trials.sort_by_key(|trial| Reverse((trial.extra, trial.needed)));
        }
        if options.ram.is_some_and(|ram| bytes <= ram) {
            break;
        }
    }
    let Some(best) = best else { return Ok(found) };
    let divided = divided(&undivided, &best.groups)?;
    let mut tried = Tried::new(&divided, options);
    tried.add(&best.drafts)?;
    let mut again = tried.finish()?;
    if best.groups.is_empty() {
        let others = found.alternatives.into_iter().map(|other| super::Alternative { kept: false, ..other });
        again.alternatives.extend(others);
    }
    (*graph, *groups) = (divided, best.groups);
    Ok(again)
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

/// A schedule that computes rows again.
struct Trial {
    groups: Groups,
    /// Whether rings share a ring.
    shares: bool,
    drafts: Vec<Draft>,
    /// Multiply-accumulates of rows that were computed before.
    extra: u64,
    /// About how many bytes it needs: the exact packing may take less.
    needed: usize,
}

impl Trial {
    /// The bytes that it needs.
    fn planned(&self, graph: &Graph, options: &Options) -> Result<usize, Error> {
        let graph = divided(graph, &self.groups)?;
        let mut tried = Tried::new(&graph, options);
        tried.add(&self.drafts)?;
        Ok(tried.list.first().map_or(usize::MAX, |found| found.about.bytes()))
    }
}

/// The schedules of a graph with those groups that may need less than `most` bytes.
fn with_groups(
    graph: &Graph,
    options: &Options,
    groups: &Groups,
    kinds: &[bool],
    limit: u64,
    most: usize,
) -> Result<Vec<Trial>, Error> {
    let graph = divided(graph, groups)?;
    let mut tried = Tried::new(&graph, options);
    let mut trials = Vec::new();
    for &shares in kinds {
        let found = cuts::repeating(&graph, &flow(&graph, options, shares), feed(options), most, MOST_TRIED);
        for Repeated { drafts, extra } in found.into_iter().filter(|found| found.extra <= limit) {
            let needed = quick_bytes(&graph, &tried.schedule(&drafts))?;
            trials.push(Trial { groups: groups.clone(), shares, drafts, extra, needed });
        }
    }
    trials.retain(|trial| trial.needed < most);
    Ok(trials)
}

/// The schedules worth planning, those with the fewest multiply-accumulates last, of which each needs less memory than those with fewer.
fn trials(graph: &Graph, options: &Options, limit: u64, without: usize) -> Result<Vec<Trial>, Error> {
    let divisible: Vec<NodeId> =
        graph.nodes().map(|(id, _)| id).filter(|&id| channel_groups::can_split(graph, id)).collect();
    let mut all: Vec<Trial> = Vec::new();
    for count in COUNTS {
        let groups: Groups = divisible.iter().filter(|_| count > 1).map(|&id| (id, count)).collect();
        if count == 1 || !groups.is_empty() {
            all.extend(with_groups(graph, options, &groups, &[false, true], limit, without)?);
        }
    }
    // Of equals those with fewer groups, and with rings of their own: what is found for them is closer to what they need.
    all.sort_by_key(|trial| (trial.extra, trial.needed));
    let mut least = without;
    all.retain(|trial| {
        let is_less = trial.needed + least / WORTH < least;
        least = if is_less { trial.needed } else { least };
        is_less
    });
    all.reverse();
    Ok(all)
}

/// Goes back to one group without which no more memory is needed.
struct Fewer<'g> {
    graph: &'g Graph,
    options: &'g Options,
    limit: u64,
    /// How many trials are left.
    left: usize,
    /// What was found that needs less memory with more multiply-accumulates.
    others: Vec<Trial>,
}

impl Fewer<'_> {
    /// All convolutions of a trial that needs so many bytes, then halves of them, quarters and so on. Says whether the trial is another one now.
    fn reduce(&mut self, trial: &mut Trial, bytes: usize) -> Result<bool, Error> {
        let mut reduced = false;
        let mut parts: Vec<Vec<NodeId>> = vec![trial.groups.keys().copied().collect()];
        while let Some(ids) = parts.pop().filter(|ids| !ids.is_empty() && self.left > 0) {
            self.left -= 1;
            let mut without = trial.groups.clone();
            without.retain(|id, _| !ids.contains(id));
            let found =
                with_groups(self.graph, self.options, &without, &[trial.shares], self.limit, bytes + 1)?;
            let (found, more): (Vec<Trial>, _) =
                found.into_iter().partition(|found| found.extra <= trial.extra);
            self.others.extend(more.into_iter().filter(|other| other.needed < bytes));
            match found.into_iter().min_by_key(|found| (found.extra, found.needed)) {
                Some(found) => (*trial, reduced) = (found, true),
                None if ids.len() > 1 => {
                    let (first, second) = ids.split_at(ids.len() / 2);
                    parts.extend([first.to_vec(), second.to_vec()]);
                }
                None => {}
            }
        }
        Ok(reduced)
    }
}
