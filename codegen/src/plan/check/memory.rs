//! Memory whose bytes are tagged with the values they hold.

use super::same::{Run, Same};
use crate::ir::ValueId;
use std::collections::BTreeMap;

/// Tagged memory: runs by the address of their first byte. Bytes of no run hold nothing.
#[derive(Default)]
pub(super) struct Memory {
    runs: BTreeMap<usize, Run>,
}

impl Memory {
    /// Puts a whole value at `start`, over whatever was there.
    pub(super) fn write(&mut self, start: usize, value: ValueId, bytes: usize) {
        self.split(start);
        self.split(start + bytes);
        while let Some((&at, _)) = self.runs.range(start..start + bytes).next() {
            self.runs.remove(&at);
        }
        if bytes > 0 {
            self.runs.insert(start, Run { value, offset: 0, bytes });
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

    /// Whether a whole value is at `start`; else an address that holds something else (or the first of a run that does).
    pub(super) fn holds(
        &mut self,
        start: usize,
        value: ValueId,
        bytes: usize,
        same: &mut Same,
    ) -> Result<(), usize> {
        let (mut at, end) = (start, start + bytes);
        let mut pieces = 0;
        while at < end {
            let Some((&there, run)) = self.runs.range(..=at).next_back() else { return Err(at) };
            let stop = end.min(there + run.bytes);
            if stop <= at {
                return Err(at);
            }
            let held = Run { offset: run.offset + (at - there), bytes: stop - at, ..*run };
            if !same.same(held, Run { value, offset: at - start, bytes: stop - at }) {
                return Err(at);
            }
            at = stop;
            pieces += 1;
        }
        if pieces > 1 {
            // The same data under one name: the next look at it is quick.
            self.write(start, value, bytes);
        }
        Ok(())
    }

    /// Whose data a byte holds.
    pub(super) fn value(&self, at: usize) -> Option<ValueId> {
        let (&there, run) = self.runs.range(..=at).next_back()?;
        (at < there + run.bytes).then_some(run.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Graph;

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
        memory.write(10, a, 20);
        assert_eq!(memory.holds(10, head, 5, &mut same), Ok(()));
        memory.write(15, b, 5);
        assert_eq!(memory.runs.len(), 3);
        assert_eq!(memory.holds(10, a, 20, &mut same), Err(15));
        assert_eq!(memory.holds(10, all, 20, &mut same), Ok(()));
        assert_eq!(memory.runs.len(), 1, "one name from now on");
        assert_eq!(memory.holds(20, tail, 10, &mut same), Ok(()));
        assert_eq!(memory.holds(19, tail, 10, &mut same), Err(19));
        assert_eq!((memory.value(29), memory.value(30), memory.value(9)), (Some(all), None, None));
        assert_eq!(memory.holds(28, b, 5, &mut same), Err(28));
        assert_eq!(memory.holds(0, b, 5, &mut same), Err(0));
    }
}
