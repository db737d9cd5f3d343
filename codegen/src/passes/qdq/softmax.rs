//! Softmax of stored values of 8 bits, by TFLite's fixed-point arithmetic. (Its arithmetic for 16 bits is a dozen steps off: these stay floats.)

use super::super::rewrite::{each_split, node_before};
use super::error::between_roundings;
use super::{quantize_of, stored, whole, Record};
use crate::ir::{DType, Graph, Multiplier, NodeId, Op, Real, Rescale, SoftmaxScale, Type, ValueId};

/// Turns softmaxes between a DEQUANTIZE and a QUANTIZE into integer ones.
pub(super) fn run(graph: &mut Graph, record: &mut Record) -> bool {
    let uses = graph.use_counts();
    each_split(graph, |graph, order, id| {
        let Some(Found { x, beta, scale, between, origin }) = found(graph, &uses, id) else { return false };
        let steps = steps(graph, id);
        let softmax = Op::Softmax { beta, scale };
        graph.node_mut(id).origin = origin;
        let (op, operand) = match between {
            None => (softmax, x),
            Some(Between { ty, op }) => (op, node_before(graph, order, id, softmax, &[x], ty)),
        };
        let node = graph.node_mut(id);
        (node.op, node.operands) = (op, vec![operand]);
        record.note(graph, id, steps);
        true
    })
}

/// By how many steps the result may differ: each exponential of a row is rounded to 19 bits behind the point, and so is what is beyond a format of 16 bits.
fn steps(graph: &Graph, id: NodeId) -> u32 {
    let y = graph.ty(graph.node(id).result);
    let most = 1.0 / y.scale().map_or(1.0, f64::from);
    let row = y.shape.dims().last().copied().unwrap_or(1);
    between_roundings(most * ((row as f64 + 4.0) / 1_048_576.0 + 1.0 / 65_536.0))
}

/// A QUANTIZE of a softmax.
struct Found {
    /// What the softmax is of, as integers.
    x: ValueId,
    beta: Real,
    scale: SoftmaxScale,
    /// Where the result is not in the format that the arithmetic implies.
    between: Option<Between>,
    /// The operator of the file.
    origin: String,
}

/// A result in another format, and what makes it that of the QUANTIZE.
struct Between {
    ty: Type,
    op: Op,
}

fn found(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Found> {
    let (float, y) = quantize_of(graph, id)?;
    let node = graph.node(graph.producer(float)?);
    let origin = node.origin.clone();
    let Op::Softmax { beta, scale: SoftmaxScale::Real } = node.op else { return None };
    let x = stored(graph, *node.operands.first()?)?;
    let from = graph.ty(x);
    if uses.get(float.0 as usize) != Some(&1) || !(beta.0.is_finite() && beta.0 >= 0.0) {
        return None;
    }
    let implied = |scale: f32, zero: i32| y.scale() == Some(scale) && y.zero_point() == zero;
    let by = [f64::from(beta.0), f64::from(from.scale()?)];
    if from.dtype != DType::I8 {
        return None;
    }
    let scale = SoftmaxScale::of_8_bits(by)?;
    let between = match y.dtype == DType::I8 && implied(1.0 / 256.0, -128) {
        true => None,
        false => {
            let step = 1.0 / 65536.0;
            let ty = Type::quantized(DType::I16, y.shape.dims(), step, -32768);
            let rescale = Rescale::FixedPoint(vec![Multiplier::of(f64::from(step) / f64::from(y.scale()?))?]);
            Some(Between { ty, op: Op::Requantize { rescale, clamp: whole(y)? } })
        }
    };
    Some(Found { x, beta, scale, between, origin })
}
