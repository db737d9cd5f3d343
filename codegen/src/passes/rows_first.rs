//! Images of a single row: afterwards windows that slide along the columns of such an image slide along rows, of one column each.
//!
//! Converters write convolutions over time as \[1, 1, time, channels\]. The same bytes are \[1, time, 1, channels\], whose steps in time
//! are rows: then pipelines, overlays and row-wise input apply to them. The operands and the result are reshaped; the reshapes between
//! neighbours cancel, and those that are left cost nothing. What stands between two such operations as \[1, time, channels\] follows them, so
//! that pads and activations meet their convolutions.

use super::rewrite::{each_reshaped, Reshaped};
use crate::ir::{Graph, Layout, Node, NodeId, Op, Padding, Type, ValueId, Window};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_reshaped(graph, |graph, order, id| {
        let Turned { op, operands: types, result } = turned(graph, id)?;
        let Node { operands, origin, .. } = graph.node(id).clone();
        let turn = |(operand, ty)| match ty {
            None => operand,
            Some(ty) => reshaped(graph, order, operand, ty, &origin),
        };
        Some(Reshaped { op, operands: operands.into_iter().zip(types).map(turn).collect(), result })
    })
}

/// The value under another shape: a constant, or the result of a new node.
fn reshaped(graph: &mut Graph, order: &mut Vec<NodeId>, id: ValueId, ty: Type, origin: &str) -> ValueId {
    let name = graph.value(id).name.clone();
    if let Some(data) = graph.const_data(id).cloned() {
        return graph.add_const(name, ty, data);
    }
    let node = graph.add_detached_node(Op::Reshape {}, &[id], name, ty, origin);
    order.push(node);
    graph.node(node).result
}

/// A node over rows.
struct Turned {
    op: Op,
    /// By operand: its new type, if it has one.
    operands: Vec<Option<Type>>,
    result: Type,
}

/// The shape with time as its rows; `None` if it is no sequence.
fn upright(dims: &[usize]) -> Option<[usize; 4]> {
    match *dims {
        [1, 1, time, channels] | [1, time, channels] => Some([1, time, 1, channels]),
        _ => None,
    }
}

/// The same value with time as its rows.
fn turn(ty: &Type) -> Option<Type> {
    Some(ty.with_shape(&upright(ty.shape.dims())?))
}

fn turned(graph: &Graph, id: NodeId) -> Option<Turned> {
    let node = graph.node(id);
    let x = graph.ty(*node.operands.first()?);
    let y = graph.ty(node.result);
    let windowed = node.op.window().is_some();
    let time = upright(x.shape.dims())?[1];
    if node.op.layout() != Layout::default() {
        return None;
    }
    // A window needs an image; the rest follows what was turned before it.
    if time < 2 || (if windowed { x.shape.rank() != 4 } else { !follows(graph, node) }) {
        return None;
    }
    let one = |operands: Vec<Option<Type>>, op: Op| Some(Turned { op, operands, result: turn(y)? });
    let mut operands = vec![None; node.operands.len()];
    operands[0] = turn(x);
    let mut op = node.op.clone();
    match &mut op {
        Op::Conv2d { window, .. } => {
            *window = turn_window(window)?;
            let weights = graph.ty(*node.operands.get(1)?);
            let &[outputs, 1, width, channels] = weights.shape.dims() else { return None };
            graph.const_data(node.operands[1])?;
            operands[1] = Some(weights.with_shape(&[outputs, width, 1, channels]));
            one(operands, op)
        }
        Op::AvgPool2d { window, .. } | Op::MaxPool2d { window, .. } => {
            *window = turn_window(window)?;
            one(operands, op)
        }
        Op::Pad { before, after, .. } => {
            (*before, *after) = (turn_axes(before, 0)?, turn_axes(after, 0)?);
            let kept = before[2] == 0 && after[2] == 0;
            if kept {
                one(operands, op)
            } else {
                None
            }
        }
        Op::Mean { axes, .. } => {
            // The single row may be summed too.
            let over_time =
                axes.as_slice() == [x.shape.rank() - 2] || axes.as_slice() == [1, 2] && x.shape.rank() == 4;
            *axes = vec![1, 2];
            let result = y.with_shape(&[1, 1, 1, x.shape.last()]);
            over_time.then_some(Turned { op, operands, result })
        }
        Op::Clip { .. }
        | Op::LeakyRelu { .. }
        | Op::Unary { .. }
        | Op::Logistic {}
        | Op::Tanh {}
        | Op::Lookup {}
        | Op::Quantize { .. }
        | Op::Dequantize {}
        | Op::Requantize { .. }
        | Op::Softmax { .. } => one(operands, op),
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Binary { .. } => {
            for (slot, &operand) in operands.iter_mut().zip(&node.operands) {
                let ty = graph.ty(operand);
                let same = ty.shape == y.shape;
                *slot = if same { turn(ty) } else { None };
                // What is the same at all times stays.
                let lead = ty.shape.rank().saturating_sub(1);
                if !same && ty.shape.dims().iter().take(lead).any(|&d| d != 1) {
                    return None;
                }
            }
            one(operands, op)
        }
        _ => None,
    }
}

