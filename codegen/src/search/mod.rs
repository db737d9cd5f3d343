//! Which schedule: several are made and planned, one is kept.
//!
//! Whole tensors cost no call more than there are nodes; pipelines need less memory and one call per row. A dynamic program
//! (`cuts`) finds the divisions of the nodes into pipelines and whole steps that are worth planning.

mod cost;
mod cuts;
pub mod groups;
mod repeat;
mod room;
#[cfg(test)]
mod tests;
pub mod written;

use crate::ir::Graph;
use crate::plan::{plan, with_fast, Plan};
use crate::schedule::pipeline::{self, Draft, Refused};
use crate::schedule::{with_pipelines, Feed, Flow, Schedule, Sharing};
use crate::select::{packs_any, Kernels};
use crate::{Input, Optimize, Options};
use kiln_ir::error::{Error, Problem};
use std::ops::Range;
use written::Written;

pub use cost::Prediction;

/// Most divisions that are scheduled and planned.
const MOST_PLANNED: usize = 12;

/// How the reason begins why a model cannot take its input row by row.
pub const REFUSED: &str = "the model cannot take its input so: ";

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The schedule.
    pub schedule: Schedule,
    /// The kernels that compute its steps.
    pub kernels: Kernels,
    /// Its plan.
    pub plan: Plan,
    /// All that was planned.
    pub alternatives: Vec<Alternative>,
    /// What a written schedule says and the graph does not fit.
    pub unused: Vec<String>,
}

/// A schedule that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The steps of each of its pipelines: the first, and how many.
    pub pipelines: Vec<(usize, usize)>,
    /// Positions of the nodes of each of its pipelines, in the order of the graph.
    pub nodes: Vec<Range<usize>>,
    /// Positions of the nodes that compute rows again.
    pub again: Vec<usize>,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Bytes of retained memory.
    pub state_bytes: usize,
    /// Calls of kernels in an inference.
    pub calls: usize,
    /// What an inference is predicted to take.
    pub predicted: Prediction,
    /// Whether it was kept.
    pub kept: bool,
}

impl Alternative {
    /// Bytes of RAM.
    pub fn bytes(&self) -> usize {
        self.arena_bytes + self.state_bytes
    }

    /// Whether it is within the budget of RAM.
    fn fits(&self, options: &Options) -> bool {
        options.ram.is_none_or(|ram| self.bytes() <= ram)
    }
}

/// Finds the schedule that the options ask for, without rows that are computed again.
///
/// With a budget of RAM, the schedule with the fewest predicted cycles that fits, and the smallest if none does. With one of cycles, the smallest that
/// fits, and the fastest if none does.
///
/// # Errors
/// [`Error::Options`] if the model cannot take its input as asked, [`Error::Unsupported`] if no arena is large enough.
pub fn search(graph: &Graph, options: &Options) -> Result<Found, Error> {
    // Shared rings are not always better: smaller ones may lie over more of what others need.
    let flows = [flow_of(graph, options), flow_of(graph, options).without_sharing()];
    let mut tried = Tried::new(graph, options);
    for flow in &flows {
        tried.add(fed(graph, flow, options.input)?.as_slice())?;
    }
    let fits = |found: &Candidate| found.about.fits(options);
    let enough =
        options.optimize != Optimize::Memory && options.cycles.is_none() && tried.list.iter().all(fits);
    if !enough && options.input != Input::Sliding {
        for flow in &flows {
            for drafts in cuts::cuts(graph, flow, feed(options), MOST_PLANNED) {
                tried.add(&drafts)?;
            }
        }
    }
    tried.finish()
}

/// The uses of a graph's values. Kernels that unpack weights take whole images.
fn flow_of(graph: &Graph, options: &Options) -> Flow {
    let flow = Flow::of(graph);
    if packs_any(graph, options) {
        flow.with_whole_products()
    } else {
        flow
    }
}

