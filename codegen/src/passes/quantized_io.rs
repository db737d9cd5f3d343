//! Takes quantised inputs and outputs where the model converts them itself (`io = "quantized"`).
//!
//! Afterwards no input is read only by a QUANTIZE, and no output is written by a DEQUANTIZE: the integers on the other side of it
//! are the input or output. Callers ask for it; it changes the model's interface, never its arithmetic.

use crate::ir::{Graph, NodeId, Op, ValueDef, ValueId};

/// Drops conversions at the edges of a graph. Returns whether there were any.
pub fn run(graph: &mut Graph) -> bool {
    let inputs = drop_inputs(graph);
    let outputs = drop_outputs(graph);
    inputs | outputs
}

fn drop_inputs(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    let mut changed = false;
    for slot in 0..graph.inputs.len() {
        let input = graph.inputs[slot];
        let reads = |id: &NodeId| graph.node(*id).operands.contains(&input);
        let Some(reader) = graph.order.iter().copied().find(reads) else { continue };
        let node = graph.node(reader);
        if uses[input.0 as usize] != 1 || !matches!(node.op, Op::Quantize { .. }) {
            continue;
        }
        let stored = node.result;
        graph.order.retain(|&id| id != reader);
        graph.value_mut(stored).def = ValueDef::Input;
        let name = graph.value(input).name.clone();
        graph.value_mut(stored).name = name;
        graph.inputs[slot] = stored;
        // The two change places: the float becomes the result of the conversion, which nobody runs.
        graph.value_mut(input).def = ValueDef::Node(reader);
        let node = graph.node_mut(reader);
        (node.operands, node.result) = (vec![stored], input);
        changed = true;
    }
    changed
}

fn drop_outputs(graph: &mut Graph) -> bool {
    let dequantized = |graph: &Graph, id: ValueId| {
        let node = graph.node(graph.producer(id)?);
        matches!(node.op, Op::Dequantize {}).then(|| node.operands[0])
    };
    let mut changed = false;
    for slot in 0..graph.outputs.len() {
        if let Some(stored) = dequantized(graph, graph.outputs[slot]) {
            graph.outputs[slot] = stored;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Clamp, DType, Real, Rounding, Type};

    #[test]
    fn edges_become_integers() {
        let mut graph = Graph::new("edges");
        let float = Type::plain(DType::F32, &[4]);
        let stored = Type::quantized(DType::I8, &[4], 0.5, 3);
        let x = graph.add_input("x", float.clone());
        let q = graph.add_node(
            Op::Quantize { rounding: Rounding::Away },
            &[x],
            "q",
            stored.clone(),
            "0 QUANTIZE",
        );
        let clamp = Clamp::Int { lo: 3, hi: 127 };
        let r = graph.add_node(Op::Clip { clamp }, &[q], "r", stored.clone(), "1 RELU");
        let y = graph.add_node(Op::Dequantize {}, &[r], "y", float, "2 DEQUANTIZE");
        graph.outputs.push(y);
        assert!(run(&mut graph));
        assert_eq!(crate::verify::verify(&graph), Ok(()));
        assert_eq!(graph.inputs, [q]);
        assert_eq!(graph.value(q).def, ValueDef::Input);
        assert_eq!(graph.value(q).name, "x");
        assert_eq!(graph.outputs, [r]);
        assert!(!run(&mut graph), "nothing is left to do");
    }

    #[test]
    fn a_float_input_with_another_reader_stays() {
        let mut graph = Graph::new("kept");
        let float = Type::plain(DType::F32, &[4]);
        let x = graph.add_input("x", float.clone());
        let q = graph.add_node(
            Op::Quantize { rounding: Rounding::Away },
            &[x],
            "q",
            Type::quantized(DType::I8, &[4], 0.5, 3),
            "0 QUANTIZE",
        );
        let clamp = Clamp::Float { lo: Real(0.0), hi: Real(f32::INFINITY) };
        let r = graph.add_node(Op::Clip { clamp }, &[x], "r", float, "1 RELU");
        graph.outputs.extend([q, r]);
        assert!(!run(&mut graph));
        assert_eq!(graph.inputs, [x]);
    }
}
