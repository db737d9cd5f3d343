//! What an order of the nodes costs: the model of memory behind [`order`](super::order).
//!
//! A *root* is a run of memory that values share in every order (views, histories, parts of concats: see `place`). It is live from
//! the first node that writes into it to the last that touches it, inputs from the start, outputs to the end. While a node runs, its
//! operands and its result are both there, but for what the result can [overlay](overlay) of an operand that dies. A state's memory costs
//! nothing here, nor does a next value that can be computed there because all readers of the current value are done; one that comes too
//! early is kept until then.

use crate::ir::{Graph, Node, NodeId, ValueDef, ValueId};
use crate::schedule::homes::Homes;
use crate::schedule::lives::Lives;
use crate::schedule::{geometry, place, rows, views};
use std::collections::{BTreeMap, BTreeSet};

/// A node that has a step.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The node.
    pub(super) node: NodeId,
    /// The items that must run before it.
    pub(super) needs: Vec<usize>,
    /// The items that must run after it.
    pub(super) users: Vec<usize>,
    /// The root that it writes; `None` if it only gathers parts that are in place.
    pub(super) writes: Option<usize>,
    /// What becomes of roots when it runs.
    pub(super) touches: Vec<Touch>,
    /// Bytes of an operand's root that the result can lie over, if the root dies with this item.
    pub(super) overlays: Vec<(usize, usize)>,
    /// Whether it can compute a state's next value over the current one, which dies there.
    pub(super) heir: bool,
}

/// What an item means for a root.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    /// The root.
    pub(super) root: usize,
    /// It reads or writes it.
    pub(super) uses: bool,
    /// It reads the state whose next value the root holds.
    pub(super) holds: bool,
}

/// A run of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Root {
    /// Its size; 0 in a state's memory.
    pub(super) bytes: usize,
    /// How many items use it.
    pub(super) uses: usize,
    /// How many items read a state whose next value it holds.
    pub(super) holders: usize,
    /// Whether it is live from the start: an input.
    pub(super) given: bool,
    /// Whether it is live to the end: an output.
    pub(super) kept: bool,
    /// Whether it is, as a whole, a state's next value: then it can be in the state's memory as soon as nothing holds it up.
    pub(super) state: bool,
}

impl Root {
    /// Bytes of the arena that the root takes.
    pub(super) fn charge(&self, at: Use) -> usize {
        let dead = at.uses == 0 && at.holders == 0 && !self.kept;
        let elsewhere = self.state && at.holders == 0;
        match at.started && !dead && !elsewhere {
            true => self.bytes,
            false => 0,
        }
    }
}

/// The items of a graph in the order of its nodes.
pub(super) struct Model {
    pub(super) items: Vec<Item>,
    pub(super) roots: Vec<Root>,
}

impl Model {
    /// The model in which no operand is computed inside the concats of `apart`.
    pub(super) fn of(graph: &Graph, apart: &BTreeSet<ValueId>) -> Self {
        let homes = place::share(graph, &Lives::with(graph, &[]), apart);
        let mut builder = Builder::new(graph, homes);
        let nodes: Vec<(NodeId, &Node)> = graph.nodes().filter(|(_, n)| !is_view(graph, n)).collect();
        for (id, node) in nodes {
            builder.item(id, node);
        }
        builder.ends();
        builder.model
    }
}

/// Whether the node is a view, which runs wherever its operand is computed.
pub(super) fn is_view(graph: &Graph, node: &Node) -> bool {
    views::view_of(graph, node).is_some_and(|(base, _)| graph.const_data(base).is_none())
}

struct Builder<'g> {
    graph: &'g Graph,
    homes: Homes,
    model: Model,
    /// By value: the item that computes it, through views.
    items: Vec<Option<usize>>,
    /// By value that is a root: its index.
    roots: Vec<Option<usize>>,
}

impl<'g> Builder<'g> {
    fn new(graph: &'g Graph, homes: Homes) -> Self {
        let values = graph.values().count();
        let model = Model { items: Vec::new(), roots: Vec::new() };
        let mut builder =
            Builder { graph, homes, model, items: vec![None; values], roots: vec![None; values] };
        for (id, _) in graph.nodes().filter(|(_, node)| !is_view(graph, node)) {
            let item = builder.model.items.len();
            builder.items[graph.node(id).result.0 as usize] = Some(item);
            builder.model.items.push(Item {
                node: id,
                needs: Vec::new(),
                users: Vec::new(),
                writes: None,
                touches: Vec::new(),
                overlays: Vec::new(),
                heir: false,
            });
        }
        for (_, node) in graph.nodes().filter(|(_, node)| is_view(graph, node)) {
            let base = node.operands.first().and_then(|base| builder.items[base.0 as usize]);
            builder.items[node.result.0 as usize] = base;
        }
        for &input in &graph.inputs {
            if let Some(root) = builder.root(input) {
                builder.model.roots[root].given = true;
            }
        }
        builder
    }

