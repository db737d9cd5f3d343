//! Convolutions of one image, as kernels see them.

use crate::ir::{Graph, Layout, Node, Op, Order};

/// The sizes of a convolution of one image: those of the kernels' `Conv`, and the rows of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // They are those of `Conv`.
pub struct Shape {
    pub in_h: usize,
    pub in_w: usize,
    pub in_c: usize,
    pub out_h: usize,
    pub out_w: usize,
    pub out_c: usize,
    pub k_h: usize,
    pub k_w: usize,
    pub stride_h: usize,
    pub stride_w: usize,
    pub dilation_h: usize,
    pub dilation_w: usize,
    pub pad_top: usize,
    pub pad_left: usize,
    pub groups: usize,
    /// Images in the batch.
    pub images: usize,
    /// How operand and result are stored.
    pub layout: Layout,
}

impl Shape {
    /// The shape of a convolution of images.
    pub fn of(graph: &Graph, node: &Node) -> Option<Shape> {
        let Op::Conv2d { window, groups, .. } = &node.op else { return None };
        let layout = node.op.layout();
        let image = |id, order: Order| order.image(graph.ty(id).shape.dims());
        let [images, in_h, in_w, in_c] = image(*node.operands.first()?, layout.x)?;
        let [_, out_h, out_w, out_c] = image(node.result, layout.y)?;
        Some(Shape {
            in_h,
            in_w,
            in_c,
            out_h,
            out_w,
            out_c,
            k_h: window.size[0],
            k_w: window.size[1],
            stride_h: window.stride[0],
            stride_w: window.stride[1],
            dilation_h: window.dilation[0],
            dilation_w: window.dilation[1],
            pad_top: window.pad.top,
            pad_left: window.pad.left,
            groups: *groups,
            images,
            layout,
        })
    }

    /// The same convolution as one of an image that is a single row, where it is one: pixels that are computed alone, or a column. So pairs of
    /// pixels may come from two rows. Only for whole tensors.
    pub fn as_row(self) -> Shape {
        if self.layout != Layout::default() {
            return self;
        }
        let alone = self.k_h == 1 && self.k_w == 1 && self.stride_h == 1 && self.stride_w == 1;
        let padded = self.pad_top + self.pad_left > 0;
        if alone && !padded && self.out_h == self.in_h && self.out_w == self.in_w {
            let pixels = self.images * self.in_h * self.in_w;
            return Shape { images: 1, in_h: 1, in_w: pixels, out_h: 1, out_w: pixels, ..self };
        }
        let column = self.in_w == 1 && self.out_w == 1 && self.k_w == 1 && self.pad_left == 0;
        if column && self.dilation_h == 1 {
            return Shape {
                in_h: 1,
                in_w: self.in_h,
                out_h: 1,
                out_w: self.out_h,
                k_h: 1,
                k_w: self.k_h,
                stride_h: 1,
                stride_w: self.stride_h,
                pad_top: 0,
                pad_left: self.pad_top,
                ..self
            };
        }
        self
    }

    /// The same convolution with whole rows as pixels, where a filter covers those.
    pub fn as_column(self) -> Shape {
        if self.layout == Layout::default() && self.k_w == self.in_w && self.out_w == 1 && self.pad_left == 0
        {
            return Shape { in_w: 1, k_w: 1, stride_w: 1, in_c: self.in_w * self.in_c, ..self };
        }
        self
    }

    /// Whether operand and result are one pixel wide, and the taps of a pixel come in no more runs than the kernel for such takes.
    pub fn is_column(&self) -> bool {
        let one_wide = self.in_w == 1 && self.out_w == 1 && self.k_w == 1 && self.pad_left == 0;
        let bottom = ((self.out_h.max(1) - 1) * self.stride_h + (self.k_h - 1) * self.dilation_h + 1)
            .saturating_sub(self.in_h + self.pad_top);
        let padding = self.pad_top + bottom;
        // Rows of whole words that follow each other are one run, but where the ring begins again.
        let runs = if self.dilation_h == 1 && self.in_c % 4 == 0 { 2 + padding } else { self.k_h };
        one_wide && runs <= 12 && (padding == 0 || self.in_c <= 128)
    }

    /// Elements of a row of the result from one pixel to the next, and from one channel to the next.
    pub fn out_strides(&self) -> (usize, usize) {
        let [.., pixel, channel] = self.layout.y.strides([1, 1, self.out_w, self.out_c]);
        (pixel, channel)
    }

    /// Taps of a filter.
    pub fn taps(&self) -> usize {
        self.k_h * self.k_w * self.in_c / self.groups.max(1)
    }

    /// Bytes from one tap of a depthwise filter to the next in a row of it, or in its only column.
    pub fn tap_distance(&self) -> usize {
        match self.k_w {
            1 => self.in_w * self.in_c * self.dilation_h,
            _ => self.in_c * self.dilation_w,
        }
    }

    /// Bytes from the taps of a pixel to those of the next in a window: columns of 16-bit elements.
    pub fn second_pixel(&self) -> usize {
        2 * self.stride_w * self.k_h * self.in_c
    }

    /// Words of a window that covers so many pixels of the result.
    pub fn window_words(&self, pixels: usize) -> usize {
        let before_last = pixels.saturating_sub(1) * self.stride_w * self.k_h * self.in_c;
        (before_last + 2 * self.taps().div_ceil(2)).div_ceil(2)
    }

    /// Multiplications of one image and the batch.
    pub fn macs(&self) -> usize {
        self.images * self.out_h * self.out_w * self.taps() * self.out_c
    }
}
