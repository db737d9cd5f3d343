//! Loops in the form that TensorFlow lowers them to: Enter, Merge, Switch, LoopCond, NextIteration and Exit. They are written out as those of `While` are.

use super::control::endless;
use super::run::{Done, Run};
use super::slot::Slot;
use super::{short, Importer, Lowered, Operators, Refusal, Slots};
use crate::tensorflow::body::{Body, Source};
use kiln_ir::error::Error;
use std::collections::HashMap;
use std::rc::Rc;

/// Those that pass on their operand. Merge, Switch and Exit are no operators of operands alone.
pub(super) const OPERATORS: Operators = &[
    ("Enter", Slots(|cx| Ok(vec![cx.slot(0)?]))),
    ("Exit", Slots(|_| Err(malformed!("it is in no loop")))),
    ("LoopCond", Slots(|cx| Ok(vec![cx.slot(0)?]))),
    ("Merge", Slots(|_| Err(malformed!("it merges nothing")))),
    ("NextIteration", Slots(|cx| Ok(vec![cx.slot(0)?]))),
    ("RefEnter", Slots(|cx| Ok(vec![cx.slot(0)?]))),
    ("RefExit", Slots(|_| Err(malformed!("it is in no loop")))),
    ("RefNextIteration", Slots(|cx| Ok(vec![cx.slot(0)?]))),
    ("Switch", Slots(|_| Err(malformed!("it switches nothing")))),
    ("_SwitchN", Slots(|_| Err(malformed!("it switches nothing")))),
];

/// A loop.
#[derive(Default)]
struct Loop {
    parent: Option<usize>,
    entries: Vec<usize>,
    /// Nodes that hold a value from one pass to the next, with what they begin with and what they get.
    merges: Vec<(usize, Source, Source)>,
    condition: Option<usize>,
    exits: Vec<usize>,
    /// All of its nodes, with those of loops in it.
    nodes: Vec<usize>,
}

/// The loops of a graph.
#[derive(Default)]
pub(super) struct Loops {
    loops: Vec<Loop>,
    /// The loop that a node is in.
    of: Vec<Option<usize>>,
}

impl Loops {
    fn of(body: &Body<'_>) -> Self {
        let mut found = Loops { loops: Vec::new(), of: vec![None; body.nodes.len()] };
        let mut named: HashMap<(Option<usize>, &[u8]), usize> = HashMap::new();
        for node in order(body) {
            let edges = &body.edges[node];
            let own = &body.nodes[node];
            let operands = edges.operands.iter().filter_map(|source| match source {
                Source::Node(node, _) => Some(*node),
                Source::Argument(_) => None,
            });
            let needs: Vec<usize> = operands.chain(edges.controls.iter().copied()).collect();
            // What leaves a loop is in the loop around it.
            let behind = |need: usize| match body.nodes[need].op {
                "Exit" | "RefExit" => found.of[need].and_then(|of| found.loops[of].parent),
                _ => found.of[need],
            };
            let depth = |of: &Option<usize>| found.depth(*of);
            let around = needs.iter().map(|&need| behind(need)).max_by_key(depth).flatten();
            found.of[node] = around;
            match own.op {
                "Enter" | "RefEnter" => {
                    let name = own.attributes.bytes("frame_name").ok().flatten().unwrap_or_default();
                    let of = *named.entry((around, name)).or_insert_with(|| {
                        found.loops.push(Loop { parent: around, ..Loop::default() });
                        found.loops.len() - 1
                    });
                    found.loops[of].entries.push(node);
                    found.of[node] = Some(of);
                }
                "Exit" | "RefExit" => {
                    if let Some(of) = around {
                        found.loops[of].exits.push(node);
                    }
                }
                "LoopCond" => {
                    if let Some(of) = around {
                        found.loops[of].condition = Some(node);
                    }
                }
                "Merge" | "RefMerge" => {
                    let next = edges.operands.iter().position(|source| is_next(body, source));
                    if let (Some(next), &[a, b], Some(of)) = (next, &edges.operands[..], around) {
                        let (first, next) = if next == 1 { (a, b) } else { (b, a) };
                        found.loops[of].merges.push((node, first, next));
                    }
                }
                _ => {}
            }
        }
        for node in 0..body.nodes.len() {
            let mut around = found.of[node];
            // Entries are computed outside, once.
            let is_entry = matches!(body.nodes[node].op, "Enter" | "RefEnter");
            if is_entry {
                around = around.and_then(|of| found.loops[of].parent);
            }
            while let Some(of) = around {
                found.loops[of].nodes.push(node);
                around = found.loops[of].parent;
            }
        }
        found
    }

