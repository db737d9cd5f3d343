//! Floats between integers: afterwards no layer stands between DEQUANTIZEs and a QUANTIZE (of ONNX: one that rounds half to even) that integer arithmetic could stand for.
//!
//! Files in QDQ format describe a quantised model as floats: every layer reads DEQUANTIZEs of integers, and a QUANTIZE makes integers of its result. Three kinds of rewrites, until nothing
//! changes:
//!
//! * `moves.rs`: ops that only move or compare elements change places with DEQUANTIZEs before them and QUANTIZEs behind them. Exact.
//! * `tables.rs`: what is a function of one 8-bit element becomes a table, however many floats are computed on the way. Exact.
//! * `layers.rs` and `softmax.rs`: convolutions, matrix products, sums, products, poolings, means and softmaxes compute on the stored integers.
//!
//! # Where results may differ
//!
//! Layers of the third kind round as ONNX Runtime's quantised operators do: the exact sum as a float, times a factor in floats, half to even. The floats of the file are off by their own roundings, which
//! are larger where many products are summed, so that a result next to the middle of two steps may be another one. Each layer has a bound, which is proven (`error.rs`, `pairs.rs`): 0 where all stored
//! values were compared, or where scales are powers of two.
//!
//! | op, of 8 bits | what is rounded | its own bound |
//! |---|---|---|
//! | convolution, matrix product | Σ (x − zx)·(w − zw) + bias, exactly, times sx·sw/sy | 0 or 1, unless the bias counts |
//! | the bias | bias / (sx·sw), half to even; files have it so already | half an accumulator, in steps of the result |
//! | sum, difference, product | as QLinearAdd and QLinearMul, or TFLite's fixed point: whichever differs least of all pairs of stored values | what was found: 0, nearly always |
//! | mean | the exact sum times the ratio of scales over the number of elements | 0 or 1 |
//! | sum along axes | the exact sum times the ratio of scales, TFLite's fixed point | 1 |
//! | average pooling of one scale | the exact sum, half away from zero (of stored values) | 1: of n numbers, n even, a share of 1/(2·n) is in the middle |
//! | bilinear interpolation | products with fractions of 10 bits, both ways | 1 |
//! | softmax | exponentials to 26 bits behind the point, their share of the sum: TFLite's fixed point; where the result has another format than TFLite's, first to 16 bits | 1 |
//!
//! Where microcontrollers have no cheap arithmetic that rounds so (`cheap.rs`), a convolution or product with constant weights rounds as TFLite's do, by factors within 2⁻¹⁷ of the real ones. Its bound is 1, too.
//! A sum gets a cheap form, unless that differs in more than one of sixteen pairs of stored values: it would round all halves the same way, and that adds up.
//!
//! Layers of 16 bits have sums of 64, which TFLite multiplies by factors of 16 bits: mostly one step of 65,535.
//!
//! What the layers behind make of it is in `drift.rs`, with the limit beyond which a model is refused. The option `qdq = "float"` keeps the floats.

mod cheap;
pub mod drift;
#[cfg(test)]
mod drift_tests;
mod error;
mod layers;
mod moves;
mod pairs;
mod slopes;
mod softmax;
mod tables;
#[cfg(test)]
mod tests;

use crate::ir::{Clamp, DType, Data, Graph, NodeId, Op, Real, Rounding, Type, ValueId};

/// How often all rewrites run at most.
const MOST_ROUNDS: usize = 100;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    run_recorded(graph, &mut Record::default())
}

/// As [`run`], but layers with constant weights always round as floats do. What is cheap on microcontrollers is not asked, which takes most of the time of [`run`].
pub fn run_as_floats_round(graph: &mut Graph) -> bool {
    run_recorded(graph, &mut Record { as_floats_round: true, ..Record::default() })
}

/// What layers on stored integers may differ by.
#[derive(Clone, Debug, Default)]
struct Record {
    /// Whether layers round as floats do, even if microcontrollers have no cheap arithmetic for it.
    as_floats_round: bool,
    layers: Vec<Noted>,
}

