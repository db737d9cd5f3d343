//! Kernels in vectors, of hosts: filters in blocks of sixteen, which serve vectors of any width.
//!
//! A layer of integers needs factors as floats that are proven for every channel; one that has not gets the portable kernel.

mod floats;
mod pack;

use super::conv::rows;
use super::*;
use crate::kernel::{Shape as Sizes, Vectors};
use crate::requant::{choose_floats, reachable, Channel, Products, Reference, Rounding};
use crate::{Optimize, Target};
use pack::Layer;

impl<'a> Selector<'a> {
    /// Selects a kernel in vectors; `false` where there is none for the node.
    pub(super) fn simd(&mut self, node: &'a Node, kernel: Kernel) -> Result<bool, Problem> {
        if self.options.target() != Target::Vectors {
            return Ok(false);
        }
        if self.sum(node, Products::Low)? || self.windows(node)? {
            return Ok(true);
        }
        if kernel.images() > 1 {
            // Refuses too many: each is a call.
            self.images(node)?;
        }
        if let Kernel::Floats(kernel) = kernel {
            return self.simd_floats(node, &kernel).map(|()| true);
        }
        let Kernel::Vectors(kernel) = kernel else { return Ok(false) };
        let Some(layer) = self.proven(node)? else { return Ok(false) };
        match kernel {
            Vectors::Conv(shape) => {
                let kernels = [KernelId::Conv2dI8Simd, KernelId::Conv2dI8SimdSized];
                self.simd_conv(node, &shape, kernels, pack::conv(&layer, &shape), &layer)?;
            }
            Vectors::Depthwise(shape) => {
                let blocks = pack::depthwise(&layer, &shape);
                let kernels = [KernelId::Depthwise2dI8Simd, KernelId::Depthwise2dI8SimdSized];
                self.simd_conv(node, &shape, kernels, blocks, &layer)?;
            }
            Vectors::Dense(_) => {
                let shape = Sizes::of_dense(self.graph, node).ok_or_else(|| self.no_kernel(node))?;
                let blocks = self.filter_blocks(node, pack::conv(&layer, &shape), &layer);
                let [x, y, band] = self.matrix_rows(node)?;
                let work = self.workspace()?;
                let args = vec![x, blocks, work, y, band];
                match self.has_few_layers() {
                    true => {
                        let generics = vec![sizes(&self.conv_params(&shape)), layer.symmetric()];
                        self.call_generic(KernelId::DenseI8SimdSized, generics, args);
                    }
                    false => self.call_generic(KernelId::DenseI8Simd, vec![layer.symmetric()], args),
                }
            }
        }
        Ok(true)
    }

    /// Calls the first kernel, or the second, which is compiled for the layer.
    fn simd_conv(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        [kernel, own_code]: [KernelId; 2],
        blocks: Data,
        layer: &Layer,
    ) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let blocks = self.filter_blocks(node, blocks, layer);
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let work = self.workspace()?;
        let rx = self.image_rows(x, shape.images, shape.in_h)?;
        let ry = self.image_rows(y, shape.images, shape.out_h)?;
        let special = self.has_few_layers();
        for image in 0..shape.images {
            let (rx, ry) = (rows(rx, shape.images, image), rows(ry, shape.images, image));
            let args = vec![rx, blocks.clone(), pad.clone(), work.clone(), ry, self.band(shape.out_h)];
            let conv = self.conv_params(shape);
            match special {
                true => self.call_generic(own_code, vec![sizes(&conv), layer.symmetric()], args),
                false => {
                    let args = [vec![Arg::Struct(conv)], args].concat();
                    self.call_generic(kernel, vec![layer.symmetric()], args);
                }
            }
        }
        Ok(())
    }

    /// The kernels' `FilterBlocks`.
    fn filter_blocks(&mut self, node: &Node, blocks: Data, layer: &Layer) -> Arg {
        let blocks = self.step_constant("FILTERS", blocks);
        let (lo, hi) = layer.clamp;
        let own = self.ty(node.result).zero_point();
        let (variant, zero_point) = match layer.choice.rounding {
            Rounding::Nearest => ("Nearest", 0),
            Rounding::Away => ("Away", own),
            Rounding::Even => ("Even", own),
            Rounding::Twice => ("Twice", own),
        };
        let fields = vec![
            ("blocks", Field::Constant(blocks, Element::I8)),
            ("rounding", Field::Variant("Rounding", variant)),
            ("zero_point", Field::Int(zero_point.into())),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Arg::Struct(Struct { name: "FilterBlocks", fields })
    }

    /// A layer of integers whose factors are proven for every channel.
    fn proven(&self, node: &'a Node) -> Result<Option<Layer>, Problem> {
        let (Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. }) = &node.op else { return Ok(None) };
        let mut numbers = self.numbers(node)?;
        pack::settle(&mut numbers);
        let channel = |(o, reference): (usize, &Reference)| {
            let range = reachable(numbers.filter(o).iter().copied(), numbers.bias[o], (-128, 127));
            Channel { reference: *reference, range, gain_bits: 0 }
        };
        let channels: Vec<Channel> = numbers.references.iter().enumerate().map(channel).collect();
        let layer = |choice| Layer { numbers, choice, clamp: clamp.int_bounds() };
        Ok(choose_floats(&channels).ok().map(layer))
    }

    /// Whether each convolution gets code of its own.
    fn has_few_layers(&self) -> bool {
        let layers =
            self.graph.nodes().filter(|(_, node)| matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. }));
        // Parts have other sizes.
        self.options.optimize == Optimize::Speed && !self.is_shared() && layers.count() <= MOST_OWN_CODE
    }
}

/// Layers of a model whose code is compiled for their sizes: it takes half a second for each.
const MOST_OWN_CODE: usize = 32;

/// The same sizes as a type.
fn sizes(conv: &Struct) -> Generic {
    let size = |(_, field): &(&str, Field)| match field {
        Field::Int(size) => *size as usize,
        _ => 0,
    };
    Generic::Sizes(conv.fields.iter().map(size).collect())
}
