//! Writer of ONNX models: a graph of floats as a file that other tools read.
//!
//! [`onnx`] is the whole way. What is written means what the graph means; quantised values are written as `QuantizeLinear` and `DequantizeLinear` around
//! operators on floats (QDQ), which is how tools exchange quantised models. Inputs and outputs keep their names and shapes.
//!
//! Images are channel-last in the graph and channel-first in ONNX. The writer keeps for each image the order in which it has it already (`tensors`), and transposes only
//! where another one is needed: a convolution behind a convolution needs no transpose, nor does what lies between them element by element.

mod images;
mod model;
mod movement;
mod numbers;
mod tensors;
mod wire;

use kiln_ir::error::Problem;
use kiln_ir::{Graph, Node, NodeId, Op, ValueDef};
use std::fmt;
use tensors::Writer;

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether quantised weights, all of which are between −8 and 7, are written with 4 bits.
    pub narrow_weights: bool,
}

/// Why a graph cannot be written: every node that has no form in ONNX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(pub Vec<Problem>);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this model cannot be written as ONNX:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
    }
}

impl std::error::Error for Unwritable {}

/// Why a node is not written: what, and the way out.
type Refused = (String, &'static str);

/// What becomes of a node.
type Written = Result<(), Refused>;

/// Writes a verified graph as an ONNX file.
///
/// # Errors
/// [`Unwritable`] lists what has no form there: integer arithmetic, state, functions of other frameworks.
pub fn onnx(graph: &Graph, settings: &Settings) -> Result<Vec<u8>, Unwritable> {
    let mut problems = Vec::new();
    for state in &graph.states {
        problems.push(Problem {
            place: format!("state \"{}\"", state.name),
            what: "a file has no state that is kept from one run to the next".into(),
            help: "give the state as an input and an output".into(),
        });
    }
    if problems.is_empty() {
        let mut writer = Writer::new(graph, *settings);
        for (id, node) in graph.nodes() {
            if let Err((what, help)) = writer.write(id) {
                problems.push(Problem { place: place(graph, node), what, help: help.into() });
            }
        }
        if problems.is_empty() {
            return Ok(writer.finish());
        }
    }
    Err(Unwritable(problems))
}

fn place(graph: &Graph, node: &Node) -> String {
    format!("operator {} \"{}\"", node.origin, graph.value(node.result).label())
}

impl Writer<'_> {
    /// Writes one node.
    fn write(&mut self, id: NodeId) -> Written {
        let node = self.graph.node(id).clone();
        if !node.operands.iter().all(|&operand| self.is_written(operand)) {
            // Of what was refused already; nothing more to say.
            return Ok(());
        }
        self.model.hint = self.graph.value(node.result).label().to_owned();
        let result = node.result;
        match &node.op {
            Op::Conv2d { window, groups, clamp, .. } => self.conv(&node, window, *groups, clamp),
            Op::ComputedConv2d { window, groups, clamp, .. } => self.conv(&node, window, *groups, clamp),
            Op::AvgPool2d { window, clamp } => self.pool(&node, "AveragePool", window, clamp),
            Op::MaxPool2d { window, clamp } => self.pool(&node, "MaxPool", window, clamp),
            Op::ResizeBilinear { align_corners, half_pixel } => {
                self.resize(&node, *align_corners, *half_pixel)
            }
            Op::Dense { clamp, .. } => self.dense(&node, clamp),
            Op::MatMul { clamp, .. } => self.product(&node, clamp),
            Op::Add { clamp, .. } => self.pair(&node, "Add", clamp),
            Op::Sub { clamp, .. } => self.pair(&node, "Sub", clamp),
            Op::Mul { clamp, .. } => self.pair(&node, "Mul", clamp),
            Op::Binary { function, clamp, .. } => self.binary(&node, *function, clamp),
            Op::Compare { function, .. } => self.comparison(&node, *function),
            Op::Select {} => self.select(&node),
            Op::Clip { clamp } => self.clip(&node, clamp),
            Op::LeakyRelu { alpha, .. } => self.leaky_relu(&node, alpha.0),
            Op::Unary { function } => self.unary(&node, *function),
            Op::Logistic {} => self.each(&node, "Sigmoid"),
            Op::Tanh {} => self.each(&node, "Tanh"),
            Op::Cast {} => self.cast(&node),
            Op::Softmax { beta, .. } => self.softmax(&node, "Softmax", beta.0),
            Op::LogSoftmax { .. } => self.softmax(&node, "LogSoftmax", 1.0),
            Op::Mean { axes, clamp, .. } => self.reduced(&node, "ReduceMean", axes, clamp),
            Op::Reduce { function, axes, .. } => self.reduce(&node, *function, axes),
            Op::ArgReduce { axis, largest } => self.arg_reduce(&node, *axis, *largest),
            Op::CumSum { axis, exclusive, reverse } => self.cumsum(&node, *axis, *exclusive, *reverse),
            Op::Gather { batch, axis, depth } => self.gather(&node, *batch, *axis, *depth),
            Op::Broadcast {} => self.broadcast(&node),
            Op::Pad { before, after, value } => self.pad(&node, before, after, *value),
            Op::Concat { axis } => self.concat(&node, *axis),
            Op::Slice { begin, step } => self.slice(&node, begin, step),
            Op::Transpose { perm } => self.transpose(&node, perm),
            Op::Reshape {} => self.reshape(&node),
            Op::Quantize { .. } => self.quantize(&node),
            Op::Dequantize {} => self.dequantize(&node),
            _ => Err(no_form(&node)),
        }?;
        debug_assert!(self.is_written(result) || matches!(node.op, Op::Dequantize {}));
        Ok(())
    }

    /// Whether there is a tensor of the value, or can be.
    fn is_written(&self, value: kiln_ir::ValueId) -> bool {
        matches!(self.graph.value(value).def, ValueDef::Const(_))
            || self.has_any(value)
            || self.quantised_constant(value).is_some()
    }
}

/// For ops that are not written.
fn no_form(node: &Node) -> Refused {
    (format!("`{}` is not written", node.op.name()), "give a float model without it")
}