    /// The root of a value; `None` for constants and in a state's memory.
    fn root(&mut self, id: ValueId) -> Option<usize> {
        let home = self.homes.spot(id).root;
        if self.homes.is_state(home) || self.graph.const_data(id).is_some() {
            return None;
        }
        let slot = &mut self.roots[home.0 as usize];
        if slot.is_none() {
            *slot = Some(self.model.roots.len());
            self.model.roots.push(Root { bytes: self.homes.bytes(home), ..Root::default() });
        }
        *slot
    }

    /// Completes the item of a node.
    fn item(&mut self, id: NodeId, node: &Node) {
        let Some(index) = self.items[node.result.0 as usize] else { return };
        let needs: BTreeSet<usize> =
            node.operands.iter().filter_map(|operand| self.items[operand.0 as usize]).collect();
        for &need in &needs {
            self.model.items[need].users.push(index);
        }
        self.model.items[index].needs = needs.into_iter().collect();
        if !self.homes.needs_step(self.graph, node) {
            return;
        }
        let writes = self.root(node.result);
        let mut used: BTreeSet<usize> = writes.into_iter().collect();
        let mut overlays: BTreeMap<usize, usize> = BTreeMap::new();
        for (k, &operand) in node.operands.iter().enumerate() {
            let Some(root) = self.root(operand) else { continue };
            used.insert(root);
            // A root that is read twice is covered no further than both reads allow.
            let bytes = overlay(self.graph, &self.homes, node, k);
            overlays.entry(root).and_modify(|least| *least = bytes.min(*least)).or_insert(bytes);
        }
        for root in used {
            self.model.roots[root].uses += 1;
            self.model.items[index].touches.push(Touch { root, uses: true, holds: false });
        }
        let item = &mut self.model.items[index];
        debug_assert_eq!(item.node, id);
        item.writes = writes;
        item.overlays =
            overlays.into_iter().filter(|&(root, bytes)| Some(root) != writes && bytes > 0).collect();
    }

    /// Outputs, and the next values of states.
    fn ends(&mut self) {
        let graph = self.graph;
        for &id in &graph.outputs {
            if let Some(root) = self.root(id) {
                self.model.roots[root].kept = true;
            }
        }
        let readers = self.readers();
        for state in graph.states.iter().filter(|s| s.next != s.current) {
            let Some(root) = self.root(state.next) else { continue };
            let whole = self.homes.spot(state.next).root;
            let computed = matches!(graph.value(whole).def, ValueDef::Node(_));
            let filled = self.homes.bytes(whole) == graph.ty(state.next).bytes();
            let entry = &mut self.model.roots[root];
            // Of several states the first can be the value's home.
            entry.state = computed && filled && !entry.kept && entry.holders == 0;
            let memory = self.homes.spot(state.current).root;
            for &reader in readers.get(&memory).into_iter().flatten() {
                self.hold(reader, root);
                let item = &mut self.model.items[reader];
                let node = graph.node(item.node);
                item.heir |= item.writes == Some(root) && is_heir(graph, &self.homes, node, state.current);
            }
        }
    }

    /// The items that read states' memories, by the memory.
    fn readers(&self) -> BTreeMap<ValueId, BTreeSet<usize>> {
        let mut readers: BTreeMap<ValueId, BTreeSet<usize>> = BTreeMap::new();
        for (index, item) in self.model.items.iter().enumerate() {
            let homes = self.graph.node(item.node).operands.iter().map(|&id| self.homes.spot(id).root);
            for memory in homes.filter(|&home| self.homes.is_state(home)) {
                readers.entry(memory).or_default().insert(index);
            }
        }
        readers
    }

    /// Lets the item keep the root from moving into the state's memory.
    fn hold(&mut self, item: usize, root: usize) {
        let touches = &mut self.model.items[item].touches;
        match touches.iter_mut().find(|touch| touch.root == root) {
            Some(touch) if touch.holds => return,
            Some(touch) => touch.holds = true,
            None => touches.push(Touch { root, uses: false, holds: true }),
        }
        self.model.roots[root].holders += 1;
    }
}

/// Whether the node reads a state's whole memory element by element, and nothing else of it.
fn is_heir(graph: &Graph, homes: &Homes, node: &Node, current: ValueId) -> bool {
    let memory = homes.spot(current).root;
    let inside = |id: ValueId| homes.spot(id).root == memory;
    let fits = |k: usize, id: ValueId| {
        !inside(id) || (views::elementwise(graph, node, k) && homes.bytes(id) == homes.bytes(memory))
    };
    node.operands.iter().enumerate().all(|(k, &id)| fits(k, id))
}

