//! The schedule: which steps run in which order, and where each value lives.
//!
//! Every step computes a whole tensor, in the order of the graph. What is decided here is storage:
//!
//! 1. **Views** ([`views`]): a reshape, and a slice whose elements are adjacent, live inside their operand and have no step.
//! 2. **Parts**: an operand of a concat whose elements stay adjacent is computed straight into the concat's result; the
//!    concat's step copies the operands for which that is impossible or costs memory, and is absent if there are none.
//! 3. **Histories**: a concat of a state and something new, of which a slice is the state's next value, lives in the state's memory.
//! 4. **States**: the next value of a state is computed straight into the state where all readers of the current value are
//!    done by then; otherwise a copy writes it back as soon as they are.
//! 5. **In place**: the result of an elementwise op takes the place of an operand that dies there.
//!
//! Values that share memory form a tree (`homes`); each root becomes a [`Buffer`].

mod homes;
mod lifetime;
mod lives;
mod place;
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
mod tests;
pub mod views;
mod write_back;
mod writer;

use crate::ir::{Graph, NodeId, Op, Shape, ValueId};
use std::collections::BTreeSet;
use std::ops::Range;

pub use lifetime::{lifetimes, peak, Lifetime};

/// Handle of a buffer in a [`Storage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A region of the arena, planned by [`plan`](crate::plan).
    Scratch,
    /// Retained memory of the state of that index in [`Graph::states`].
    State(usize),
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

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from the buffer's start: a multiple of the element's size.
    pub offset: usize,
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

    /// A buffer.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Computes a node's result, where its place is. A concat copies only the operands that are not yet there. A reshape or a
    /// slice has a step only where it is no view (of a constant, or not adjacent): then it copies.
    Compute(NodeId),
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

/// One call of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// The rows of the result it computes (see [`rows`]).
    pub rows: Range<usize>,
}

/// Steps in execution order, and storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The steps. Views have none.
    pub steps: Vec<Step>,
    /// Where values live.
    pub storage: Storage,
    /// Where each output is read, in the order of [`Graph::outputs`]: always in scratch, and no two overlap.
    pub outputs: Vec<Place>,
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

/// Whole-tensor schedule of a verified graph.
pub fn schedule(graph: &Graph) -> Schedule {
    let mut apart = BTreeSet::new();
    let mut best = schedule_with(graph, &apart);
    let mut lowest = peak(graph, &best);
    // Operands that are computed inside a concat keep all of its memory from then on. Where that is what sets the peak, a copy is
    // the better deal.
    let is_concat = |id: &NodeId| matches!(graph.node(*id).op, Op::Concat { .. });
    let concats: Vec<ValueId> =
        graph.order.iter().filter(|id| is_concat(id)).map(|&id| graph.node(id).result).collect();
    for &concat in concats.iter().filter(|_| concats.len() <= MOST_TRIALS) {
        apart.insert(concat);
        let trial = schedule_with(graph, &apart);
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
fn schedule_with(graph: &Graph, apart: &BTreeSet<ValueId>) -> Schedule {
    let lives = lives::Lives::of(graph);
    let homes = place::assign(graph, &lives, apart);
    let mut writer = writer::Writer::new(graph, homes.storage(graph));
    let mut write_backs = write_back::WriteBacks::of(graph, &lives, &homes, &writer);
    write_backs.early(&mut writer, 0);
    for (index, (id, node)) in graph.nodes().enumerate() {
        if homes.needs_step(graph, node) {
            writer.step(StepKind::Compute(id), node.result);
        }
        write_backs.early(&mut writer, index + 1);
    }
    writer.outputs(&homes);
    write_backs.late(&mut writer);
    writer.finish()
}