    fn depth(&self, mut of: Option<usize>) -> usize {
        let mut depth = 0;
        while let Some(own) = of {
            depth += 1;
            of = self.loops[own].parent;
        }
        depth
    }

    /// What has to be there before the loop that a node leaves begins.
    pub(super) fn entries(&self, exit: usize) -> &[usize] {
        self.of.get(exit).copied().flatten().map_or(&[], |of| &self.loops[of].entries)
    }
}

fn is_next(body: &Body<'_>, source: &Source) -> bool {
    matches!(source, Source::Node(node, _) if matches!(body.nodes[*node].op, "NextIteration" | "RefNextIteration"))
}

/// Nodes behind those that they need, but for what the next pass of a loop needs of the one before.
fn order(body: &Body<'_>) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; body.nodes.len()];
    for root in 0..body.nodes.len() {
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.last_mut() {
            let (own, k) = (*node, *at);
            *at += 1;
            if k == 0 && std::mem::replace(&mut seen[own], true) {
                stack.pop();
                continue;
            }
            let edges = &body.edges[own];
            let is_merge = matches!(body.nodes[own].op, "Merge" | "RefMerge");
            let needs = edges.operands.len();
            if k < needs {
                if let Source::Node(need, _) = edges.operands[k] {
                    let is_back = is_merge && is_next(body, &edges.operands[k]);
                    if !seen[need] && !is_back {
                        stack.push((need, 0));
                    }
                }
            } else if let Some(&need) = edges.controls.get(k - needs) {
                if !seen[need] {
                    stack.push((need, 0));
                }
            } else {
                order.push(own);
                stack.pop();
            }
        }
    }
    order
}

impl<'p> Importer<'_, 'p> {
    /// The loops of the graph that is evaluated.
    pub(super) fn loops(&mut self, run: &mut Run<'p>) -> Rc<Loops> {
        run.loops.get_or_insert_with(|| Rc::new(Loops::of(run.body))).clone()
    }

    /// Runs the loop that a node leaves, and gives all its exits their values.
    pub(super) fn exit(&mut self, run: &mut Run<'p>, exit: usize) -> Result<(), Error> {
        let loops = self.loops(run);
        let place = || format!("operator Exit \"{}\"", short(run.body.nodes[exit].name));
        let Some(of) = loops.of[exit].map(|of| &loops.loops[of]) else {
            return Err(Error::malformed(place(), "it is in no loop"));
        };
        if self.depth >= super::DEEPEST {
            return Err(Error::malformed(place(), "loops are nested too deep"));
        }
        let place = place();
        self.depth += 1;
        let refused = self.means.report.count();
        let ended = self.passes(run, of);
        self.depth -= 1;
        for &node in &of.nodes {
            if !of.exits.contains(&node) {
                run.done[node] = None;
            }
        }
        match ended {
            Ok(()) if self.means.report.count() == refused => Ok(()),
            ended => {
                if let Err(refusal) = ended {
                    self.means.report.refuse(place, Some((self.count, "Exit")), refusal)?;
                }
                for &exit in &of.exits {
                    run.done[exit] = Some(Done::of(vec![Slot::Refused]));
                }
                Ok(())
            }
        }
    }

    fn passes(&mut self, run: &mut Run<'p>, of: &Loop) -> Lowered {
        let condition = of.condition.ok_or_else(|| malformed!("its loop has no condition"))?;
        let mut values = Vec::new();
        for &(_, first, _) in &of.merges {
            values.push(self.value(run, first)?);
        }
        for pass in 0u32.. {
            if !self.means.budget.inline(of.nodes.len() / 2) {
                let what = "the passes of its loop have too many operators";
                let help = "let the loop run fewer times, or compile only its body and write the loop in your own code";
                return Err(Refusal::unsupported(what, help));
            }
            for &node in &of.nodes {
                run.done[node] = None;
            }
            for (&(merge, ..), value) in of.merges.iter().zip(&values) {
                run.done[merge] = Some(Done::of(vec![value.clone(), Slot::Opaque]));
            }
            let goes_on = self.value(run, Source::Node(condition, 0))?.tensor()?;
            match self.truth(goes_on)? {
                Some(true) => {}
                Some(false) => break,
                None => return Err(endless(pass)),
            }
            values.clear();
            for &(_, _, next) in &of.merges {
                values.push(self.value(run, next)?);
            }
        }
        for &exit in &of.exits {
            let Some(&source) = run.body.edges[exit].operands.first() else {
                return Err(malformed!("it has no operand"));
            };
            let slot = self.value(run, source)?;
            run.done[exit] = Some(Done::of(vec![slot]));
        }
        Ok(())
    }
}
