//! Constants that operators of the file make of constants: weights that are sliced, joined, transposed or cast.
//!
//! Small ones are folded as they are met ([`NodeCx::add`](super::cx::NodeCx::add)). Larger ones stay nodes until somebody needs to know them, so that a file cannot ask for more than it holds.

use kiln_ir::{Data, Graph, Op, ValueId};
use std::collections::{BTreeMap, HashMap};

/// Most nodes behind a value.
const MOST_NODES: usize = 256;

/// Most multiply-adds of all of them, or elements read and written.
const MOST_WORK: usize = 1 << 24;

/// What all results may take beside four times the constants, in bytes.
const SLACK: usize = 16 << 10;

/// The elements of a value that follows from constants alone. `None` for what depends on an input or a state, and where it would take too much to compute.
pub(super) fn evaluated(graph: &Graph, value: ValueId) -> Option<Data> {
    let (mut nodes, mut constants) = (BTreeMap::new(), HashMap::new());
    let mut open = vec![value];
    while let Some(id) = open.pop() {
        if let Some(data) = graph.const_data(id) {
            constants.insert(id.0, data.bytes().len());
            continue;
        }
        let producer = graph.producer(id)?;
        let node = graph.node(producer);
        if nodes.insert(producer.0, node).is_none() {
            open.extend(&node.operands);
        }
        if nodes.len() > MOST_NODES {
            return None;
        }
    }
    let (mut work, mut bytes) = (0usize, 0usize);
    for node in nodes.values() {
        let ty = graph.ty(node.result);
        bytes = bytes.saturating_add(ty.bytes());
        let sizes = node.operands.iter().map(|&id| graph.ty(id).shape.numel());
        let result = ty.shape.numel();
        work = work.saturating_add(match moves_only(&node.op) {
            true => sizes.sum::<usize>().saturating_add(result),
            // Every element of the result may depend on all of an operand.
            false => sizes.max().unwrap_or(0).saturating_mul(result),
        });
    }
    let held = constants.values().sum::<usize>();
    if work > MOST_WORK || bytes > held.saturating_mul(4).saturating_add(SLACK) {
        return None;
    }
    let mut known: HashMap<u32, Data> = HashMap::new();
    // Operands have lower numbers than what reads them.
    for node in nodes.values() {
        let operands: Vec<_> = (node.operands.iter())
            .map(|&id| Some((graph.ty(id), graph.const_data(id).or_else(|| known.get(&id.0))?)))
            .collect::<Option<_>>()?;
        let data = kiln_interp::eval(&node.op, &operands, graph.ty(node.result)).ok()?;
        known.insert(node.result.0, data);
    }
    known.remove(&value.0).or_else(|| graph.const_data(value).cloned())
}

/// Whether an op looks at each element of its operands a bounded number of times.
fn moves_only(op: &Op) -> bool {
    !matches!(
        op,
        Op::Conv2d { .. }
            | Op::Dense { .. }
            | Op::DynamicConv2d { .. }
            | Op::DynamicDense { .. }
            | Op::MatMul { .. }
            | Op::AvgPool2d { .. }
            | Op::MaxPool2d { .. }
            | Op::LocalNormalize { .. }
            | Op::Lstm { .. }
            | Op::Gru { .. }
            | Op::Rnn { .. }
            | Op::Trees { .. }
            | Op::SquaredDistances { .. }
            | Op::Couple { .. }
            | Op::Signal { .. }
            | Op::TopK { .. }
            | Op::Custom { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_ir::{DType, Type};

    /// 6000 numbers, their columns exchanged with their rows, and of these the last row.
    fn chain() -> (Graph, ValueId, ValueId) {
        let mut graph = Graph::new("test");
        let ty = |dims: &[usize]| Type::plain(DType::F32, dims);
        let numbers: Vec<f32> = (0..6000).map(|k| k as f32).collect();
        let c = graph.add_const("c", ty(&[3000, 2]), Data::from_f32(&numbers));
        let x = graph.add_input("x", ty(&[2, 3000]));
        let turned =
            graph.add_node(Op::Transpose { perm: vec![1, 0] }, &[c], "t", ty(&[2, 3000]), "0 Transpose");
        let slice = Op::Slice { begin: vec![1, 0], step: vec![1, 1] };
        let row = graph.add_node(slice.clone(), &[turned], "r", ty(&[1, 3000]), "1 Slice");
        let own = graph.add_node(slice, &[x], "s", ty(&[1, 3000]), "2 Slice");
        (graph, row, own)
    }

    #[test]
    fn a_chain_of_constants_is_known() {
        let (graph, row, own) = chain();
        let odd: Vec<f32> = (0..3000).map(|k| (2 * k + 1) as f32).collect();
        assert_eq!(evaluated(&graph, row).map(|data| data.to_f32()), Some(odd));
        assert_eq!(evaluated(&graph, own), None);
    }

    #[test]
    fn what_grows_out_of_proportion_is_not() {
        let mut graph = Graph::new("test");
        let c = graph.add_const("c", Type::plain(DType::F32, &[1]), Data::from_f32(&[1.0]));
        let wide = Type::plain(DType::F32, &[1 << 16]);
        let y = graph.add_node(Op::Broadcast {}, &[c], "y", wide, "0 Expand");
        assert_eq!(evaluated(&graph, y), None);
    }
}
