//! Factors and summands of channels become part of the float layer before them: afterwards no product or sum with constants of channels (as a batch normalisation is)
//! reads a convolution or matrix product without activation that nothing else reads.
//!
//! On floats this rounds otherwise than the graph before, by at most two units in the last place of each weight and bias: products and sums of constants are rounded
//! when the model is compiled.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{AddRescale, DType, Data, Graph, NodeId, Op, Rescale, Type, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_node(graph, |graph, id| match folded(graph, &uses, id) {
        Some(Folded { op, operands }) => {
            let operands: Vec<ValueId> = operands
                .into_iter()
                .map(|operand| match operand {
                    Operand::Value(value) => value,
                    Operand::New(name, ty, data) => graph.add_const(name, ty, data),
                })
                .collect();
            let node = graph.node_mut(id);
            (node.op, node.operands) = (op, operands);
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

struct Folded {
    op: Op,
    operands: Vec<Operand>,
}

enum Operand {
    Value(ValueId),
    New(&'static str, Type, Data),
}

/// What is done with the layer's results.
#[derive(Clone, Copy)]
enum Step {
    Times,
    Plus,
}

fn folded(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Folded> {
    let node = graph.node(id);
    let (step, clamp) = match &node.op {
        Op::Mul { rescale: Rescale::Real, clamp } => (Step::Times, *clamp),
        Op::Add { rescale: AddRescale::Real, clamp } => (Step::Plus, *clamp),
        _ => return None,
    };
    let &[a, b] = node.operands.as_slice() else { return None };
    let (layer, constant) = if graph.const_data(b).is_some() { (a, b) } else { (b, a) };
    let numbers = graph.const_data(constant)?;
    if graph.ty(constant).dtype != DType::F32 || uses.get(layer.0 as usize) != Some(&1) {
        return None;
    }
    let producer = graph.node(graph.producer(layer)?);
    let mut op = producer.op.clone();
    match &mut op {
        Op::Conv2d { rescale: Rescale::Real, clamp: own, .. }
        | Op::Dense { rescale: Rescale::Real, clamp: own }
            if own.holds_finite() =>
        {
            *own = clamp;
        }
        _ => return None,
    }
    let (result, dims) = (graph.ty(node.result), graph.ty(constant).shape.dims());
    let channels = result.shape.last();
    // One number, or one for each index of the last axis.
    let along_last = dims.iter().rev().skip(1).all(|&dim| dim == 1);
    let numbers = numbers.to_f32();
    if result.shape != graph.ty(layer).shape || !along_last || ![1, channels].contains(&numbers.len()) {
        return None;
    }
    let number = |o: usize| numbers.get(if numbers.len() == 1 { 0 } else { o }).copied().unwrap_or(0.0);
    let (&x, &w) = (producer.operands.first()?, producer.operands.get(1)?);
    let weights = graph.const_data(w)?.to_f32();
    let bias = match producer.operands.get(2) {
        Some(&bias) => graph.const_data(bias)?.to_f32(),
        None => vec![0.0; channels],
    };
    let taps = weights.len().checked_div(channels)?.max(1);
    let (weights, bias): (Option<Vec<f32>>, Vec<f32>) = match step {
        Step::Times => (
            Some(weights.iter().enumerate().map(|(i, w)| w * number(i / taps)).collect()),
            bias.iter().enumerate().map(|(o, b)| b * number(o)).collect(),
        ),
        Step::Plus => (None, bias.iter().enumerate().map(|(o, b)| b + number(o)).collect()),
    };
    let weights = match weights {
        Some(weights) => Operand::New("weights", graph.ty(w).clone(), Data::from_f32(&weights)),
        None => Operand::Value(w),
    };
    let bias = Operand::New("bias", Type::plain(DType::F32, &[channels]), Data::from_f32(&bias));
    Some(Folded { op, operands: vec![Operand::Value(x), weights, bias] })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn factors_and_summands_of_channels() {
        rewrites_used(
            run,
            "input %x: f32[1,3]
             const %w: f32[2,3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
             const %b: f32[2] = [0.5, -0.5]
             const %f: f32[2] = [2.0, 4.0]
             const %s: f32[1,2] = [1.0, 3.0]
             %d: f32[1,2] = dense(%x, %w, %b) {rescale = real, clamp = -inf..=inf}
             %p: f32[1,2] = mul(%d, %f) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,2] = add(%s, %p) {rescale = real, clamp = 0.0..=6.0}
             return %y",
            "input %x: f32[1,3]
             const %w \"weights\": f32[2,3] = [2.0, 4.0, 6.0, 16.0, 20.0, 24.0]
             const %b \"bias\": f32[2] = [2.0, 1.0]
             %y: f32[1,2] = dense(%x, %w, %b) {rescale = real, clamp = 0.0..=6.0}
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        // Another axis, an activation in between, another reader.
        keeps(
            run,
            "input %x: f32[2,3]
             const %w: f32[2,3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
             const %f: f32[2,1] = [2.0, 4.0]
             const %s: f32[2] = [1.0, 3.0]
             %d: f32[2,2] = dense(%x, %w) {rescale = real, clamp = -inf..=inf}
             %p: f32[2,2] = mul(%d, %f) {rescale = real, clamp = -inf..=inf}
             %r: f32[2,2] = dense(%x, %w) {rescale = real, clamp = 0.0..=inf}
             %y: f32[2,2] = add(%r, %s) {rescale = real, clamp = -inf..=inf}
             %q: f32[2,2] = dense(%x, %w) {rescale = real, clamp = -inf..=6.0}
             return %p, %y, %q",
        );
    }
}
