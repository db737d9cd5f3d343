//! Which kernel computes a node. It is decided here, once for each node.
//!
//! A target runs the kernels of one or several processors. Each has a folder in [`processors`](super::processors), and offers *candidates*: kernels that give
//! exactly the results of the node, with the proof where there is something to prove, and with predicted cycles. The cheapest candidate is chosen. The portable
//! kernel is always one. The schedule asks a [`Choice`] for its workspace before there are addresses. `select` writes its calls when there are.

pub use super::counted::work;
use super::layer::{Fits, Gains, Layer, Proof};
use super::packed::packing;
use super::portable;
use super::predict::Ring;
use super::winograd::Side;
use super::{banded, processors, spectrum, winograd, Packing, Selected, Selector};
use crate::ir::{Graph, Layout, Node, NodeId};
use crate::requant::Form;
use crate::{Optimize, Options};
use kiln_kernel_table::{Core, KernelId, Work};
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::rc::Rc;

/// A kernel that was chosen for a node, in the words of its processor.
pub(super) trait Kernel: Debug {
    /// What written schedules call it: its name in the table, and behind a slash what tells it from others of that name.
    fn name(&self) -> Cow<'static, str>;

    /// Writes the calls that compute the node.
    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected;

    /// Whether threads that share a step are done sooner than one.
    fn is_worth_sharing(&self, _choice: &Choice, _graph: &Graph, _node: &Node) -> bool {
        false
    }

    /// The workspaces of so many threads that share a step, all together, in bytes; `None` where it has no parts.
    fn workspaces(&self, _choice: &Choice, _graph: &Graph, _node: &Node, _cores: usize) -> Option<usize> {
        None
    }

    /// What it does in a step that computes all rows at once, where the result lies over the first operand and begins `gap` bytes before it; `None` where that makes no difference.
    fn work_over(&self, _options: &Options, _gap: usize) -> Option<Work> {
        None
    }

    /// How many times it finds a row by a division, where first operand and result are in these rings; 0 where that is too little to count.
    fn divisions(&self, _operand: Option<Ring>, _result: Option<Ring>) -> usize {
        0
    }

    /// For its processor, which looks at all kernels that a graph has.
    fn as_any(&self) -> &dyn Any;
}

/// Predicted cycles of one core from which on two cores of a microcontroller share a step. They meet in some 300 cycles, several times where a result lies over its operand.
pub(super) const WORTH_TWO_CORES: u64 = 8_000;

/// Workspaces of a kernel for each of several cores, all together, in bytes.
pub(super) fn workspaces_of(choice: &Choice, cores: usize) -> usize {
    cores * choice.workspace.next_multiple_of(WORKSPACE_ALIGNMENT)
}

/// Each core's workspace begins at a multiple of so many bytes from the first one: the runtime divides all of them into equal parts.
pub(super) const WORKSPACE_ALIGNMENT: usize = 64;

/// What a processor's folder offers.
pub(super) trait Processor: Sync {
    /// Kernels that compute the node exactly, on that core. A processor may leave out what is predicted to take `below` cycles or more, before it proves anything.
    fn candidates(&self, asked: &Asked<'_>, core: Core, below: u64) -> Vec<Choice>;

    /// Whether its kernel is taken even if others are predicted to take less: they would be more code, where code is to be small.
    fn decides(&self, _asked: &Asked<'_>) -> bool {
        false
    }

    /// Whether there is a kernel for the node that reads a planar first operand, if there is one for other images.
    fn reads_planar(&self, _asked: &Asked<'_>) -> bool {
        false
    }

    /// Whether there is one that writes a planar result.
    fn writes_planar(&self, _asked: &Asked<'_>) -> bool {
        false
    }

    /// The largest tiles by Winograd's algorithm that its rules choose. A written schedule may have larger ones.
    fn largest_tile(&self) -> Side {
        Side::Two
    }
}

/// The processors whose kernels the target runs, the best first.
fn processors(options: &Options) -> impl Iterator<Item = &'static dyn Processor> {
    options.target().isas().iter().filter_map(|&isa| processors::of(isa))
}

/// The largest tiles by Winograd's algorithm that the rules of the target's processors choose.
pub(super) fn largest_tile(options: &Options) -> Side {
    processors(options).map(Processor::largest_tile).max().unwrap_or(Side::Two)
}

/// The kernel of a node, and what follows from it.
#[derive(Clone, Debug)]
pub struct Choice {
    pub(super) kernel: Rc<dyn Kernel>,
    /// Predicted cycles of the whole node; the largest number where nothing is known.
    pub cycles: u64,
    /// What it does, counted.
    pub work: Work,
    /// Bytes of its workspace.
    pub workspace: usize,
    /// Images that it computes one after the other.
    pub images: usize,
    /// Whether its result must not lie over its operands: it computes columns, say, and not row by row.
    pub apart: bool,
    /// Rows of its result that it computes at the same time, in a step that computes all.
    pub rows_at_once: usize,
    /// The cheap form of its requantisation, of kernels that have this kind.
    pub form: Option<Form>,
}

