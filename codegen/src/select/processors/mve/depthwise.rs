//! Depthwise convolutions.

use super::end::Fitted;
use super::pack::{self, LANES};
use crate::select::conv::Images;
use crate::select::kernel::Asked;
use crate::select::shape::Shape as Sizes;
use crate::select::*;
use crate::Optimize;

/// How the image is gone through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Column by column, rather than row by row: operand and result are apart.
    pub(super) columns: bool,
    /// Lines of a window, one behind the other: rows, or columns.
    lines: usize,
    /// Taps along a line.
    along: usize,
    /// Elements of a line from one pixel of the result to the next.
    stride: usize,
    /// Pixels of a line of the result.
    pixels: usize,
}

/// Vectors of taps that the kernel has registers for.
const MOST_VECTORS: usize = 4;

/// Bytes that a load reaches.
const REACH: usize = 127;

/// Pixels of a line from which on a line is worth it, and elements of a channel's window that are too many.
const LEAST_PIXELS: usize = 3;
const MOST_WINDOW: usize = 1 << 12;

impl Way {
    /// The ways for a convolution.
    pub(super) fn all(shape: &Sizes, asked: &Asked<'_>) -> Vec<Way> {
        let depthwise = shape.groups > 1 && shape.groups == shape.in_c && shape.out_c == shape.in_c;
        if !depthwise {
            return Vec::new();
        }
        let by_rows = (shape.dilation_w == 1 || shape.k_w == 1).then_some(Way {
            columns: false,
            lines: shape.k_h,
            along: shape.k_w,
            stride: shape.stride_w,
            pixels: shape.out_w,
        });
        // An image that is not computed row by row needs more memory.
        let whole = asked.whole && asked.options.optimize != Optimize::Memory && shape.images == 1;
        let by_columns = (whole && (shape.dilation_h == 1 || shape.k_h == 1)).then_some(Way {
            columns: true,
            lines: shape.k_w,
            along: shape.k_h,
            stride: shape.stride_h,
            pixels: shape.out_h,
        });
        by_rows.into_iter().chain(by_columns).filter(Way::has_kernel).collect()
    }

    /// The kernel in the table.
    pub(super) fn id(&self) -> KernelId {
        match self.columns {
            true => KernelId::Depthwise2dI8MveColumns,
            false => KernelId::Depthwise2dI8Mve,
        }
    }

    /// Lines that are copied for each line of the result. The kernel that goes by columns keeps those that neighbours share, where all taps are in one vector.
    pub(super) fn copied(&self, shape: &Sizes) -> usize {
        let keeps = self.columns && self.vectors() == 1 && shape.dilation_w == 1;
        if keeps {
            self.lines.min(shape.stride_w)
        } else {
            self.lines
        }
    }

    fn taps(&self) -> usize {
        self.lines * self.along
    }

    fn step(&self) -> usize {
        self.lines * self.stride
    }

    pub(super) fn vectors(&self) -> usize {
        self.taps().div_ceil(LANES)
    }

    fn has_kernel(&self) -> bool {
        let vectors = self.vectors();
        self.pixels >= LEAST_PIXELS
            && (1..=MOST_VECTORS).contains(&vectors)
            && 7 * self.step() + LANES * (vectors - 1) <= REACH
            && self.window() < MOST_WINDOW
    }

    /// Pixels whose taps are in one vector.
    pub(super) fn together(&self) -> usize {
        match self.vectors() {
            1 => (1 + (LANES - self.taps()) / self.step()).min(3),
            _ => 1,
        }
    }

    /// Elements of a channel's window.
    fn window(&self) -> usize {
        (self.results().saturating_sub(1)) * self.step() + LANES * self.vectors()
    }

    /// Elements of a channel's results.
    pub(super) fn results(&self) -> usize {
        self.pixels.next_multiple_of(4)
    }

    /// Bytes of the work space.
    pub(super) fn workspace(&self, shape: &Sizes) -> usize {
        (shape.in_c.min(LANES) * (self.window() + self.results())).next_multiple_of(4)
    }

    /// The taps of a filter `[k_h][k_w]` in the order of a window.
    fn order(&self, shape: &Sizes) -> Vec<usize> {
        let tap = |at: usize| match self.columns {
            true => at,
            false => at % shape.k_h * shape.k_w + at / shape.k_h,
        };
        (0..self.taps()).map(tap).collect()
    }
}

/// Taps for which the kernel of sixteen channels has room.
const MOST_TAPS: usize = 64;

/// Whether a convolution can be computed sixteen channels at a time.
pub(super) fn by_channels(shape: &Sizes) -> bool {
    let depthwise = shape.groups == shape.in_c && shape.out_c == shape.in_c;
    depthwise && shape.in_c >= LANES && (1..=MOST_TAPS).contains(&(shape.k_h * shape.k_w))
}

impl<'a> Selector<'a> {
    /// A depthwise convolution, sixteen channels at a time.
    pub(super) fn channels_mve(&mut self, node: &'a Node, shape: &Sizes, fitted: &Fitted) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let words = pack::sixteens(fitted, shape.k_h * shape.k_w);
        let weights = self.constant_arg("WEIGHTS", Data::from_i32(&words), Element::I32);
        let [_, exact, clamped] = fitted.generics();
        let (pad, work) = (Arg::Int(self.ty(x).zero_point().into()), self.workspace()?);
        let x = self.image_rows(x, shape.images, shape.in_h)?;
        let y = self.image_rows(y, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        let kernel = KernelId::Depthwise2dI8MveChannels;
        self.call_on(images, kernel, &[exact, clamped], &[conv], &[weights, pad, work], &[]);
        Ok(())
    }

    /// A depthwise convolution.
    pub(super) fn depthwise_mve(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        way: &Way,
        fitted: &Fitted,
    ) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let before = (way.together() - 1) * way.step();
        let words = pack::channels(fitted, &way.order(shape), before);
        let weights = self.constant_arg("WEIGHTS", Data::from_i32(&words), Element::I32);
        let sizes = [way.lines, way.along, way.stride].map(Generic::Size);
        let generics = [sizes, fitted.generics()].concat();
        let (pad, work) = (Arg::Int(self.ty(x).zero_point().into()), self.workspace()?);
        let (x, y) = (self.rows(x)?, self.rows(y)?);
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        self.call_on(images, way.id(), &generics, &[conv], &[weights, pad, work], &[]);
        Ok(())
    }
}
