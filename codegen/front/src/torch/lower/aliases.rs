//! Operators that write into tensors, made ones without effects.
//!
//! A view of a tensor shows what is written into the tensor, and what is written into the view is written into the tensor. So a write gives new values to what was written into
//! and to everything that it is a view of; other views of these are computed again when they are read. Buffers that are written into are states.

use super::{
    find, movement, place, results, view, written, Cx, Importer, Lowered, Refusal, Target, OPERATOR_BYTES,
};
use crate::torch::program::{Node, Size, TensorMeta};
use kiln_ir::error::Error;
use kiln_ir::ValueId;
use std::collections::{HashMap, HashSet};

/// Which names are views of which others.
#[derive(Default)]
pub(in crate::torch) struct Aliases<'p> {
    /// Of a view: what it is a view of, and the node that makes it, with the place among its results.
    parents: HashMap<&'p str, View<'p>>,
    /// Of what is a view or has views: what all of them belong to.
    roots: HashMap<&'p str, &'p str>,
    /// What is written into at some place.
    written: HashSet<&'p str>,
    /// How often what all views belong to has been written into, and the count up to which a value is right.
    versions: HashMap<&'p str, usize>,
    seen: HashMap<&'p str, usize>,
}

#[derive(Clone, Copy)]
struct View<'p> {
    of: &'p str,
    index: usize,
    node: &'p Node,
    result: usize,
    /// Whether it is one, or a copy, depends on how the tensor lies in memory, which is not known; or it cannot be computed again.
    is_unsure: bool,
}

/// What a node gives, of its first operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::torch) enum Sharing {
    Nothing,
    View,
    /// A view, as far as is known.
    Unsure,
}

impl<'p> Aliases<'p> {
    pub(in crate::torch) fn of(nodes: &'p [Node], metas: &HashMap<String, TensorMeta>) -> Self {
        let mut aliases = Aliases::default();
        for (index, node) in nodes.iter().enumerate() {
            let target = Target::of(&node.target);
            let is_view = |of| is_view(&target, metas.get(of));
            let sharing = if written(node).is_some_and(is_view) { Sharing::View } else { Sharing::Nothing };
            aliases.add(index, node, sharing);
        }
        aliases
    }

    /// Adds a node, in the order of the program.
    pub(in crate::torch) fn add(&mut self, index: usize, node: &'p Node, sharing: Sharing) {
        let target = Target::of(&node.target);
        let Some(of) = written(node) else { return };
        let root = self.root(of);
        if target.in_place {
            self.written.insert(root);
        } else if sharing == Sharing::Nothing {
            return;
        }
        let is_unsure = sharing == Sharing::Unsure;
        for (result, name) in results(node).into_iter().enumerate() {
            self.parents.insert(name, View { of, index, node, result, is_unsure });
            self.roots.insert(name, root);
        }
    }

    /// What all views of a tensor belong to.
    pub(in crate::torch) fn root(&self, name: &'p str) -> &'p str {
        self.roots.get(name).copied().unwrap_or(name)
    }

    /// Whether something is written into what this is a view of.
    pub(in crate::torch) fn is_written(&self, name: &'p str) -> bool {
        !self.written.is_empty() && self.written.contains(self.root(name))
    }

    /// A value was computed from what is right now.
    pub(super) fn computed(&mut self, name: &'p str) {
        if self.is_written(name) {
            let version = self.versions.get(self.root(name)).copied().unwrap_or(0);
            self.seen.insert(name, version);
        }
    }

    fn is_fresh(&self, name: &'p str) -> bool {
        let count = |counts: &HashMap<&'p str, usize>, name| counts.get(name).copied().unwrap_or(0);
        !self.is_written(name) || count(&self.seen, name) == count(&self.versions, self.root(name))
    }
}

fn unsure(view: View<'_>) -> Refusal {
    let place = place(view.index, view.node);
    let what =
        format!("something is written into a tensor, of which another one ({place}) may be a view or a copy");
    Refusal::unsupported(what, "write into a copy (clone), or use operators that write into nothing")
}

/// Whether an operator gives views of its first operand.
fn is_view(target: &Target<'_>, of: Option<&TensorMeta>) -> bool {
    match target.name {
        // Of what does not lie densely, they give copies.
        "contiguous" | "flatten" | "reshape" => of.is_none_or(is_dense),
        name => makes_views(name),
    }
}

/// Whether an operator of that name gives views of its first operand, if this lies densely.
pub(in crate::torch) fn makes_views(name: &str) -> bool {
    view::SHAPES.contains(&name) || movement::PARTS.contains(&name) || name == "expand"
}

pub(in crate::torch) fn is_dense(meta: &TensorMeta) -> bool {
    let mut dense = 1i64;
    let known = |size: &Size| match size {
        Size::Known(size) => *size,
        Size::Symbolic(_) => 0,
    };
    meta.sizes.iter().zip(&meta.strides).rev().all(|(size, stride)| {
        let (size, expected) = (known(size), dense);
        dense = expected.wrapping_mul(size);
        size == 1 || known(stride) == expected
    })
}

impl<'p> Importer<'_, 'p> {
    /// Computes views again that a node reads, where what they are views of was written into.
    pub(super) fn fresh(&mut self, node: &'p Node) -> Lowered {
        node.inputs.iter().flat_map(|input| input.arg.names()).try_for_each(|name| self.refresh(name))
    }

