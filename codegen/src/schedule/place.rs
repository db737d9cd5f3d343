//! Decides which values share memory.

use super::homes::{Homes, Link};
use super::lives::Lives;
use super::views;
use crate::ir::{Graph, Node, ValueId};
use std::collections::BTreeSet;

/// The homes of all values. The order matters: views have no choice; histories, parts and states save copies, in-place results
/// only memory; and an in-place result may follow the others into a concat or a state. The operands of the concats in `apart`
/// are not placed inside them.
pub(super) fn assign(graph: &Graph, lives: &Lives, apart: &BTreeSet<ValueId>) -> Homes {
    let mut homes = share(graph, lives, apart);
    place_states(graph, &mut homes, lives);
    place_in_place(graph, &mut homes, lives);
    homes
}

/// What shares memory in every order of the nodes: views, histories and parts.
pub(super) fn share(graph: &Graph, lives: &Lives, apart: &BTreeSet<ValueId>) -> Homes {
    let mut homes = Homes::new(graph, lives);
    place_views(graph, &mut homes, lives);
    place_histories(graph, &mut homes, lives);
    place_parts(graph, &mut homes, lives, apart);
    homes
}

fn place_views(graph: &Graph, homes: &mut Homes, lives: &Lives) {
    for (_, node) in graph.nodes() {
        if let Some((base, first)) = views::view_of(graph, node) {
            if lives.get(base).is_some() {
                homes.attach(node.result, base, first * graph.ty(base).dtype.size(), Link::Same);
            }
        }
    }
}

/// The root of a value's memory, if the value fills it, a node computes it, and no state or output is in it: then its place is free
/// to choose.
fn movable(graph: &Graph, homes: &Homes, lives: &Lives, id: ValueId) -> Option<ValueId> {
    let root = homes.spot(id).root;
    let computed = lives.get(root).is_some() && graph.producer(root).is_some() && !homes.is_state(root);
    let filled = homes.bytes(root) == homes.bytes(id);
    let free = !homes.residents(root).iter().any(|&r| lives.is_output(r));
    (computed && filled && free).then_some(root)
}

/// The root of an input's memory, if the value fills it and no output is in it: it may be inside of something else in the arena.
fn free_input(graph: &Graph, homes: &Homes, lives: &Lives, id: ValueId) -> Option<ValueId> {
    let root = homes.spot(id).root;
    let input = lives.get(root).is_some() && graph.inputs.contains(&root);
    let filled = homes.bytes(root) == homes.bytes(id);
    (input && filled && !homes.residents(root).iter().any(|&r| lives.is_output(r))).then_some(root)
}

/// Whether a root may become a part of another: inputs stay out of retained memory.
fn may_enter(graph: &Graph, homes: &Homes, root: ValueId, into: ValueId) -> bool {
    !homes.is_state(into) || !homes.residents(root).iter().any(|id| graph.inputs.contains(id))
}

/// Lets a state begin the concat that its next value is a slice of: the history of a stream, `state ++ new`, of which the end is kept.
/// The concat then lives in the state's memory, larger by what is new; nothing is copied but the kept end to the beginning.
fn place_histories(graph: &Graph, homes: &mut Homes, lives: &Lives) {
    for state in &graph.states {
        let whole = homes.spot(state.next);
        let Some(node) = graph.producer(whole.root).map(|id| graph.node(id)) else { continue };
        let Some(first) = views::concat_offsets(graph, node).and(node.operands.first()) else { continue };
        let begins =
            homes.spot(*first).root == state.current && homes.bytes(*first) == homes.bytes(state.current);
        let free = homes.is_root(state.current) && !homes.is_state(whole.root);
        let kept = homes.bytes(state.current);
        let small = whole.offset > 0 && homes.bytes(whole.root) - kept <= 2 * kept;
        let inside = |root: ValueId| !homes.residents(root).iter().any(|&id| lives.is_output(id));
        if begins && free && small && inside(whole.root) && inside(state.current) {
            homes.attach(state.current, whole.root, 0, Link::Same);
        }
    }
}

