//! The schedule: which steps run in which order, and where each value lives.
//!
//! Every step computes a whole tensor, in the order of the graph. What is decided here is storage:
//!
//! 1. **Views** ([`views`]): a reshape, and a slice whose elements are adjacent, live inside their operand and have no step.
//! 2. **Parts**: an operand of a concat whose elements stay adjacent is computed straight into the concat's result; the
//!    concat's step copies the operands for which that is impossible or costs memory, and is absent if there are none.
//! 3. **Histories**: a concat of a state and something new, of which a slice is the state's next value, lives in the state's memory. What
//!    several histories add lies over what others have dropped (`stagger`).
//! 4. **States**: the next value of a state is computed straight into the state where all readers of the current value are
//!    done by then; otherwise a copy writes it back as soon as they are.
//! 5. **In place**: the result of an elementwise op takes the place of an operand that dies there.
//!
//! Values that share memory form a tree (`homes`); each root becomes a [`Buffer`].

pub mod check;
mod flow;
pub mod geometry;
mod homes;
mod lifetime;
mod lives;
pub mod order;
pub mod pipeline;
mod place;
#[cfg(test)]
pub(crate) mod random;
mod stagger;
#[cfg(test)]
mod tests;
pub mod views;
mod write_back;
mod writer;

use crate::ir::{Graph, NodeId, Op, Shape, ValueId};
use pipeline::Draft;
use std::collections::BTreeSet;
use std::ops::Range;

pub use check::check;
pub use flow::{row_bytes, Flow};
pub use lifetime::{lifetimes, peak, Lifetime};

/// Handle of a buffer in a [`Storage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A region of the arena, planned by [`plan`](crate::plan).
    Scratch,
    /// As `Scratch`, and inside a pipeline: what a tick leaves there is never read by a later tick, so that it is live only from
    /// the first to the last of its steps.
    Transient,
    /// Retained memory of the state of that index in [`Graph::states`], and of those whose histories share it.
    State(usize),
    /// Retained memory of a sliding pipeline: a ring that outlasts the tick.
    Retained,
}

/// A run of bytes that values live in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its size.
    pub bytes: usize,
    /// Its alignment in bytes, a power of two: at least 4, and the size of an element.
    pub align: usize,
    /// Its role.
    pub role: Role,
}

impl Role {
    /// Whether the buffer is in the arena.
    pub fn in_arena(self) -> bool {
        matches!(self, Role::Scratch | Role::Transient)
    }
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from the buffer's start: a multiple of the element's size.
    pub offset: usize,
    /// How many rows are held (see [`rows`]): row `r` is `((r + slot) % ring)` rows behind `offset`. `None`: all of them, the whole value.
    pub ring: Option<usize>,
    /// The slot of row 0 in the ring. Values that share a ring differ in it.
    pub slot: usize,
}

impl Place {
    /// The place of a whole value.
    pub fn whole(buffer: BufferId, offset: usize) -> Self {
        Place { buffer, offset, ring: None, slot: 0 }
    }

    /// Whether so many rows, from row 0 on, do not all lie one behind the other.
    pub fn wraps(&self, rows: usize) -> bool {
        self.ring.is_some_and(|ring| ring < rows.saturating_add(self.slot))
    }
}

/// Where all values live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The place of each value, by [`ValueId`]; `None` for constants and dead values.
    pub places: Vec<Option<Place>>,
}

impl Storage {
    /// Where a value lives.
    pub fn place(&self, value: ValueId) -> Option<Place> {
        self.places.get(value.0 as usize).copied().flatten()
    }

    /// Whether other values go round in the same ring, with row 0 in other slots.
    pub fn is_shared(&self, place: Place) -> bool {
        let mut others = self.places.iter().flatten().filter(|other| other.buffer == place.buffer);
        place.ring.is_some() && others.any(|other| other.ring == place.ring && other.slot != place.slot)
    }

