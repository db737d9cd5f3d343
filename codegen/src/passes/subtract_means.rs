//! Normalisations with the mean subtracted first: afterwards no float graph has x · s + (b − m · s), where m is a mean of x. It has (x − m) · s + b, with two
//! operations less.
//!
//! TensorFlow writes layer and instance normalisation in the first way, other frameworks in the second one. A squared difference of x and m is a square of that
//! difference then. A factor s that is a product of something smaller and a constant is multiplied one by one: a constant of ones disappears, another one can become
//! part of the next layer.
//!
//! On floats this rounds otherwise than the graph before. The error is smaller, because two large products no longer cancel each other.

use super::rewrite::{node_before, producer};
use crate::ir::{AddRescale, Binary, Clamp, DType, Graph, Node, NodeId, Op, Rescale, Unary, ValueId};
use std::collections::HashMap;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    let sums: Vec<Normal> = graph.order.iter().filter_map(|&id| normal(graph, &uses, id)).collect();
    if sums.is_empty() {
        return false;
    }
    let mut differences = HashMap::new();
    let mut order = Vec::with_capacity(graph.order.len());
    for id in std::mem::take(&mut graph.order) {
        if let Some(sum) = sums.iter().find(|sum| sum.node == id) {
            normalise(graph, &mut order, sum, &differences);
        } else if let Some(of) = difference(graph, id) {
            // The difference that it squares stands behind the mean.
            if let Some(&difference) = differences.get(&of) {
                let node = graph.node_mut(id);
                (node.op, node.operands) = (Op::Unary { function: Unary::Square }, vec![difference]);
            }
        }
        order.push(id);
        let result = graph.node(id).result;
        for sum in sums.iter().filter(|sum| sum.mean == result) {
            differences.entry((sum.x, sum.mean)).or_insert_with(|| {
                let op = Op::Sub { rescale: AddRescale::Real, clamp: sum.clamp };
                let ty = graph.ty(sum.x).clone();
                node_before(graph, &mut order, id, op, &[sum.x, sum.mean], ty)
            });
        }
    }
    graph.order = order;
    true
}

/// x · s + (b − m · s).
struct Normal {
    /// The sum.
    node: NodeId,
    x: ValueId,
    mean: ValueId,
    scale: ValueId,
    /// `None` for none.
    bias: Option<ValueId>,
    /// The range of the sum.
    clamp: Clamp,
}

/// The factors of a float product, whose range is that of finite numbers.
fn factors(graph: &Graph, value: ValueId) -> Option<[ValueId; 2]> {
    let node = producer(graph, value)?;
    match (&node.op, node.operands.as_slice()) {
        (Op::Mul { rescale: Rescale::Real, clamp }, &[a, b]) if clamp.holds_finite() => Some([a, b]),
        _ => None,
    }
}

/// m and s of −(m · s) or (−m) · s.
fn negative_product(graph: &Graph, value: ValueId) -> Option<[ValueId; 2]> {
    let negated = |value| match producer(graph, value) {
        Some(Node { op: Op::Unary { function: Unary::Neg }, operands, .. }) => operands.first().copied(),
        _ => None,
    };
    if let Some(product) = negated(value) {
        return factors(graph, product);
    }
    let [a, b] = factors(graph, value)?;
    match (negated(a), negated(b)) {
        (Some(mean), _) => Some([mean, b]),
        (None, Some(mean)) => Some([mean, a]),
        (None, None) => None,
    }
}

/// m, s and b of b − m · s.
fn shift(graph: &Graph, value: ValueId) -> Option<([ValueId; 2], Option<ValueId>)> {
    if let Some(product) = negative_product(graph, value) {
        return Some((product, None));
    }
    let node = producer(graph, value)?;
    let &[a, b] = node.operands.as_slice() else { return None };
    match &node.op {
        Op::Sub { rescale: AddRescale::Real, clamp } if clamp.holds_finite() => {
            Some((factors(graph, b)?, Some(a)))
        }
        Op::Add { rescale: AddRescale::Real, clamp } if clamp.holds_finite() => {
            match (negative_product(graph, a), negative_product(graph, b)) {
                (Some(product), _) => Some((product, Some(b))),
                (None, Some(product)) => Some((product, Some(a))),
                (None, None) => None,
            }
        }
        _ => None,
    }
}