/// Whether an operand comes, through reshapes, from a sequence whose steps are rows.
fn follows(graph: &Graph, node: &Node) -> bool {
    let shape = |id: ValueId| graph.ty(id).shape.dims();
    let source = |&id: &ValueId| {
        let node = graph.producer(id).map(|id| graph.node(id))?;
        node.operands.first().copied().filter(|_| matches!(node.op, Op::Reshape {}))
    };
    node.operands.iter().any(|&operand| {
        let Some(dims) = upright(shape(operand)) else { return false };
        std::iter::successors(source(&operand), source).any(|id| shape(id) == dims)
    })
}

fn turn_window(window: &Window) -> Option<Window> {
    let Window { size: [1, size], stride: [_, stride], dilation: [_, dilation], pad } = *window else {
        return None;
    };
    if pad.top + pad.bottom > 0 {
        return None;
    }
    Some(Window {
        size: [size, 1],
        stride: [stride, 1],
        dilation: [dilation, 1],
        pad: Padding { top: pad.left, bottom: pad.right, left: 0, right: 0 },
    })
}

/// What belongs to the axes of a sequence, for those with time as rows.
fn turn_axes<T: Copy>(axes: &[T], single: T) -> Option<Vec<T>> {
    match *axes {
        [batch, row, time, channels] => Some(vec![batch, time, row, channels]),
        [batch, time, channels] => Some(vec![batch, time, single, channels]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, keeps, parse, rewrites};
    use super::super::{dce, fuse_activation, fuse_pad, simplify};
    use super::*;
    use crate::verify::verify;

    const CONV: &str = "groups = 1, rescale = [1073741824 * 2^-3], clamp = -128..=127}";

    #[test]
    fn windows_turn_with_their_weights() {
        rewrites(
            run,
            &format!(
                "input %x: i8[1,1,6,1] q(0.5 : -3)
                 const %w: i8[2,1,2,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, -3, 4]
                 %y: i8[1,1,4,2] q(0.5 : 0) = conv2d(%x, %w) {{window = [1, 2] stride [1, 2] pad [0, 0, 2, 0], {CONV}
                 return %y"
            ),
            &format!(
                "input %x: i8[1,1,6,1] q(0.5 : -3)
                 const %w: i8[2,1,2,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, -3, 4]
                 const %v: i8[2,2,1,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, 2, -3, 4]
                 %a: i8[1,6,1,1] q(0.5 : -3) = reshape(%x)
                 %b: i8[1,4,1,2] q(0.5 : 0) = conv2d(%a, %v) {{window = [2, 1] stride [2, 1] pad [2, 0, 0, 0], {CONV}
                 %y: i8[1,1,4,2] q(0.5 : 0) = reshape(%b)
                 return %y"
            ),
        );
    }

    #[test]
    fn what_follows_turns_too_and_meets_its_partners() {
        let before = parse(&format!(
            "input %x: i8[1,6,1] q(0.5 : -3)
             const %v: i8[2,1,2,1] q(0.5 : 0) = [1, 2, -3, 4]
             const %w: i8[1,1,2,2] q(0.5 : 0) = [1, 2, -3, 4]
             const %k: i8[1,1,2] q(0.5 : 0) = [10, -10]
             %a: i8[1,1,6,1] q(0.5 : -3) = reshape(%x)
             %b: i8[1,1,5,2] q(0.5 : -3) = conv2d(%a, %v) {{window = [1, 2], {CONV}
             %c: i8[1,5,2] q(0.5 : -3) = reshape(%b)
             %d: i8[1,5,2] q(0.5 : -3) = clip(%c) {{clamp = 0..=100}}
             %e: i8[1,5,2] q(0.5 : -3) = mul(%d, %k) {{rescale = [1073741824 * 2^0], clamp = -128..=127}}
             %f: i8[1,7,2] q(0.5 : -3) = pad(%e) {{before = [0, 2, 0], after = [0, 0, 0], value = -3}}
             %g: i8[1,1,7,2] q(0.5 : -3) = reshape(%f)
             %h: i8[1,1,6,1] q(0.5 : 0) = conv2d(%g, %w) {{window = [1, 2], {CONV}
             %i: i8[1,6,1] q(0.5 : 0) = reshape(%h)
             %y: i8[1,1] q(0.5 : 0) = mean(%i) {{axes = [1], rescale = [1431655765 * 2^-2], clamp = -128..=127}}
             return %y"
        ));
        let mut graph = before.clone();
        assert!(run(&mut graph));
        for pass in [simplify::run, dce::run, fuse_activation::run, fuse_pad::run, dce::run] {
            pass(&mut graph);
            verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
            assert_equivalent(&before, &graph);
        }
        let ops: Vec<&str> = graph.nodes().map(|(_, node)| node.op.name()).collect();
        assert_eq!(ops, ["reshape", "conv2d", "mul", "conv2d", "mean", "reshape"], "{graph}");
        assert!(!run(&mut graph), "{graph}");
    }

    #[test]
    fn images_of_several_rows_stay() {
        keeps(
            run,
            "input %x: f32[1,2,6,1]
             %y: f32[1,2,3,1] = max_pool2d(%x) {window = [1, 2] stride [1, 2], clamp = -inf..=inf}
             return %y",
        );
    }
}
