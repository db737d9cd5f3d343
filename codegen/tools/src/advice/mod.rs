//! Advice: what in a model makes it slower or larger than it could be, and what to do about it, ranked by what it costs.
//!
//! Read-only. Each kind of advice is a file, and looks at the compiled graph: what passes have mended is no longer there. Costs are estimates of their
//! order ([`cost`]), for ranking; `cargo kiln bench` counts.

mod branches;
pub mod cost;
mod filters;
mod float;
mod kernels;
mod leftovers;
mod padding;
mod rows;
mod scaled;
#[cfg(test)]
mod tests;

use kiln_codegen::Compiled;
use kiln_ir::{Graph, Node, Op};

/// What a piece of advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Floating-point ops: some in a model of integers, or all.
    Float,
    /// A kernel that is not the fastest of its kind.
    Kernel,
    /// Results that are requantised as the reference does it.
    Requantisation,
    /// An op that could be part of another.
    Fusion,
    /// An op that only moves or rescales data.
    Movement,
    /// Multiplications by padding.
    Padding,
    /// Scales of weights.
    Weights,
    /// What keeps rows from streaming.
    Rows,
    /// Branches that are both computed.
    Branches,
}

impl Topic {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Float => "float",
            Topic::Kernel => "kernel",
            Topic::Requantisation => "requantisation",
            Topic::Fusion => "fusion",
            Topic::Movement => "movement",
            Topic::Padding => "padding",
            Topic::Weights => "weights",
            Topic::Rows => "rows",
            Topic::Branches => "branches",
        }
    }
}

/// One thing that could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What it is about.
    pub topic: Topic,
    /// Where: the op's origin in the file and the name of its result; empty for the model as a whole.
    pub place: String,
    /// What costs, and why it is so.
    pub what: String,
    /// What to do about it.
    pub help: String,
    /// About so many cycles of an inference would be saved.
    pub cycles: u64,
    /// About so many bytes of RAM or flash would be saved.
    pub bytes: u64,
}

/// All advice on a compiled model, that which saves most cycles first, then by bytes. `imported` is the graph before all passes.
pub fn advise(imported: &Graph, compiled: &Compiled) -> Vec<Advice> {
    let target = compiled.options.target();
    let mut all = float::edges(imported, compiled);
    all.extend(float::islands(compiled));
    all.extend(float::whole(compiled));
    all.extend(kernels::advise(compiled));
    all.extend(leftovers::advise(compiled));
    all.extend(padding::advise(compiled));
    all.extend(filters::advise(compiled));
    all.extend(rows::input(compiled));
    all.extend(rows::breaks(compiled));
    all.extend(branches::advise(compiled));
    all.extend(scaled::advise(compiled));
    let layers: u64 =
        compiled.graph.nodes().map(|(_, node)| cost::fast_layer(&compiled.graph, node, target)).sum();
    // Whoever names a package and its parameters does not choose the operators that these features consist of.
    all.retain(|advice| !advice.place.starts_with(ORIGIN));
    let mut all = merged(all);
    all.retain(|advice| advice.topic != Topic::Padding || advice.cycles >= layers / LEAST);
    all.sort_by(|a, b| (b.cycles, b.bytes, a.topic, &a.place).cmp(&(a.cycles, a.bytes, b.topic, &b.place)));
    all
}

/// How the origin of an operator begins that the option `features` puts in front of a model.
const ORIGIN: &str = "features ";

/// Padding that costs less than one in so many cycles of the layers is not worth a word.
const LEAST: u64 = 500;

/// What is the same of several ops is said once, of the first.
fn merged(all: Vec<Advice>) -> Vec<Advice> {
    let mut groups: Vec<(Advice, usize)> = Vec::new();
    for advice in all {
        let same = |(other, _): &&mut (Advice, usize)| {
            (other.topic, &other.what, &other.help) == (advice.topic, &advice.what, &advice.help)
        };
        match groups.iter_mut().find(same) {
            Some((first, more)) => {
                (first.cycles, first.bytes) = (first.cycles + advice.cycles, first.bytes + advice.bytes);
                *more += 1;
            }
            None => groups.push((advice, 0)),
        }
    }
    let named = |(advice, more): (Advice, usize)| match more {
        0 => advice,
        more => Advice { place: format!("{} and {more} more", advice.place), ..advice },
    };
    groups.into_iter().map(named).collect()
}

/// A node in words: `12 CONV_2D "model/conv"`.
fn place(graph: &Graph, node: &Node) -> String {
    let name = graph.value(node.result).label();
    match node.origin.is_empty() {
        true => format!("{} {name:?}", node.op.name()),
        false => format!("{} {name:?}", node.origin),
    }
}

/// Whether most of a model's layers are integer ones: then floats are strangers in it.
fn is_quantized(graph: &Graph) -> bool {
    let layers = graph.nodes().filter(|(_, node)| matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. }));
    let (float, integer): (Vec<_>, Vec<_>) =
        layers.partition(|(_, node)| graph.ty(node.result).dtype == kiln_ir::DType::F32);
    integer.len() > float.len()
}
