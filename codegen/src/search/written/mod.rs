//! Schedules as text: to be read, edited and given back.
//!
//! A file has a schedule for each target and each way to compile for it. A line is a node: what it computes, by which operator, of which shape, and by which
//! kernel. Nodes between `rows {` and `}` take turns row by row. Behind `#` is a comment.
//!
//! ```text
//! schedule cortex-m4 speed whole {
//!   %12 conv2d [1,16,16,8] by conv2d_i8_dsp/8   # 123456 cycles, "conv/Relu"
//!   rows {
//!     %13 conv2d [1,16,16,16] by conv2d_i8_dsp/16
//!     %14 max_pool2d [1,8,8,16]
//!   }
//! }
//! ```
//!
//! `groups %12 4` before all lines divides a convolution, and the depthwise one behind it, into groups of channels; values have other numbers behind it. A line that ends
//! with `again` computes, each time, all rows that one row of its reader needs.
//!
//! A line without `by` leaves the kernel to the rules. If all nodes have lines, they run in the order of these. Otherwise, they run in the order that the rules find.
//! What a line says of a model that it does not fit is not used, and listed: the file is older than the model. What can never be right is an error.

#[cfg(test)]
mod tests;

use super::groups::{Groups, MOST_GROUPS};
use super::pipeline::{Draft, MOST_REPEATING};
use crate::ir::{Graph, Node, NodeId, ValueId};
use crate::passes::channel_groups::can_split;
use crate::schedule::{Feed, Flow};
use crate::select::{names, Kernels};
use crate::{Input, Optimize, Options, Target};
use kiln_ir::error::{Error, Problem};
use kiln_ir::near::near;
use kiln_ir::options::ScheduleFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

/// What a schedule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The processor.
    pub target: Target,
    /// What is favoured.
    pub optimize: Optimize,
    /// How the input is given.
    pub input: Input,
}

impl Key {
    /// Of these options.
    pub fn of(options: &Options) -> Key {
        Key { target: options.target(), optimize: options.optimize, input: options.input }
    }

    fn text(self) -> String {
        format!("schedule {} {} {}", self.target.name(), self.optimize.name(), self.input.name())
    }
}

/// A schedule of a file, before it is compared with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is for.
    pub key: Key,
    /// What the passes rewrite the graph for: what is favoured, or less memory where a budget asked for it.
    pub passes: Optimize,
    /// The convolutions that are divided, by value, into how many groups, and the lines that say so.
    groups: Vec<(u32, usize, usize)>,
    path: String,
    /// The lines of the file that it consists of, counted from 0.
    span: Range<usize>,
    lines: Vec<Line>,
    /// Which of its lines are pipelines, and where these begin in the file.
    runs: Vec<(Range<usize>, usize)>,
}

/// What a line says of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// Its number in the file, from 1.
    number: usize,
    value: u32,
    op: String,
    shape: String,
    kernel: Option<String>,
    /// Whether rows are computed again.
    again: bool,
}

/// A schedule for a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The nodes in the order in which they run.
    pub order: Vec<NodeId>,
    /// What the file says and the graph does not fit.
    pub unused: Vec<String>,
    path: String,
    kernels: BTreeMap<NodeId, String>,
    /// The nodes that compute rows again, and their lines.
    again: BTreeMap<NodeId, usize>,
    /// Positions of the nodes of each pipeline, and the line of the file where it begins.
    runs: Vec<(Range<usize>, usize)>,
}

/// The schedule of the options' file that is for them; `None` where there is no file, or none for the target.
///
/// # Errors
/// [`Error::Options`] for a file that was not read, and for what is no schedule, with its line; also where there are schedules for the target, and none of them is for what else the options
/// say.
pub fn section(options: &Options) -> Result<Option<Section>, Error> {
    let Some(file) = &options.schedule else { return Ok(None) };
    let (all, key) = (sections(file)?, Key::of(options));
    let same_target: Vec<&Section> = all.iter().filter(|section| section.key.target == key.target).collect();
    match same_target.iter().find(|section| section.key == key) {
        Some(&section) => Ok(Some(section.clone())),
        None if same_target.is_empty() => Ok(None),
        None => {
            let listed: Vec<String> =
                same_target.iter().map(|section| format!("`{}`", section.key.text())).collect();
            Err(Error::Options(Problem {
                place: format!("option `schedule`: {}", file.path),
                what: format!("there is no `{}`, only {}", key.text(), listed.join(", ")),
                help: "remove the option, or write a schedule with these options: `cargo kiln tune`, or `cargo kiln plan --emit schedule`".into(),
            }))
        }
    }
}

