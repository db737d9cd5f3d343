//! The evaluation of a graph or a function: nodes are lowered as they are needed.
//!
//! What only one branch computes is marked with the condition under which it does ([`Guard`]): so the graph that TensorFlow makes of `tf.cond` (Switch, Merge)
//! becomes a selection.

use super::call::Call;
use super::loops::Loops;
use super::slot::Slot;
use super::{Importer, Lowered, Refusal};
use crate::tensorflow::body::{Body, Source};
use crate::tensorflow::proto::short;
use kiln_ir::error::Error;
use kiln_ir::ValueId;
use std::rc::Rc;

/// That a branch is taken: the one of that number, where the selector has that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) selector: ValueId,
    pub(super) branch: usize,
    /// How many there are.
    pub(super) of: usize,
}

/// What became of a node.
#[derive(Clone)]
pub(super) struct Done<'p> {
    pub(super) slots: Vec<Slot<'p>>,
    /// Under which conditions it runs.
    pub(super) guards: Vec<Guard>,
    /// Of a switch: result `k` is there where the selector is `k`.
    pub(super) switch: Option<ValueId>,
}

impl<'p> Done<'p> {
    pub(super) fn of(slots: Vec<Slot<'p>>) -> Self {
        Done { slots, guards: Vec::new(), switch: None }
    }

    fn is_dead(&self) -> bool {
        !self.slots.is_empty() && self.slots.iter().all(|slot| matches!(slot, Slot::Dead))
    }

    /// Result `k`, with its conditions.
    fn result(&self, k: usize) -> Lowered<(Slot<'p>, Vec<Guard>)> {
        let mut guards = self.guards.clone();
        if let Some(selector) = self.switch {
            guards.push(Guard { selector, branch: k, of: self.slots.len() });
        }
        match (self.slots.get(k), &self.slots[..]) {
            (Some(slot), _) => Ok((slot.clone(), guards)),
            (None, [only @ (Slot::Refused | Slot::Dead)]) => Ok((only.clone(), guards)),
            (None, _) => Err(malformed!("it has no result {k}")),
        }
    }
}

/// One evaluation.
pub(super) struct Run<'p> {
    pub(super) body: &'p Body<'p>,
    arguments: Vec<Slot<'p>>,
    pub(super) done: Vec<Option<Done<'p>>>,
    /// Nodes that wait for their operands.
    open: Vec<bool>,
    pub(super) path: Rc<str>,
    /// The loops of the graph, once they were looked for.
    pub(super) loops: Option<Rc<Loops>>,
}

impl<'p> Run<'p> {
    pub(super) fn of(body: &'p Body<'p>, arguments: Vec<Slot<'p>>, path: String) -> Self {
        let count = body.nodes.len();
        Run {
            body,
            arguments,
            done: vec![None; count],
            open: vec![false; count],
            path: path.into(),
            loops: None,
        }
    }

    /// An operand with its conditions.
    fn operand(&self, source: Source) -> Lowered<(Slot<'p>, Vec<Guard>)> {
        match source {
            Source::Argument(k) => {
                let slot = self.arguments.get(k).cloned();
                slot.map(|slot| (slot, Vec::new())).ok_or_else(|| malformed!("there is no argument {k}"))
            }
            Source::Node(node, k) => {
                let done = self.done.get(node).and_then(Option::as_ref);
                let done = done.ok_or_else(|| malformed!("a value is used before it is computed"))?;
                done.result(k).map_err(|refusal| match refusal {
                    Refusal::Malformed(what) => {
                        Refusal::Malformed(format!("node \"{}\": {what}", short(self.body.nodes[node].name)))
                    }
                    other => other,
                })
            }
        }
    }
}

