//! Memory whose bytes are tagged with the values they hold.

use super::same::{Run, Same};
use std::collections::BTreeMap;
use std::ops::Range;

/// Tagged memory: runs by the address of their first byte. Bytes of no run hold nothing.
#[derive(Default)]
pub(super) struct Memory {
    runs: BTreeMap<usize, Run>,
}

impl Memory {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    /// Puts a run at `start`, over whatever was there.
    pub(super) fn write(&mut self, start: usize, mut run: Run) {
        if run.bytes == 0 {
            return;
        }
        let mut start = start;
        let end = start + run.bytes;
        self.forget(start..end);
        // Rows that lie one after the other are one run, which is quicker to look at.
        if let Some((&before, head)) = self.runs.range(..start).next_back() {
            let joined = Run { bytes: head.bytes + run.bytes, ..*head };
            if before + head.bytes == start && joined.ends_like(run) {
                (start, run) = (before, joined);
            }
        }
        if let Some(&tail) = self.runs.get(&end) {
            let joined = Run { bytes: run.bytes + tail.bytes, ..run };
            if joined.ends_like(tail) {
                self.runs.remove(&end);
                run = joined;
            }
        }
        self.runs.insert(start, run);
    }

    /// Forgets what is in a range.
    pub(super) fn forget(&mut self, range: Range<usize>) {
        self.split(range.start);
        self.split(range.end);
        while let Some((&at, _)) = self.runs.range(range.clone()).next() {
            self.runs.remove(&at);
        }
    }

    /// Cuts the run across an address in two.
    fn split(&mut self, at: usize) {
        let Some((&start, run)) = self.runs.range_mut(..at).next_back() else { return };
        let head = at - start;
        if head < run.bytes {
            let tail = Run { bytes: run.bytes - head, offset: run.offset + head, ..*run };
            run.bytes = head;
            self.runs.insert(at, tail);
        }
    }

    /// Whether the data of a run is at `start`; else an address that holds something else (or the first of a run that does).
    pub(super) fn holds(&mut self, start: usize, wanted: Run, same: &mut Same) -> Result<(), usize> {
        let (mut at, end) = (start, start + wanted.bytes);
        let mut pieces = 0;
        while at < end {
            let Some((&there, run)) = self.runs.range(..=at).next_back() else { return Err(at) };
            let stop = end.min(there + run.bytes);
            if stop <= at {
                return Err(at);
            }
            let held = Run { offset: run.offset + (at - there), bytes: stop - at, ..*run };
            let part = Run { offset: wanted.offset + (at - start), bytes: stop - at, ..wanted };
            if !same.same(held, part) {
                return Err(at);
            }
            pieces += 1;
            at = stop;
        }
        if pieces > 1 {
            // The same data under one name: the next look at it is quick.
            self.write(start, wanted);
        }
        Ok(())
    }

    /// What a byte holds.
    pub(super) fn at(&self, at: usize) -> Option<Run> {
        let (&there, run) = self.runs.range(..=at).next_back()?;
        let inside = at - there;
        (inside < run.bytes).then_some(Run { offset: run.offset + inside, bytes: 1, ..*run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Graph, ValueId};

    fn run(value: ValueId, offset: usize, bytes: usize) -> Run {
        Run { value, offset, bytes }
    }

    #[test]
    fn writes_split_what_they_cover() {
        let graph = "graph \"g\" {
            input %a: i8[20] q(1.0 : 0)
            input %b: i8[5] q(1.0 : 0)
            %head: i8[5] q(1.0 : 0) = slice(%a) {begin = [0], step = [1]}
            %tail: i8[10] q(1.0 : 0) = slice(%a) {begin = [10], step = [1]}
            %all: i8[20] q(1.0 : 0) = concat(%head, %b, %tail) {axis = 0}
            return %all
        }";
        let mut same = Same::of(&Graph::parse(graph).unwrap());
        let [a, b, head, tail, all] = [0, 1, 2, 3, 4].map(ValueId);
        let mut memory = Memory::default();
        memory.write(10, run(a, 0, 20));
        assert_eq!(memory.holds(10, run(head, 0, 5), &mut same), Ok(()));
        memory.write(15, run(b, 0, 5));
        assert_eq!(memory.runs.len(), 3);
        assert_eq!(memory.holds(10, run(a, 0, 20), &mut same), Err(15));
        assert_eq!(memory.holds(10, run(all, 0, 20), &mut same), Ok(()));
        assert_eq!(memory.runs.len(), 1, "one name from now on");
        assert_eq!(memory.holds(20, run(tail, 0, 10), &mut same), Ok(()));
        assert_eq!(memory.holds(19, run(tail, 0, 10), &mut same), Err(19));
        let held = [29, 30, 9].map(|at| memory.at(at).map(|run| run.value));
        assert_eq!(held, [Some(all), None, None]);
        assert_eq!(memory.holds(28, run(b, 0, 5), &mut same), Err(28));
        assert_eq!(memory.holds(0, run(b, 0, 5), &mut same), Err(0));
    }

    #[test]
    fn adjacent_rows_become_one_run() {
        let graph = "graph \"g\" { input %a: i8[20] q(1.0 : 0) input %b: i8[5] q(1.0 : 0) return %a, %b }";
        let mut same = Same::of(&Graph::parse(graph).unwrap());
        let [a, b] = [0, 1].map(ValueId);
        let mut memory = Memory::default();
        for row in [0, 2, 1, 3] {
            memory.write(100 + 5 * row, run(a, 5 * row, 5));
        }
        assert_eq!(memory.runs.len(), 1);
        assert_eq!(memory.holds(100, run(a, 0, 20), &mut same), Ok(()));
        // A ring of two rows: the third takes the place of the first.
        let mut ring = Memory::default();
        (0..3).for_each(|row| ring.write(5 * (row % 2), run(a, 5 * row, 5)));
        assert_eq!(ring.runs.len(), 2);
        assert_eq!(ring.holds(5, run(a, 5, 5), &mut same), Ok(()));
        assert_eq!(ring.holds(0, run(a, 0, 5), &mut same), Err(0));
        assert_eq!(ring.holds(0, run(a, 10, 5), &mut same), Ok(()));
        ring.write(2, run(b, 0, 1));
        assert_eq!(ring.at(3), Some(run(a, 13, 1)));
    }
}
