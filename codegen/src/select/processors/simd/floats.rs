//! Layers of floats: filters in blocks of sixteen biases and, tap by tap, sixteen weights.

use super::float_shapes::{flat_blocks, Floats};
use super::integers::BLOCK;
use crate::ir::{Clamp, Data, Node, Op};
use crate::select::conv::Images;
use crate::select::{Arg, Cells, Element, KernelId, Problem, Selected, Selector, Shape};

impl<'a> Selector<'a> {
    /// Selects a kernel for floats.
    pub(super) fn simd_floats(&mut self, node: &'a Node, kernel: &Floats) -> Selected {
        if let Op::MatMul { rescale, clamp } = &node.op {
            let work = self.float_workspace(node, kernel.workspace())?;
            return self.matmul(node, rescale, clamp, Some(work));
        }
        let (Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. }) = &node.op else {
            return Err(self.no_kernel(node));
        };
        match kernel {
            Floats::Conv(shape) => self.simd_float_conv(node, shape, KernelId::Conv2dF32Simd, clamp),
            Floats::Depthwise(shape) => {
                self.simd_float_conv(node, shape, KernelId::Depthwise2dF32Simd, clamp)
            }
            Floats::MatMul(..) => Err(self.no_kernel(node)),
            Floats::Dense(_, k) => {
                let blocks = self.float_blocks(node, |filters| filters.blocks(*k))?;
                let [x, y, band] = self.matrix_rows(node)?;
                let work = self.float_workspace(node, kernel.workspace())?;
                let (lo, hi) = clamp.float_bounds();
                self.call(
                    KernelId::DenseF32Simd,
                    vec![x, blocks, Arg::Float(lo), Arg::Float(hi), work, y, band],
                );
                Ok(())
            }
        }
    }

    fn simd_float_conv(
        &mut self,
        node: &'a Node,
        shape: &Shape,
        kernel: KernelId,
        clamp: &Clamp,
    ) -> Selected {
        let blocks = match shape.groups {
            1 => self.float_blocks(node, |filters| filters.blocks(shape.taps()))?,
            _ => self.float_blocks(node, |filters| filters.channels(shape.k_h * shape.k_w))?,
        };
        let work = self.float_workspace(
            node,
            match shape.groups {
                1 => Floats::Conv(*shape).workspace(),
                _ => Floats::Depthwise(*shape).workspace(),
            },
        )?;
        let (lo, hi) = clamp.float_bounds();
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        self.call_on(images, kernel, &[], &[conv], &[blocks, Arg::Float(lo), Arg::Float(hi), work], &[]);
        Ok(())
    }

    /// The step's workspace as floats; no cells where it needs none.
    fn float_workspace(&self, node: &Node, bytes: usize) -> Result<Arg, Problem> {
        let shared = self.schedule.steps.get(self.step).filter(|step| step.shared);
        let bytes = if shared.is_some_and(|step| step.workspace.is_none()) { 0 } else { bytes };
        match bytes {
            0 => Ok(Arg::Cells(Cells::All(self.region(node.result)?.part(0, 0)))),
            _ => match self.workspace()? {
                Arg::Cells(cells) => Ok(Arg::Cells(cells.seen_as(Element::F32))),
                other => Ok(other),
            },
        }
    }

    /// Packed filters as a constant.
    fn float_blocks(&mut self, node: &'a Node, pack: impl Fn(&Filters) -> Vec<f32>) -> Result<Arg, Problem> {
        let weights = self.data(node, node.operands[1], "weights")?.to_f32();
        let count = self.ty(node.operands[1]).shape.dims().first().copied().unwrap_or(1);
        let bias = match node.operands.get(2) {
            Some(&b) => self.data(node, b, "biases")?.to_f32(),
            None => vec![0.0; count],
        };
        let packed = pack(&Filters { weights, bias });
        let constant = self.step_constant("FILTERS", Data::from_f32(&packed));
        Ok(Arg::Constant(constant, Element::F32))
    }
}

/// Weights \[o\]\[taps\] and biases \[o\].
struct Filters {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Filters {
    /// Filters in their order, the last block completed by zeros.
    fn blocks(&self, taps: usize) -> Vec<f32> {
        (0..self.bias.len().next_multiple_of(BLOCK))
            .step_by(BLOCK)
            .flat_map(|first| self.block(taps, move |lane| first + lane))
            .collect()
    }

    /// Filters of channels, as rows of their pixels have them.
    fn channels(&self, taps: usize) -> Vec<f32> {
        match flat_blocks(self.bias.len()) {
            Some(blocks) => (0..blocks)
                .flat_map(|b| self.block(taps, move |lane| (b * BLOCK + lane) % self.bias.len()))
                .collect(),
            None => self.blocks(taps),
        }
    }

    /// A block of the filters that lanes have.
    fn block(&self, taps: usize, filter: impl Fn(usize) -> usize) -> Vec<f32> {
        let lanes = |of: &[f32], at: &dyn Fn(usize) -> usize| {
            (0..BLOCK).map(|lane| of.get(at(filter(lane))).copied().unwrap_or(0.0)).collect::<Vec<_>>()
        };
        let mut packed = lanes(&self.bias, &|o| o);
        for tap in 0..taps {
            packed.extend(lanes(&self.weights, &|o| o * taps + tap));
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_three_channels_fill_three_blocks() {
        let filters = Filters { weights: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], bias: vec![7.0, 8.0, 9.0] };
        let packed = filters.channels(2);
        assert_eq!(packed.len(), 3 * 3 * BLOCK);
        assert_eq!(packed[..4], [7.0, 8.0, 9.0, 7.0]);
        assert_eq!(packed[16..20], [1.0, 3.0, 5.0, 1.0]);
        // The second block begins with the second channel.
        assert_eq!(packed[3 * 16 + 32..][..3], [4.0, 6.0, 2.0]);
    }

    #[test]
    fn the_last_block_is_completed_by_zeros() {
        let filters = Filters { weights: vec![2.0; 17], bias: vec![1.0; 17] };
        let packed = filters.blocks(1);
        assert_eq!(packed.len(), 4 * BLOCK);
        assert_eq!((packed[32], packed[33], packed[48], packed[49]), (1.0, 0.0, 2.0, 0.0));
    }
}
