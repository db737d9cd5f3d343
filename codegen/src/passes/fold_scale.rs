//! Factors and summands of channels become part of the float layer before them: afterwards no product or sum with constants of channels (as a batch normalisation is)
//! reads a convolution or matrix product without activation that nothing else reads. One factor of a product of two computed matrices (as of attention's scores)
//! becomes part of the layer that computes one of them.
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
        None => scores(graph, &uses, id).map_or(Rewrite::Keep, Rewrite::Same),
    })
}

/// The product of two matrices that is left of one factor of it: the factor is in the weights of the layer behind an operand.
fn scores(graph: &mut Graph, uses: &[usize], id: NodeId) -> Option<ValueId> {
    let only = |value: ValueId| uses.get(value.0 as usize) == Some(&1);
    let node = graph.node(id);
    let Op::Mul { rescale: Rescale::Real, clamp } = node.op else { return None };
    let &[a, b] = node.operands.as_slice() else { return None };
    let (product, constant) = if graph.const_data(b).is_some() { (a, b) } else { (b, a) };
    let &[factor] = graph.const_data(constant)?.to_f32().as_slice() else { return None };
    let producer = graph.producer(product)?;
    let matmul = graph.node(producer);
    let Op::MatMul { rescale: Rescale::Real, clamp: own } = &matmul.op else { return None };
    if !own.holds_finite() || !only(product) || graph.ty(node.result) != graph.ty(product) {
        return None;
    }
    let layer = matmul.operands.iter().find_map(|&operand| {
        let mut at = operand;
        loop {
            let layer = graph.producer(at).filter(|_| only(at))?;
            match &graph.node(layer).op {
                Op::Transpose { .. } | Op::Reshape {} => at = *graph.node(layer).operands.first()?,
                Op::Dense { rescale: Rescale::Real, clamp } if clamp.holds_finite() => return Some(layer),
                _ => return None,
            }
        }
    })?;
    let layer_node = graph.node(layer);
    let x = *layer_node.operands.first()?;
    let mut operands = vec![x];
    let mut constants = Vec::new();
    for (&operand, name) in layer_node.operands.iter().skip(1).zip(["weights", "bias"]) {
        let numbers: Vec<f32> = graph.const_data(operand)?.to_f32().iter().map(|w| w * factor).collect();
        constants.push((name, graph.ty(operand).clone(), Data::from_f32(&numbers)));
    }
    operands.extend(constants.into_iter().map(|(name, ty, data)| graph.add_const(name, ty, data)));
    graph.node_mut(layer).operands = operands;
    graph.node_mut(producer).op = Op::MatMul { rescale: Rescale::Real, clamp };
    Some(product)
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
    fn factors_of_scores() {
        let graph = |factor: &str, weights: &str, bias: &str| {
            format!(
                "input %x: f32[2,2]
                 const %w{weights}
                 const %b{bias}
                 {factor}
                 %d: f32[2,2] = dense(%x, %w, %b) {{rescale = real, clamp = -inf..=inf}}
                 %t: f32[2,2] = transpose(%d) {{perm = [1, 0]}}
                 %m: f32[2,2] = matmul(%x, %t) {{rescale = real, clamp = -inf..=inf}}"
            )
        };
        let before =
            graph("const %f: f32[] = [0.5]", ": f32[2,2] = [1.0, 2.0, 3.0, 4.0]", ": f32[2] = [0.5, -0.5]");
        rewrites_used(
            run,
            &format!(
                "{before}\n%y: f32[2,2] = mul(%m, %f) {{rescale = real, clamp = -inf..=inf}}\nreturn %y"
            ),
            &format!(
                "{}\nreturn %m",
                graph(
                    "",
                    " \"weights\": f32[2,2] = [0.5, 1.0, 1.5, 2.0]",
                    " \"bias\": f32[2] = [0.25, -0.25]"
                )
            ),
        );
        // Another reader of the layer's result.
        keeps(
            run,
            &format!(
                "{before}\n%y: f32[2,2] = mul(%m, %f) {{rescale = real, clamp = -inf..=inf}}\nreturn %y, %d"
            ),
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
