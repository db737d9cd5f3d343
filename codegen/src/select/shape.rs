//! Convolutions of one image, as kernels see them.

use crate::ir::{Graph, Layout, Node, Op, Order, Window};

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

/// A convolution along one axis, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Taps of a filter.
    pub taps: usize,
    /// From the first tap of one result to that of the next.
    pub stride: usize,
    /// From tap to tap.
    pub dilation: usize,
}

/// Taps of a filter that is unrolled, 32 bytes of code each.
const MOST_TAPS: usize = 32;

impl Shape {
    /// The shape of a convolution of images.
    pub fn of(graph: &Graph, node: &Node) -> Option<Shape> {
        let (Op::Conv2d { window, groups, .. } | Op::DynamicConv2d { window, groups, .. }) = &node.op else {
            return None;
        };
        Shape::of_window(graph, node, window, *groups, node.op.layout())
    }

    /// The shape of a convolution of images by a window.
    pub fn of_window(
        graph: &Graph,
        node: &Node,
        window: &Window,
        groups: usize,
        layout: Layout,
    ) -> Option<Shape> {
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
            groups,
            images,
            layout,
        })
    }

    /// A product of the rows of a matrix with filters, as a convolution of single pixels.
    pub fn of_dense(graph: &Graph, node: &Node) -> Option<Shape> {
        let (x, y) = (&graph.ty(*node.operands.first()?).shape, &graph.ty(node.result).shape);
        let rows = y.numel().checked_div(y.last())?;
        Some(Shape {
            in_h: 1,
            in_w: rows,
            in_c: x.last(),
            out_h: 1,
            out_w: rows,
            out_c: y.last(),
            k_h: 1,
            k_w: 1,
            stride_h: 1,
            stride_w: 1,
            dilation_h: 1,
            dilation_w: 1,
            pad_top: 0,
            pad_left: 0,
            groups: 1,
            images: 1,
            layout: Layout::default(),
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
                // That of the column says nothing: its windows are one tap wide.
                dilation_w: 1,
                pad_top: 0,
                pad_left: self.pad_top,
                ..self
            };
        }
        self
    }

    /// The same convolution with whole rows as pixels, where a filter covers those.
    pub fn as_column(self) -> Shape {
        let covers = self.k_w == self.in_w && self.out_w == 1 && self.pad_left == 0;
        // Of taps with gaps, some lie beyond the image.
        let dense = self.k_w == 1 || self.dilation_w == 1;
        if self.layout == Layout::default() && covers && dense {
            return Shape {
                in_w: 1,
                k_w: 1,
                stride_w: 1,
                dilation_w: 1,
                in_c: self.in_w * self.in_c,
                ..self
            };
        }
        self
    }

    /// The axis of a depthwise convolution whose images have no other, where no tap is in the padding and the kernel for such takes its sizes.
    pub fn along(&self) -> Option<Axis> {
        let (columns, rows) = ((self.in_w, self.k_w, self.out_w), (self.in_h, self.k_h, self.out_h));
        let (axis, (size, pixels)) = if columns == (1, 1, 1) && self.pad_left == 0 {
            let axis = Axis { taps: self.k_h, stride: self.stride_h, dilation: self.dilation_h };
            (axis, (self.in_h + self.pad_top, self.out_h))
        } else if rows == (1, 1, 1) && self.pad_top == 0 {
            let axis = Axis { taps: self.k_w, stride: self.stride_w, dilation: self.dilation_w };
            (axis, (self.in_w + self.pad_left, self.out_w))
        } else {
            return None;
        };
        let reach = pixels.saturating_sub(1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
        let padded = self.pad_top + self.pad_left > 0 || reach > size;
        let near = axis.stride.max(axis.taps * axis.dilation) * self.in_c <= 4095;
        (!padded && near && axis.taps <= MOST_TAPS).then_some(axis)
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

    /// Whether filters are points, and every result has its pixel of the operand: there is no padding, not even below the image.
    pub fn is_points(&self) -> bool {
        let alone = self.k_h * self.k_w * self.stride_h * self.stride_w == 1;
        let rows = self.pad_top == 0 && self.out_h <= self.in_h;
        alone && rows && self.pad_left == 0 && self.in_w == self.out_w
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A depthwise convolution of a column of 30 pixels with 40 channels, 5 taps.
    const COLUMN: Shape = Shape {
        in_h: 30,
        in_w: 1,
        in_c: 40,
        out_h: 13,
        out_w: 1,
        out_c: 40,
        k_h: 5,
        k_w: 1,
        stride_h: 2,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 40,
        images: 1,
        layout: Layout { x: Order::ChannelLast, y: Order::ChannelLast },
    };

    #[test]
    fn columns_and_rows_have_one_axis() {
        let axis = Axis { taps: 5, stride: 2, dilation: 1 };
        assert_eq!(COLUMN.along(), Some(axis));
        let row = Shape {
            in_h: 1,
            in_w: 30,
            out_h: 1,
            out_w: 13,
            k_h: 1,
            k_w: 5,
            stride_h: 1,
            stride_w: 2,
            ..COLUMN
        };
        assert_eq!(row.along(), Some(axis));
        assert_eq!(Shape { in_h: 2, ..row }.along(), None);
    }

    /// A window of one column may have any dilation along rows. It must not become that of its taps.
    #[test]
    fn columns_become_rows_with_their_own_dilation() {
        let column = Shape { out_h: 26, stride_h: 1, dilation_w: 3, groups: 1, ..COLUMN };
        let row = column.as_row();
        assert_eq!((row.k_w, row.in_w, row.dilation_w), (5, 30, 1));
        assert_eq!(Shape { dilation_h: 2, ..column }.as_row(), Shape { dilation_h: 2, ..column });
    }

    #[test]
    fn whole_rows_are_pixels_where_taps_are_neighbours() {
        let rows = Shape { in_w: 6, k_w: 6, ..COLUMN };
        assert_eq!(rows.as_column().in_c, 240);
        // Two taps are on the image, the other four beyond it.
        let apart = Shape { dilation_w: 4, ..rows };
        assert_eq!(apart.as_column(), apart);
    }

    #[test]
    fn an_axis_has_no_padding_and_near_taps() {
        assert_eq!(Shape { pad_top: 1, ..COLUMN }.along(), None);
        // The thirteenth pixel reads the twenty-ninth of the operand.
        assert!(Shape { in_h: 29, ..COLUMN }.along().is_some());
        assert_eq!(Shape { in_h: 28, ..COLUMN }.along(), None);
        assert_eq!(Shape { in_c: 820, ..COLUMN }.along(), None);
        assert_eq!(Shape { k_h: 33, out_h: 1, in_h: 40, in_c: 8, ..COLUMN }.along(), None);
    }
}
