//! The schedule: which steps run in which order, and where each value lives.

use crate::ir::{Graph, NodeId, ValueId};
use std::ops::Range;

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
    /// Its alignment in bytes, a power of two.
    pub align: usize,
    /// Its role.
    pub role: Role,
}

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from the buffer's start.
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
    /// Computes a node's result, where its place is. A concat copies only the operands that are not yet there.
    Compute(NodeId),
    /// Copies a value (also a constant) to a place.
    Copy {
        /// What is copied.
        value: ValueId,
        /// Where to.
        to: Place,
    },
}

/// One call of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// The rows of the result it computes.
    pub rows: Range<usize>,
}

/// Steps in execution order, and storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The steps. Views have none.
    pub steps: Vec<Step>,
    /// Where values live.
    pub storage: Storage,
    /// Where each output is read, in the order of [`Graph::outputs`].
    pub outputs: Vec<Place>,
}

/// Whole-tensor schedule of a verified graph.
pub fn schedule(graph: &Graph) -> Schedule {
    let _ = graph;
    Schedule { steps: Vec::new(), storage: Storage::default(), outputs: Vec::new() }
}
