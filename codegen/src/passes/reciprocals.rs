//! Quotients by powers of two: afterwards no float is divided by a constant of them. It is multiplied by their reciprocals.
//!
//! Exact: reciprocals of powers of two are floats, and both operations round the same number.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Binary, DType, Data, Graph, NodeId, Op, Rescale};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| multiplied(graph, id).map_or(Rewrite::Keep, |()| Rewrite::Changed))
}

fn multiplied(graph: &mut Graph, id: NodeId) -> Option<()> {
    let node = graph.node(id);
    let Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp } = node.op else { return None };
    let &[dividend, divisor] = node.operands.as_slice() else { return None };
    let ty = graph.ty(divisor).clone();
    let numbers = graph.const_data(divisor).filter(|_| ty.dtype == DType::F32)?.to_f32();
    // Of normal numbers whose reciprocals are normal, those without a fraction.
    let is_power = |x: &f32| x.is_normal() && x.recip().is_normal() && x.to_bits() & 0x007f_ffff == 0;
    if !numbers.iter().all(is_power) {
        return None;
    }
    let reciprocals: Vec<f32> = numbers.into_iter().map(f32::recip).collect();
    let name = graph.value(divisor).name.clone();
    let factor = graph.add_const(name, ty, Data::from_f32(&reciprocals));
    let node = graph.node_mut(id);
    (node.op, node.operands) = (Op::Mul { rescale: Rescale::Real, clamp }, vec![dividend, factor]);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn powers_of_two_have_exact_reciprocals() {
        rewrites_used(
            run,
            "input %x: f32[3]
             const %c: f32[3] = [2.0, -8.0, 0.25]
             %y: f32[3] = binary(%x, %c) {function = div, rescale = real, clamp = 0.0..=inf}
             return %y",
            "input %x: f32[3]
             const %c: f32[3] = [0.5, -0.125, 4.0]
             %y: f32[3] = mul(%x, %c) {rescale = real, clamp = 0.0..=inf}
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        keeps(
            run,
            "input %x: f32[2]
             const %c: f32[2] = [2.0, 3.0]
             const %d: f32[2] = [0.0, 2.0]
             const %e: f32[2] = [inf, 1.7014118e38]
             %a: f32[2] = binary(%x, %c) {function = div, rescale = real, clamp = -inf..=inf}
             %b: f32[2] = binary(%a, %d) {function = div, rescale = real, clamp = -inf..=inf}
             %y: f32[2] = binary(%b, %e) {function = div, rescale = real, clamp = -inf..=inf}
             return %y",
        );
    }
}
