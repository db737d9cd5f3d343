//! Functions of one element.

use super::quantize_of;
use crate::interp;
use crate::ir::{Data, Graph, NodeId, Op, Type, ValueId};
use std::collections::BTreeMap;

/// Most ops that become one table.
const LARGEST: usize = 64;

/// Makes tables of what stands between DEQUANTIZEs of one 8-bit tensor and a QUANTIZE to 8 bits, if it is more than one of each and more than a chain (of which
/// [`lower_tables`](super::super::lower_tables) makes a table in the end).
pub(super) fn run(graph: &mut Graph) -> bool {
    let mut changed = false;
    for id in graph.order.clone() {
        if let Some((source, table)) = tabulated(graph, id) {
            let result = graph.node(id).result;
            let ty = Type::plain(graph.ty(result).dtype, &[256]);
            let name = format!("{}_table", graph.value(result).name);
            let table = graph.add_const(name, ty, table);
            let node = graph.node_mut(id);
            (node.op, node.operands) = (Op::Lookup {}, vec![source, table]);
            changed = true;
        }
    }
    changed
}

/// The 8-bit tensor that a quantised one is a function of, element by element, and the function's table.
fn tabulated(graph: &Graph, id: NodeId) -> Option<(ValueId, Data)> {
    let (float, ty) = quantize_of(graph, id)?;
    if ty.dtype.size() != 1 {
        return None;
    }
    let mut cone = Cone { graph, source: None, order: Vec::new(), values: BTreeMap::new() };
    cone.visit(float)?;
    let source = cone.source?;
    // A conversion of scales alone, and chains, are left to others, which know more of them.
    let reads = cone.order.iter().map(|&node| graph.node(node).operands.iter());
    let twice = reads.flatten().filter(|&&operand| super::stored(graph, operand) == Some(source)).count() > 1;
    if !twice || graph.ty(source).shape != ty.shape {
        return None;
    }
    let mut known: BTreeMap<ValueId, (Type, Data)> = BTreeMap::new();
    let all = Data::new((0..=255).collect::<Vec<u8>>());
    known.insert(source, (graph.ty(source).with_shape(&[256]), all));
    for node in cone.order.iter().map(|&node| graph.node(node)).chain([graph.node(id)]) {
        let given = node.operands.iter().map(|operand| match known.get(operand) {
            Some((ty, data)) => Some((ty.clone(), data.clone())),
            None => uniform(graph, *operand),
        });
        let given = given.collect::<Option<Vec<_>>>()?;
        let given: Vec<(&Type, &Data)> = given.iter().map(|(ty, data)| (ty, data)).collect();
        let ty = graph.ty(node.result).with_shape(&[256]);
        let data = interp::eval(&node.op, &given, &ty).ok()?;
        known.insert(node.result, (ty, data));
    }
    known.remove(&graph.node(id).result).map(|(_, table)| (source, table))
}

/// What a value is computed from.
struct Cone<'g> {
    graph: &'g Graph,
    source: Option<ValueId>,
    /// Nodes, operands first.
    order: Vec<NodeId>,
    values: BTreeMap<ValueId, ()>,
}

impl Cone<'_> {
    /// Takes up the node that computes a value, and those before it; `None` where the value is no function of one 8-bit element.
    fn visit(&mut self, id: ValueId) -> Option<()> {
        if self.values.contains_key(&id) || uniform(self.graph, id).is_some() {
            return Some(());
        }
        let of = self.graph.producer(id)?;
        let node = self.graph.node(of);
        if self.order.len() >= LARGEST {
            return None;
        }
        match node.op {
            Op::Dequantize {} => {
                let from = super::stored(self.graph, id)?;
                let first = *self.source.get_or_insert(from);
                if first != from || self.graph.ty(from).dtype.size() != 1 {
                    return None;
                }
            }
            Op::Add { .. }
            | Op::Sub { .. }
            | Op::Mul { .. }
            | Op::Binary { .. }
            | Op::Unary { .. }
            | Op::Clip { .. }
            | Op::LeakyRelu { .. }
            | Op::Logistic {}
            | Op::Tanh {} => {
                for &operand in &node.operands {
                    self.visit(operand)?;
                }
            }
            _ => return None,
        }
        self.values.insert(id, ());
        self.order.push(of);
        Some(())
    }
}

/// The one number of a constant, as a tensor of one element.
fn uniform(graph: &Graph, id: ValueId) -> Option<(Type, Data)> {
    let (ty, data) = (graph.ty(id), graph.const_data(id)?);
    let size = ty.dtype.size();
    let first = data.bytes().get(..size)?;
    let same = ty.quant.is_none() && data.bytes().chunks(size).all(|element| element == first);
    same.then(|| (ty.with_shape(&[1]), Data::new(first)))
}
