//! What keeps rows from streaming: into the model, and from one layer to the next.

use super::{place, Advice, Topic};
use kiln_codegen::schedule::pipeline::{self, Draft, Obstacle, MOST_NODES};
use kiln_codegen::schedule::{rows, Feed, Flow};
use kiln_codegen::{passes, Compiled, Input, Optimize, Options};
use kiln_ir::{Graph, Node};
use std::collections::BTreeSet;

/// An input of fewer bytes is not worth a word.
const LEAST: usize = 1024;

/// Why a model cannot take its input row by row; `None` where it can, or where that would be of no use.
pub(super) fn input(compiled: &Compiled) -> Option<Advice> {
    let input = *compiled.graph.inputs.first()?;
    let ty = compiled.graph.ty(input);
    // A vector has no rows worth waiting for.
    if compiled.options.input != Input::Whole || ty.shape.rank() < 3 || rows(&ty.shape) < 2 {
        return None;
    }
    if ty.bytes() < LEAST {
        return None;
    }
    let mut graph = compiled.graph.clone();
    let options = Options { input: Input::Rows, target: None, ..compiled.options.clone() };
    passes::run_for(&mut graph, &options).ok()?;
    let refused = pipeline::fed(&graph, &Flow::of(&graph)).err()?;
    Some(Advice {
        topic: Topic::Rows,
        place: refused.node().map_or(String::new(), |id| place(&graph, graph.node(id))),
        what: format!("the model cannot take its input row by row: {}", refused.describe(&graph)),
        help: "begin with operators that go row by row (convolutions, pooling, elementwise operators), so that RAM holds only a few rows of the input".into(),
        cycles: 0,
        bytes: ty.bytes() as u64,
    })
}

/// With `optimize = "memory"`: the ops at which pipelines end, where what is held for them is a part of the RAM to speak of.
pub(super) fn breaks(compiled: &Compiled) -> Vec<Advice> {
    if compiled.options.optimize != Optimize::Memory {
        return Vec::new();
    }
    let graph = &compiled.graph;
    let worth = compiled.plan.ram_bytes() / 4;
    let held = |node: &Node| {
        let operands = node.operands.iter().filter(|&&id| graph.const_data(id).is_none());
        operands.map(|&id| graph.ty(id)).filter(|ty| rows(&ty.shape) > 1).map(|ty| ty.bytes()).max()
    };
    obstacles(graph)
        .into_iter()
        .filter_map(|Obstacle { node, why }| {
            let node = graph.node(node);
            let bytes = held(node).filter(|&bytes| bytes >= worth)?;
            Some(Advice {
                topic: Topic::Rows,
                place: place(graph, node),
                what: format!("a pipeline ends before it, so RAM holds its whole operand: it {why}"),
                help: "move it to a place where images are small, or replace it with operators that go row by row"
                    .into(),
                cycles: 0,
                bytes: bytes as u64,
            })
        })
        .collect()
}

/// The nodes that do not go row by row with those before them.
fn obstacles(graph: &Graph) -> Vec<Obstacle> {
    let flow = Flow::of(graph);
    let mut found: Vec<Obstacle> = Vec::new();
    let mut start = 0;
    while start < graph.order.len() {
        let most = (start + MOST_NODES).min(graph.order.len());
        let drafts = (start + 1..=most)
            .map(|end| Draft::sketch(graph, &flow, start..end, Feed::Whole, &BTreeSet::new()));
        let Some(obstacle) = drafts.filter_map(Result::err).next() else {
            start = most;
            continue;
        };
        let at = graph.order.iter().position(|&id| id == obstacle.node).unwrap_or(start);
        // What ends one pipeline may begin the next.
        start = if at > start { at } else { start + 1 };
        if found.last().is_none_or(|last| last.node != obstacle.node) {
            found.push(obstacle);
        }
    }
    found
}