impl Choice {
    /// A kernel without a workspace, for one image.
    pub(super) fn new(kernel: Rc<dyn Kernel>, cycles: u64) -> Choice {
        let work = Work::default();
        Choice { kernel, cycles, work, workspace: 0, images: 1, apart: false, rows_at_once: 1, form: None }
    }

    /// What written schedules call the kernel.
    pub fn name(&self) -> Cow<'static, str> {
        self.kernel.name()
    }

    /// The workspaces of so many threads that share a step of all rows, all together, in bytes; `None` where one thread computes it.
    pub fn shared_workspaces(&self, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
        let worth = cores > 1 && self.kernel.is_worth_sharing(self, graph, node);
        worth.then(|| self.possible_workspaces(graph, node, cores)).flatten()
    }

    /// As [`Self::shared_workspaces`], whether it is worth it or not.
    pub fn possible_workspaces(&self, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
        self.kernel.workspaces(self, graph, node, cores)
    }
}

/// The kernels of a graph's nodes. Graph and options are always the same.
#[derive(Debug, Default)]
pub struct Kernels {
    chosen: HashMap<(NodeId, bool), Choice>,
    /// Nodes for whose faster kernels there is memory.
    roomy: BTreeSet<NodeId>,
    /// Convolutions whose weights may be transformed, and how large their tiles may be, once it is known.
    winograd: Option<BTreeMap<NodeId, Side>>,
    /// Convolutions whose tiles are small, whatever flash there is.
    small_tiles: BTreeSet<NodeId>,
    /// The names of kernels that a written schedule asks for.
    wanted: BTreeMap<NodeId, String>,
    /// Nodes that have no kernel of the name that is asked for.
    missed: BTreeSet<NodeId>,
    fits: RefCell<Fits>,
}

impl Kernels {
    /// The kernel of a node, in a step that computes all rows at once (`whole`) or runs in a pipeline.
    pub fn of(&mut self, graph: &Graph, node: NodeId, options: &Options, whole: bool) -> Choice {
        if let Some(choice) = self.chosen.get(&(node, whole)) {
            return choice.clone();
        }
        let roomy = options.optimize != Optimize::Memory || self.roomy.contains(&node);
        let choice = self.choose(graph, node, options, whole, roomy);
        self.chosen.insert((node, whole), choice.clone());
        choice
    }

    /// The kernel that a node would have if there were memory for it.
    pub fn with_room(&mut self, graph: &Graph, node: NodeId, options: &Options, whole: bool) -> Choice {
        self.choose(graph, node, options, whole, true)
    }

    /// Gives nodes the kernels that they have if there is memory for these.
    pub fn give_room(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.roomy = nodes.into_iter().collect();
        self.chosen.retain(|(node, _), _| !self.roomy.contains(node));
    }

    /// Computes a convolution by Winograd's algorithm in small tiles only.
    pub fn take_small_tiles(&mut self, node: NodeId) {
        self.small_tiles.insert(node);
        self.chosen.retain(|(other, _), _| *other != node);
    }

    /// Kernels that compute nodes exactly, by name, in place of the cheapest ones. What has no kernel of that name gets the cheapest.
    pub fn want(&mut self, wanted: BTreeMap<NodeId, String>) {
        self.wanted = wanted;
    }

    /// The nodes that have no kernel of the name that is asked for, as far as their kernels were chosen.
    pub fn missed(&self) -> &BTreeSet<NodeId> {
        &self.missed
    }

    /// All kernels that compute a node exactly, whatever they take, the cheapest first and each name once.
    pub fn offers(&self, graph: &Graph, node: NodeId, options: &Options, whole: bool) -> Vec<Choice> {
        let winograd = winograd::possible(graph, node).filter(|_| whole);
        offers(&Asked {
            winograd,
            roomy: true,
            all: true,
            ..Asked::new(graph, node, options, whole, &self.fits)
        })
    }

    fn choose(&mut self, graph: &Graph, node: NodeId, options: &Options, whole: bool, roomy: bool) -> Choice {
        if let Some(name) = self.wanted.get(&node) {
            let offers = self.offers(graph, node, options, whole);
            match offers.into_iter().find(|choice| choice.name() == name.as_str()) {
                Some(choice) => return choice,
                None => self.missed.insert(node),
            };
        }
        let allowed = self.winograd.get_or_insert_with(|| winograd::allowed(graph, options));
        let most = if self.small_tiles.contains(&node) { Side::Two } else { Side::Four };
        let winograd = allowed.get(&node).filter(|_| whole).map(|&side| side.min(most));
        choose(&Asked { winograd, roomy, ..Asked::new(graph, node, options, whole, &self.fits) })
    }
}

/// What kernels in written schedules may be called, without what stands behind a slash.
pub fn names() -> impl Iterator<Item = &'static str> {
    KernelId::ALL.iter().map(|id| id.name()).chain([portable::NAME])
}