/// Bytes that the roots of the node's result and of that operand may have in common, while the result is written from its first row to its
/// last: row `r` must end before the first row that it and later rows still need.
fn overlay(graph: &Graph, homes: &Homes, node: &Node, operand: usize) -> usize {
    let Some(&x) = node.operands.get(operand) else { return 0 };
    let (from, to) = (homes.spot(x), homes.spot(node.result));
    let (old, new) = (homes.bytes(from.root), homes.bytes(to.root));
    // How far the operand must begin behind the result.
    let distance = match views::elementwise(graph, node, operand) {
        true => 0,
        false if !geometry::in_order(graph, node) => return 0,
        false => {
            let (ty, result) = (graph.ty(x), graph.ty(node.result));
            let row = |bytes: usize, rows: usize| bytes / rows.max(1);
            let (height, out) = (rows(&ty.shape), rows(&result.shape));
            let (x_row, y_row) = (row(ty.bytes(), height), row(result.bytes(), out));
            let mut most = 0usize;
            for r in 0..out {
                let Some(needed) = geometry::needs(graph, node, operand, r) else { return 0 };
                most = most.max(((r + 1) * y_row).saturating_sub(needed.start * x_row));
            }
            most
        }
    };
    let behind = (distance + to.offset).saturating_sub(from.offset);
    (old + new).saturating_sub((behind + old).max(new))
}

/// How far the use of a root has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// Whether it was written.
    pub(super) started: bool,
    /// Users that have yet to run.
    pub(super) uses: usize,
    /// Holders that have yet to run.
    pub(super) holders: usize,
}

/// What running an item does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// Bytes live while it runs.
    pub(super) during: usize,
    /// Bytes live afterwards.
    pub(super) after: usize,
}

impl Model {
    /// What running an item does when `live` bytes are, and the use of roots has come as far as `at` says.
    pub(super) fn effect(&self, item: &Item, live: usize, at: impl Fn(usize) -> Use) -> Effect {
        let (mut born, mut freed, mut taken, mut covered) = (0, 0, 0, 0);
        for touch in &item.touches {
            let root = &self.roots[touch.root];
            let now = at(touch.root);
            let written = item.writes == Some(touch.root);
            let next = Use {
                started: now.started || written,
                uses: now.uses.saturating_sub(usize::from(touch.uses)),
                holders: now.holders.saturating_sub(usize::from(touch.holds)),
            };
            let (before, after) = (root.charge(now), root.charge(next));
            born += after.saturating_sub(before);
            freed += before.saturating_sub(after);
            if written {
                // It is there while the item runs, even if nobody ever reads it.
                let holders = if item.heir { next.holders } else { now.holders };
                taken = root.charge(Use { started: true, uses: 1, holders }).saturating_sub(before);
            } else if before > 0 && after == 0 && !touch.holds {
                let over = item.overlays.iter().find(|&&(r, _)| r == touch.root);
                covered = covered.max(over.map_or(0, |&(_, bytes)| bytes));
            }
        }
        Effect { during: live + taken.saturating_sub(covered), after: live + born - freed.min(live + born) }
    }
}

/// How far an order has come.
#[derive(Clone)]
pub(super) struct Progress<'m> {
    model: &'m Model,
    /// The use of each root.
    pub(super) uses: Vec<Use>,
    /// Bytes live now.
    pub(super) live: usize,
}

impl<'m> Progress<'m> {
    /// Before the first item.
    pub(super) fn new(model: &'m Model) -> Self {
        let start = |r: &Root| Use { started: r.given, uses: r.uses, holders: r.holders };
        let uses: Vec<Use> = model.roots.iter().map(start).collect();
        let live = model.roots.iter().zip(&uses).map(|(root, &at)| root.charge(at)).sum();
        Progress { model, uses, live }
    }

    /// What running an item would do.
    pub(super) fn effect(&self, item: usize) -> Effect {
        self.model.effect(&self.model.items[item], self.live, |root| self.uses[root])
    }

    /// Runs an item.
    pub(super) fn run(&mut self, item: usize) -> Effect {
        let effect = self.effect(item);
        let item = &self.model.items[item];
        for touch in &item.touches {
            let at = &mut self.uses[touch.root];
            at.started |= item.writes == Some(touch.root);
            at.uses -= usize::from(touch.uses);
            at.holders -= usize::from(touch.holds);
        }
        self.live = effect.after;
        effect
    }
}

/// The bytes that are live at each item, if they run in that order.
pub(super) fn profile(mut from: Progress<'_>, order: &[usize]) -> Vec<usize> {
    order.iter().map(|&item| from.run(item).during).collect()
}
