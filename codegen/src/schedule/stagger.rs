//! Histories in one buffer, so that what each adds lies where the one before it has just become shorter.
//!
//! A history is what a stream has kept, followed by what is new; when it has been read, the oldest rows, as many as are new, are dead. Its
//! successor, the next history to grow, lies just below: its new rows go over the dead ones.
//!
//! ```text
//! before:  | kept 3        | kept 2     | kept 1   |       |
//! then:    |               |            | kept 1   | new 1 |   1 is read: its oldest rows are dead
//!          |               | kept 2     | new 2 |  kept 1  |   2 is read
//!          | kept 3        | new 3 |  kept 2    |  kept 1  |   3 is read
//! ```
//!
//! At last the kept ends move back to where they began, the lowest first. Nothing more is copied than if each history had a buffer of its
//! own, and only the first one's new rows take memory.

use super::homes::Homes;
use super::lives::Lives;
use super::{BufferId, Storage};
use crate::ir::{Graph, State};

/// The states whose histories share a buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Staggered {
    /// Their indices, in the order in which they are written back.
    pub(super) states: Vec<usize>,
    /// When all of them can be written back: after the node of that time.
    pub(super) time: usize,
}

/// A history that may lie next to others.
struct History {
    state: usize,
    buffer: BufferId,
    /// Bytes kept, and in all.
    kept: usize,
    bytes: usize,
    /// When something is first written behind what was kept.
    grows: usize,
    /// When it can be written back.
    free: usize,
}

impl History {
    fn of(
        graph: &Graph,
        lives: &Lives,
        homes: &Homes,
        storage: &Storage,
        index: usize,
        state: &State,
    ) -> Option<Self> {
        let (from, to) = (storage.place(state.next)?, storage.place(state.current)?);
        let bytes = storage.buffer(to.buffer).bytes;
        let kept = homes.bytes(state.current);
        // Its end is kept, and nothing else is in its memory that outlasts an inference.
        let ends = from.buffer == to.buffer && to.offset == 0 && from.offset + kept == bytes && kept < bytes;
        let residents = homes.residents(homes.spot(state.current).root);
        let behind = |id: &&crate::ir::ValueId| homes.spot(**id).offset + homes.bytes(**id) > kept;
        let grows =
            residents.iter().filter(behind).filter_map(|&id| Some(lives.in_nodes(id)?.first)).min()?;
        let others = graph.states.iter().enumerate().filter(|&(other, _)| other != index);
        let mut others = others.flat_map(|(_, s)| [s.current, s.next]);
        let alone = !others.any(|id| storage.place(id).is_some_and(|place| place.buffer == to.buffer));
        // Those above it move back over what is behind its kept part too: all that is there must have been read.
        if residents.iter().any(|&id| lives.is_output(id)) {
            return None;
        }
        let read = residents.iter().filter_map(|&id| Some(lives.in_nodes(id)?.last)).max()?;
        let free = homes.free_from(lives, state)?.max(read);
        (ends && alone).then_some(History { state: index, buffer: to.buffer, kept, bytes, grows, free })
    }

    fn added(&self) -> usize {
        self.bytes - self.kept
    }
}

/// Moves the histories of a storage into one buffer.
pub(super) fn stagger(graph: &Graph, lives: &Lives, homes: &Homes, storage: &mut Storage) -> Staggered {
    let states = graph.states.iter().enumerate();
    let mut histories: Vec<History> =
        states.filter_map(|(i, state)| History::of(graph, lives, homes, storage, i, state)).collect();
    if histories.len() < 2 {
        return Staggered::default();
    }
    // The last one to grow is the lowest.
    histories.sort_by_key(|h| (std::cmp::Reverse(h.grows), h.state));
    let align = histories.iter().map(|h| storage.buffer(h.buffer).align).max().unwrap_or(4);
    let mut offsets = vec![0usize];
    for pair in histories.windows(2) {
        let (below, above) = (&pair[0], &pair[1]);
        let start = offsets.last().copied().unwrap_or(0);
        // What is new lies over what is dead by then of the history above.
        let dead = if above.free < below.grows { above.added() } else { 0 };
        let end = start + below.kept;
        offsets.push((end + below.added().saturating_sub(dead)).next_multiple_of(align));
    }
    let bytes = histories.iter().zip(&offsets).map(|(h, offset)| offset + h.bytes).max().unwrap_or(0);
    let moves: Vec<(BufferId, usize)> = histories.iter().map(|h| h.buffer).zip(offsets).collect();
    join(storage, &moves, bytes, align);
    let time = histories.iter().map(|h| h.free).max().unwrap_or(0);
    Staggered { states: histories.iter().map(|h| h.state).collect(), time }
}

/// Makes one buffer of several, at these offsets.
fn join(storage: &mut Storage, moves: &[(BufferId, usize)], bytes: usize, align: usize) {
    let Some(&(home, _)) = moves.first() else { return };
    let mut offsets: Vec<Option<usize>> = vec![None; storage.buffers.len()];
    moves.iter().for_each(|&(buffer, offset)| offsets[buffer.0 as usize] = Some(offset));
    let mut names = Vec::with_capacity(offsets.len());
    let mut buffers = Vec::new();
    for (index, mut buffer) in std::mem::take(&mut storage.buffers).into_iter().enumerate() {
        names.push(BufferId(buffers.len() as u32));
        if index == home.0 as usize {
            (buffer.bytes, buffer.align) = (bytes, align);
            buffers.push(buffer);
        } else if offsets[index].is_none() {
            buffers.push(buffer);
        }
    }
    storage.buffers = buffers;
    for place in storage.places.iter_mut().flatten() {
        let moved = offsets[place.buffer.0 as usize];
        place.offset += moved.unwrap_or(0);
        place.buffer = names[if moved.is_some() { home } else { place.buffer }.0 as usize];
    }
}