impl<'p> Importer<'_, 'p> {
    /// What a result becomes; its node is lowered first.
    pub(super) fn value(&mut self, run: &mut Run<'p>, source: Source) -> Lowered<Slot<'p>> {
        if let Source::Node(node, _) = source {
            self.demand(run, node)?;
        }
        run.operand(source).map(|(slot, _)| slot)
    }

    /// Lowers a node and all that it needs.
    pub(super) fn demand(&mut self, run: &mut Run<'p>, root: usize) -> Result<(), Error> {
        let mut stack = vec![(root, 0)];
        while let Some(&(node, at)) = stack.last() {
            if run.done[node].is_some() {
                run.open[node] = false;
                stack.pop();
                continue;
            }
            run.open[node] = true;
            let top = stack.len() - 1;
            match self.need(run, node, at)? {
                Some((need, next)) => {
                    stack[top].1 = next;
                    if run.done[need].is_none() {
                        if run.open[need] {
                            let name = short(run.body.nodes[need].name);
                            return Err(Error::malformed(
                                "model",
                                format!("node \"{name}\" needs its own result"),
                            ));
                        }
                        stack.push((need, 0));
                    }
                }
                None => {
                    let done = self.compute(run, node)?;
                    run.done[node] = Some(done);
                }
            }
        }
        Ok(())
    }

    /// A node that a node needs, from the one of that number on; with it, the number of the next one.
    fn need(&mut self, run: &mut Run<'p>, node: usize, at: usize) -> Result<Option<(usize, usize)>, Error> {
        if matches!(run.body.nodes[node].op, "Exit" | "RefExit") {
            let loops = self.loops(run);
            return Ok(loops.entries(node).get(at).map(|&entry| (entry, at + 1)));
        }
        let edges = &run.body.edges[node];
        let of_operand = |source: &Source| match source {
            Source::Node(node, _) => Some(*node),
            Source::Argument(_) => None,
        };
        let operands = edges.operands.iter().map(of_operand);
        let all = operands.chain(edges.controls.iter().map(|&node| Some(node)));
        let mut rest = all.enumerate().skip(at);
        Ok(rest.find_map(|(k, need)| Some((need?, k + 1))))
    }

    /// What a node becomes whose operands are there.
    fn compute(&mut self, run: &mut Run<'p>, index: usize) -> Result<Done<'p>, Error> {
        let body = run.body;
        let node = &body.nodes[index];
        if matches!(node.op, "Exit" | "RefExit") {
            self.exit(run, index)?;
            let done = run.done[index].take();
            return Ok(done.unwrap_or_else(|| Done::of(vec![Slot::Refused])));
        }
        let edges = &body.edges[index];
        let (mut operands, mut guards, mut of_each) = (Vec::new(), Vec::<Guard>::new(), Vec::new());
        let mut is_dead = false;
        for &source in &edges.operands {
            let (slot, own) = match run.operand(source) {
                Ok(found) => found,
                Err(Refusal::Malformed(what)) => {
                    return Err(Error::malformed(format!("node \"{}\"", short(node.name)), what))
                }
                Err(_) => (Slot::Refused, Vec::new()),
            };
            is_dead |= matches!(slot, Slot::Dead);
            operands.push(slot);
            guards.extend(own.iter().copied());
            of_each.push(own);
        }
        for &control in &edges.controls {
            if let Some(done) = &run.done[control] {
                is_dead |= done.is_dead();
                guards.extend(done.guards.iter().copied());
            }
        }
        let mut seen = Vec::new();
        guards.retain(|guard| {
            !seen.contains(guard) && {
                seen.push(*guard);
                true
            }
        });
        let call = |operands, guards| Call { node, operands, path: run.path.clone(), guards };
        match node.op {
            "Merge" | "RefMerge" => self.merge(call(operands, Vec::new()), of_each),
            _ if is_dead => Ok(Done { slots: vec![Slot::Dead], guards: Vec::new(), switch: None }),
            "Switch" | "RefSwitch" | "_SwitchN" => self.switch(call(operands, guards)),
            _ => {
                let slots = self.operator(call(operands, guards.clone()))?;
                // A node without results stands for its conditions.
                let slots = if slots.is_empty() { vec![Slot::Opaque] } else { slots };
                Ok(Done { slots, guards, switch: None })
            }
        }
    }
}
