//! Kernels of cores with the DSP extension: which of them a layer gets, and its weights as they read them.

mod compact;
pub(super) mod conv;
mod depthwise;
mod elementwise;
mod pack;
mod pool;
mod quantize;
mod single;
pub(super) mod special;
mod temporal;

use super::*;
use crate::kernel::{needs_cheap_form, Shape as Sizes};
use crate::requant::{self, folded_bias, Channel, Choice, Form, Reference, Scaling};
use crate::Target;

impl<'a> Selector<'a> {
    /// Selects the DSP kernel of a node; `false` where it has none.
    pub(super) fn dsp(&mut self, node: &'a Node, kernel: Kernel) -> Result<bool, Problem> {
        if self.options.target() == Target::CortexMDsp
            && (self.sum(node, requant::Products::Upper)?
                || self.windows(node)?
                || self.quantize_dsp(node)?)
        {
            return Ok(true);
        }
        if kernel.images() > 1 {
            // Refuses too many: each is a call.
            self.images(node)?;
        }
        if self.compact() {
            let selected = match kernel {
                Kernel::Tiled(shape, pixels) => self.compact_conv(node, &shape, pixels),
                Kernel::Depthwise(shape) => self.compact_depthwise(node, &shape),
                Kernel::Dense => self.compact_dense(node),
                Kernel::Portable
                | Kernel::Vectors(_)
                | Kernel::Floats(_)
                | Kernel::Column(_)
                | Kernel::DenseWide
                | Kernel::DepthwisePlanar(_)
                | Kernel::Temporal(_) => Ok(false),
            };
            return if needs_cheap_form(node) { Ok(selected.unwrap_or(false)) } else { selected };
        }
        let selected = match kernel {
            Kernel::Portable | Kernel::Vectors(_) | Kernel::Floats(_) => return Ok(false),
            Kernel::Tiled(shape, _) => self.tiled(node, &shape),
            Kernel::Column(shape) => self.column(node, &shape),
            Kernel::DepthwisePlanar(shape) => self.depthwise_planar(node, &shape),
            Kernel::Depthwise(shape) => self.depthwise_last(node, &shape),
            Kernel::Temporal(shape) => self.temporal(node, &shape),
            Kernel::Dense => self.dense_rows(node),
            Kernel::DenseWide => self.dense_wide(node),
        };
        if needs_cheap_form(node) {
            return Ok(selected.is_ok());
        }
        selected.map(|()| true)
    }
}
