//! What a step does, counted, and its predicted cycles. It depends on where operand and result lie, which is known when there is a plan.

use super::kernel::{self, Choice};
use super::*;

/// Rows in a ring, of which a kernel finds some by a division. That takes a while on processors that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// How many rows the value has.
    pub(super) rows: usize,
    /// How many of them the ring holds.
    pub(super) held: usize,
    /// Whether row 0 is in another slot than the first.
    pub(super) turned: bool,
}

impl Ring {
    /// Of so many look-ups, as many for each row, those of rows that are not on the first `laps` laps. Where row 0 is in another slot, all of them take a division.
    pub(super) fn behind(&self, laps: usize, lookups: usize) -> usize {
        let behind = if self.turned { self.rows } else { self.rows.saturating_sub(laps * self.held) };
        lookups * behind / self.rows.max(1)
    }
}

impl<'a> Selector<'a> {
    /// What a kernel does in all calls of a step.
    pub(super) fn work(&self, step: &Step, choice: &Choice) -> Work {
        let work = choice.work;
        if !self.in_loop {
            let over = self.gap(step).and_then(|gap| choice.kernel.work_over(self.options, gap));
            return over.unwrap_or(work);
        }
        let StepKind::Compute(id) = step.kind else { return work };
        let node = self.graph.node(id);
        let [operand, result] = [node.operands.first().copied(), Some(node.result)].map(|id| self.ring(id?));
        let far = choice.kernel.divisions(operand, result);
        let work = if far > 0 { work.with(Count::Far, far) } else { work };
        match step.beat.again {
            Some(again) => work.part(step.computed(), step.rows, again.times),
            None => work.part(1, 1, step.rows.div_ceil(step.beat.band.max(1))),
        }
    }

    /// The ring that a value lives in, if it goes round more than once or begins in another slot than the first.
    fn ring(&self, id: ValueId) -> Option<Ring> {
        let (place, rows) = (self.schedule.storage.place(id)?, schedule::rows(&self.ty(id).shape));
        let held = place.ring.filter(|_| place.wraps(rows))?;
        Some(Ring { rows, held, turned: place.slot > 0 })
    }

    /// How many bytes the result of a step begins before its first operand, where it lies over it.
    fn gap(&self, step: &Step) -> Option<usize> {
        let StepKind::Compute(id) = step.kind else { return None };
        let node = self.graph.node(id);
        let region = |id: ValueId| Some(self.region_at(self.schedule.storage.place(id)?, self.ty(id)));
        let (x, y) = (region(*node.operands.first()?)?, region(node.result)?);
        let gap = x.offset.checked_sub(y.offset).filter(|_| x.memory == y.memory)?;
        (gap < self.ty(node.result).bytes()).then_some(gap)
    }

    /// Predicted cycles of a step, whose calls begin with that one: those of the kernel that is called, which may be another form of the one that was chosen.
    pub(super) fn predicted(&self, first: usize, choice: &Choice, work: &Work) -> Option<u64> {
        let calls = self.program.calls.get(first..).unwrap_or(&[]);
        let called = calls.first().and_then(Call::kernel);
        let called = called.filter(|&kernel| calls.iter().all(|call| call.kernel() == Some(kernel)));
        let core = self.options.target().core();
        let cycles = called.and_then(|kernel| kernel::cycles(self.options, kernel, core, work));
        match cycles.filter(|_| *work != Work::default()) {
            Some(cycles) => Some(cycles),
            None => Some(choice.cycles).filter(|&cycles| cycles < u64::MAX),
        }
    }

    /// What a step does whose calls begin with that one and are all copies, in all of them together, and its predicted cycles, if something is known of each kernel; `None` of other steps.
    pub(super) fn predicted_copies(&self, first: usize, step: &Step) -> Option<(Work, Option<u64>)> {
        let calls = self.program.calls.get(first..).filter(|calls| !calls.is_empty())?;
        let works = moved::works(calls, step.computed())?;
        let work = works.iter().fold(Work::default(), |all, (_, work)| all.and(work));
        let core = self.options.target().core();
        let cycles = works.iter().map(|(kernel, work)| kernel::cycles(self.options, *kernel, core, work));
        Some((work, cycles.sum()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_on_later_laps_take_a_division() {
        let own = Ring { rows: 25, held: 3, turned: false };
        assert_eq!([own.behind(1, 250), own.behind(2, 250), own.behind(9, 250)], [220, 190, 0]);
        assert_eq!(Ring { turned: true, ..own }.behind(2, 250), 250);
    }
}