/// All schedules of a file.
///
/// # Errors
/// As [`section`].
pub fn sections(file: &ScheduleFile) -> Result<Vec<Section>, Error> {
    let Some(text) = &file.text else {
        return Err(Error::Options(Problem {
            place: "option `schedule`".into(),
            what: format!("`{}` was not read", file.path),
            help: "call `kiln_codegen::read_schedule` with the options first".into(),
        }));
    };
    let mut reader = Reader { path: &file.path, sections: Vec::new(), open: None, run: None };
    for (at, line) in text.lines().enumerate() {
        reader.line(at, line).map_err(|(what, help)| wrong(&file.path, at + 1, what, help))?;
    }
    match reader.open {
        None => Ok(reader.sections),
        Some(section) => Err(wrong(&file.path, section.span.start + 1, "this `{` has no `}`", "close it")),
    }
}

/// The file's text with another schedule in place of the one for the same options, or behind all others.
///
/// # Errors
/// As [`section`].
pub fn replaced(file: &ScheduleFile, key: Key, new: &str) -> Result<String, Error> {
    let lines: Vec<&str> = file.text.as_deref().unwrap_or_default().lines().collect();
    let all = sections(file)?;
    let (before, after) = match all.iter().find(|section| section.key == key) {
        Some(section) => (&lines[..section.span.start], &lines[section.span.end..]),
        None => (&lines[..], &[][..]),
    };
    let mut text = String::new();
    before.iter().for_each(|line| text += &format!("{line}\n"));
    if before.last().is_some_and(|last| !last.is_empty()) && all.iter().all(|section| section.key != key) {
        text.push('\n');
    }
    text += new;
    after.iter().for_each(|line| text += &format!("{line}\n"));
    Ok(text)
}

fn wrong(path: &str, line: usize, what: impl Into<String>, help: impl Into<String>) -> Error {
    let place = format!("option `schedule`: {path}, line {line}");
    Error::Options(Problem { place, what: what.into(), help: help.into() })
}

/// What is wrong, and the way out.
type Wrong = (String, String);

struct Reader<'a> {
    path: &'a str,
    sections: Vec<Section>,
    /// The schedule whose end has not come, and the first of its lines in the pipeline whose end has not come, with its place in the file.
    open: Option<Section>,
    run: Option<(usize, usize)>,
}

impl Reader<'_> {
    fn line(&mut self, at: usize, line: &str) -> Result<(), Wrong> {
        let code = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        let nested = |what: &str| {
            let help = "close the one above with `}` first";
            Err((format!("`{what} {{` stands inside of another one"), help.to_owned()))
        };
        match (&words[..], &mut self.open) {
            ([], _) => {}
            (["schedule", ..], Some(_)) => return nested("schedule"),
            (["schedule", target, optimize, input, "{"], None) => {
                self.open = Some(Section::new(self.path, at, [target, optimize, input])?);
            }
            (["rows", "{"], Some(_)) if self.run.is_some() => return nested("rows"),
            (["rows", "{"], Some(section)) => self.run = Some((section.lines.len(), at + 1)),
            (["}"], Some(section)) => match self.run.take() {
                Some((first, number)) => section.runs.push((first..section.lines.len(), number)),
                None => {
                    section.span.end = at + 1;
                    self.sections.extend(self.open.take());
                    return self.is_new();
                }
            },
            (["passes", optimize], Some(section)) => section.passes = named("passes", optimize)?,
            (["groups", value, count], Some(section)) if section.lines.is_empty() => {
                let parsed =
                    (number_of(value), count.parse().ok().filter(|count| (2..=MOST_GROUPS).contains(count)));
                let (Some(value), Some(count)) = parsed else {
                    let help = format!("write `groups %12 4`: a value, and 2 to {MOST_GROUPS} groups");
                    return Err((format!("`{}` divides nothing", code.trim()), help));
                };
                section.groups.push((value, count, at + 1));
            }
            ([value, rest @ ..], Some(section)) if value.starts_with('%') => {
                section.lines.push(Line::of(at + 1, value, rest)?);
            }
            _ => {
                let help = "write `schedule TARGET OPTIMIZE INPUT {`, `groups %12 4` before all nodes, `rows {`, `%12 conv2d [1,4,4,8] by KERNEL`, or `}`";
                return Err((format!("`{}` is nothing that a schedule has", code.trim()), help.into()));
            }
        }
        Ok(())
    }

    /// Refuses two schedules for the same.
    fn is_new(&self) -> Result<(), Wrong> {
        let Some((last, others)) = self.sections.split_last() else { return Ok(()) };
        match others.iter().any(|other| other.key == last.key) {
            true => Err((format!("there are two `{}`", last.key.text()), "remove one of them".into())),
            false => Ok(()),
        }
    }
}

