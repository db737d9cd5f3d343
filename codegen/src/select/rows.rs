//! What a call of a kernel is for: a whole tensor, or, in a pipeline, the rows that are due.
//!
//! Kernels with a band take all rows of it in one call. The others are called row by row, with the shapes of a single row: of an
//! operand that has the result's rows they get one, any other they read whole.

use super::*;
use crate::ir::Shape;
use crate::schedule::{rows, Pipeline};

/// Rows of an operand that never end. Fits 32-bit targets.
const ENDLESS: usize = i32::MAX as usize;

impl<'a> Selector<'a> {
    /// Sets out for a step: whether it runs in a loop, and row by row there.
    pub(super) fn begin(&mut self, index: usize, step: &Step) {
        let pipeline = self.schedule.pipeline_of(index);
        self.step = index;
        self.in_loop = pipeline.is_some();
        self.endless = pipeline.is_some_and(|p| p.feed == Feed::Sliding);
        let at_once = step.beat.band >= step.rows
            && self.places(&step.kind).iter().all(|&(place, ty)| !place.wraps(rows(&ty.shape)));
        let absorbs = matches!(step.kind, StepKind::Absorb { .. });
        self.by_row = self.in_loop && (self.endless || absorbs || !at_once);
    }

    /// The places of all that a step reads and writes, with their types.
    fn places(&self, kind: &StepKind) -> Vec<(Place, &'a Type)> {
        let place = |id: ValueId| Some((self.schedule.storage.place(id)?, self.ty(id)));
        match kind {
            StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
                let node = self.graph.node(*id);
                node.operands.iter().copied().chain([node.result]).filter_map(place).collect()
            }
            StepKind::Copy { value, from, to } => {
                from.iter().chain([to]).map(|&place| (place, self.ty(*value))).collect()
            }
        }
    }

    /// The band of a kernel that computes so many rows in all.
    pub(super) fn band(&self, rows: usize) -> Arg {
        match self.in_loop {
            true => Arg::Due,
            false => Arg::Band(rows),
        }
    }

    /// The height of an image of so many rows.
    pub(super) fn height(&self, rows: usize) -> usize {
        match self.endless {
            true => ENDLESS,
            false => rows,
        }
    }

    /// The rows of a value.
    pub(super) fn rows(&self, id: ValueId) -> Result<Strip, Problem> {
        let axis = row_axis(self.ty(id).shape.rank());
        Ok(self.strip_at(self.place(id)?, self.ty(id), axis))
    }

    /// An operand of `result`, or the result itself: the row that the call is made for, or all of it.
    pub(super) fn cells(&self, id: ValueId, result: ValueId) -> Result<Cells, Problem> {
        Ok(match self.axis_of_rows(id, result) {
            Some(axis) => Cells::Row(self.strip_at(self.place(id)?, self.ty(id), axis)),
            None => Cells::All(self.region(id)?),
        })
    }

    /// The shape of what one call reads or writes of a value.
    pub(super) fn shape_of_call(&self, id: ValueId, result: ValueId) -> Shape {
        let shape = &self.ty(id).shape;
        let mut dims = shape.dims().to_vec();
        if let Some(axis) = self.axis_of_rows(id, result) {
            dims[axis] = 1;
        }
        Shape(dims)
    }

    /// The axis of an operand of `result` that its rows run along, if the calls are made row by row and it is not the same for all of them.
    pub(super) fn axis_of_rows(&self, id: ValueId, result: ValueId) -> Option<usize> {
        let (own, all) = (&self.ty(id).shape, &self.ty(result).shape);
        let along = row_axis(all.rank());
        // Axes are aligned at the right.
        let axis = along.checked_sub(all.rank().checked_sub(own.rank())?)?;
        let same = own.dims().get(axis) == all.dims().get(along);
        (self.by_row && own.rank() > axis && same).then_some(axis)
    }

    /// The rows of what is at a place, along an axis.
    pub(super) fn strip_at(&self, place: Place, ty: &Type, axis: usize) -> Strip {
        let dims = ty.shape.dims();
        // A vector is one row.
        let row = dims.iter().skip(if dims.len() < 2 { 0 } else { axis + 1 }).product();
        let ring = place.ring.filter(|_| self.endless || place.wraps(rows(&ty.shape)));
        match ring {
            Some(rows) => {
                let (memory, offset) = self.address(place);
                let region = Region { memory, offset, element: Element::from(ty.dtype), len: rows * row };
                Strip { region, row, ring, slot: place.slot }
            }
            None => Strip { region: self.region_at(place, ty), row, ring, slot: 0 },
        }
    }

    /// A step that a pipeline computes, in words: how many of the rows are held.
    pub(super) fn held(&self, kind: &StepKind) -> String {
        let places = self.places(kind);
        let Some(((result, _), operands)) = places.split_last() else { return String::new() };
        let shared = |place: Place| self.schedule.storage.is_shared(place);
        let rings = |&(place, ty): &(Place, &Type)| {
            place.ring.map(|ring| match ring {
                _ if shared(place) => format!("some of {} rows, in a shared ring of {ring}", rows(&ty.shape)),
                1 => format!("the last of {} rows", rows(&ty.shape)),
                _ => format!("the last {ring} of {} rows", rows(&ty.shape)),
            })
        };
        let mut read: Vec<String> = operands.iter().filter_map(rings).collect();
        read.dedup();
        let own = result.ring.map(|ring| match ring {
            _ if shared(*result) => format!("its own in a shared ring of {ring} rows"),
            1 => "only the last of its own".into(),
            _ => format!("the last {ring} of its own"),
        });
        match (read.is_empty(), own) {
            (true, None) => String::new(),
            (true, Some(own)) => format!("It keeps {own}."),
            (false, None) => format!("It reads {}.", read.join(" and ")),
            (false, Some(own)) => format!("It reads {}, and keeps {own}.", read.join(" and ")),
        }
    }
}

/// The axis that rows run along, as [`rows`] counts them.
pub(super) fn row_axis(rank: usize) -> usize {
    usize::from(rank >= 3)
}

/// The loop that a pipeline becomes. Steps without a call take no turn.
pub(super) fn looped(pipeline: &Pipeline, steps: &[Step], turns: Vec<(usize, String)>) -> Loop {
    let turn = |(step, held): (usize, String)| {
        let rows = (pipeline.feed != Feed::Sliding).then(|| steps[step].rows);
        Turn { step, beat: steps[step].beat, rows, held }
    };
    Loop { steps: turns.into_iter().map(turn).collect(), ticks: pipeline.ticks, feed: pipeline.feed }
}