/// The cheapest kernel.
fn choose(asked: &Asked<'_>) -> Choice {
    if let Some(choice) = spectrum::find(asked).or_else(|| banded::find(asked)) {
        return choice;
    }
    let core = asked.options.target().core();
    let cheaper = |best: Choice, next: Choice| if next.cycles <= best.cycles { next } else { best };
    let mut best: Option<Choice> = None;
    for processor in processors(asked.options) {
        // Where nothing is known of either, the better processor's kernel stays.
        let below = best.as_ref().map_or(u64::MAX, |best| best.cycles);
        let found = processor.candidates(asked, core, below).into_iter().reduce(cheaper);
        if let (None, Some(found), true) = (&best, &found, processor.decides(asked)) {
            return found.clone();
        }
        best = found.filter(|found| best.is_none() || found.cycles < below).or(best);
    }
    let portable = portable::choice(asked, core);
    match best {
        Some(best) => cheaper(portable, best),
        None => portable,
    }
}

/// All kernels, the cheapest first.
fn offers(asked: &Asked<'_>) -> Vec<Choice> {
    let core = asked.options.target().core();
    let mut all: Vec<Choice> = spectrum::find(asked).into_iter().chain(banded::find(asked)).collect();
    for processor in processors(asked.options) {
        all.extend(processor.candidates(asked, core, u64::MAX));
    }
    // Portable kernels of convolutions know no planar images.
    if asked.node.op.layout() == Layout::default() {
        all.push(portable::choice(asked, core));
    }
    all.sort_by_key(|choice| choice.cycles);
    let mut names = BTreeSet::new();
    all.retain(|choice| names.insert(choice.name()));
    all
}

/// Whether a node's first operand can be planar.
pub fn planar_operand(graph: &Graph, node: NodeId, options: &Options) -> bool {
    let fits = RefCell::default();
    let asked = Asked::new(graph, node, options, true, &fits);
    processors(options).any(|processor| processor.reads_planar(&asked))
}

/// Whether a node's result can be planar.
pub fn planar_result(graph: &Graph, node: NodeId, options: &Options) -> bool {
    let fits = RefCell::default();
    let asked = Asked::new(graph, node, options, true, &fits);
    processors(options).any(|processor| processor.writes_planar(&asked))
}

/// Bytes of the largest window of a convolution that a written schedule can ask for.
const LARGEST_WINDOW: usize = 16384;

/// What a kernel is asked for.
pub(super) struct Asked<'g> {
    pub(super) graph: &'g Graph,
    id: NodeId,
    pub(super) node: &'g Node,
    pub(super) options: &'g Options,
    /// Whether the step computes all rows at once.
    pub(super) whole: bool,
    /// How flash holds the weights.
    pub(super) packing: Option<Packing>,
    /// How large tiles may be for whose weights, transformed by Winograd's algorithm, there is flash.
    pub(super) winograd: Option<Side>,
    /// Whether there is memory for a larger workspace than the smallest one, or for what several rows of the result read that are computed at the same time.
    pub(super) roomy: bool,
    /// Whether kernels are offered that a rule says are slower than others.
    pub(super) all: bool,
    fits: &'g RefCell<Fits>,
}

impl<'g> Asked<'g> {
    fn new(graph: &'g Graph, id: NodeId, options: &'g Options, whole: bool, fits: &'g RefCell<Fits>) -> Self {
        let node = graph.node(id);
        let packing = packing(graph, node, options);
        let roomy = options.optimize != Optimize::Memory;
        Asked { graph, id, node, options, whole, packing, winograd: None, roomy, all: false, fits }
    }

    /// For how many pixels a convolution's window may be, besides what the rule says, where all kernels are asked for: up to `most`, and no larger than a written schedule can ask for.
    pub(super) fn other_windows(
        &self,
        by_rule: usize,
        most: usize,
        bytes: impl Fn(usize) -> usize,
    ) -> Vec<usize> {
        let numbers = [2, 4, 8, 16, most].into_iter().filter(|&pixels| self.all && pixels <= most);
        let mut others: Vec<usize> =
            numbers.filter(|&pixels| pixels != by_rule && bytes(pixels) <= LARGEST_WINDOW).collect();
        others.dedup();
        others
    }

    /// The node as a layer of int8 with known weights.
    pub(super) fn layer(&self) -> Option<Rc<Layer>> {
        self.fits.borrow_mut().layer(self.id, || Layer::of(self.graph, self.node))
    }

    /// The layer with the cheap form of its requantisation, if there is one; `None` where it has to have one, and has not.
    pub(super) fn proof(&self, gains: Gains) -> Option<Proof> {
        let layer = self.layer()?;
        let form = self.fits.borrow_mut().form(self.id, &layer, gains);
        (form.is_some() || layer.has_reference_kernel).then_some(Proof { layer, form })
    }
}

/// Cycles of a kernel that does so much, on a core; `None` where the table has none.
pub(super) fn cycles(options: &Options, kernel: KernelId, core: Core, work: &Work) -> Option<u64> {
    let cycles = match options.optimize {
        Optimize::Size => kernel.cycles_if_small(core),
        Optimize::Speed | Optimize::Memory => kernel.cycles(core),
    };
    cycles.map(|cycles| cycles.of(work))
}