/// How the rows of the input come into the first pipeline.
fn feed(options: &Options) -> Feed {
    match options.input {
        Input::Whole => Feed::Whole,
        Input::Rows => Feed::Rows,
        Input::Sliding => Feed::Sliding,
    }
}

/// The schedule that was written for the graph, whose nodes are in its order.
///
/// # Errors
/// As [`search`], and [`Error::Options`] for nodes that cannot take turns.
pub fn follow(graph: &Graph, options: &Options, written: &Written) -> Result<Found, Error> {
    let flow = flow_of(graph, options);
    let mut tried = Tried::new(graph, options);
    written.name_kernels(&mut tried.kernels);
    tried.add(&written.drafts(graph, &flow, fed(graph, &flow, options.input)?)?)?;
    let mut found = tried.finish()?;
    found.unused = written.unused.clone();
    found.unused.extend(written.missed(graph, options, &found.kernels));
    Ok(found)
}

/// The pipeline that takes the input row by row, if it comes so.
fn fed(graph: &Graph, flow: &Flow, input: Input) -> Result<Option<Draft>, Error> {
    match input {
        Input::Whole => Ok(None),
        Input::Rows => pipeline::fed(graph, flow).map(Some).map_err(|why| refused(graph, "rows", &why)),
        Input::Sliding => {
            pipeline::sliding(graph, flow).map(Some).map_err(|why| refused(graph, "sliding", &why))
        }
    }
}

/// Rows that a core computes at a time, at least, where two cores share a step whose result lies over its operand: kernels pair pixels across the ends of rows.
fn rows_at_once(optimize: Optimize) -> usize {
    if optimize == Optimize::Memory {
        1
    } else {
        2
    }
}

/// A planned schedule.
struct Candidate {
    schedule: Schedule,
    plan: Plan,
    about: Alternative,
}

struct Tried<'g> {
    graph: &'g Graph,
    options: &'g Options,
    kernels: Kernels,
    /// What was added, so that nothing is planned twice.
    drafts: Vec<Vec<Draft>>,
    list: Vec<Candidate>,
}

impl<'g> Tried<'g> {
    fn new(graph: &'g Graph, options: &'g Options) -> Self {
        Tried { graph, options, kernels: Kernels::default(), drafts: Vec::new(), list: Vec::new() }
    }

    /// The one that is kept, with larger workspaces where there is room for them.
    fn finish(mut self) -> Result<Found, Error> {
        self.keep();
        let (graph, options) = (self.graph, self.options);
        let mut alternatives: Vec<_> = self.list.iter().map(|c| c.about.clone()).collect();
        let mut kernels = self.kernels;
        let kept = self.list.into_iter().find(|c| c.about.kept);
        let Candidate { mut schedule, mut plan, .. } =
            kept.ok_or_else(|| Error::internal("search", "nothing was planned"))?;
        if options.optimize == Optimize::Memory && options.cores() == 1 {
            (schedule, plan) = room::use_room(graph, options, &mut kernels, schedule, plan)?;
            // It may have become smaller by chance, and takes fewer cycles.
            let predicted = cost::predict(graph, options, &mut kernels, &schedule);
            alternatives.iter_mut().filter(|a| a.kept).for_each(|a| {
                (a.arena_bytes, a.predicted) = (plan.arena_bytes, predicted);
            });
        }
        if options.target().most_cores() == 2 && options.cores() > 1 {
            (schedule, plan) = room::within_a_tenth(graph, options, &mut kernels, schedule, plan)?;
            alternatives.iter_mut().filter(|a| a.kept).for_each(|a| a.arena_bytes = plan.arena_bytes);
        }
        let plan = match options.fast_ram {
            Some(capacity) => {
                let most = options.ram.map_or(usize::MAX, |ram| ram.saturating_sub(plan.state_bytes));
                with_fast(graph, &schedule, plan, capacity, most)?
            }
            None => plan,
        };
        Ok(Found { schedule, kernels, plan, alternatives, unused: Vec::new() })
    }

