//! Channels of integer layers that come out the same whatever goes in: afterwards their weights are zero, and their bias says what comes out.
//!
//! Training leaves filters whose weights are all zero, or whose bias is so large that the activation cuts off everything. The results that the
//! extreme accumulators give decide: requantisation is monotone. [`dead_channels`](super::dead_channels) removes such channels where it can.

use super::rewrite::{each_node, Rewrite};
use crate::interp::rescaled;
use crate::ir::{Clamp, DType, Data, Graph, Multiplier, Node, NodeId, Op, Real, Rescale};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| {
        let Some(layer) = Layer::of(graph, graph.node(id)) else { return Rewrite::Keep };
        let (mut weights, mut bias, mut rescale) =
            (layer.weights.clone(), layer.bias.clone(), layer.rescale.clone());
        for (o, result) in layer.constants().into_iter().enumerate() {
            let Some(result) = result else { continue };
            weights[o * layer.taps..(o + 1) * layer.taps].fill(0);
            bias[o] = result - layer.zero_point;
            one(&mut rescale, o);
        }
        if weights == layer.weights && bias == layer.bias {
            return Rewrite::Keep;
        }
        replace(graph, id, &weights, &bias, rescale);
        Rewrite::Changed
    })
}

/// Gives a filter the factor of one.
fn one(rescale: &mut Rescale, filter: usize) {
    match rescale {
        Rescale::FixedPoint(factors) | Rescale::Once(factors) => factors[filter] = Multiplier::ONE,
        Rescale::Float(factors) => factors[filter] = Real(1.0),
        Rescale::Real | Rescale::FloatSum { .. } => {}
    }
}

/// The factors with one for each filter; `None` where their number is another, or where there are none for filters.
fn for_each_filter(rescale: &Rescale, filters: usize) -> Option<Rescale> {
    fn each<T: Copy>(factors: &[T], filters: usize) -> Option<Vec<T>> {
        match factors {
            &[one] => Some(vec![one; filters]),
            several => (several.len() == filters).then(|| several.to_vec()),
        }
    }
    match rescale {
        Rescale::FixedPoint(factors) => each(factors, filters).map(Rescale::FixedPoint),
        Rescale::Once(factors) => each(factors, filters).map(Rescale::Once),
        Rescale::Float(factors) => each(factors, filters).map(Rescale::Float),
        Rescale::Real | Rescale::FloatSum { .. } => None,
    }
}

/// Gives a layer other weights, biases and factors.
fn replace(graph: &mut Graph, id: NodeId, weights: &[i8], bias: &[i32], factors: Rescale) {
    let (old_weights, old_bias) = (graph.node(id).operands[1], graph.node(id).operands[2]);
    let constant = |graph: &mut Graph, old, data| {
        let (name, ty) = (graph.value(old).name.clone(), graph.ty(old).clone());
        graph.add_const(name, ty, data)
    };
    let weights = constant(graph, old_weights, Data::from_i8(weights));
    let bias = constant(graph, old_bias, Data::from_i32(bias));
    let node = graph.node_mut(id);
    (node.operands[1], node.operands[2]) = (weights, bias);
    if let Op::Conv2d { rescale, .. } | Op::Dense { rescale, .. } = &mut node.op {
        *rescale = factors;
    }
}

/// A convolution or dense layer of 8-bit integers with constant weights and biases.
pub(super) struct Layer {
    /// Filter after filter.
    pub(super) weights: Vec<i8>,
    /// Of one filter.
    pub(super) taps: usize,
    pub(super) bias: Vec<i32>,
    /// With a factor for each filter.
    rescale: Rescale,
    /// Of the operand.
    pub(super) operand_zero: i32,
    /// Of the result.
    pub(super) zero_point: i32,
    clamp: Clamp,
}