    /// A buffer.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Computes rows of a node's result, where its place is. A concat copies only the operands that are not yet there. A reshape or a
    /// slice has a step only where it is no view (of a constant, or not adjacent): then it copies.
    Compute(NodeId),
    /// Takes rows of a node's only varying operand into sums, and computes the node's one row with the last of them: a pooling, a mean or a matrix product over all
    /// rows, of which no more than one needs to be there at a time.
    Absorb {
        /// The node.
        node: NodeId,
        /// Where the sums are: an `i32`, or an `f32` for floats, for each element of the result.
        sums: Place,
    },
    /// Copies a value to a place.
    Copy {
        /// What is copied.
        value: ValueId,
        /// Where it is read: its own place, or a scratch buffer where an earlier copy saved it; `None` for a constant.
        from: Option<Place>,
        /// Where to.
        to: Place,
    },
}

impl StepKind {
    /// The node whose result it computes; `None` where it copies.
    pub fn node(&self) -> Option<NodeId> {
        match *self {
            StepKind::Compute(node) | StepKind::Absorb { node, .. } => Some(node),
            StepKind::Copy { .. } => None,
        }
    }
}

/// When a step runs, in ticks of its pipeline: at tick `first` for the first time, from then on every `every` ticks, each time for
/// the next `band` rows (fewer where fewer are left), or for the rows of [`Again`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Tick of the first band.
    pub first: usize,
    /// Ticks from one band to the next, at least 1.
    pub every: usize,
    /// Rows computed at a time, at least 1.
    pub band: usize,
    /// Rows are computed more than once.
    pub again: Option<Again>,
}

impl Beat {
    /// How many rows are computed in an inference of a value that has so many, those that are computed again included.
    pub fn computed(&self, rows: usize) -> usize {
        match self.again {
            Some(again) => (0..again.times).map(|n| again.rows(n, self.band, rows).len()).sum(),
            None => rows,
        }
    }
}

/// The rows of a step that computes, each time, all rows that one row of its reader needs, also those that it has computed before: `band` rows from
/// `n · stride - before` on for the `n`-th time, without those outside the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Rows from one time to the next.
    pub stride: usize,
    /// Rows before the first one that the first time asks for: the reader's padding.
    pub before: usize,
    /// How many times.
    pub times: usize,
}

impl Again {
    /// The rows of the `n`-th time, of `rows` in all.
    pub fn rows(&self, n: usize, band: usize, rows: usize) -> Range<usize> {
        let start = n * self.stride;
        let end = (start + band).saturating_sub(self.before).min(rows);
        start.saturating_sub(self.before).min(end)..end
    }
}

/// One kernel call, or one for each of its bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// How many rows it computes in all (see [`rows`]), or absorbs.
    pub rows: usize,
    /// How many at a time, and when. A step outside of pipelines runs once, at tick 0, for all rows.
    pub beat: Beat,
    /// A whole buffer of the arena that its kernel uses while it runs, and nothing else at that time.
    pub workspace: Option<BufferId>,
    /// Whether several threads compute it, parts at the same time.
    pub shared: bool,
    /// Whether its result lies over none of its operands: hosts share it, or its kernel asks for it.
    pub apart: bool,
    /// How many of its rows are computed at the same time. Where two cores share a step in beats, neither may write what the other one still reads for its row.
    pub at_once: usize,
}

/// How threads share a step. The fields are those of [`Step`].
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// Whether several threads compute it.
    pub shared: bool,
    /// Whether its result lies over none of its operands.
    pub apart: bool,
    /// How many of its rows are computed at the same time.
    pub at_once: usize,
}

impl Step {
    /// A step outside of pipelines.
    pub fn whole(kind: StepKind, rows: usize) -> Self {
        Step {
            kind,
            rows,
            beat: Beat { first: 0, every: 1, band: rows.max(1), again: None },
            workspace: None,
            shared: false,
            apart: false,
            at_once: 1,
        }
    }

    /// How many rows it computes in an inference, those that it computes again included.
    pub fn computed(&self) -> usize {
        self.beat.computed(self.rows)
    }

    /// The rows that are due at a tick, if any. In a [`Feed::Sliding`] pipeline rows never end: `endless`.
    pub fn due(&self, tick: usize, endless: bool) -> Option<Range<usize>> {
        let since = tick.checked_sub(self.beat.first)?;
        if since % self.beat.every.max(1) != 0 {
            return None;
        }
        let turn = since / self.beat.every.max(1);
        if let Some(again) = self.beat.again {
            let rows = again.rows(turn, self.beat.band, self.rows);
            return (turn < again.times && !rows.is_empty()).then_some(rows);
        }
        let first = turn * self.beat.band;
        let end = if endless { first + self.beat.band } else { (first + self.beat.band).min(self.rows) };
        // A value without rows is one empty band.
        (first < end || (self.rows == 0 && first == 0)).then_some(first..end)
    }
}

