//! Quantised weights of float layers, which flash holds as floats.

use super::{Advice, Topic};
use kiln_codegen::select::{packing, packing_saves, Packing};
use kiln_codegen::{Compiled, Options, Weights};

/// Bytes that are worth a word.
const LEAST: usize = 1024;

/// Float weights that are integers with scales. Packed they cost cycles, so that it is left to the user.
pub(super) fn advise(compiled: &Compiled) -> Option<Advice> {
    let (graph, options) = (&compiled.graph, &compiled.options);
    let packed = Options { weights: Some(Weights::Packed), ..options.clone() };
    let is_scaled = |&packing: &Packing| matches!(packing, Packing::ScaledBytes | Packing::ScaledNibbles);
    let stays_float = |node: &&kiln_ir::Node| {
        packing(graph, node, options).is_none()
            && packing(graph, node, &packed).is_some_and(|p| is_scaled(&p))
    };
    let nodes = graph.nodes().map(|(_, node)| node).filter(stays_float);
    let saved: Vec<usize> = nodes.map(|node| packing_saves(graph, node, &packed)).collect();
    let bytes: usize = saved.iter().sum();
    (options.weights.is_none() && bytes >= LEAST).then(|| Advice {
        topic: Topic::Weights,
        place: String::new(),
        what: format!(
            "weights of {} float layers are integers with scales, but flash holds them as floats, which is faster",
            saved.len()
        ),
        help: "store the integers, with the same results: weights = \"packed\", or optimize = \"size\"".into(),
        cycles: 0,
        bytes: bytes as u64,
    })
}