fn normal(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Normal> {
    let node = graph.node(id);
    let &[a, b] = node.operands.as_slice() else { return None };
    let (clamp, orders) = match &node.op {
        Op::Add { rescale: AddRescale::Real, clamp } => {
            (*clamp, vec![(a, shift(graph, b)), (b, shift(graph, a))])
        }
        Op::Sub { rescale: AddRescale::Real, clamp } => {
            (*clamp, vec![(a, factors(graph, b).map(|product| (product, None)))])
        }
        _ => return None,
    };
    if graph.ty(node.result).dtype != DType::F32 || !clamp.holds_finite() {
        return None;
    }
    let only = |value: ValueId| uses.get(value.0 as usize) == Some(&1);
    let other = |value: ValueId| if value == a { b } else { a };
    orders.into_iter().find_map(|(product, shift)| {
        let (shift, bias) = shift?;
        let [p, q] = factors(graph, product).filter(|_| only(product) && only(other(product)))?;
        [[p, q], [q, p]].into_iter().find_map(|[x, scale]| {
            let mean = match shift {
                [m, s] if s == scale => m,
                [s, m] if s == scale => m,
                _ => return None,
            };
            let is_mean = producer(graph, mean).is_some_and(|node| {
                matches!(node.op, Op::Mean { rescale: Rescale::Real, .. })
                    && node.operands.first() == Some(&x)
            });
            // The difference has the shape of x, and the products that of the result.
            let (own, of) = (graph.ty(node.result), graph.ty(x));
            (is_mean && own.shape == of.shape).then_some(Normal { node: id, x, mean, scale, bias, clamp })
        })
    })
}

/// The operands of a squared difference.
fn difference(graph: &Graph, id: NodeId) -> Option<(ValueId, ValueId)> {
    let node = graph.node(id);
    match (&node.op, node.operands.as_slice()) {
        (Op::Binary { function: Binary::SquaredDifference, rescale: Rescale::Real, clamp }, &[a, b])
            if clamp.holds_finite() =>
        {
            Some((a, b))
        }
        _ => None,
    }
}

/// Lets a sum be (x − m) · s + b.
fn normalise(
    graph: &mut Graph,
    order: &mut Vec<NodeId>,
    sum: &Normal,
    differences: &HashMap<(ValueId, ValueId), ValueId>,
) {
    let Some(&difference) = differences.get(&(sum.x, sum.mean)) else { return };
    let ty = graph.ty(sum.x).clone();
    let (mut centred, mut scale) = (difference, sum.scale);
    let mul = Op::Mul { rescale: Rescale::Real, clamp: sum.clamp };
    if let Some([a, b]) = factors(graph, sum.scale) {
        let is_const = |value| graph.const_data(value).is_some();
        let split = match (is_const(a), is_const(b)) {
            (true, false) => Some((b, a)),
            (false, true) => Some((a, b)),
            _ => None,
        };
        // What was computed once for several elements is multiplied with all of them.
        let is_smaller = |value: ValueId| graph.ty(value).shape.numel() < graph.ty(sum.scale).shape.numel();
        if let Some((own, constant)) = split.filter(|&(own, _)| is_smaller(own)) {
            centred = node_before(graph, order, sum.node, mul.clone(), &[difference, own], ty.clone());
            scale = constant;
        }
    }
    match sum.bias {
        Some(bias) => {
            let product = node_before(graph, order, sum.node, mul, &[centred, scale], ty);
            let node = graph.node_mut(sum.node);
            node.op = Op::Add { rescale: AddRescale::Real, clamp: sum.clamp };
            node.operands = vec![product, bias];
        }
        None => {
            let node = graph.node_mut(sum.node);
            (node.op, node.operands) = (mul, vec![centred, scale]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, parse};
    use super::*;
    use crate::interp::Machine;
    use crate::passes::dce;
    use crate::schedule::random::Random;
    use crate::verify::verify;

    const NONE: &str = "rescale = real, clamp = -inf..=inf";

    /// Asserts that the pass changes `before` to `after`, with outputs that differ by roundings.
    fn rewrites(before: &str, after: &str) {
        let before = parse(before);
        let mut graph = before.clone();
        assert!(run(&mut graph));
        dce::run(&mut graph);
        verify(&graph).unwrap();
        assert_eq!(graph.compact().to_string(), parse(after).compact().to_string());
        assert!(!run(&mut graph));
        let inputs = Random::new(1).inputs(&before);
        let (want, got) =
            (Machine::new(&before).run(&inputs).unwrap(), Machine::new(&graph).run(&inputs).unwrap());
        let (want, got) = (want[0].to_f32(), got[0].to_f32());
        let largest = want.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        assert!(largest > 0.1 && want.iter().zip(&got).all(|(x, y)| (x - y).abs() < 1e-5 * largest));
    }

    #[test]
    fn tensorflows_layer_normalisation() {
        rewrites(
            &format!(
                "input %x: f32[2,4]
                 const %g: f32[4] = [1.0, 2.0, 3.0, 4.0]
                 const %b: f32[4] = [0.5, 0.25, 0.0, -1.0]
                 %m: f32[2,1] = mean(%x) {{axes = [1], {NONE}}}
                 %d: f32[2,4] = binary(%x, %m) {{function = squared_difference, {NONE}}}
                 %v: f32[2,1] = mean(%d) {{axes = [1], {NONE}}}
                 %r: f32[2,1] = unary(%v) {{function = rsqrt}}
                 %s: f32[2,4] = mul(%r, %g) {{{NONE}}}
                 %p: f32[2,4] = mul(%x, %s) {{{NONE}}}
                 %n: f32[2,1] = unary(%m) {{function = neg}}
                 %q: f32[2,4] = mul(%n, %s) {{{NONE}}}
                 %t: f32[2,4] = add(%q, %b) {{{NONE}}}
                 %y: f32[2,4] = add(%p, %t) {{{NONE}}}
                 return %y"
            ),
            &format!(
                "input %x: f32[2,4]
                 const %g: f32[4] = [1.0, 2.0, 3.0, 4.0]
                 const %b: f32[4] = [0.5, 0.25, 0.0, -1.0]
                 %m: f32[2,1] = mean(%x) {{axes = [1], {NONE}}}
                 %c: f32[2,4] = sub(%x, %m) {{{NONE}}}
                 %d: f32[2,4] = unary(%c) {{function = square}}
                 %v: f32[2,1] = mean(%d) {{axes = [1], {NONE}}}
                 %r: f32[2,1] = unary(%v) {{function = rsqrt}}
                 %o: f32[2,4] = mul(%c, %r) {{{NONE}}}
                 %p: f32[2,4] = mul(%o, %g) {{{NONE}}}
                 %y: f32[2,4] = add(%p, %b) {{{NONE}}}
                 return %y"
            ),
        );
    }

    #[test]
    fn differences_of_products() {
        for line in ["%y: f32[2,4] = sub(%p, %q) {rescale = real, clamp = 0.0..=inf}", "%t: f32[2,4] = sub(%z, %q) {rescale = real, clamp = -inf..=inf}\n%y: f32[2,4] = add(%t, %p) {rescale = real, clamp = -3.4028235e38..=3.4028235e38}"] {
            let before = format!(
                "input %x: f32[2,4]
                 input %s: f32[2,1]
                 input %z: f32[4]
                 %m: f32[2,1] = mean(%x) {{axes = [1], {NONE}}}
                 %p: f32[2,4] = mul(%s, %x) {{{NONE}}}
                 %q: f32[2,1] = mul(%s, %m) {{{NONE}}}
                 {line}
                 return %y"
            );
            // An activation is not of the difference.
            if line.starts_with("%y") {
                keeps(run, &before);
            } else {
                rewrites(
                    &before,
                    &format!(
                        "input %x: f32[2,4]
                         input %s: f32[2,1]
                         input %z: f32[4]
                         %m: f32[2,1] = mean(%x) {{axes = [1], {NONE}}}
                         %c: f32[2,4] = sub(%x, %m) {{rescale = real, clamp = -3.4028235e38..=3.4028235e38}}
                         %o: f32[2,4] = mul(%c, %s) {{rescale = real, clamp = -3.4028235e38..=3.4028235e38}}
                         %y: f32[2,4] = add(%o, %z) {{rescale = real, clamp = -3.4028235e38..=3.4028235e38}}
                         return %y"
                    ),
                );
            }
        }
    }

    #[test]
    fn others_stay() {
        // Another operand's mean, another factor, another reader.
        keeps(
            run,
            &format!(
                "input %x: f32[2,4]
                 input %z: f32[2,4]
                 input %s: f32[2,1]
                 input %r: f32[2,1]
                 %m: f32[2,1] = mean(%z) {{axes = [1], {NONE}}}
                 %p: f32[2,4] = mul(%x, %s) {{{NONE}}}
                 %q: f32[2,1] = mul(%m, %s) {{{NONE}}}
                 %a: f32[2,4] = sub(%p, %q) {{{NONE}}}
                 %n: f32[2,1] = mean(%x) {{axes = [1], {NONE}}}
                 %o: f32[2,1] = mul(%n, %r) {{{NONE}}}
                 %t: f32[2,4] = mul(%x, %s) {{{NONE}}}
                 %b: f32[2,4] = sub(%t, %o) {{{NONE}}}
                 %u: f32[2,1] = mul(%n, %s) {{{NONE}}}
                 %v: f32[2,4] = mul(%x, %s) {{{NONE}}}
                 %c: f32[2,4] = sub(%v, %u) {{{NONE}}}
                 return %a, %b, %c, %u"
            ),
        );
    }
}