/// A value of an option.
fn named<T: std::str::FromStr<Err = Error>>(what: &str, value: &str) -> Result<T, Wrong> {
    value.parse().map_err(|error| match error {
        Error::Options(problem) => (format!("{what}: {}", problem.what), problem.help),
        other => (other.to_string(), String::new()),
    })
}

impl Section {
    fn new(path: &str, at: usize, [target, optimize, input]: [&str; 3]) -> Result<Section, Wrong> {
        let target = target
            .parse::<Target>()
            .map_err(|unknown| (format!("`{target}` is no target"), unknown.to_string()))?;
        let optimize = named("schedule", optimize)?;
        let key = Key { target, optimize, input: named("schedule", input)? };
        let (lines, runs) = (Vec::new(), Vec::new());
        let groups = Vec::new();
        Ok(Section { key, passes: optimize, groups, path: path.into(), span: at..at + 1, lines, runs })
    }

    /// The convolutions of a graph that are to be divided, and what the file says of others.
    pub fn groups(&self, graph: &Graph) -> (Groups, Vec<String>) {
        let (mut groups, mut unused) = (Groups::new(), Vec::new());
        for &(value, count, number) in &self.groups {
            let producer = graph.nodes().find(|(_, node)| node.result.0 == value).map(|(id, _)| id);
            match producer.filter(|&id| can_split(graph, id)) {
                Some(id) => drop(groups.insert(id, count)),
                None => unused.push(format!("{}, line {number}: %{value} cannot be divided", self.path)),
            }
        }
        (groups, unused)
    }

    /// The schedule for a graph whose nodes are in the order that the rules find.
    ///
    /// # Errors
    /// [`Error::Options`] with the line where a node runs before what it reads, stands twice or has a kernel that there is not, and where nodes that take turns do not follow each other.
    pub fn fit(&self, graph: &Graph) -> Result<Written, Error> {
        let by_value: BTreeMap<u32, NodeId> = graph.nodes().map(|(id, node)| (node.result.0, id)).collect();
        let mut written = Written {
            order: graph.order.clone(),
            unused: Vec::new(),
            path: self.path.clone(),
            kernels: BTreeMap::new(),
            again: BTreeMap::new(),
            runs: Vec::new(),
        };
        let mut seen = BTreeSet::new();
        let mut nodes: Vec<Option<NodeId>> = Vec::new();
        for line in &self.lines {
            let fits = |id: &NodeId| line.is_about(graph, graph.node(*id));
            let node = by_value.get(&line.value).copied().filter(fits);
            if node.is_none() {
                written.unused.push(format!(
                    "{}, line {}: the model has no %{} {} {}",
                    self.path, line.number, line.value, line.op, line.shape
                ));
            }
            if node.is_some_and(|node| !seen.insert(node)) {
                let what = format!("%{} stands here a second time", line.value);
                return Err(wrong(&self.path, line.number, what, "remove one of the lines"));
            }
            if let (Some(node), Some(kernel)) = (node, &line.kernel) {
                self.check_name(line, kernel)?;
                written.kernels.insert(node, kernel.clone());
            }
            written.again.extend(node.filter(|_| line.again).map(|node| (node, line.number)));
            nodes.push(node);
        }
        if seen.len() == graph.order.len() {
            written.order = nodes.iter().copied().flatten().collect();
            self.check_order(graph, &written.order)?;
        }
        let places: BTreeMap<NodeId, usize> =
            written.order.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        for (lines, number) in &self.runs {
            let Some(run) =
                nodes.get(lines.clone()).and_then(|run| run.iter().copied().collect::<Option<Vec<_>>>())
            else {
                let path = &self.path;
                written.unused.push(format!("{path}, line {number}: these nodes take no turns, because some of them are not in the model"));
                continue;
            };
            let at: Vec<usize> = run.iter().filter_map(|node| places.get(node).copied()).collect();
            let Some(&first) = at.first() else { continue };
            if at.iter().enumerate().any(|(k, &at)| at != first + k) {
                let what = "these nodes do not follow each other in the order in which all nodes run";
                let help = "give each node of the model a line, in the order in which they are to run";
                return Err(wrong(&self.path, *number, what, help));
            }
            written.runs.push((first..first + at.len(), *number));
        }
        Ok(written)
    }