/// How the rows of the model's input come into a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feed {
    /// They are all there before the first step.
    #[default]
    Whole,
    /// Row `t` is written just before tick `t`. The input is a ring.
    Rows,
    /// As `Rows`, without end: the pipeline computes the next row of every value, of which each window is a run. The steps behind the
    /// pipeline run after each tick that completes a window. Rings that outlast a tick are retained.
    Sliding,
}

/// Consecutive steps that take turns: at every tick, each step whose band is due runs, in the order of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Indices of its steps.
    pub steps: Range<usize>,
    /// Number of ticks; for [`Feed::Sliding`], until the first window is complete.
    pub ticks: usize,
    /// Where its input comes from. Only the first pipeline can be fed, with the model's only input.
    pub feed: Feed,
}

/// Steps in execution order, and storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The steps. Views have none.
    pub steps: Vec<Step>,
    /// Which of them run as pipelines, in order. All others run once, one after the other.
    pub pipelines: Vec<Pipeline>,
    /// Where values live.
    pub storage: Storage,
    /// Where each output is read, in the order of [`Graph::outputs`]: always in scratch, and no two overlap.
    pub outputs: Vec<Place>,
}

impl Schedule {
    /// The pipeline that a step belongs to.
    pub fn pipeline_of(&self, step: usize) -> Option<&Pipeline> {
        self.pipelines.iter().find(|p| p.steps.contains(&step))
    }

    /// How the model's input arrives.
    pub fn feed(&self) -> Feed {
        self.pipelines.first().map_or(Feed::Whole, |p| p.feed)
    }

    /// Gives each step that computes a node the workspace its kernel needs, in bytes, where it computes the node as a whole or (`false`) in turns.
    pub fn add_workspaces(&mut self, mut bytes: impl FnMut(NodeId, bool) -> usize) {
        for (index, step) in self.steps.iter_mut().enumerate() {
            let StepKind::Compute(node) = step.kind else { continue };
            let whole = !self.pipelines.iter().any(|p| p.steps.contains(&index));
            let bytes = bytes(node, whole);
            step.workspace = (bytes > 0).then_some(BufferId(self.storage.buffers.len() as u32));
            // Between two calls of the kernel nothing in it matters.
            let buffer = Buffer { bytes, align: 4, role: Role::Transient };
            self.storage.buffers.extend(step.workspace.map(|_| buffer));
        }
    }

    /// Marks the steps outside of pipelines that compute a node which several threads are to compute, or whose kernel wants operands and result apart.
    pub fn share(&mut self, mut sharing: impl FnMut(NodeId) -> Sharing) {
        for (index, step) in self.steps.iter_mut().enumerate() {
            let whole = !self.pipelines.iter().any(|p| p.steps.contains(&index));
            let StepKind::Compute(node) = step.kind else { continue };
            if whole {
                let Sharing { shared, apart, at_once } = sharing(node);
                (step.shared, step.apart, step.at_once) = (shared, apart, at_once);
            }
        }
    }

    /// Aligns all buffers that are at least as large to so many bytes, a power of two.
    pub fn align(&mut self, bytes: usize) {
        for buffer in self.storage.buffers.iter_mut().filter(|buffer| buffer.bytes >= bytes) {
            buffer.align = buffer.align.max(bytes);
        }
    }

    /// Every call of every step in the order of execution: index of the step, and the rows. A sliding pipeline runs until the first
    /// window is complete.
    pub fn bands(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut next = 0;
        let mut stages = Vec::new();
        for pipeline in &self.pipelines {
            stages.extend((next..pipeline.steps.start).map(|step| (step..step + 1, 1)));
            stages.push((pipeline.steps.clone(), pipeline.ticks));
            next = pipeline.steps.end;
        }
        stages.extend((next..self.steps.len()).map(|step| (step..step + 1, 1)));
        stages.into_iter().flat_map(move |(steps, ticks)| {
            (0..ticks).flat_map(move |tick| {
                steps.clone().filter_map(move |step| Some((step, self.steps[step].due(tick, false)?)))
            })
        })
    }
}

