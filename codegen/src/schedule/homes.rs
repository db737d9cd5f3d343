//! Which values share memory: every value lives at some offset inside a *root*, a value with a buffer of its own.

use super::lives::{Life, Lives};
use super::{views, Buffer, BufferId, Place, Role, Storage};
use crate::ir::{Graph, Node, Op, State, ValueId};

/// Why a value lives inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// It is, byte for byte, a run of the other's data (a view, or a part of a concat).
    Same,
    /// It uses the other's memory at another time.
    Reuse,
}

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The value that has a buffer of its own.
    pub(super) root: ValueId,
    /// Bytes from the start of the root.
    pub(super) offset: usize,
    /// The largest value known to hold the same data around it.
    pub(super) data: ValueId,
}

/// The positions of all values.
pub(super) struct Homes {
    spots: Vec<Spot>,
    /// By root: the values in its memory.
    residents: Vec<Vec<ValueId>>,
    /// By root: those of its residents that later decisions may collide with.
    active: Vec<Vec<ValueId>>,
    /// By root: when anything in its memory is live.
    spans: Vec<Option<Life>>,
    lives: Vec<Option<Life>>,
    bytes: Vec<usize>,
    /// By root: the state whose memory it is.
    states: Vec<Option<usize>>,
}

impl Homes {
    /// Every live value on its own.
    pub(super) fn new(graph: &Graph, lives: &Lives) -> Self {
        let ids = || graph.values().map(|(id, _)| id);
        let lives: Vec<Option<Life>> = ids().map(|id| lives.get(id)).collect();
        let mut states = vec![None; lives.len()];
        for (index, state) in graph.states.iter().enumerate() {
            states[state.current.0 as usize] = Some(index);
        }
        Homes {
            spots: ids().map(|id| Spot { root: id, offset: 0, data: id }).collect(),
            residents: ids().map(|id| vec![id]).collect(),
            active: ids().map(|id| vec![id]).collect(),
            spans: lives.clone(),
            lives,
            bytes: ids().map(|id| graph.ty(id).bytes()).collect(),
            states,
        }
    }

    /// Bytes of a value.
    pub(super) fn bytes(&self, id: ValueId) -> usize {
        self.bytes[id.0 as usize]
    }

    /// Where a value is.
    pub(super) fn spot(&self, id: ValueId) -> Spot {
        self.spots[id.0 as usize]
    }

    /// Whether the value has a buffer of its own.
    pub(super) fn is_root(&self, id: ValueId) -> bool {
        self.spot(id).root == id
    }

    /// Whether the memory of a root is retained.
    pub(super) fn is_state(&self, root: ValueId) -> bool {
        self.states[root.0 as usize].is_some()
    }

    /// The values in the memory of a root.
    pub(super) fn residents(&self, root: ValueId) -> &[ValueId] {
        &self.residents[root.0 as usize]
    }

    /// First and last time at which anything in the memory of a root is live.
    pub(super) fn span(&self, root: ValueId) -> Option<Life> {
        self.spans[root.0 as usize]
    }

    /// The time from which on nothing reads what a state's memory holds but the write-back itself, and the next value is there; `None` if that
    /// is after the last node.
    pub(super) fn free_from(&self, lives: &Lives, state: &State) -> Option<usize> {
        let memory = self.spot(state.current);
        let end = self.bytes(state.current);
        let mut time = lives.in_nodes(state.next).map_or(0, |life| life.first);
        for &id in self.residents(memory.root) {
            let own = usize::from(id == state.next);
            if self.spot(id).offset < end {
                if lives.is_output(id) || lives.next_states(id) > own {
                    return None;
                }
                time = time.max(lives.in_nodes(id)?.last);
            }
        }
        Some(time)
    }