#[derive(Clone, Debug)]
struct Noted {
    /// The operator of the file.
    origin: String,
    /// Name of the result.
    name: String,
    /// By how many steps the result may differ from that of the floats, on the same operands.
    steps: u32,
}

impl Record {
    fn note(&mut self, graph: &Graph, id: NodeId, steps: u32) {
        let node = graph.node(id);
        let name = graph.value(node.result).name.clone();
        self.layers.push(Noted { origin: node.origin.clone(), name, steps });
    }
}

fn run_recorded(graph: &mut Graph, record: &mut Record) -> bool {
    let mut changed = false;
    for _ in 0..MOST_ROUNDS {
        if !graph.nodes().any(|(_, node)| is_quantize(&node.op)) {
            break;
        }
        // Each leaves operands behind that nothing reads, which would count as uses.
        let mut now = super::dce::run(graph);
        now |= moves::run(graph);
        now |= super::dce::run(graph);
        // Before layers: a table of several is exact.
        now |= tables::run(graph);
        now |= super::dce::run(graph);
        now |= layers::run(graph, record);
        now |= super::dce::run(graph);
        now |= softmax::run(graph, record);
        if !now {
            break;
        }
        changed = true;
    }
    changed
}

fn is_quantize(op: &Op) -> bool {
    matches!(op, Op::Quantize { rounding: Rounding::Even | Rounding::EvenInverse })
}

/// The integers, of one scale, that a value is as floats.
fn stored(graph: &Graph, id: ValueId) -> Option<ValueId> {
    let node = graph.node(graph.producer(id)?);
    let stored = *node.operands.first()?;
    (matches!(node.op, Op::Dequantize {}) && graph.ty(stored).scale().is_some()).then_some(stored)
}

/// The numbers of a constant, which may be stored as integers.
fn known(graph: &Graph, id: ValueId) -> Option<Vec<f32>> {
    if graph.ty(id).dtype != DType::F32 {
        return None;
    }
    if let Some(data) = graph.const_data(id) {
        return Some(data.to_f32());
    }
    let node = graph.node(graph.producer(id)?);
    let stored = *node.operands.first()?;
    let data = graph.const_data(stored).filter(|_| matches!(node.op, Op::Dequantize {}))?;
    let floats = crate::interp::eval(&node.op, &[(graph.ty(stored), data)], graph.ty(id)).ok()?;
    Some(floats.to_f32())
}

/// What QUANTIZE makes of a number.
fn quantised(x: f32, ty: &Type) -> Option<i32> {
    let (one, result) = (Type::plain(DType::F32, &[1]), ty.with_shape(&[1]));
    let op = Op::Quantize { rounding: Rounding::Even };
    let data = crate::interp::eval(&op, &[(&one, &Data::from_f32(&[x]))], &result).ok()?;
    data.to_ints(ty.dtype).first().map(|&stored| stored as i32)
}

/// The range of floats as one of stored values. Exact, as QUANTIZE is monotone.
fn stored_clamp(clamp: &Clamp, ty: &Type) -> Option<Clamp> {
    let Clamp::Float { lo: Real(lo), hi: Real(hi) } = *clamp else { return None };
    if lo.is_nan() || hi.is_nan() {
        return None;
    }
    Some(Clamp::Int { lo: quantised(lo, ty)?, hi: quantised(hi, ty)? })
}

/// The whole range of an element.
fn whole(ty: &Type) -> Option<Clamp> {
    let (lo, hi) = ty.dtype.int_range()?;
    Some(Clamp::Int { lo: i32::try_from(lo).ok()?, hi: i32::try_from(hi).ok()? })
}

/// What a QUANTIZE of the whole tensor reads, and the type that it makes.
fn quantize_of(graph: &Graph, id: NodeId) -> Option<(ValueId, &Type)> {
    let node = graph.node(id);
    let ty = graph.ty(node.result);
    let wanted = is_quantize(&node.op) && ty.scale().is_some() && matches!(ty.dtype, DType::I8 | DType::I16);
    wanted.then_some((*node.operands.first()?, ty))
}