impl Layer {
    pub(super) fn of(graph: &Graph, node: &Node) -> Option<Layer> {
        let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else {
            return None;
        };
        let &[x, w, b] = node.operands.as_slice() else { return None };
        let eight_bit = [x, w, node.result].iter().all(|&id| graph.ty(id).dtype == DType::I8);
        let symmetric = graph.ty(w).quant.as_ref().is_none_or(|q| q.zero_points.iter().all(|&z| z == 0));
        if !eight_bit || !symmetric || graph.ty(b).dtype != DType::I32 {
            return None;
        }
        let (weights, bias) = (graph.const_data(w)?.to_i8(), graph.const_data(b)?.to_i32());
        let taps = weights.len().checked_div(bias.len())?;
        let whole = taps > 0
            && taps * bias.len() == weights.len()
            && graph.ty(w).shape.dims().first() == Some(&bias.len());
        let rescale = for_each_filter(rescale, bias.len())?;
        let (operand_zero, zero_point) = (graph.ty(x).zero_point(), graph.ty(node.result).zero_point());
        whole.then_some(Layer { weights, taps, bias, rescale, operand_zero, zero_point, clamp: *clamp })
    }

    /// The weights of a filter.
    pub(super) fn filter(&self, o: usize) -> &[i8] {
        self.weights.get(o * self.taps..(o + 1) * self.taps).unwrap_or(&[])
    }

    /// What an accumulator of filter `o` becomes; `None` if it is no `i32`.
    pub(super) fn result(&self, o: usize, acc: i64) -> Option<i32> {
        let (lo, hi) = self.clamp.int_bounds();
        let scaled = rescaled(&self.rescale, i32::try_from(acc).ok()?, o)?;
        // The bounds are those of 8 bits: nothing is lost by the saturation.
        Some(scaled.saturating_add(self.zero_point).clamp(lo, hi))
    }

    /// Of each filter, its only result.
    fn constants(&self) -> Vec<Option<i32>> {
        let constant = |o: usize| {
            let (mut least, mut most) = (i64::from(self.bias[o]), i64::from(self.bias[o]));
            for &w in self.filter(o) {
                let ends = [-128, 127].map(|x: i64| (x - i64::from(self.operand_zero)) * i64::from(w));
                least += ends[0].min(ends[1]);
                most += ends[0].max(ends[1]);
            }
            let result = self.result(o, least)?;
            // What is shifted to the left may wrap, which is not monotone.
            let monotone = match &self.rescale {
                Rescale::FixedPoint(factors) | Rescale::Once(factors) => {
                    factors[o].shift <= 0 || least == most
                }
                _ => true,
            };
            (monotone && self.result(o, most)? == result).then_some(result)
        };
        (0..self.bias.len()).map(constant).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    fn dense(weights: &str, bias: &str, rescale: &str) -> String {
        format!(
            "input %x: i8[1,2] q(0.5 : -3)
             const %w: i8[3,2] q(axis 0, [0.5, 0.25, 1.0] : [0, 0, 0]) = [{weights}]
             const %b: i32[3] = [{bias}]
             %y: i8[1,3] q(0.5 : -128) = dense(%x, %w, %b) {{rescale = [{rescale}], clamp = -128..=127}}
             return %y"
        )
    }

    #[test]
    fn what_never_changes_needs_no_weights() {
        // The first varies, the second is below zero whatever comes, the third has no weights.
        rewrites(
            run,
            &dense(
                "1, 2, 3, 4, 0, 0",
                "100, -1000000, 50",
                "1073741824 * 2^0, 1473741824 * 2^-1, 1173741824 * 2^-2",
            ),
            &dense("1, 2, 0, 0, 0, 0", "100, 0, 7", "1073741824 * 2^0, 1073741824 * 2^1, 1073741824 * 2^1"),
        );
    }

    #[test]
    fn of_factors_in_floats_too() {
        let float = |weights: &str, bias: &str, factors: &str| {
            dense(weights, bias, factors).replace("rescale = [", "rescale = float [")
        };
        rewrites(
            run,
            &float("1, 2, 3, 4, 0, 0", "100, -1000000, 50", "0.5, 0.34, 0.125"),
            &float("1, 2, 0, 0, 0, 0", "100, 0, 6", "0.5, 1.0, 1.0"),
        );
    }

    #[test]
    fn what_varies_stays() {
        keeps(
            run,
            &dense(
                "1, 2, 3, 4, 1, 0",
                "100, -10, 50",
                "1073741824 * 2^0, 1473741824 * 2^-1, 1173741824 * 2^-2",
            ),
        );
    }
}