    /// Lets a root, with all that lives in it, live `offset` bytes into `parent`.
    pub(super) fn attach(&mut self, child: ValueId, parent: ValueId, offset: usize, link: Link) {
        let to = self.spot(parent);
        let moved = std::mem::take(&mut self.residents[child.0 as usize]);
        for id in &moved {
            let spot = &mut self.spots[id.0 as usize];
            spot.root = to.root;
            spot.offset += to.offset + offset;
            if link == Link::Same && spot.data == child {
                spot.data = to.data;
            }
        }
        let root = to.root.0 as usize;
        if let Some(state) = self.states[child.0 as usize].take() {
            self.states[root] = Some(state);
        }
        let span = self.spans[child.0 as usize].take();
        // Nobody dead by now can collide with what is placed from now on: decisions are made in the order of the nodes. Only
        // states can be entered by values from before.
        if let (Link::Reuse, Some(span), false) = (link, span, self.is_state(to.root)) {
            let lives = &self.lives;
            self.active[root].retain(|id| lives[id.0 as usize].is_some_and(|life| life.last >= span.first));
        }
        self.residents[root].extend(moved);
        let active = std::mem::take(&mut self.active[child.0 as usize]);
        self.active[root].extend(active);
        self.spans[root] = match (self.spans[root], span) {
            (Some(a), Some(b)) => Some(Life { first: a.first.min(b.first), last: a.last.max(b.last) }),
            (a, b) => a.or(b),
        };
    }

    /// Whether the residents of the root `moved` may live at `at`: whoever overlaps them there is dead before they begin, or
    /// born after they end, or one of the two is the `heir` of the other's place.
    pub(super) fn room_for(&self, moved: ValueId, at: Spot, heir: &dyn Fn(ValueId, ValueId) -> bool) -> bool {
        let home = |id: ValueId| (self.spot(id).offset, self.bytes(id), self.lives[id.0 as usize]);
        self.residents(moved).iter().all(|&new| {
            let (offset, size, Some(life)) = home(new) else { return true };
            let start = at.offset + offset;
            self.active[at.root.0 as usize].iter().all(|&old| {
                let (there, length, Some(other)) = home(old) else { return true };
                let apart = start + size <= there || there + length <= start;
                let in_turn = other.last < life.first || life.last < other.first;
                apart || in_turn || (start == there && (heir(old, new) || heir(new, old)))
            })
        })
    }

    /// Whether a node must be computed: its result is no view, or it is a concat with an operand elsewhere.
    pub(super) fn needs_step(&self, graph: &Graph, node: &Node) -> bool {
        if let Op::Concat { .. } = node.op {
            let Some(offsets) = views::concat_offsets(graph, node) else { return true };
            let size = graph.ty(node.result).dtype.size();
            let whole = self.spot(node.result);
            return node.operands.iter().zip(offsets).any(|(&operand, first)| {
                let part = self.spot(operand);
                part.root != whole.root || part.offset != whole.offset + first * size
            });
        }
        match views::view_of(graph, node) {
            Some((base, _)) => self.spot(base).data != self.spot(node.result).data,
            None => true,
        }
    }

    /// The buffers, and the place of every live value.
    pub(super) fn storage(&self, graph: &Graph) -> Storage {
        let mut storage = Storage { buffers: Vec::new(), places: vec![None; self.spots.len()] };
        let mut buffers = vec![None; self.spots.len()];
        let live = |id: ValueId| self.lives[id.0 as usize].is_some();
        for (id, value) in graph.values().filter(|&(id, _)| live(id) && self.is_root(id)) {
            let role = self.states[id.0 as usize].map_or(Role::Scratch, Role::State);
            buffers[id.0 as usize] = Some(BufferId(storage.buffers.len() as u32));
            storage.buffers.push(Buffer { bytes: self.bytes(id), align: value.ty.dtype.size().max(4), role });
        }
        for (id, _) in graph.values().filter(|&(id, _)| live(id)) {
            let spot = self.spot(id);
            let place = buffers[spot.root.0 as usize].map(|buffer| Place::whole(buffer, spot.offset));
            storage.places[id.0 as usize] = place;
        }
        storage
    }
}
