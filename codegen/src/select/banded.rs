//! Sparse filters of floats, such as filter banks: a matrix product or a convolution of points whose filters have weights other than 0 in one run of channels each. Filters along an image one pixel wide
//! have runs of taps: those that take samples of a signal as they are make frames of it.
//!
//! The results are those of the layer, in bits, unless an operand is infinite or no number: a weight of 0 makes that no number, and a weight that is left out does not.

use super::kernel::{self, Asked, Choice};
use super::shape::Shape;
use super::*;
use crate::ir::Layout;
use kiln_kernel_table::Core;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

/// The channels or taps of each filter that have weights other than 0.
pub(super) fn runs(weights: &[f32], filters: usize) -> Option<Vec<Range<usize>>> {
    let channels = weights.len().checked_div(filters).filter(|&channels| channels > 0)?;
    u16::try_from(channels).ok()?;
    let run = |row: &[f32]| {
        let first = row.iter().position(|&w| w != 0.0).unwrap_or(0);
        let end = row.iter().rposition(|&w| w != 0.0).map_or(first, |last| last + 1);
        first..end
    };
    Some(weights.chunks_exact(channels).map(run).collect())
}

/// The sparse kernel for a layer, if it is worth it.
pub(super) fn find(asked: &Asked<'_>) -> Option<Choice> {
    let Asked { graph, node, options, .. } = *asked;
    let shape = match &node.op {
        Op::Conv2d { groups: 1, .. } => Shape::of(graph, node)?,
        Op::Dense { .. } => Shape::of_dense(graph, node)?,
        _ => return None,
    };
    let floats = node.operands.iter().chain([&node.result]).all(|&id| graph.ty(id).dtype == DType::F32);
    let points = [shape.k_h, shape.k_w, shape.stride_h, shape.stride_w] == [1; 4]
        // Each pixel has one: there is no padding on any side.
        && [shape.in_h, shape.in_w] == [shape.out_h, shape.out_w];
    let last = shape.out_h.saturating_sub(1) * shape.stride_h + shape.k_h;
    let column = [shape.in_w, shape.out_w, shape.k_w, shape.dilation_h] == [1; 4] && last <= shape.in_h;
    let inside = [shape.pad_top, shape.pad_left] == [0; 2] && (points || column);
    if !floats || !inside || node.op.layout() != Layout::default() {
        return None;
    }
    let weights = graph.const_data(node.operands[1])?.to_f32();
    let runs = runs(&weights, shape.out_c)?;
    let taps: usize = runs.iter().map(ExactSizeIterator::len).sum();
    let pixels = shape.images * shape.out_h * shape.out_w;
    // Other kernels multiply two numbers in about as many cycles, and those of vectors several at a time.
    let worth = if options.target().core() == Core::Host { 16 } else { 3 };
    // Samples one by one are gathered for all filters first.
    let gathered = if column && shape.in_c == 1 { 16 * shape.k_h } else { 0 };
    if worth * (taps + 2 * shape.out_c) > weights.len() + gathered {
        return None;
    }
    let cycles = pixels * (6 * taps + 20 * shape.out_c);
    let images = shape.images;
    Some(Choice { images, ..Choice::new(Rc::new(Banded(shape, runs)), cycles as u64) })
}

/// The kernel of such a layer.
#[derive(Debug)]
struct Banded(Shape, Vec<Range<usize>>);

impl kernel::Kernel for Banded {
    fn name(&self) -> Cow<'static, str> {
        KernelId::BandedF32.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        selector.banded(node, &self.0, &self.1)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    fn banded(&mut self, node: &'a Node, shape: &Shape, runs: &[Range<usize>]) -> Selected {
        let (Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. }) = &node.op else {
            return Err(self.no_kernel(node));
        };
        let all = self.data(node, node.operands[1], "weights")?.to_f32();
        let of_filter = |(filter, run): (usize, &Range<usize>)| {
            let first = filter * shape.k_h * shape.in_c;
            all.get(first + run.start..first + run.end).unwrap_or(&[]).to_vec()
        };
        let weights: Vec<f32> = runs.iter().enumerate().flat_map(of_filter).collect();
        let ends: Vec<i16> = runs.iter().flat_map(|run| [run.start as i16, run.len() as i16]).collect();
        let bias = match node.operands.get(2) {
            Some(&bias) => self.data(node, bias, "biases")?.clone(),
            None => Data::from_f32(&vec![0.0; shape.out_c]),
        };
        let (lo, hi) = clamp.float_bounds();
        let after = [
            Arg::Constant(self.step_constant("RUNS", Data::from_i16(&ends)), Element::U16),
            Arg::Constant(self.step_constant("WEIGHTS", Data::from_f32(&weights)), Element::F32),
            Arg::Constant(self.step_constant("BIAS", bias), Element::F32),
            Arg::Float(lo),
            Arg::Float(hi),
        ];
        self.layer_of_floats(node, shape, KernelId::BandedF32, &after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_and_end_with_weights() {
        let weights = [0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0];
        assert_eq!(runs(&weights, 3), Some(vec![1..4, 0..0, 0..1]));
        assert_eq!(runs(&weights, 0), None);
    }
}
