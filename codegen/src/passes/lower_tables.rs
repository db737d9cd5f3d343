//! Tables for 8-bit arithmetic: afterwards no op that maps each 8-bit element to an 8-bit element is left, but `lookup`.
//!
//! Such an op may be a chain through another element type (`quantize(tanh(dequantize(x)))`), and an operand that is the same
//! number everywhere is part of the function. The table is the [interpreter](crate::interp)'s result for each of the 256
//! stored values, so that it is exact. A lookup of a lookup becomes one; a table that changes nothing goes.

use super::rewrite::{each_node, Rewrite};
use crate::interp;
use crate::ir::{Data, Graph, Node, NodeId, Op, Type, ValueId};

/// The longest chain that becomes one table.
const LONGEST: usize = 32;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut uses = graph.use_counts();
    each_node(graph, |graph, id| {
        let Some((source, table)) = tabulate(graph, &uses, id) else { return Rewrite::Keep };
        let result = graph.node(id).result;
        let ty = graph.ty(result);
        if ty == graph.ty(source) && is_identity(&table) {
            uses[source.0 as usize] += uses[result.0 as usize];
            return Rewrite::Same(source);
        }
        if ty.dtype == graph.ty(source).dtype && is_identity(&table) {
            // The same stored values, read with another scale: a view.
            uses[source.0 as usize] += 1;
            let node = graph.node_mut(id);
            node.op = Op::Reshape {};
            node.operands = vec![source];
            return Rewrite::Changed;
        }
        let table_type = Type::plain(ty.dtype, &[256]);
        let name = format!("{}_table", graph.value(result).name);
        let table = graph.add_const(name, table_type, Data::new(table));
        uses[source.0 as usize] += 1;
        uses.push(1);
        let node = graph.node_mut(id);
        node.op = Op::Lookup {};
        node.operands = vec![source, table];
        Rewrite::Changed
    })
}

/// The 8-bit value that a node's 8-bit result is a function of, element by element, and the function. `None` where there is nothing to
/// gain: the node is a lookup already, and what it looks up is no lookup of its own.
fn tabulate(graph: &Graph, uses: &[usize], id: NodeId) -> Option<(ValueId, Vec<u8>)> {
    let mut chain = Vec::new();
    let mut next = id;
    let source = loop {
        let node = graph.node(next);
        let operand = variable_operand(graph, node)?;
        chain.push((next, operand));
        let value = node.operands[operand];
        let inner = graph.producer(value).filter(|&p| is_table(graph, p) && uses[value.0 as usize] == 1);
        match inner {
            // One table for two. Only where the inner one then is not needed: a table has its price.
            Some(inner) => next = inner,
            None if graph.ty(value).dtype.size() == 1 => break value,
            None => next = graph.producer(value)?,
        }
        if chain.len() > LONGEST {
            return None;
        }
    };
    if graph.ty(graph.node(id).result).dtype.size() != 1 || (chain.len() == 1 && is_table(graph, id)) {
        return None;
    }
    let mut data = Data::new((0..=255).collect::<Vec<u8>>());
    for &(id, operand) in chain.iter().rev() {
        data = apply(graph, graph.node(id), operand, &data)?;
    }
    Some((source, data.bytes().to_vec()))
}

fn is_table(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id).op, Op::Lookup {})
}

fn is_identity(table: &[u8]) -> bool {
    table.iter().enumerate().all(|(i, &y)| i == usize::from(y))
}

/// The index of the operand that an elementwise node is a function of, if all others are constants, the same number everywhere, and do
/// not make the result larger.
fn variable_operand(graph: &Graph, node: &Node) -> Option<usize> {
    let operand = match node.op {
        Op::Clip { .. } | Op::LeakyRelu { .. } | Op::Logistic {} | Op::Tanh {} => 0,
        Op::Quantize { .. } | Op::Dequantize {} | Op::Requantize { .. } | Op::Lookup {} => 0,
        Op::Unary { .. } => 0,
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. } => {
            let constant = node.operands.iter().position(|&id| uniform(graph, id).is_some())?;
            1 - constant
        }
        _ => return None,
    };
    let types = [graph.ty(*node.operands.get(operand)?), graph.ty(node.result)];
    let per_tensor = |ty: &Type| ty.quant.as_ref().is_none_or(|q| q.axis.is_none());
    let same_shape = types[0].shape == types[1].shape;
    (same_shape && types.into_iter().all(per_tensor) && graph.const_data(node.operands[operand]).is_none())
        .then_some(operand)
}

/// The one element of a constant whose elements are all the same.
fn uniform(graph: &Graph, id: ValueId) -> Option<Data> {
    let data = graph.const_data(id)?.bytes();
    let size = graph.ty(id).dtype.size();
    let first = data.get(..size)?;
    data.chunks(size).all(|element| element == first).then(|| Data::new(first))
}

