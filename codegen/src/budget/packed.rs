//! What packed weights save.

use crate::ir::Graph;
use crate::select::packing;
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
        let Some(packing) = packing(graph, node, options) else { continue };
        let data = node.operands.iter().skip(1).find_map(|&id| Some((id.0, graph.const_data(id)?)));
        if let Some((id, data)) = data {
            weights.insert(id, data.bytes().len() - packing.pack(data).bytes().len());
        }
    }
    weights.values().sum()
}
