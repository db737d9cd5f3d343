//! Spectra with a bias or an activation: afterwards no layer whose filters are waves has one, where a Fourier transform is faster. They are a sum behind it.
//!
//! Such a layer is computed as a transform, which has neither. Exact but for the rounding of the transform itself: a bias comes last in the layer, too.

use super::rewrite::{each_split, node_before};
use crate::ir::{AddRescale, Clamp, DType, Data, Graph, Layout, NodeId, Op, ValueId};
use crate::waves::Waves;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_split(graph, |graph, order, id| {
        let Some(clamp) = range(graph, id) else { return false };
        let bias = bias(graph, id);
        let node = graph.node(id);
        let (mut op, operands, ty) = (node.op.clone(), node.operands.clone(), graph.ty(node.result).clone());
        if let Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. } = &mut op {
            *clamp = Clamp::NO_FLOAT;
        }
        let spectrum = node_before(graph, order, id, op, operands.get(..2).unwrap_or_default(), ty);
        let node = graph.node_mut(id);
        (node.op, node.operands) = match bias {
            Some(bias) => (Op::Add { rescale: AddRescale::Real, clamp }, vec![spectrum, bias]),
            None => (Op::Clip { clamp }, vec![spectrum]),
        };
        true
    })
}

/// The bias of a layer, unless it is one of zeros.
fn bias(graph: &Graph, id: NodeId) -> Option<ValueId> {
    let bias = *graph.node(id).operands.get(2)?;
    let is_zero = |data: &Data| data.to_f32().iter().all(|&b| b == 0.0);
    (!graph.const_data(bias).is_some_and(is_zero)).then_some(bias)
}

/// The range of a layer that is a spectrum with a bias or an activation.
fn range(graph: &Graph, id: NodeId) -> Option<Clamp> {
    let node = graph.node(id);
    let clamp = match &node.op {
        Op::Conv2d { groups: 1, clamp, layout, .. } if *layout == Layout::default() => *clamp,
        Op::Dense { clamp, .. } => *clamp,
        _ => return None,
    };
    let floats = |ids: &[ValueId]| ids.iter().all(|&id| graph.ty(id).dtype == DType::F32);
    if (bias(graph, id).is_none() && clamp == Clamp::NO_FLOAT) || !floats(&node.operands) {
        return None;
    }
    let weights = graph.const_data(*node.operands.get(1)?)?;
    let filters = graph.ty(node.result).shape.last();
    Waves::of(weights, filters).filter(|waves| waves.is_faster(filters)).map(|_| clamp)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;
    use std::f64::consts::TAU;

    /// Cosines and sines of a transform of 64 numbers, without a window.
    fn waves() -> String {
        let wave = |o: usize, t: usize| {
            let angle = TAU * ((o / 2 * t) % 64) as f64 / 64.0;
            (if o % 2 == 0 { angle.cos() } else { -angle.sin() }) as f32
        };
        let all = (0..66).flat_map(|o| (0..64).map(move |t| (o, t)));
        all.map(|(o, t)| format!("{:?}", wave(o, t))).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn biases_and_activations_are_sums() {
        let waves = waves();
        rewrites(
            run,
            &format!(
                "input %x: f32[3,64]
                 const %w: f32[66,64] = [{waves}]
                 const %b: f32[66] = splat 0.5
                 %y: f32[3,66] = dense(%x, %w, %b) {{rescale = real, clamp = 0.0..=inf}}
                 %z: f32[3,66] = dense(%x, %w) {{rescale = real, clamp = 0.0..=6.0}}
                 return %y, %z"
            ),
            &format!(
                "input %x: f32[3,64]
                 const %w: f32[66,64] = [{waves}]
                 const %b: f32[66] = splat 0.5
                 %s: f32[3,66] = dense(%x, %w) {{rescale = real, clamp = -inf..=inf}}
                 %y: f32[3,66] = add(%s, %b) {{rescale = real, clamp = 0.0..=inf}}
                 %t: f32[3,66] = dense(%x, %w) {{rescale = real, clamp = -inf..=inf}}
                 %z: f32[3,66] = clip(%t) {{clamp = 0.0..=6.0}}
                 return %y, %z"
            ),
        );
    }

    #[test]
    fn other_layers_stay() {
        let numbers = (0..66 * 64).map(|i| format!("{}.0", i % 7)).collect::<Vec<_>>().join(", ");
        keeps(
            run,
            &format!(
                "input %x: f32[3,64]
                 const %w: f32[66,64] = [{numbers}]
                 const %s: f32[66,64] = [{}]
                 %y: f32[3,66] = dense(%x, %w) {{rescale = real, clamp = 0.0..=inf}}
                 const %none: f32[66] = splat 0.0
                 %z: f32[3,66] = dense(%x, %s, %none) {{rescale = real, clamp = -inf..=inf}}
                 return %y, %z",
                waves()
            ),
        );
    }
}