    /// Refuses a kernel that there is not.
    fn check_name(&self, line: &Line, kernel: &str) -> Result<(), Error> {
        let stem = kernel.split('/').next().unwrap_or_default();
        if names().any(|name| name == stem) {
            return Ok(());
        }
        let help = match near(stem, names()).first() {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`cargo kiln plan --emit schedule` names them, and so does docs/kernels.md".into(),
        };
        Err(wrong(&self.path, line.number, format!("there is no kernel `{kernel}`"), help))
    }

    /// Refuses an order in which a node runs before what it reads.
    fn check_order(&self, graph: &Graph, order: &[NodeId]) -> Result<(), Error> {
        let later: BTreeMap<u32, usize> =
            order.iter().enumerate().map(|(at, &id)| (graph.node(id).result.0, at)).collect();
        for (at, &id) in order.iter().enumerate() {
            let node = graph.node(id);
            let early =
                node.operands.iter().find(|operand| later.get(&operand.0).is_some_and(|&of| of >= at));
            let Some(early) = early else { continue };
            let line = self.lines.iter().find(|line| line.value == node.result.0);
            let what = format!("%{} reads %{}, which is computed below", node.result.0, early.0);
            let help = format!("move this line below that of %{}", early.0);
            return Err(wrong(&self.path, line.map_or(0, |line| line.number), what, help));
        }
        Ok(())
    }
}

impl Line {
    fn of(number: usize, value: &str, rest: &[&str]) -> Result<Line, Wrong> {
        let help = || {
            "write `%12 conv2d [1,4,4,8]`, and `by` and a kernel behind it if it is to have this one, and `again` behind all if it is to compute rows again"
                .to_owned()
        };
        let value = number_of(value).ok_or_else(|| ("a value is `%` and a number".to_owned(), help()))?;
        let (rest, again) = match rest {
            [rest @ .., "again"] => (rest, true),
            rest => (rest, false),
        };
        let (op, shape, kernel) = match rest {
            [op, shape] => (op, shape, None),
            [op, shape, "by", kernel] => (op, shape, Some((*kernel).to_owned())),
            _ => {
                return Err((
                    "a line has a value, an operator, a shape without spaces, and a kernel or none".into(),
                    help(),
                ))
            }
        };
        Ok(Line { number, value, op: (*op).to_owned(), shape: (*shape).to_owned(), kernel, again })
    }

    fn is_about(&self, graph: &Graph, node: &Node) -> bool {
        self.op == node.op.name() && self.shape == shape_of(graph, node)
    }
}

/// The number of a value, `%12`.
fn number_of(value: &str) -> Option<u32> {
    value.strip_prefix('%')?.parse().ok()
}

/// The shape of a node's result, without spaces.
fn shape_of(graph: &Graph, node: &Node) -> String {
    let dims: Vec<String> = graph.ty(node.result).shape.dims().iter().map(usize::to_string).collect();
    format!("[{}]", dims.join(","))
}

impl Written {
    /// Has the kernels chosen by name.
    pub(super) fn name_kernels(&self, kernels: &mut Kernels) {
        kernels.want(self.kernels.clone());
    }

