//! Kernels in vectors, of hosts: filters in blocks of sixteen, which serve vectors of any width.
//!
//! A layer of integers needs factors as floats that are proven for every channel; one that has not gets the portable kernel.

mod crew;
mod float_shapes;
mod floats;
mod integers;
mod pack;

use crate::requant::{AddAffine, Products, Rounding};
use crate::select::conv::rows;
use crate::select::kernel::{self, Asked, Choice, Processor};
use crate::select::means::{self, Means};
use crate::select::shape::Shape as Sizes;
use crate::select::*;
use crate::Optimize;
use float_shapes::Floats;
use integers::Vectors;
use kiln_kernel_table::Core;
use pack::Layer;
use std::any::Any;
use std::borrow::Cow;

/// The processor.
pub(super) struct Simd;

/// A kernel in vectors.
#[derive(Clone, Debug)]
pub(super) enum Kernel {
    /// Of int8.
    Integers(Vectors, Layer),
    /// Of floats.
    Floats(Floats),
    /// Sum or difference of int8.
    Add(AddAffine),
    /// Means of int8.
    Means(Means),
}

impl Processor for Simd {
    fn candidates(&self, asked: &Asked<'_>, core: Core, _below: u64) -> Vec<Choice> {
        let (graph, node) = (asked.graph, asked.node);
        let found = match &node.op {
            _ if asked.packing.is_some() => None,
            Op::Add { .. } | Op::Sub { .. } => sums::fit(asked, Products::Low).map(Kernel::Add),
            Op::AvgPool2d { .. } | Op::Mean { .. } => means::fit(asked).map(Kernel::Means),
            _ => {
                let integers =
                    || Some(Kernel::Integers(Vectors::of(graph, node, asked.whole)?, Layer::of(asked)?));
                let floats = || Floats::of(graph, node, asked.whole).map(Kernel::Floats);
                integers().or_else(floats)
            }
        };
        let choice = |kernel: Kernel| {
            let cycles = kernel.cycles(asked, core).unwrap_or(u64::MAX);
            let (workspace, images) = (kernel.workspace(), kernel.images());
            Choice { workspace, images, ..Choice::new(Rc::new(kernel), cycles) }
        };
        found.into_iter().map(choice).collect()
    }
}

impl Kernel {
    fn images(&self) -> usize {
        match self {
            Kernel::Integers(kernel, _) => kernel.images(),
            Kernel::Floats(kernel) => kernel.images(),
            Kernel::Add(_) | Kernel::Means(_) => 1,
        }
    }

    /// Bytes of its workspace.
    fn workspace(&self) -> usize {
        match self {
            Kernel::Integers(kernel, _) => kernel.workspace(),
            Kernel::Floats(kernel) => kernel.workspace(),
            Kernel::Add(_) | Kernel::Means(_) => 0,
        }
    }

    /// The kernel in the table, of those that do the same the first.
    fn id(&self) -> KernelId {
        match self {
            Kernel::Integers(Vectors::Conv(_), _) => KernelId::Conv2dI8Simd,
            Kernel::Integers(Vectors::Depthwise(_), _) => KernelId::Depthwise2dI8Simd,
            Kernel::Integers(Vectors::Dense(_), _) => KernelId::DenseI8Simd,
            Kernel::Floats(Floats::Conv(_)) => KernelId::Conv2dF32Simd,
            Kernel::Floats(Floats::Depthwise(_)) => KernelId::Depthwise2dF32Simd,
            Kernel::Floats(Floats::Dense(..)) => KernelId::DenseF32Simd,
            Kernel::Floats(Floats::MatMul(..)) => KernelId::MatmulF32Simd,
            Kernel::Add(_) => KernelId::AddI8Simd,
            Kernel::Means(_) => KernelId::MeanPool2dI8Simd,
        }
    }

    /// Predicted cycles.
    fn cycles(&self, asked: &Asked<'_>, core: Core) -> Option<u64> {
        let products = kiln_ir::macs(asked.graph, asked.node) as usize;
        let work = kernel::work(asked.graph, asked.node, products);
        kernel::cycles(asked.options, self.id(), core, &work)
    }
}

impl kernel::Kernel for Kernel {
    fn name(&self) -> Cow<'static, str> {
        self.id().name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        let (kernel, layer) = match self {
            Kernel::Integers(kernel, layer) => (kernel, layer),
            Kernel::Floats(kernel) => return selector.simd_floats(node, kernel),
            Kernel::Add(by) => return selector.sum(node, KernelId::AddI8Simd, by, false),
            Kernel::Means(means) => return selector.means(node, KernelId::MeanPool2dI8Simd, means),
        };
        match kernel {
            Vectors::Conv(shape) => {
                let kernels = [KernelId::Conv2dI8Simd, KernelId::Conv2dI8SimdSized];
                selector.simd_conv(node, shape, kernels, pack::conv(layer, shape), layer)
            }
            Vectors::Depthwise(shape) => {
                let blocks = pack::depthwise(layer, shape);
                let kernels = [KernelId::Depthwise2dI8Simd, KernelId::Depthwise2dI8SimdSized];
                selector.simd_conv(node, shape, kernels, blocks, layer)
            }
            Vectors::Dense(_) => {
                let shape = Sizes::of_dense(selector.graph, node).ok_or_else(|| selector.no_kernel(node))?;
                let blocks = selector.filter_blocks(node, pack::conv(layer, &shape), layer);
                let [x, y, band] = selector.matrix_rows(node)?;
                let work = selector.workspace()?;
                let args = vec![x, blocks, work, y, band];
                match selector.has_few_layers() {
                    true => {
                        let generics = vec![sizes(&selector.conv_params(&shape)), layer.symmetric()];
                        selector.call_generic(KernelId::DenseI8SimdSized, generics, args);
                    }
                    false => selector.call_generic(KernelId::DenseI8Simd, vec![layer.symmetric()], args),
                }
                Ok(())
            }
        }
    }

    fn is_worth_sharing(&self, choice: &Choice, graph: &Graph, node: &Node) -> bool {
        crew::is_worth_sharing(choice, graph, node)
    }

    fn workspaces(&self, choice: &Choice, graph: &Graph, node: &Node, cores: usize) -> Option<usize> {
        crew::workspaces(self, choice, graph, node, cores)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
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
