//! `cargo kiln tune`: schedules and kernels that were measured, not predicted.
//!
//! Each round builds the model with another kernel for every layer that has one more, and measures all layers. Layers do not depend on each other, so the best
//! kernel of each is known when the layer with most kernels has had them all. What was chosen is measured as a whole, beside what the rules choose.

use crate::bench::Bench;
use crate::progress::Progress;
use anyhow::{bail, Result};
use kiln_boards::Board;
use kiln_codegen::ir::NodeId;
use kiln_codegen::schedule::{Schedule, StepKind};
use kiln_codegen::search::written::Key;
use kiln_codegen::{compile, model_name, read_file, Compiled, Options, ScheduleFile};
use kiln_tools::number::grouped;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most divisions into pipelines that are measured, where budgets leave a choice.
const MOST_SCHEDULES: usize = 4;

/// What was found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The schedule, to be put into a file with [`kiln_codegen::search::written::replaced`].
    pub text: String,
    /// What it is for.
    pub key: Key,
    /// Cycles of an inference as the rules have it, and as it was tuned.
    pub cycles: [u64; 2],
    /// Bytes of RAM of both.
    pub ram_bytes: [usize; 2],
    /// Bytes of constants of both.
    pub constant_bytes: [usize; 2],
    /// The layers that got another kernel.
    pub changes: Vec<Change>,
    /// How many variants of the model were built and measured.
    pub measured: usize,
    /// Kernels that were left unmeasured when the time was over.
    pub unmeasured: usize,
    board: String,
    is_estimate: bool,
}

/// A layer that got another kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its operator.
    pub op: String,
    /// Its name in the model.
    pub name: String,
    /// The kernel of the rules, and its measured cycles.
    pub from: (String, u64),
    /// The kernel that it got, and its measured cycles.
    pub to: (String, u64),
}

/// Tunes a model on a board. Without `seconds` every kernel is measured. Otherwise no round begins after so many seconds.
///
/// The tuned model takes no more RAM and no more constants than the one of the rules, unless the budgets `ram` and `flash` leave room for more.
///
/// # Errors
/// Where the model does not compile, build or run there.
pub fn tune(
    model: &Path,
    options: &Options,
    board: &'static Board,
    probe: Option<&str>,
    seconds: Option<u64>,
) -> Result<Tuned> {
    let bytes = read_file(model)?;
    // What was tuned before is not where to begin.
    let options = Options { schedule: None, ..crate::place::for_board(options, board) };
    if options.cores() > 1 {
        bail!("steps that two cores share are not measured one by one\n    help: tune for one core: leave out --cores");
    }
    let rules = compile(&bytes, &model_name(model), &options)?;
    let mut tuner = Tuner {
        bytes: &bytes,
        name: model_name(model),
        options,
        bench: Bench { board, probe },
        until: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        progress: Progress::default(),
        measured: 0,
    };
    tuner.run(&rules)
}

struct Tuner<'a> {
    bytes: &'a [u8],
    name: String,
    options: Options,
    bench: Bench<'a>,
    until: Option<Instant>,
    progress: Progress,
    measured: usize,
}

/// A name for the kernel of each node that is to have another one than that of the rules.
type Names = BTreeMap<NodeId, String>;

/// The same with measured cycles.
type Kernels = BTreeMap<NodeId, (String, u64)>;

fn names_of(kernels: &Kernels) -> Names {
    kernels.iter().map(|(&node, (name, _))| (node, name.clone())).collect()
}