    /// Marks the one that the options ask for.
    fn keep(&mut self) {
        let Options { optimize, ram, cycles, .. } = *self.options;
        let fits = |about: &Alternative| about.fits(self.options);
        let in_time = |about: &Alternative| cycles.is_none_or(|most| about.predicted.cycles <= most);
        let one_fits = self.list.iter().any(|c| fits(&c.about));
        let one_in_time = self.list.iter().any(|c| fits(&c.about) && in_time(&c.about));
        // The smallest that is fast enough, or the fastest that is small enough.
        let smallest = match cycles {
            Some(_) => one_in_time || !one_fits,
            None => !one_fits || optimize == Optimize::Memory && ram.is_none(),
        };
        let rank = |about: &Alternative| match smallest {
            true => (about.bytes() as u64, about.predicted, about.calls),
            false => (about.predicted.cycles, about.predicted, about.bytes()),
        };
        let left = self.list.iter_mut().map(|c| &mut c.about);
        let left = left.filter(|a| (!one_fits || fits(a)) && (!one_in_time || in_time(a)));
        left.min_by_key(|about| rank(about)).into_iter().for_each(|about| about.kept = true);
    }

    /// The schedule of some pipelines.
    fn schedule(&mut self, drafts: &[Draft]) -> Schedule {
        let mut schedule = with_pipelines(self.graph, drafts);
        let (graph, options) = (self.graph, self.options);
        let kernels = &mut self.kernels;
        // Threads of a host take parts in any order. Two cores of a microcontroller compute rows that lie next to each other.
        let in_beats = options.target().most_cores() == 2;
        let mut workspace = |node, whole| {
            let kernel = kernels.of(graph, node, options, whole);
            let cores = if whole { options.cores() } else { 1 };
            match kernel.shared_workspaces(graph, graph.node(node), cores) {
                Some(bytes) if in_beats => (
                    bytes,
                    Sharing {
                        shared: true,
                        apart: kernel.apart,
                        at_once: rows_at_once(options.optimize).max(kernel.rows_at_once) * cores,
                    },
                ),
                Some(bytes) => (bytes, Sharing { shared: true, apart: true, at_once: 1 }),
                None => (
                    kernel.workspace,
                    Sharing { shared: false, apart: kernel.apart, at_once: kernel.rows_at_once },
                ),
            }
        };
        schedule.add_workspaces(|node, whole| workspace(node, whole).0);
        schedule.share(|node| workspace(node, true).1);
        schedule.align(self.options.target().alignment());
        schedule
    }

    fn add(&mut self, drafts: &[Draft]) -> Result<(), Error> {
        if self.drafts.iter().any(|before| before == drafts) {
            return Ok(());
        }
        self.drafts.push(drafts.to_vec());
        let schedule = self.schedule(drafts);
        let (graph, options, kernels) = (self.graph, self.options, &mut self.kernels);
        let plan = plan(self.graph, &schedule)?;
        let about = Alternative {
            pipelines: schedule.pipelines.iter().map(|p| (p.steps.start, p.steps.len())).collect(),
            nodes: drafts.iter().map(|draft| draft.nodes.clone()).collect(),
            again: drafts.iter().flat_map(Draft::repeated).collect(),
            arena_bytes: plan.arena_bytes,
            state_bytes: plan.state_bytes,
            calls: schedule.bands().count(),
            predicted: cost::predict(graph, options, kernels, &schedule),
            kept: false,
        };
        if self.list.iter().all(|c| c.about != about) {
            self.list.push(Candidate { schedule, plan, about });
        }
        Ok(())
    }
}

fn refused(graph: &Graph, value: &str, why: &Refused) -> Error {
    Error::Options(Problem {
        place: format!("option `input = \"{value}\"`"),
        what: format!("{REFUSED}{}", why.describe(graph)),
        help: match value {
            "sliding" => why.way_out(graph).into(),
            _ => "use input = \"whole\"".into(),
        },
    })
}
