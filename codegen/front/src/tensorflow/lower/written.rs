//! Which variables an inference writes. This is known before anything is lowered, since a variable may be read before it is written.

use super::variables::variable_name;
use super::Importer;
use crate::tensorflow::body::{Body, Model, Source};
use std::collections::HashSet;

/// Operators that write their first operand.
const WRITES: &[&str] = &[
    "Assign",
    "AssignAdd",
    "AssignAddVariableOp",
    "AssignSub",
    "AssignSubVariableOp",
    "AssignVariableOp",
    "ResourceScatterAdd",
    "ResourceScatterMax",
    "ResourceScatterMin",
    "ResourceScatterMul",
    "ResourceScatterUpdate",
];

/// Operators that pass on variables.
const PASSES: &[&str] = &[
    "Enter",
    "Exit",
    "Identity",
    "Merge",
    "NextIteration",
    "RefEnter",
    "RefIdentity",
    "RefSwitch",
    "Switch",
    "_SwitchN",
];

/// Most nodes and functions that are looked at.
const MOST: usize = 1 << 20;

/// How many nodes may pass a variable on.
const LONGEST: usize = 64;

/// Arguments of a function: the names of those that are variables.
type Arguments = Vec<Option<String>>;

struct Search<'p> {
    model: &'p Model<'p>,
    seen: HashSet<(&'p str, Arguments)>,
    found: HashSet<String>,
    left: usize,
}

impl<'p> Importer<'_, 'p> {
    /// Names of the variables that are written for these nodes of the graph.
    pub(super) fn find_written(&mut self, roots: &[usize]) {
        let body = &self.model.body;
        let mut search =
            Search { model: self.model, seen: HashSet::new(), found: HashSet::new(), left: MOST };
        search.body(body, &body.needed(roots.iter().copied()), &Vec::new(), 0);
        self.written = search.found;
    }
}

impl<'p> Search<'p> {
    fn body(&mut self, body: &'p Body<'p>, needed: &[bool], arguments: &Arguments, depth: usize) {
        for (k, node) in body.nodes.iter().enumerate() {
            if !needed[k] || self.left == 0 {
                continue;
            }
            self.left -= 1;
            let operand = |k: usize| variable(body, arguments, *body.edges.get(k)?.operands.first()?);
            if WRITES.contains(&node.op) {
                self.found.extend(operand(k));
                continue;
            }
            let skipped = usize::from(matches!(node.op, "If" | "StatelessIf" | "Case" | "StatelessCase"));
            let attributes = &node.attributes;
            let named = ["f", "cond", "body", "then_branch", "else_branch"];
            let mut functions: Vec<&str> =
                named.iter().filter_map(|name| attributes.function(name).ok().flatten()).collect();
            functions.extend(attributes.functions("branches").unwrap_or_default());
            for function in functions {
                let operands = body.edges[k].operands.iter().skip(skipped);
                let own: Arguments = operands.map(|&source| variable(body, arguments, source)).collect();
                let Some(callee) = self.model.functions.get(function) else { continue };
                if depth < super::DEEPEST
                    && own.iter().any(Option::is_some)
                    && self.seen.insert((callee.name, own.clone()))
                {
                    self.body(callee, &callee.run(), &own, depth + 1);
                }
            }
        }
    }
}

/// The name of the variable that a source is.
fn variable(body: &Body<'_>, arguments: &Arguments, mut source: Source) -> Option<String> {
    for _ in 0..LONGEST {
        let (node, result) = match source {
            Source::Argument(k) => return arguments.get(k).cloned().flatten(),
            Source::Node(node, result) => (node, result),
        };
        let (own, operands) = (&body.nodes[node], &body.edges[node].operands);
        match own.op {
            "VarHandleOp" | "Variable" | "VariableV2" => return Some(variable_name(own)),
            "While" | "StatelessWhile" | "IdentityN" => source = *operands.get(result)?,
            op if PASSES.contains(&op) => source = *operands.first()?,
            _ => return None,
        }
    }
    None
}