impl Tuner<'_> {
    fn run(&mut self, rules: &Compiled) -> Result<Tuned> {
        let (pipelines, before) = self.pipelines(rules)?;
        let base = self.with(rules, &pipelines, &Names::new())?;
        let mut offers = offers(&base);
        offers
            .iter_mut()
            .for_each(|(&node, names)| names.retain(|name| Some(name) != name_of(&base, node).as_ref()));
        let rounds = offers.values().map(Vec::len).max().unwrap_or(0);
        // The rules' kernel of each node, and its measured cycles; of all other kernels the best one.
        let own = self.steps(&base)?;
        let mut best = Kernels::new();
        let mut unmeasured = 0;
        for round in 0..rounds {
            let names: Names =
                offers.iter().filter_map(|(&node, names)| Some((node, names.get(round)?.clone()))).collect();
            if self.is_late() {
                unmeasured += names.len();
                continue;
            }
            self.progress.show("kernels", round, rounds);
            for (node, took) in self.measure(rules, &pipelines, &names) {
                let Some(name) = names.get(&node) else { continue };
                if best.get(&node).is_none_or(|(_, least)| took < *least) {
                    best.insert(node, (name.clone(), took));
                }
            }
        }
        best.retain(|node, (_, took)| own.get(node).is_some_and(|own| *took < *own));
        let chosen = self.affordable(rules, &base, &pipelines, &own, best);
        self.progress.show("kernels", rounds, rounds);
        let tuned = self.with(rules, &pipelines, &names_of(&chosen))?;
        let after = if chosen.is_empty() && pipelines == rule_pipelines(rules) {
            before
        } else {
            self.whole(&tuned)?
        };
        // What is better layer by layer is no worse as a whole, but for what surrounds the layers.
        let (tuned, after, chosen) =
            if after < before { (tuned, after, chosen) } else { (rules.clone(), before, BTreeMap::new()) };
        let is_estimate = self.bench.board.is_emulated();
        let note = format!(
            "# {} on {}: {} cycles; by the rules {}",
            if is_estimate { "estimated" } else { "measured" },
            self.bench.board.name,
            after,
            before
        );
        let text = tuned.written().replacen("{\n", &format!("{{\n  {note}\n"), 1);
        let change = |(&node, (name, took)): (&NodeId, &(String, u64))| {
            let node_of = base.graph.node(node);
            let from = name_of(&base, node).unwrap_or_default();
            Change {
                op: node_of.op.name().into(),
                name: base.graph.value(node_of.result).label().into(),
                from: (from, own.get(&node).copied().unwrap_or(0)),
                to: (name.clone(), *took),
            }
        };
        Ok(Tuned {
            text,
            key: Key::of(&self.options),
            cycles: [before, after],
            ram_bytes: [rules.plan.ram_bytes(), tuned.plan.ram_bytes()],
            constant_bytes: [rules.program.constant_bytes(), tuned.program.constant_bytes()],
            changes: chosen.iter().map(change).collect(),
            measured: self.measured,
            unmeasured,
            board: self.bench.board.name.clone(),
            is_estimate,
        })
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Of the divisions into pipelines that are within the budgets, the one that takes the fewest cycles, and the cycles of the one that the rules keep.
    fn pipelines(&mut self, rules: &Compiled) -> Result<(Vec<Range<usize>>, u64)> {
        let own = rule_pipelines(rules);
        let before = self.whole(rules)?;
        let (mut best, mut least) = (own.clone(), before);
        let Some(ram) = self.options.ram else { return Ok((best, before)) };
        let mut others: Vec<_> =
            rules.alternatives.iter().filter(|other| !other.kept && other.bytes() <= ram).collect();
        others.sort_by_key(|other| other.predicted);
        for other in others.into_iter().take(MOST_SCHEDULES) {
            if self.is_late() {
                break;
            }
            // A kernel that the rules choose for rows may not be one for whole tensors: what does not fit is not considered.
            let Ok(compiled) = self.with(rules, &other.nodes, &Names::new()) else { continue };
            let took = self.whole(&compiled)?;
            if took < least {
                (best, least) = (other.nodes.clone(), took);
            }
        }
        Ok((best, before))
    }

    /// The model with these pipelines, and with kernels of these names.
    fn with(&self, rules: &Compiled, pipelines: &[Range<usize>], names: &Names) -> Result<Compiled> {
        self.with_budgets(rules, pipelines, names, &self.options)
    }

    fn with_budgets(
        &self,
        rules: &Compiled,
        pipelines: &[Range<usize>],
        names: &Names,
        options: &Options,
    ) -> Result<Compiled> {
        let own = rule_pipelines(rules);
        // Kernels that the rules chose for other pipelines are chosen anew.
        let turns = |at: usize, of: &[Range<usize>]| of.iter().any(|run| run.contains(&at));
        let order = rules.graph.order.iter().enumerate();
        let changed = order.filter(|&(at, _)| turns(at, &own) != turns(at, pipelines));
        let anew =
            changed.filter_map(|(at, &node)| Some((node, best_offer(rules, node, !turns(at, pipelines))?)));
        let kernels: Names = anew.chain(names.clone()).collect();
        let text = rules.written_as(pipelines, |node| kernels.get(&node).map(String::as_str));
        let schedule = Some(ScheduleFile { path: "schedule".into(), text: Some(text) });
        let compiled = compile(self.bytes, &self.name, &Options { schedule, ..options.clone() })?;
        match compiled.unused.first() {
            None => Ok(compiled),
            Some(line) => bail!("{line}"),
        }
    }

    /// Cycles of an inference.
    fn whole(&mut self, compiled: &Compiled) -> Result<u64> {
        self.measured += 1;
        self.bench.whole(compiled)
    }

    /// Cycles of each node.
    fn steps(&mut self, compiled: &Compiled) -> Result<BTreeMap<NodeId, u64>> {
        self.measured += 1;
        let compile = |options: &Options| Ok(compile(self.bytes, &self.name, options)?);
        let steps = self.bench.steps(compiled, compile)?;
        Ok(steps
            .into_iter()
            .filter_map(|(step, took)| Some((node_of(&compiled.schedule, step)?, took)))
            .collect())
    }

    /// Cycles of the nodes with kernels of these names, budgets aside. Where they do not fit a board together, they are measured in parts.
    fn measure(&mut self, rules: &Compiled, pipelines: &[Range<usize>], names: &Names) -> Vec<(NodeId, u64)> {
        let free = Options { ram: None, flash: None, ..self.options.clone() };
        let built = self.with_budgets(rules, pipelines, names, &free);
        if let Ok(steps) = built.and_then(|compiled| self.steps(&compiled)) {
            return steps.into_iter().filter(|(node, _)| names.contains_key(node)).collect();
        }
        let middle = names.keys().nth(names.len() / 2).filter(|_| names.len() > 1);
        let Some(middle) = middle else { return Vec::new() };
        let mut lower = names.clone();
        let upper = lower.split_off(middle);
        [lower, upper].iter().flat_map(|names| self.measure(rules, pipelines, names)).collect()
    }

    /// Of the better kernels those that can be afforded together: the ones that save most come first.
    fn affordable(
        &self,
        rules: &Compiled,
        base: &Compiled,
        pipelines: &[Range<usize>],
        own: &BTreeMap<NodeId, u64>,
        best: Kernels,
    ) -> Kernels {
        let fits = |compiled: &Compiled| {
            let ram = self.options.ram.unwrap_or_else(|| base.plan.ram_bytes());
            let constants = match self.options.flash {
                Some(_) => usize::MAX,
                None => base.program.constant_bytes(),
            };
            compiled.plan.ram_bytes() <= ram && compiled.program.constant_bytes() <= constants
        };
        let affords = |chosen: &Kernels| {
            self.with(rules, pipelines, &names_of(chosen)).is_ok_and(|compiled| fits(&compiled))
        };
        if affords(&best) {
            return best;
        }
        let mut by_gain: Vec<_> = best.into_iter().collect();
        let gain = |node: &NodeId, took: u64| own.get(node).copied().unwrap_or(0).saturating_sub(took);
        by_gain.sort_by_key(|(node, (_, took))| std::cmp::Reverse(gain(node, *took)));
        let mut chosen = Kernels::new();
        for (node, kernel) in by_gain {
            chosen.insert(node, kernel);
            if !affords(&chosen) {
                chosen.remove(&node);
            }
        }
        chosen
    }
}

