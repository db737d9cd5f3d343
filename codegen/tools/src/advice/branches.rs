//! Branches of an IF that are both computed, because which one is taken depends on values that are computed at run time.

use super::{cost, place, Advice, Topic};
use kiln_codegen::Compiled;
use kiln_ir::{Graph, Node, Op};

pub(super) fn advise(compiled: &Compiled) -> Vec<Advice> {
    let graph = &compiled.graph;
    let mut choices: Vec<&Node> =
        graph.nodes().map(|(_, node)| node).filter(|node| is_choice(node)).collect();
    // One for each IF, which has a choice for each of its results.
    choices.dedup_by(|a, b| a.origin == b.origin);
    let advice = |node: &&Node| {
        let inside = format!("{}/", node.origin);
        let both = graph.nodes().filter(|(_, node)| node.origin.starts_with(&inside));
        let cycles: u64 = both.map(|(_, node)| cycles(graph, node, compiled)).sum();
        Advice {
            topic: Topic::Branches,
            place: place(graph, node),
            what: "both branches are computed, but only the results of one are used".into(),
            help:
                "if that costs too much, make a separate model of each branch, and choose in your code which one to invoke"
                    .into(),
            // One of the two.
            cycles: cycles / 2,
            bytes: 0,
        }
    };
    choices.iter().map(advice).collect()
}

/// Whether a node takes the results of one of two branches. (A SELECT of the file has an origin of its own.)
fn is_choice(node: &Node) -> bool {
    matches!(node.op, Op::Select {}) && node.origin.ends_with(" IF")
}

fn cycles(graph: &Graph, node: &Node, compiled: &Compiled) -> u64 {
    let elements = graph.ty(node.result).shape.numel() as u64;
    cost::fast_layer(graph, node, compiled.options.target()) + cost::ELEMENT * elements
}
