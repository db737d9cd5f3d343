//! Memory whose bytes are tagged with the data they hold.

use super::contents::Run;
use crate::ir::ValueId;
use std::collections::BTreeMap;

/// Tagged memory: runs by the address of their first byte. Bytes of no run hold nothing.
#[derive(Default)]
pub(super) struct Memory {
    runs: BTreeMap<usize, Run>,
}

impl Memory {
    /// Puts runs one after the other from `start` on, over whatever was there.
    pub(super) fn write(&mut self, start: usize, runs: &[Run]) {
        let end = start + runs.iter().map(|run| run.bytes).sum::<usize>();
        self.clear(start, end);
        let mut at = start;
        for &run in runs.iter().filter(|run| run.bytes > 0) {
            self.runs.insert(at, run);
            at += run.bytes;
        }
    }

    fn clear(&mut self, start: usize, end: usize) {
        self.split(start);
        self.split(end);
        while let Some((&at, _)) = self.runs.range(start..end).next() {
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

    /// Whether the runs are there, one after the other, from `start` on; else the first address that holds something else.
    pub(super) fn holds(&self, start: usize, runs: &[Run]) -> Result<(), usize> {
        let mut at = start;
        for want in runs {
            let end = at + want.bytes;
            let first = at;
            while at < end {
                let Some((&there, run)) = self.runs.range(..=at).next_back() else { return Err(at) };
                let inside = at < there + run.bytes && run.source == want.source;
                if !inside || run.offset + (at - there) != want.offset + (at - first) {
                    return Err(at);
                }
                at = end.min(there + run.bytes);
            }
        }
        Ok(())
    }

    /// Whose data a byte holds.
    pub(super) fn source(&self, at: usize) -> Option<ValueId> {
        let (&there, run) = self.runs.range(..=at).next_back()?;
        (at < there + run.bytes).then_some(run.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: u32, offset: usize, bytes: usize) -> Run {
        Run { bytes, source: ValueId(source), offset }
    }

    #[test]
    fn writes_split_what_they_cover() {
        let mut memory = Memory::default();
        memory.write(10, &[run(1, 0, 20)]);
        memory.write(15, &[run(2, 0, 5)]);
        assert_eq!(memory.holds(10, &[run(1, 0, 5), run(2, 0, 5), run(1, 10, 10)]), Ok(()));
        assert_eq!(memory.holds(10, &[run(1, 0, 20)]), Err(15));
        assert_eq!(memory.holds(20, &[run(1, 9, 10)]), Err(20));
        assert_eq!(memory.source(29), Some(ValueId(1)));
        assert_eq!(memory.source(30), None);
        assert_eq!(memory.holds(29, &[run(1, 19, 2)]), Err(30));
        memory.write(0, &[run(3, 0, 40)]);
        assert_eq!(memory.holds(0, &[run(3, 0, 40)]), Ok(()));
        assert_eq!(memory.runs.len(), 1);
    }
}
