//! Writing states back: the copies of next values that were not computed in the state's own memory.

use super::homes::Homes;
use super::lives::Lives;
use super::stagger::Staggered;
use super::writer::Writer;
use super::Place;
use crate::ir::{Graph, ValueId};
use std::collections::VecDeque;

/// A state's next value on its way.
#[derive(Clone, Copy)]
struct WriteBack {
    value: ValueId,
    from: Option<Place>,
    to: Place,
}

impl WriteBack {
    /// The buffer it reads, unless it is the one it writes.
    fn other_source(&self) -> Option<usize> {
        self.from.map(|p| p.buffer).filter(|&buffer| buffer != self.to.buffer).map(|buffer| buffer.0 as usize)
    }
}

/// All write-backs of a graph.
pub(super) struct WriteBacks {
    /// Those that can be done after the node of that time, in order: the sooner, the shorter what they read must be kept.
    early: VecDeque<(usize, WriteBack)>,
    /// Those that must wait for the end.
    late: Vec<WriteBack>,
}

impl WriteBacks {
    pub(super) fn of(
        graph: &Graph,
        lives: &Lives,
        homes: &Homes,
        writer: &Writer<'_>,
        staggered: &Staggered,
    ) -> Self {
        let (mut early, mut late) = (Vec::new(), Vec::new());
        let alone = (0..graph.states.len()).filter(|index| !staggered.states.contains(index));
        let in_turn = staggered.states.iter().copied();
        for (index, state) in in_turn.chain(alone).filter_map(|i| Some((i, graph.states.get(i)?))) {
            let place = |id| writer.storage().place(id);
            let (from, Some(to)) = (place(state.next), place(state.current)) else { continue };
            if from == Some(to) {
                continue;
            }
            let write_back = WriteBack { value: state.next, from, to };
            let together = staggered.states.contains(&index).then_some(staggered.time);
            match together.or_else(|| homes.free_from(lives, state)) {
                Some(time) => early.push((time, write_back)),
                None => late.push(write_back),
            }
        }
        early.sort_by_key(|&(time, _)| time);
        WriteBacks { early: early.into(), late }
    }

    /// Does what can be done after the node of that time.
    pub(super) fn early(&mut self, writer: &mut Writer<'_>, time: usize) {
        while let Some(&(_, WriteBack { value, from, to })) = self.early.front().filter(|(at, _)| *at <= time)
        {
            writer.copy(value, from, to);
            self.early.pop_front();
        }
    }

    /// Does the rest. A state is written when no other needs what it holds; where states exchange their values, one is saved in scratch
    /// first.
    pub(super) fn late(self, writer: &mut Writer<'_>) {
        let mut pending = self.late;
        let buffers = writer.storage().buffers.len();
        let mut written = vec![None; buffers];
        let mut readers = vec![0usize; buffers];
        for (i, copy) in pending.iter().enumerate() {
            written[copy.to.buffer.0 as usize] = Some(i);
            copy.other_source().iter().for_each(|&buffer| readers[buffer] += 1);
        }
        let unread = |copy: &WriteBack| readers[copy.to.buffer.0 as usize] == 0;
        let mut ready: Vec<usize> = (0..pending.len()).rev().filter(|&i| unread(&pending[i])).collect();
        let mut done = vec![false; pending.len()];
        let mut start = 0;
        loop {
            while let Some(i) = ready.pop() {
                let WriteBack { value, from, to } = pending[i];
                writer.copy(value, from, to);
                done[i] = true;
                let Some(read) = pending[i].other_source().filter(|&b| b < readers.len()) else { continue };
                readers[read] -= 1;
                if readers[read] == 0 {
                    ready.extend(written[read].filter(|&next| !done[next]));
                }
            }
            // Only cycles are left: another copy reads this state.
            let Some(next) = (start..pending.len()).find(|&i| !done[i]) else { return };
            start = next;
            let buffer = pending[start].to.buffer;
            for i in (start + 1..pending.len()).filter(|&i| !done[i]) {
                if pending[i].from.is_some_and(|p| p.buffer == buffer) {
                    let saved = writer.scratch(pending[i].value);
                    writer.copy(pending[i].value, pending[i].from, saved);
                    pending[i].from = Some(saved);
                }
            }
            readers[buffer.0 as usize] = 0;
            ready.push(start);
        }
    }
}