/// Positions of the nodes of the pipelines that the rules keep.
fn rule_pipelines(rules: &Compiled) -> Vec<Range<usize>> {
    rules.kept().map_or(Vec::new(), |kept| kept.nodes.clone())
}

/// The node that a step computes.
fn node_of(schedule: &Schedule, step: usize) -> Option<NodeId> {
    match schedule.steps.get(step)?.kind {
        StepKind::Compute(node) => Some(node),
        StepKind::Absorb { .. } | StepKind::Copy { .. } => None,
    }
}

/// What a node's kernel is called.
fn name_of(compiled: &Compiled, node: NodeId) -> Option<String> {
    let step =
        (0..compiled.schedule.steps.len()).find(|&step| node_of(&compiled.schedule, step) == Some(node))?;
    Some(compiled.program.chosen(step)?.name.to_string())
}

/// The kernel with the fewest predicted cycles, of a node that a step computes.
fn best_offer(rules: &Compiled, node: NodeId, whole: bool) -> Option<String> {
    name_of(rules, node)?;
    rules.offers(node, whole).first().map(|choice| choice.name().into_owned())
}

/// The names of all kernels that compute a node exactly, for each node that has several.
pub fn offers(base: &Compiled) -> BTreeMap<NodeId, Vec<String>> {
    let mut all = BTreeMap::new();
    for (index, step) in base.schedule.steps.iter().enumerate() {
        let StepKind::Compute(node) = step.kind else { continue };
        let whole = base.schedule.pipeline_of(index).is_none();
        let names: Vec<String> =
            base.offers(node, whole).iter().map(|choice| choice.name().into_owned()).collect();
        if names.len() > 1 {
            all.insert(node, names);
        }
    }
    all
}