fn place_parts(graph: &Graph, homes: &mut Homes, lives: &Lives, apart: &BTreeSet<ValueId>) {
    for (_, node) in graph.nodes().filter(|(_, node)| !apart.contains(&node.result)) {
        let Some(offsets) = views::concat_offsets(graph, node) else { continue };
        let size = graph.ty(node.result).dtype.size();
        for (&operand, first) in node.operands.iter().zip(offsets) {
            let whole = homes.spot(node.result).root;
            let input = || free_input(graph, homes, lives, operand);
            match movable(graph, homes, lives, operand).or_else(input) {
                Some(root) if root != whole && may_enter(graph, homes, root, whole) => {
                    homes.attach(root, node.result, first * size, Link::Same);
                }
                _ => {}
            }
        }
    }
}

fn place_states(graph: &Graph, homes: &mut Homes, lives: &Lives) {
    for state in &graph.states {
        let Some(root) = movable(graph, homes, lives, state.next) else { continue };
        let fits = homes.bytes(root) == homes.bytes(state.current)
            && may_enter(graph, homes, root, homes.spot(state.current).root);
        let spot = homes.spot(state.current);
        if fits && homes.room_for(root, spot, &|old, new| is_heir(graph, lives, old, new)) {
            homes.attach(root, state.current, 0, Link::Reuse);
        }
    }
}

fn place_in_place(graph: &Graph, homes: &mut Homes, lives: &Lives) {
    for (_, node) in graph.nodes() {
        for (index, &operand) in node.operands.iter().enumerate() {
            if !views::elementwise(graph, node, index) || lives.get(operand).is_none() {
                continue;
            }
            if take_place(graph, homes, lives, node, operand)
                || give_place(graph, homes, lives, node, operand)
            {
                break;
            }
        }
    }
}

/// Lets a result without a place take the operand's.
fn take_place(graph: &Graph, homes: &mut Homes, lives: &Lives, node: &Node, operand: ValueId) -> bool {
    let spot = homes.spot(operand);
    if !homes.is_root(node.result) || homes.is_state(spot.root) || spot.root == node.result {
        return false;
    }
    // A small result would keep a large buffer alive.
    let (Some(new), Some(old)) = (homes.span(node.result), homes.span(spot.root)) else { return false };
    if homes.bytes(node.result) < homes.bytes(spot.root) && new.last > old.last {
        return false;
    }
    let fits = homes.room_for(node.result, spot, &|old, new| is_heir(graph, lives, old, new));
    if fits {
        homes.attach(node.result, operand, 0, Link::Reuse);
    }
    fits
}

/// Lets an operand without a place have its result's, ahead of it.
fn give_place(graph: &Graph, homes: &mut Homes, lives: &Lives, node: &Node, operand: ValueId) -> bool {
    let Some(root) = movable(graph, homes, lives, operand) else { return false };
    let spot = homes.spot(node.result);
    if homes.is_root(node.result) || spot.root == root || !may_enter(graph, homes, root, spot.root) {
        return false;
    }
    let (Some(early), Some(whole)) = (homes.span(root), homes.span(spot.root)) else { return false };
    if homes.bytes(root) < homes.bytes(spot.root) && early.first < whole.first {
        return false;
    }
    let fits = homes.room_for(root, spot, &|old, new| is_heir(graph, lives, old, new));
    if fits {
        homes.attach(root, node.result, 0, Link::Reuse);
    }
    fits
}

/// Whether `new` is computed, element by element, from `old`, which dies there.
fn is_heir(graph: &Graph, lives: &Lives, old: ValueId, new: ValueId) -> bool {
    let (Some(from), Some(to), Some(id)) = (lives.get(old), lives.get(new), graph.producer(new)) else {
        return false;
    };
    let node = graph.node(id);
    let mut reads = node.operands.iter().enumerate().filter(|(_, &o)| o == old).peekable();
    from.last == to.first
        && reads.peek().is_some()
        && reads.all(|(index, _)| views::elementwise(graph, node, index))
}