    /// Computes a view again, where what it is a view of was written into.
    pub(in crate::torch) fn refresh(&mut self, name: &'p str) -> Lowered {
        let mut chain = Vec::new();
        let mut at = name;
        while !self.aliases.is_fresh(at) {
            let Some(&view) = self.aliases.parents.get(at) else { break };
            chain.push((at, view));
            at = view.of;
        }
        for (name, view) in chain.into_iter().rev() {
            self.means.budget.charge(OPERATOR_BYTES)?;
            if view.is_unsure {
                return Err(unsure(view));
            }
            let target = Target::of(&view.node.target);
            let value = match (self.slots.get(view.of).copied().flatten(), target.in_place, find(&target)) {
                (None, ..) => return Err(Refusal::Follows),
                (Some(value), true, _) => Some(value),
                (_, false, Some(lower)) => {
                    self.computed(view.index, view.node, lower)?.get(view.result).copied()
                }
                _ => None,
            };
            self.slots.insert(name, value);
            self.aliases.computed(name);
        }
        Ok(())
    }

    /// Writes what an operator has computed into what it is a view of.
    pub(super) fn write(&mut self, node: &'p Node, name: &'p str, value: ValueId) -> Lowered {
        let (mut name, mut value) = (name, value);
        let root = self.aliases.root(name);
        *self.aliases.versions.entry(root).or_default() += 1;
        for result in results(node) {
            self.slots.insert(result, Some(value));
            self.aliases.computed(result);
        }
        loop {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let before = self.slots.get(name).copied().flatten().ok_or(Refusal::Follows)?;
            let (own, new) = (self.means.graph.ty(before), self.means.graph.ty(value));
            malformed_if!(own != new, "{new} cannot be written into {own}");
            self.slots.insert(name, Some(value));
            self.aliases.computed(name);
            let Some(&view) = self.aliases.parents.get(name) else { return Ok(()) };
            let target = Target::of(&view.node.target);
            if view.is_unsure {
                return Err(unsure(view));
            }
            if !target.in_place {
                let whole = self.slots.get(view.of).copied().flatten().ok_or(Refusal::Follows)?;
                let mut cx = Cx {
                    means: self.means.hosted_cx(
                        self.host,
                        view.of.into(),
                        format!("{} {}", view.index, target.whole()),
                    ),
                    node: view.node,
                    slots: &self.slots,
                    metas: self.metas,
                    symbols: &self.symbols,
                    read: &self.read,
                    target: super::plain(target.name),
                    overload: target.overload,
                };
                value = match view::SHAPES.contains(&target.name) || movement::PARTS.contains(&target.name) {
                    true => movement::written(&mut cx, whole, value, view.result)?,
                    false => {
                        let place = place(view.index, view.node);
                        let what = format!(
                            "it writes into a view of another tensor ({place}), which cannot be compiled"
                        );
                        return Err(Refusal::unsupported(what, "write into the tensor itself"));
                    }
                };
            }
            name = view.of;
        }
    }

    /// The values that states have in the end.
    pub(in crate::torch) fn states(&mut self) -> Result<(), Error> {
        let mut states: Vec<(&'p str, &'p str)> = self.states.iter().map(|(&arg, &of)| (arg, of)).collect();
        states.sort_unstable();
        for (arg, of) in states {
            let value = self
                .refresh(arg)
                .and_then(|()| self.slots.get(arg).copied().flatten().ok_or(Refusal::Follows));
            self.next(of, value)?;
        }
        Ok(())
    }

    /// Lets a state become a value.
    pub(in crate::torch) fn next(&mut self, of: &str, value: Lowered<ValueId>) -> Result<(), Error> {
        let graph = &mut self.means.graph;
        let fits = value.and_then(|value| {
            let state = graph.states.iter().position(|state| state.name == of);
            let state = state.ok_or_else(|| malformed!("there is no such buffer"))?;
            let (own, new) = (graph.ty(graph.states[state].current), graph.ty(value));
            malformed_if!(own != new, "{new} cannot be written into {own}");
            Ok((state, value))
        });
        match fits {
            Ok((state, value)) => graph.states[state].next = value,
            Err(refusal) => {
                self.means.report.refuse(format!("buffer \"{}\"", super::short(of)), None, refusal)?
            }
        }
        Ok(())
    }
}