impl Tuned {
    /// Whether something is better than the rules.
    pub fn is_better(&self) -> bool {
        self.cycles[1] < self.cycles[0]
    }

    /// What was found, for people.
    pub fn text(&self) -> String {
        let [before, after] = self.cycles;
        let mut out = String::new();
        let kernels = |get: fn(&Change) -> &str| self.changes.iter().map(|c| get(c).len()).max().unwrap_or(0);
        let (from, to) = (kernels(|c| &c.from.0), kernels(|c| &c.to.0));
        // Writing to a string cannot fail.
        for Change { op, name, from: (old, slow), to: (new, fast) } in &self.changes {
            let _ = writeln!(
                out,
                "{:>12} → {:>12}  {old:<from$} → {new:<to$}  {op} {name:?}",
                grouped(*slow),
                grouped(*fast)
            );
        }
        let kind = if self.is_estimate { "estimated" } else { "measured" };
        let saved = match after < before {
            true => format!("−{:.1} %", 100.0 * (before - after) as f64 / before as f64),
            false => "nothing saved".into(),
        };
        let _ = writeln!(
            out,
            "{}: {} → {} cycles ({kind}, {saved}), RAM {} → {} B, constants {} → {} B; {} variants measured",
            self.board,
            grouped(before),
            grouped(after),
            grouped(self.ram_bytes[0] as u64),
            grouped(self.ram_bytes[1] as u64),
            grouped(self.constant_bytes[0] as u64),
            grouped(self.constant_bytes[1] as u64),
            self.measured
        );
        if self.unmeasured > 0 {
            let _ = writeln!(out, "time was over: {} kernels of layers were not measured", self.unmeasured);
        }
        out
    }

    /// What was found, for programs.
    pub fn json(&self) -> Value {
        let change = |change: &Change| {
            json!({
                "op": change.op, "name": change.name,
                "from": { "kernel": change.from.0, "cycles": change.from.1 },
                "to": { "kernel": change.to.0, "cycles": change.to.1 },
            })
        };
        json!({
            "board": self.board,
            "cycles": { "rules": self.cycles[0], "tuned": self.cycles[1] },
            "cycles_are": if self.is_estimate { "estimated" } else { "measured" },
            "ram_bytes": { "rules": self.ram_bytes[0], "tuned": self.ram_bytes[1] },
            "constant_bytes": { "rules": self.constant_bytes[0], "tuned": self.constant_bytes[1] },
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
            "measured": self.measured,
            "unmeasured": self.unmeasured,
        })
    }
}
