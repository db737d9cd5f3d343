//! Where the bytes of values are: places as addresses.

use super::geometry::{self, Extent};
use super::same::Run;
use crate::ir::{Graph, ValueId};
use crate::schedule::{Place, Storage};
use std::ops::Range;

/// Where a buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// Index of the memory.
    pub(crate) memory: usize,
    /// Address in it.
    pub(crate) base: usize,
}

/// The memories of a device, and where buffers are in them.
pub(crate) struct Layout {
    /// By buffer.
    pub(crate) homes: Vec<Home>,
    /// By memory: what it is called in messages (`the arena`), and whether it is in the arena.
    pub(crate) memories: Vec<(String, bool)>,
    /// The memories that are transient: nothing in them outlasts a tick.
    pub(crate) transient: Vec<usize>,
}

/// Bytes of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) memory: usize,
    pub(super) bytes: Range<usize>,
}

impl Span {
    pub(super) fn overlaps(&self, other: &Span) -> bool {
        self.memory == other.memory
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}

/// A value in its memory, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tape {
    pub(super) value: ValueId,
    pub(super) extent: Extent,
    memory: usize,
    start: usize,
    /// How many rows are held: row `r` is in slot `(r + first) % slots`.
    pub(super) slots: usize,
    first: usize,
}

impl Tape {
    /// A value at a place, or what is wrong with that.
    pub(super) fn new(
        graph: &Graph,
        storage: &Storage,
        layout: &Layout,
        value: ValueId,
        place: Option<Place>,
    ) -> Result<Tape, &'static str> {
        let place = place.ok_or("has no place")?;
        let extent = Extent::of(graph, value);
        let index = place.buffer.0 as usize;
        let (Some(buffer), Some(home)) = (storage.buffers.get(index), layout.homes.get(index)) else {
            return Err("is in no buffer");
        };
        let slots = match place.ring {
            Some(0) => return Err("is a ring of no rows"),
            Some(_) if !geometry::adjacent(&graph.ty(value).shape) => {
                return Err("is a ring of rows that are not adjacent")
            }
            Some(slots) => slots,
            None => extent.rows.max(1),
        };
        let end = slots.checked_mul(extent.bytes).and_then(|bytes| bytes.checked_add(place.offset));
        if end.is_none_or(|end| end > buffer.bytes) {
            return Err("exceeds its buffer");
        }
        let start = home.base.checked_add(place.offset).ok_or("exceeds its buffer")?;
        if start.checked_rem(graph.ty(value).dtype.size()) != Some(0) {
            return Err("is not aligned to its element");
        }
        let first = place.slot % slots;
        Ok(Tape { value, extent, memory: home.memory, start, slots, first })
    }

    /// The data of rows, from `row` on.
    pub(super) fn run(&self, row: usize, rows: usize) -> Run {
        Run { value: self.value, offset: row * self.extent.bytes, bytes: rows * self.extent.bytes }
    }

    /// Where a row is.
    pub(super) fn row(&self, row: usize) -> Span {
        self.span(self.slot(row), 1)
    }

    /// The place of the whole value, unless it is a ring of fewer rows than it has.
    pub(super) fn whole(&self) -> Option<Span> {
        (self.slots - self.first >= self.extent.rows).then(|| self.span(self.first, self.extent.rows))
    }

    /// Rows that lie one after the other, from the first of a range on: how many, and where.
    pub(super) fn adjacent(&self, rows: &Range<usize>) -> (usize, Span) {
        let slot = self.slot(rows.start);
        let count = rows.len().min(self.slots - slot);
        (count, self.span(slot, count))
    }

    fn slot(&self, row: usize) -> usize {
        (row % self.slots + self.first) % self.slots
    }

    fn span(&self, slot: usize, rows: usize) -> Span {
        let start = self.start + slot * self.extent.bytes;
        Span { memory: self.memory, bytes: start..start + rows * self.extent.bytes }
    }
}
