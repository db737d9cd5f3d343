//! What kernels do for a node, counted: their predicted cycles depend on it.

use super::Shape;
use crate::ir::{Graph, Node, Op};
use kiln_kernel_table::{Count, Work};
use std::ops::Range;

/// What a kernel without filters does for a node, or one of whose ways nothing is known.
pub fn work(graph: &Graph, node: &Node, products: usize) -> Work {
    let shape = &graph.ty(node.result).shape;
    let results = shape.numel();
    let work = Work::of_call().with(Count::Product, products).with(Count::Result, results);
    let weights = match node.op {
        Op::Conv2d { .. } | Op::Dense { .. } => node.operands.get(1),
        Op::DynamicConv2d { .. } | Op::DynamicDense { .. } => node.operands.get(2),
        _ => None,
    };
    let filters = weights.and_then(|&weights| graph.ty(weights).shape.dims().first().copied());
    let Some(filters) = filters.filter(|&filters| filters > 0) else {
        let read = node.operands.iter().filter(|&&id| graph.const_data(id).is_none());
        let read = read.map(|&id| graph.ty(id).shape.numel()).sum();
        let pixels = results.checked_div(shape.last()).unwrap_or(0);
        let work = work.with(Count::Tap, read).with(Count::Line, pixels);
        let pooled = match &node.op {
            Op::MaxPool2d { window, .. } | Op::AvgPool2d { window, .. } => {
                Shape::of_window(graph, node, window, 1, node.op.layout()).map(|shape| Pooled::of(&shape))
            }
            Op::Mean { axes, .. } => {
                node.operands.first().map(|&x| Pooled::of_axes(graph.ty(x).shape.dims(), axes))
            }
            // The gates of a unit in a time step are a tile.
            Op::Lstm { .. } => {
                let elements = |k: usize| node.operands.get(k).map_or(0, |&id| graph.ty(id).shape.last());
                return work.with(Count::Tile, products / (4 * (elements(0) + elements(1))).max(1));
            }
            _ => None,
        };
        return pooled.map_or(work, |pooled| pooled.count(work));
    };
    let macs = usize::try_from(kiln_ir::macs(graph, node)).unwrap_or(usize::MAX);
    let (groups, height) = match &node.op {
        Op::Conv2d { groups, window, .. } | Op::DynamicConv2d { groups, window, .. } => {
            (*groups, window.size[0])
        }
        _ => (1, 1),
    };
    let lines = match groups {
        1 => results / filters * height,
        _ => filters * crate::schedule::rows(shape),
    };
    // Filters that are left where four are computed at once, or eight channels with a filter each.
    let left = filters % if groups > 1 { 8 } else { 4 };
    let work = work
        .with(Count::Tap, macs / filters)
        .with(Count::Line, lines)
        .with(Count::Left, results / filters * left)
        .with(Count::LeftProduct, macs / filters * left);
    match Shape::of(graph, node).filter(|shape| shape.groups == 1) {
        Some(shape) => Patches::of(&shape).count(work),
        None => work,
    }
}

/// What portable convolutions gather: elements that do not lie side by side, once for each pixel if there is memory for all of them, and otherwise for each four filters.
struct Patches {
    /// Rows of the operand that are looked for, runs of elements or padding that are copied, and elements.
    pieces: usize,
    runs: usize,
    elements: usize,
}

/// Elements that there is memory for.
const GATHERED: usize = 256;

impl Patches {
    fn of(shape: &Shape) -> Patches {
        let Shape { k_h, k_w, in_c, out_h, out_w, out_c, .. } = *shape;
        let size = shape.taps();
        let at_once = size <= GATHERED || k_h == 1;
        let times = if at_once { 1 } else { out_c / 4 + out_c % 4 };
        let rows = |row: usize| rows_inside(shape, row, 0);
        let (inside, outside) = (0..out_h).map(rows).fold((0, 0), |(a, b), now| (a + now, b + k_h - now));
        let mut patches = Patches { pieces: 0, runs: 0, elements: 0 };
        for column in 0..out_w {
            let window = Window { row: 0, first: column, pixels: 1 };
            let [columns, padding] = window.columns(shape);
            // Padding to the left and to the right is a run each.
            let left = shape.pad_left.saturating_sub(column * shape.stride_w).min(k_w);
            let runs = usize::from(columns > 0) + usize::from(left > 0) + usize::from(padding > left);
            let (runs, outside_runs, each) = match shape.dilation_w {
                1 => (runs, 1, k_w * in_c),
                _ => (k_w, k_w, k_w * in_c),
            };
            // Rows that need no gathering are read where they are.
            let read = shape.dilation_w == 1 && padding == 0 && (k_h == 1 || !at_once);
            let gathered = if read { outside } else { inside + outside };
            patches.pieces += times * if at_once { out_h } else { inside + outside };
            patches.runs += times * (outside * outside_runs + if read { 0 } else { inside * runs });
            patches.elements += times * gathered * each;
        }
        Patches {
            pieces: shape.images * patches.pieces,
            runs: shape.images * patches.runs,
            elements: shape.images * patches.elements,
        }
    }

