//! A node that is lowered, with its operands; and calls of functions.

use super::run::{Guard, Run};
use super::slot::Slot;
use super::{Importer, Lowered, Refusal, DEEPEST};
use crate::tensorflow::body::Body;
use crate::tensorflow::proto::{short, Node};
use std::rc::Rc;

/// A node, where it is.
pub(super) struct Call<'p> {
    pub(super) node: &'p Node<'p>,
    pub(super) operands: Vec<Slot<'p>>,
    /// The way to its function: `while/body/`.
    pub(super) path: Rc<str>,
    /// Under which conditions it runs at all.
    pub(super) guards: Vec<Guard>,
}

impl<'p> Call<'p> {
    /// What its results are called.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.path, short(self.node.name))
    }

    /// The origin of its ops.
    pub(super) fn origin(&self) -> String {
        short(self.node.op)
    }

    pub(super) fn place(&self, index: usize) -> String {
        format!("operator {index} {} \"{}\"", short(self.node.op), self.name())
    }

    /// Operand `k`.
    pub(super) fn slot(&self, k: usize) -> Lowered<&Slot<'p>> {
        self.operands.get(k).ok_or_else(|| malformed!("operand {k} is missing"))
    }
}

/// Operators that are no work.
const IDLE: &[&str] = &["Const", "Identity", "NoOp", "ReadVariableOp"];

impl<'p> Importer<'_, 'p> {
    /// What a function returns.
    pub(super) fn call(
        &mut self,
        function: &str,
        arguments: Vec<Slot<'p>>,
        call: &Call<'p>,
    ) -> Lowered<Vec<Slot<'p>>> {
        let body: &'p Body<'p> = self.model.function(function)?;
        malformed_if!(
            body.arguments != arguments.len(),
            "function \"{}\" of {} arguments gets {}",
            short(function),
            body.arguments,
            arguments.len()
        );
        if self.depth >= DEEPEST {
            let what = format!("functions call each other more than {DEEPEST} deep");
            return Err(Refusal::unsupported(
                what,
                "export the model without functions that call themselves",
            ));
        }
        // The nodes of a function stand in the file once.
        if !self.called.insert(body.name) {
            let needed = body.run();
            let is_work = |(node, needed): &(&Node<'_>, bool)| *needed && !IDLE.contains(&node.op);
            let count = body.nodes.iter().zip(needed).filter(is_work).count();
            if !self.means.budget.inline(count) {
                return Err(Refusal::too_long());
            }
        }
        self.depth += 1;
        let refused = self.means.report.count();
        let path = match call.path.len() {
            0..=200 => format!("{}{}/", call.path, short(call.node.name)),
            _ => call.path.to_string(),
        };
        let mut run = Run::of(body, arguments, path);
        let results = self.results(&mut run);
        self.depth -= 1;
        match results {
            // What was refused is reported where it stands.
            Ok(_) if self.means.report.count() > refused => Err(Refusal::Follows),
            results => results,
        }
    }

    fn results(&mut self, run: &mut Run<'p>) -> Lowered<Vec<Slot<'p>>> {
        let body = run.body;
        for &node in &body.controls {
            self.demand(run, node)?;
        }
        body.results.iter().map(|&source| self.value(run, source)).collect()
    }
}
