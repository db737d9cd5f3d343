//! Kernels of cores with the DSP extension: which of them a layer gets, and its weights as they read them.

mod conv;
mod depthwise;
mod elementwise;
mod pack;
mod pool;
mod quantize;
pub(super) mod special;

use super::*;
use crate::kernel::{Kernel, Shape as Sizes};
use crate::passes::zero_point::folded_bias;
use crate::requant::{self, Channel, Choice, Form, Reference};
use crate::Target;
use pack::Tail;

impl<'a> Selector<'a> {
    /// Selects the DSP kernel of a node; `false` where it has none.
    pub(super) fn dsp(&mut self, node: &'a Node) -> Result<bool, Problem> {
        if self.options.target() == Target::CortexMDsp
            && (self.sum(node, requant::Products::Upper)?
                || self.windows(node)?
                || self.quantize_dsp(node)?)
        {
            return Ok(true);
        }
        match Kernel::of(self.graph, node, self.options, !self.in_loop) {
            Kernel::Portable => return Ok(false),
            Kernel::Tiled(shape, _) => self.tiled(node, &shape)?,
            Kernel::Column(shape) => self.column(node, &shape)?,
            Kernel::DepthwisePlanar(shape) => self.depthwise_planar(node, &shape)?,
            Kernel::Depthwise(shape) => self.depthwise_last(node, &shape)?,
            Kernel::Dense => self.dense_rows(node)?,
        }
        Ok(true)
    }
}