/// Most rows that the operands and results of a graph's nodes may have together: schedules are made and checked row by row.
pub const MOST_ROWS: usize = 1 << 20;

/// Refuses a graph of more rows than can be scheduled.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) with the value that has most of them.
pub fn check_rows(graph: &Graph) -> Result<(), crate::Error> {
    let results = graph.nodes().map(|(_, node)| node.result);
    let values: Vec<ValueId> = graph.inputs.iter().copied().chain(results).collect();
    let count = |&id: &ValueId| rows(&graph.ty(id).shape);
    let total = values.iter().map(count).fold(0, usize::saturating_add);
    let Some(most) = values.iter().copied().max_by_key(count).filter(|_| total > MOST_ROWS) else {
        return Ok(());
    };
    let value = graph.value(most);
    Err(crate::Error::Unsupported(vec![crate::Problem {
        place: format!("tensor \"{}\"", value.label()),
        what: format!(
            "the model's tensors have {total} rows (indices of their second axis) in all, {} of them here, and no more than {MOST_ROWS} can be scheduled",
            count(&most)
        ),
        help: "use a smaller input shape, or let another axis be the long one".into(),
    }]))
}

/// The number of rows of a tensor: the second axis of three or more, the first of two; a vector or scalar is one row.
pub fn rows(shape: &Shape) -> usize {
    match shape.dims() {
        [] | [_] => 1,
        [rows, _] => *rows,
        [_, rows, ..] => *rows,
    }
}

/// How many concats may be tried apart from their operands.
const MOST_TRIALS: usize = 48;

/// The schedule of a verified graph without pipelines.
pub fn schedule(graph: &Graph) -> Schedule {
    with_pipelines(graph, &[])
}

/// The schedule of a verified graph in which these pipelines run, and everything else as whole tensors. The pipelines are in ascending
/// order and share no node.
pub fn with_pipelines(graph: &Graph, drafts: &[Draft]) -> Schedule {
    let mut apart = BTreeSet::new();
    let mut best = schedule_with(graph, drafts, &apart);
    let mut lowest = peak(graph, &best);
    // Operands that are computed inside a concat keep all of its memory from then on. Where that is what sets the peak, a copy is
    // the better deal.
    let is_concat = |id: &NodeId| matches!(graph.node(*id).op, Op::Concat { .. });
    let concats: Vec<ValueId> =
        graph.order.iter().filter(|id| is_concat(id)).map(|&id| graph.node(id).result).collect();
    for &concat in concats.iter().filter(|_| concats.len() <= MOST_TRIALS) {
        apart.insert(concat);
        let trial = schedule_with(graph, drafts, &apart);
        let bytes = peak(graph, &trial);
        if bytes < lowest - lowest / 32 {
            (best, lowest) = (trial, bytes);
        } else {
            apart.remove(&concat);
        }
    }
    best
}

/// The schedule in which no operand is computed inside the concats of `apart`.
fn schedule_with(graph: &Graph, drafts: &[Draft], apart: &BTreeSet<ValueId>) -> Schedule {
    let lives = lives::Lives::with(graph, drafts);
    let homes = place::assign(graph, &lives, apart);
    let mut storage = homes.storage(graph);
    let staggered = stagger::stagger(graph, &lives, &homes, &mut storage);
    let mut writer = writer::Writer::new(graph, storage);
    let mut write_backs = write_back::WriteBacks::of(graph, &lives, &homes, &writer, &staggered);
    let mut drafts = drafts.iter().peekable();
    write_backs.early(&mut writer, 0);
    let mut index = 0;
    while let Some(&id) = graph.order.get(index) {
        if let Some(draft) = drafts.next_if(|draft| draft.nodes.start == index) {
            writer.pipeline(draft);
            index = draft.nodes.end.max(index + 1);
        } else {
            let node = graph.node(id);
            if homes.needs_step(graph, node) {
                writer.step(StepKind::Compute(id), node.result);
            }
            index += 1;
        }
        write_backs.early(&mut writer, index);
    }
    writer.outputs(&homes);
    write_backs.late(&mut writer);
    writer.finish()
}
