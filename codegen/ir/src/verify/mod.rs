//! The verifier: what every stage of the compiler may rely on.
//!
//! [`verify`] runs after the reader and after every pass; [`interp`](../kiln_interp/index.html) asks for the same of each op it
//! evaluates, so that it never meets one that it would misread.
//!
//! # Checked
//!
//! The graph:
//! - Handles name values and nodes of this graph.
//! - SSA: a node is evaluated at most once, after everything it uses; a live value's definition and its place in
//!   inputs, states or nodes agree. Every input and state value is listed, once.
//! - Types are well formed: at least one element (unused constants aside), at most 2³¹ − 1 bytes; scales positive and finite, as many
//!   as zero points and as the axis has indices (one without an axis); zero points within the element's range; no
//!   quantisation on floats and bools.
//! - Data of constants and states has the length of its type; a state's next value has its element and shape.
//!
//! Every op, by the rules in its row of the op table (`rules/`):
//! - The number of operands is that of the op table.
//! - Shapes agree: windows fit and their size is the weights'; groups divide; every pooling window holds an element of the
//!   image; broadcasts are legal; reductions, slices, pads, concats and permutations give the result's shape.
//! - Element types agree. Integer arithmetic has quantisation where zero points come from it, per tensor for activations and
//!   per tensor or along the first axis for weights; ops that copy stored values have equal quantisation on both sides (a
//!   reshape aside, which may reinterpret). Logistic, tanh and softmax have the result scale their arithmetic implies.
//! - Attributes are in range: strides and dilations from 1, clamps of the result's kind and within its elements, as many
//!   multipliers as output channels (or one), mantissas and shifts as documented in [`Multiplier`](crate::Multiplier).
//!
//! # Not checked
//!
//! - That multipliers correspond to the scales in the types: a reader of a format states its own rounding.
//! - That integer accumulators do not overflow (they wrap).
//! - That floats among data and attributes are finite.
//! - Names and origins.

mod graph;

use crate::error::Error;
use crate::rules::types;
use crate::{Graph, Op, Type};
use std::fmt;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: `%12 "sum" = add (3 ADD)`, `state %4 "history"`; empty for the graph as a whole.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)
    }
}

/// Checks every invariant, and reports all that are broken.
pub fn verify(graph: &Graph) -> Result<(), Vec<Violation>> {
    let mut violations = graph::check_references(graph);
    // What follows looks values up.
    if violations.is_empty() {
        violations.extend(graph::check_values(graph));
        for (id, node) in graph.nodes() {
            let operands: Vec<&Type> = node.operands.iter().map(|&operand| graph.ty(operand)).collect();
            let problems = check_op(&node.op, &operands, graph.ty(node.result));
            let place = || graph::node_place(graph, id);
            violations.extend(problems.into_iter().map(|what| Violation { place: place(), what }));
        }
    }
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations)
    }
}

/// As [`verify`], for the graph that a stage of the compiler made.
///
/// # Errors
/// [`Error::Internal`] of that stage, with everything that is broken.
pub fn after_stage(stage: &str, graph: &Graph) -> Result<(), Error> {
    verify(graph).map_err(|violations| {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        Error::internal(stage, list.join("; "))
    })
}

/// Checks one op against the types of its operands and of its result, which are checked as types too.
pub fn check_op(op: &Op, operands: &[&Type], result: &Type) -> Vec<String> {
    let (min, max) = op.info().operands;
    if operands.len() < min || operands.len() > max {
        let range = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        return vec![format!("has {} operands, {range} wanted", operands.len())];
    }
    let mut problems = Vec::new();
    for (i, ty) in operands.iter().enumerate() {
        let what = |problem| format!("operand {i} of type {ty}: {problem}");
        problems.extend(types::check_type(ty, true).err().map(what));
    }
    let what = |problem| format!("result of type {result}: {problem}");
    problems.extend(types::check_type(result, true).err().map(what));
    // The rules below rely on well-formed types.
    if problems.is_empty() {
        problems.extend(op.check_shapes(operands, result).err());
        problems.extend(op.check_types(operands, result).err());
    }
    problems
}

#[cfg(test)]
mod tests;