/// The result of a node for 256 values of its variable operand.
fn apply(graph: &Graph, node: &Node, operand: usize, data: &Data) -> Option<Data> {
    let table = |ty: &Type| ty.with_shape(&[256]);
    let given = node.operands.iter().enumerate().map(|(k, &id)| {
        let ty = graph.ty(id);
        match node.op {
            _ if k == operand => Some((table(ty), data.clone())),
            Op::Lookup {} => Some((ty.clone(), graph.const_data(id)?.clone())),
            _ => Some((ty.with_shape(&[1]), uniform(graph, id)?)),
        }
    });
    let given: Vec<(Type, Data)> = given.collect::<Option<_>>()?;
    let given: Vec<(&Type, &Data)> = given.iter().map(|(ty, data)| (ty, data)).collect();
    interp::eval(&node.op, &given, &table(graph.ty(node.result))).ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, keeps, parse, rewrites};
    use super::*;

    fn lookups(lines: &str) -> Graph {
        let before = parse(lines);
        let mut graph = before.clone();
        assert!(run(&mut graph), "the pass did not fire on\n{before}");
        assert_equivalent(&before, &graph);
        assert!(!run(&mut graph), "the pass fires twice: {graph}");
        super::super::dce::run(&mut graph);
        graph
    }

    fn ops(graph: &Graph) -> Vec<&'static str> {
        graph.nodes().map(|(_, node)| node.op.name()).collect()
    }

    #[test]
    fn activations_become_tables() {
        let graph = lookups(
            "input %x: i8[2,3] q(0.1 : -3)
             %a: i8[2,3] q(0.00390625 : -128) = logistic(%x)
             %b: i8[2,3] q(0.0078125 : 0) = tanh(%x)
             %c: i8[2,3] q(0.1 : -3) = clip(%x) {clamp = -3..=57}
             %d: i8[2,3] q(0.2 : 5) = requantize(%x) {rescale = [1073741824 * 2^0], clamp = -128..=127}
             %e: i8[2,3] q(0.1 : -3) = leaky_relu(%x) {alpha = 0.5, rescale = (identity 1073741824 * 2^1, alpha 1073741824 * 2^0)}
             return %a, %b, %c, %d, %e",
        );
        assert_eq!(ops(&graph), ["lookup"; 5]);
    }

    #[test]
    fn chains_become_one_table() {
        let graph = lookups(
            "input %x: i8[6] q(0.1 : -3)
             const %two: f32[1] = [2.0]
             %r: f32[6] = dequantize(%x)
             %d: f32[6] = mul(%r, %two) {rescale = real, clamp = -inf..=inf}
             %t: f32[6] = tanh(%d)
             %q: i8[6] q(0.0078125 : 0) = quantize(%t)
             %c: i8[6] q(0.0078125 : 0) = clip(%q) {clamp = 0..=127}
             return %c",
        );
        assert_eq!(ops(&graph), ["lookup"]);
    }

    #[test]
    fn constant_operands_are_part_of_the_function() {
        let graph = lookups(
            "input %x: i8[6] q(0.1 : -3)
             const %k: i8[1] q(0.1 : 0) = [20]
             %y: i8[6] q(0.1 : -3) = mul(%k, %x) {rescale = [1073741824 * 2^-3], clamp = -128..=127}
             return %y",
        );
        assert_eq!(ops(&graph), ["lookup"]);
    }

    #[test]
    fn exact_round_trips_vanish() {
        rewrites(
            run,
            "input %x: i8[6] q(0.1 : -3)
             %r: f32[6] = dequantize(%x)
             %q: i8[6] q(0.1 : -3) = quantize(%r)
             return %q",
            "input %x: i8[6] q(0.1 : -3)
             %r: f32[6] = dequantize(%x)
             return %x",
        );
    }

    #[test]
    fn the_same_bytes_under_another_scale_are_a_view() {
        let graph = lookups(
            "input %x: i8[6] q(0.1 : -3)
             %q: i8[6] q(0.2 : -3) = requantize(%x) {rescale = [1073741824 * 2^1], clamp = -128..=127}
             return %q",
        );
        assert_eq!(ops(&graph), ["reshape"]);
    }

    #[test]
    fn a_table_that_others_need_is_not_merged() {
        let graph = lookups(
            "input %x: i8[6] q(0.1 : -3)
             %a: i8[6] q(0.0078125 : 0) = tanh(%x)
             %b: i8[6] q(0.0078125 : 0) = clip(%a) {clamp = 0..=127}
             return %a, %b",
        );
        assert_eq!(ops(&graph), ["lookup"; 2]);
        assert_eq!(graph.nodes().nth(1).map(|(_, n)| n.operands[0]), Some(graph.outputs[0]));
    }

    #[test]
    fn wider_types_and_broadcasts_stay() {
        keeps(
            run,
            "input %x: f32[2]
             input %z: i8[1] q(0.1 : 0)
             const %k: i8[2] q(0.1 : 0) = [20, 20]
             const %v: i8[1] q(0.1 : 0) = [20]
             %a: f32[2] = tanh(%x)
             %q: i8[2] q(0.5 : 0) = quantize(%a)
             %y: i8[2] q(0.1 : -3) = mul(%z, %k) {rescale = [1073741824 * 2^-3], clamp = -128..=127}
             return %q, %y",
        );
    }
}