    fn count(&self, work: Work) -> Work {
        let Patches { pieces, runs, elements } = *self;
        work.with(Count::Piece, pieces).with(Count::Run, runs).with(Count::Moved, elements)
    }
}

/// Windows whose channels are folded, each by itself or some at once.
struct Pooled {
    /// Rows of the result, and pixels.
    rows: usize,
    pixels: usize,
    /// Taps inside of the image, lines of them, and runs.
    taps: usize,
    lines: usize,
    runs: usize,
    /// Windows that are cut at an edge.
    cut: bool,
    channels: usize,
}

impl Pooled {
    fn of(shape: &Shape) -> Pooled {
        let [taps, lines] = taps_inside(shape);
        let pixels = shape.out_h * shape.out_w;
        // Windows of all columns are one run.
        let runs = if shape.k_w == shape.in_w { pixels } else { lines };
        Pooled {
            rows: shape.images * shape.out_h,
            pixels: shape.images * pixels,
            taps: shape.images * taps,
            lines: shape.images * lines,
            runs: shape.images * runs,
            cut: pixels * shape.k_h * shape.k_w > taps,
            channels: shape.in_c,
        }
    }

    /// Of all elements along axes that follow each other.
    fn of_axes(dims: &[usize], axes: &[usize]) -> Pooled {
        let behind = axes.iter().max().map_or(0, |last| last + 1);
        let channels = dims.get(behind..).unwrap_or_default().iter().product::<usize>();
        let pixels = dims.iter().take(axes.iter().min().copied().unwrap_or(0)).product();
        let taps = dims.iter().product::<usize>().checked_div(channels).unwrap_or(0);
        Pooled { rows: pixels, pixels, taps, lines: pixels, runs: pixels, cut: false, channels }
    }

    /// Channels by themselves, in fours and one by one where no four are left, in eights, and in sixteens.
    fn count(&self, work: Work) -> Work {
        let Pooled { rows, pixels, taps, lines, runs, cut, channels } = *self;
        let [eights, sixteens] = [8, 16].map(|at_once| channels.div_ceil(at_once));
        let alone = channels % 4;
        work.with(Count::Product, taps * channels)
            .with(Count::Run, lines * channels)
            .with(Count::Turn, lines * (channels / 4 + alone))
            .with(Count::One, taps * alone)
            .with(Count::Word, 8 * taps * eights)
            .with(Count::Line, runs * eights)
            .with(Count::Pixel, pixels * eights)
            .with(Count::LeftProduct, 16 * taps * sixteens)
            .with(Count::Window, runs * sixteens)
            .with(Count::Tile, pixels * sixteens)
            .with(Count::Piece, rows)
            .with(Count::Border, if cut { pixels } else { 0 })
            .with(Count::Other, if channels % 4 == 0 { 0 } else { taps * channels })
    }
}

/// The calls of a convolution whose images are so much work each: in a pipeline, one for each row.
pub(super) fn calls(work: Work, shape: &Shape, whole: bool) -> Work {
    let calls = shape.images * if whole { 1 } else { shape.out_h };
    work.times(shape.images).with(Count::Call, calls)
}

/// Pixels of a row of the result whose operands are in a window together.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) row: usize,
    first: usize,
    pub(super) pixels: usize,
}

/// The windows of an image, each of `most` pixels but for the last one of a row. `paired`: a last pixel that would be alone is computed with the one before.
pub(super) fn windows(shape: &Shape, most: usize, paired: bool) -> Vec<Window> {
    let (most, mut windows) = (most.max(1), Vec::new());
    for row in 0..shape.out_h {
        for first in (0..shape.out_w).step_by(most) {
            let pixels = most.min(shape.out_w - first);
            let back = usize::from(paired && pixels == 1 && first > 0);
            windows.push(Window { row, first: first - back, pixels: pixels + back });
        }
    }
    windows
}

