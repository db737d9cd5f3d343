//! What packed weights save.

use crate::ir::Graph;
use crate::select::packing_saves;
use crate::{Compiled, Options, Weights};
use std::collections::BTreeMap;

/// Bytes of flash that weights take less than the elements they are computed with.
pub fn saved(compiled: &Compiled) -> usize {
    saves(&compiled.graph, &compiled.options)
}

/// Bytes of flash that `weights = "packed"` would save besides.
pub fn more(compiled: &Compiled) -> usize {
    let packed = Options { weights: Some(Weights::Packed), ..compiled.options.clone() };
    saves(&compiled.graph, &packed).saturating_sub(saved(compiled))
}

fn saves(graph: &Graph, options: &Options) -> usize {
    // Several layers may share their weights.
    let mut weights = BTreeMap::new();
    for (_, node) in graph.nodes() {
        let id = node.operands.iter().skip(1).find(|&&id| graph.const_data(id).is_some());
        match (id, packing_saves(graph, node, options)) {
            (Some(id), saved) if saved > 0 => weights.insert(id.0, saved),
            _ => None,
        };
    }
    weights.values().sum()
}