    /// The pipelines.
    ///
    /// # Errors
    /// [`Error::Options`] with the line of a pipeline whose nodes cannot take turns, and why.
    pub(super) fn drafts(
        &self,
        graph: &Graph,
        flow: &Flow,
        first: Option<Draft>,
    ) -> Result<Vec<Draft>, Error> {
        let refused = |number: usize, what: String, help: &str| Err(wrong(&self.path, number, what, help));
        let mut drafts: Vec<Draft> = Vec::new();
        for (nodes, number) in &self.runs {
            let mut feed = Feed::Whole;
            if let Some(fed) = &first {
                if nodes.start == 0 {
                    feed = fed.feed;
                }
                let is_wrong = match feed {
                    Feed::Whole => nodes.start < fed.nodes.end,
                    Feed::Rows => nodes.end < fed.nodes.end,
                    Feed::Sliding => *nodes != fed.nodes,
                };
                // A longer pipeline takes the place of the shortest one that takes the input.
                if is_wrong && !(feed == Feed::Whole && drafts.first().is_some_and(|d| d.feed != Feed::Whole))
                {
                    let what =
                        format!("the input comes row by row, to the first {} nodes at least", fed.nodes.end);
                    return refused(*number, what, "have these take turns, from the first one on");
                }
            }
            if nodes.len() > MOST_REPEATING && feed != Feed::Sliding {
                let what =
                    format!("{} nodes would take turns, and no more than {MOST_REPEATING} can", nodes.len());
                return refused(*number, what, "divide them");
            }
            let line_of = |&at: &usize| self.again.get(&self.order[at]).copied();
            let again: BTreeSet<usize> = nodes.clone().filter(|at| line_of(at).is_some()).collect();
            match Draft::repeating(graph, flow, nodes.clone(), feed, &again) {
                Ok(draft) => {
                    let repeated: BTreeSet<usize> = draft.repeated().collect();
                    if let Some(line) = again.difference(&repeated).find_map(line_of) {
                        let what = "this node computes no rows again: a single node of its pipeline has to read it, through a window of several rows that leaves out none, and what it reads itself must not be computed again".into();
                        return refused(line, what, "remove `again`");
                    }
                    drafts.push(draft);
                }
                Err(obstacle) => {
                    let node = graph.node(obstacle.node);
                    let what = format!(
                        "these nodes cannot take turns: %{} {} {}",
                        node.result.0,
                        node.op.name(),
                        obstacle.why
                    );
                    return refused(*number, what, "leave this node out");
                }
            }
        }
        if drafts.first().is_none_or(|draft| draft.feed == Feed::Whole) {
            drafts.splice(0..0, first);
        }
        Ok(drafts)
    }

    /// What is listed for nodes that have no kernel of the name that they are to have.
    pub(super) fn missed(&self, graph: &Graph, options: &Options, kernels: &Kernels) -> Vec<String> {
        let of_node = |&id: &NodeId| {
            let node = graph.node(id);
            let whole = self.runs.iter().all(|(run, _)| !self.order[run.clone()].contains(&id));
            let offers = kernels.offers(graph, id, options, whole);
            let offered: Vec<_> = offers.iter().map(|choice| choice.name()).collect();
            let wanted = self.kernels.get(&id).map_or("", String::as_str);
            format!(
                "{}: %{} {} cannot be computed by {wanted} here; what computes it exactly: {}",
                self.path,
                node.result.0,
                node.op.name(),
                offered.join(", ")
            )
        };
        kernels.missed().iter().map(of_node).collect()
    }
}

/// The schedule of a graph in words, after its convolutions were divided into `groups`. `again` are the positions of the nodes that compute rows again; `chosen` gives the name of a node's kernel and its
/// predicted cycles.
pub fn text<'c>(
    key: Key,
    passes: Optimize,
    (graph, groups): (&Graph, &[(ValueId, usize)]),
    (runs, again): (&[Range<usize>], &[usize]),
    chosen: impl Fn(NodeId) -> Option<(&'c str, Option<u64>)>,
) -> String {
    let line = |id: NodeId| {
        let node = graph.node(id);
        let what = format!("%{} {} {}", node.result.0, node.op.name(), shape_of(graph, node));
        let (by, cycles) = match chosen(id) {
            Some((name, cycles)) => {
                (format!(" by {name}"), cycles.map(|cycles| format!("{cycles} cycles, ")))
            }
            None => Default::default(),
        };
        // A name may hold a line break.
        let label = graph.value(node.result).label();
        (what + &by, format!("# {}{label:?}", cycles.unwrap_or_default()))
    };
    let mut lines: Vec<(String, String)> = graph.order.iter().map(|&id| line(id)).collect();
    again.iter().for_each(|&at| lines.iter_mut().skip(at).take(1).for_each(|(code, _)| *code += " again"));
    let inside = |at: usize| runs.iter().any(|run| run.contains(&at));
    let width = |(at, (code, _)): (usize, &(String, String))| code.len() + if inside(at) { 4 } else { 2 };
    let width = lines.iter().enumerate().map(width).max().unwrap_or(0);
    let mut out = format!("{} {{\n", key.text());
    // Writing to a string cannot fail.
    if passes != key.optimize {
        let _ = writeln!(out, "  passes {}", passes.name());
    }
    for (value, count) in groups {
        let _ = writeln!(out, "  groups %{} {count}", value.0);
    }
    for (at, (code, comment)) in lines.iter().enumerate() {
        if runs.iter().any(|run| run.start == at) {
            out += "  rows {\n";
        }
        let indent = if inside(at) { 4 } else { 2 };
        let _ = writeln!(out, "{:indent$}{code:<1$}  {comment}", "", width - indent);
        if runs.iter().any(|run| run.end == at + 1) {
            out += "  }\n";
        }
    }
    out + "}\n"
}
