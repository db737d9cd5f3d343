//! Hard swish written out: afterwards no float graph has x · (min(max(x + 3, 0), 6) / 6), in whatever order the factors are. It has one op.
//!
//! On floats this rounds otherwise than the graph before, by one unit in the last place, where the product and the quotient were in another order.

use super::rewrite::{each_node, first_producer, producer, Rewrite};
use crate::ir::{AddRescale, Binary, Clamp, DType, Graph, Node, NodeId, Op, Rescale, Unary, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| match operand(graph, id) {
        Some(x) => {
            let node = graph.node_mut(id);
            (node.op, node.operands) = (Op::Unary { function: Unary::HardSwish }, vec![x]);
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

/// The only number of a constant of floats.
fn number(graph: &Graph, value: ValueId) -> Option<f32> {
    let ty = graph.ty(value);
    let data = graph.const_data(value).filter(|_| ty.dtype == DType::F32 && ty.shape.numel() == 1)?;
    data.to_f32().first().copied()
}

/// The factors of a product.
fn factors(node: &Node) -> Option<[ValueId; 2]> {
    match (&node.op, node.operands.as_slice()) {
        (Op::Mul { rescale: Rescale::Real, clamp }, &[a, b]) if *clamp == Clamp::NO_FLOAT => Some([a, b]),
        _ => None,
    }
}

/// What a node is a sixth of.
fn of_sixth(graph: &Graph, node: &Node) -> Option<ValueId> {
    if let (Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp }, &[x, by]) =
        (&node.op, node.operands.as_slice())
    {
        return (number(graph, by) == Some(6.0) && *clamp == Clamp::NO_FLOAT).then_some(x);
    }
    let [a, b] = factors(node)?;
    let is_sixth =
        |value| number(graph, value).is_some_and(|by| (by - 1.0 / 6.0).abs() <= f32::EPSILON / 4.0);
    match (is_sixth(a), is_sixth(b)) {
        (_, true) => Some(a),
        (true, _) => Some(b),
        _ => None,
    }
}

/// x of min(max(x + 3, 0), 6).
fn of_ramp(graph: &Graph, value: ValueId) -> Option<ValueId> {
    let is_range = |clamp: &Clamp| clamp.float_bounds() == (0.0, 6.0);
    let mut node = producer(graph, value)?;
    let mut is_clipped = false;
    if let Op::Clip { clamp } = &node.op {
        is_clipped = is_range(clamp);
        node = first_producer(graph, node)?;
    }
    let (Op::Add { rescale: AddRescale::Real, clamp }, &[a, b]) = (&node.op, node.operands.as_slice()) else {
        return None;
    };
    let is_ramp = is_range(clamp) || (is_clipped && *clamp == Clamp::NO_FLOAT);
    if !is_ramp {
        return None;
    }
    match (number(graph, a), number(graph, b)) {
        (_, Some(3.0)) => Some(a),
        (Some(3.0), _) => Some(b),
        _ => None,
    }
}

fn operand(graph: &Graph, id: NodeId) -> Option<ValueId> {
    let node = graph.node(id);
    let ty = graph.ty(node.result);
    let is_of = |x: &ValueId| ty.dtype == DType::F32 && graph.ty(*x) == ty;
    // A sixth of x · ramp, or x times a sixth of the ramp.
    if let Some(product) = of_sixth(graph, node) {
        let [a, b] = factors(producer(graph, product)?)?;
        let found = [(a, b), (b, a)].into_iter().find(|&(x, ramp)| of_ramp(graph, ramp) == Some(x));
        return found.map(|(x, _)| x).filter(is_of);
    }
    let [a, b] = factors(node)?;
    let of = |&(x, part): &(ValueId, ValueId)| {
        let ramp = producer(graph, part).and_then(|part| of_sixth(graph, part));
        ramp.is_some_and(|ramp| of_ramp(graph, ramp) == Some(x))
    };
    [(a, b), (b, a)].into_iter().find(of).map(|(x, _)| x).filter(is_of)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, parse};
    use super::*;
    use crate::interp::Machine;
    use crate::passes::dce;
    use crate::schedule::random::Random;

    const NONE: &str = "rescale = real, clamp = -inf..=inf";
    const RANGE: &str = "rescale = real, clamp = 0.0..=6.0";

    #[test]
    fn all_orders_are_one_op() {
        let quotient = format!(
            "%s: f32[8] = binary(%r, %six) {{function = div, {NONE}}}\n%y: f32[8] = mul(%x, %s) {{{NONE}}}"
        );
        let product = format!("%s: f32[8] = mul(%r, %sixth) {{{NONE}}}\n%y: f32[8] = mul(%s, %x) {{{NONE}}}");
        let last = format!("%s: f32[8] = mul(%x, %r) {{{NONE}}}\n%y: f32[8] = mul(%sixth, %s) {{{NONE}}}");
        let ramps = [
            format!("%r: f32[8] = add(%x, %three) {{{RANGE}}}"),
            format!("%p: f32[8] = add(%three, %x) {{{NONE}}}\n%r: f32[8] = clip(%p) {{clamp = 0.0..=6.0}}"),
        ];
        for ramp in ramps {
            for rest in [&quotient, &product, &last] {
                let before = parse(&format!(
                    "input %x: f32[8]
                     const %three: f32[1] = [3.0]
                     const %six: f32[] = [6.0]
                     const %sixth: f32[1] = [0.16666667]
                     {ramp}
                     {rest}
                     return %y"
                ));
                let mut graph = before.clone();
                assert!(run(&mut graph) && dce::run(&mut graph) && !run(&mut graph));
                let ops: Vec<&Op> = graph.nodes().map(|(_, node)| &node.op).collect();
                assert_eq!(ops, [&Op::Unary { function: Unary::HardSwish }]);
                let inputs = Random::new(3).inputs(&before);
                let outputs =
                    [&before, &graph].map(|graph| Machine::new(graph).run(&inputs).unwrap()[0].to_f32());
                let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * a.abs().max(1.0);
                assert!(outputs[0].iter().zip(&outputs[1]).all(close), "{outputs:?}");
            }
        }
    }

    #[test]
    fn others_stay() {
        // Another range, another number, another operand.
        keeps(
            run,
            &format!(
                "input %x: f32[8]
                 input %z: f32[8]
                 const %three: f32[1] = [3.0]
                 const %six: f32[] = [6.0]
                 %a: f32[8] = add(%x, %three) {{rescale = real, clamp = 0.0..=5.0}}
                 %b: f32[8] = binary(%a, %six) {{function = div, {NONE}}}
                 %c: f32[8] = mul(%x, %b) {{{NONE}}}
                 %d: f32[8] = add(%x, %six) {{{RANGE}}}
                 %e: f32[8] = binary(%d, %six) {{function = div, {NONE}}}
                 %f: f32[8] = mul(%x, %e) {{{NONE}}}
                 %g: f32[8] = add(%x, %three) {{{RANGE}}}
                 %h: f32[8] = binary(%g, %six) {{function = div, {NONE}}}
                 %i: f32[8] = mul(%z, %h) {{{NONE}}}
                 return %c, %f, %i"
            ),
        );
    }
}