impl Window {
    /// Columns of the operand that it takes from each row inside of the image: those inside, and those of the padding.
    pub(super) fn columns(&self, shape: &Shape) -> [usize; 2] {
        let columns = (self.pixels - 1) * shape.stride_w + shape.k_w;
        let first = self.first * shape.stride_w;
        let before = shape.pad_left.saturating_sub(first).min(columns);
        let behind = (shape.in_w + shape.pad_left).saturating_sub(first).clamp(before, columns);
        [behind - before, columns - (behind - before)]
    }

    /// Rows of the filters, from one of them on, that are inside of the image, and those in the padding.
    pub(super) fn rows(&self, shape: &Shape, from: usize) -> [usize; 2] {
        let inside = rows_inside(shape, self.row, from);
        [inside, shape.k_h.saturating_sub(from) - inside]
    }
}

/// Rows of the filters, from one of them on, that are inside of the image for a row of the result.
pub(super) fn rows_inside(shape: &Shape, row: usize, from: usize) -> usize {
    inside(row * shape.stride_h, from..shape.k_h, shape.dilation_h, shape.pad_top, shape.in_h)
}

/// Of taps that are so far from each other, the first of which is `pad` before `start`, how many are inside of an axis.
fn inside(start: usize, taps: Range<usize>, dilation: usize, pad: usize, size: usize) -> usize {
    let Range { start: from, end: to } = taps;
    let taps_before =
        |end: usize| end.saturating_sub(start).div_ceil(dilation.max(1)).min(to).max(from.min(to));
    taps_before(pad + size) - taps_before(pad)
}

/// Taps of a depthwise filter that are inside of the image, for all pixels of one image, and the rows of filters that have any.
pub(super) fn taps_inside(shape: &Shape) -> [usize; 2] {
    let rows: usize = (0..shape.out_h).map(|row| rows_inside(shape, row, 0)).sum();
    let column =
        |column| inside(column * shape.stride_w, 0..shape.k_w, shape.dilation_w, shape.pad_left, shape.in_w);
    let columns = (0..shape.out_w).map(column);
    let (sum, some) = (columns.clone().sum::<usize>(), columns.filter(|&inside| inside > 0).count());
    [rows * sum, rows * some]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Layout;

    #[test]
    fn taps_are_inside_of_an_axis_or_not() {
        let by_one = |start: usize, taps: Range<usize>, dilation: usize, pad: usize, size: usize| {
            let at = |tap: usize| (start + tap * dilation).checked_sub(pad);
            taps.filter(|&tap| at(tap).is_some_and(|at| at < size)).count()
        };
        for start in 0..7 {
            for (from, taps) in [(0, 1), (0, 3), (1, 4), (2, 2)] {
                for (dilation, pad, size) in [(1, 0, 4), (1, 2, 3), (2, 1, 5), (3, 4, 2)] {
                    let found = inside(start, from..taps, dilation, pad, size);
                    assert_eq!(found, by_one(start, from..taps, dilation, pad, size));
                }
            }
        }
    }

    /// A convolution of 4 × 4 pixels with so many channels by windows of 3 × 3, the result of which is as large.
    fn convolution(in_c: usize, out_c: usize) -> Shape {
        Shape {
            in_h: 4,
            in_w: 4,
            in_c,
            out_h: 4,
            out_w: 4,
            out_c,
            k_h: 3,
            k_w: 3,
            stride_h: 1,
            stride_w: 1,
            dilation_h: 1,
            dilation_w: 1,
            pad_top: 1,
            pad_left: 1,
            groups: 1,
            images: 1,
            layout: Layout::default(),
        }
    }

    #[test]
    fn small_windows_are_gathered_once() {
        let Patches { pieces, runs, elements } = Patches::of(&convolution(2, 8));
        assert_eq!([pieces, elements], [16, 16 * 18]);
        // Of each row inside, those at both ends of a row of the result take two runs.
        assert_eq!(runs, 10 * (2 + 1 + 1 + 2) + 2 * 4);
    }

    #[test]
    fn large_windows_are_gathered_for_each_four_filters() {
        let Patches { pieces, runs, elements } = Patches::of(&convolution(32, 9));
        // Two fours and one filter. Whole rows are read where they are.
        assert_eq!(pieces, 3 * 4 * 12);
        assert_eq!(runs, 3 * (10 * (2 + 2) + 2 * 4));
        assert_eq!(elements, 3 * (2 * 12 + 2 * 2) * 96);
    }

    #[test]
    fn single_pixels_are_not_gathered() {
        let points = Shape { k_h: 1, k_w: 1, pad_top: 0, pad_left: 0, ..convolution(8, 4) };
        let Patches { pieces, runs, elements } = Patches::of(&points);
        assert_eq!([pieces, runs, elements], [16, 0, 0]);
    }
}
