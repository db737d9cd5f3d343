//! What the kernels do for a layer, counted.

use super::depthwise::Way;
use super::pack::LANES;
use super::*;
use crate::select::counted::{calls, windows};
use kiln_kernel_table::{Count, Work};

/// Pixels and filters of a tile.
const PIXELS: usize = 2;
const FILTERS: usize = 4;

impl Kernel {
    /// What it does in a step that computes all rows at once, or in a pipeline with a call for each row.
    pub(super) fn work(&self, asked: &Asked<'_>) -> Work {
        let (graph, node) = (asked.graph, asked.node);
        let corrected = |work: Work, fitted: &Fitted| match fitted.is_cheap() {
            false => work.with(Count::Corrected, (work.of(Count::Result) + work.of(Count::Turn)) as usize),
            true => work,
        };
        match self {
            Kernel::Tiled(shape, pixels, fitted) => {
                let held = asked.options.optimize != Optimize::Size && shape.taps() <= LANES;
                calls(corrected(tiled(shape, *pixels, held), fitted), shape, asked.whole)
            }
            Kernel::Depthwise(shape, way, fitted) => {
                calls(corrected(lines(shape, way), fitted), shape, asked.whole)
            }
            Kernel::Channels(shape, fitted) => calls(corrected(channels(shape), fitted), shape, asked.whole),
            Kernel::Dense(fitted) | Kernel::DenseWide(fitted) => {
                let (k, n) = (graph.ty(node.operands[0]).shape.last(), graph.ty(node.result).shape.last());
                let rows = graph.ty(node.result).shape.numel() / n.max(1);
                let results = rows * n.next_multiple_of(8);
                let work = Work::of_call()
                    .with(Count::Product, results * k.next_multiple_of(LANES))
                    .with(Count::Result, results)
                    .with(Count::Pixel, rows);
                corrected(work, fitted)
            }
            Kernel::Wide(wide) => wide.work(asked),
            Kernel::MaxPool(_) | Kernel::Add(_) | Kernel::Means(_) | Kernel::Quantize(..) => {
                kernel::work(graph, node, 0)
            }
        }
    }
}

/// Tiles of two pixels and four filters of one image. `held`: filters of one vector stay in registers while pixels go by.
fn tiled(shape: &Sizes, most: Option<usize>, held: bool) -> Work {
    let mut work = Work::default();
    let (fours, left) = (shape.out_c / FILTERS, shape.out_c % FILTERS);
    let vectors = shape.taps().div_ceil(LANES);
    let tiles = |work: &mut Work, pairs: usize, alone: bool, fours: usize| {
        work.add(Count::Tile, 1);
        let tiles = pairs * fours;
        if alone {
            let filters = fours.next_multiple_of(2) * FILTERS;
            work.add(Count::Left, filters);
            work.add(Count::LeftProduct, filters * (vectors - 1) * LANES);
        } else if held {
            work.add(Count::Turn, tiles * PIXELS * FILTERS);
            work.add(Count::Line, fours);
        } else {
            work.add(Count::Result, tiles * PIXELS * FILTERS);
            work.add(Count::Product, tiles * PIXELS * FILTERS * (vectors - 1) * LANES);
            work.add(Count::Pixel, PIXELS * pairs);
        }
    };
    // Where the work space has room for whole rows, the padding at their ends stays in it.
    let whole = most.is_some_and(|most| most >= shape.out_w);
    for window in windows(shape, most.unwrap_or(shape.out_w), false) {
        if most.is_some() {
            let ([columns, padding], [rows, outside]) = (window.columns(shape), window.rows(shape, 0));
            let (kept, inside) = (whole && columns > 0, rows * columns);
            work.add(Count::Window, 1);
            work.add(Count::Piece, rows + outside);
            work.add(Count::Padding, outside * (columns + padding) + if kept { 0 } else { rows * padding });
            match shape.in_c {
                1 => work.add(Count::One, inside),
                3 => work.add(Count::Three, 3 * inside),
                channels if channels <= LANES => work.add(Count::Run, inside),
                channels => work.add(Count::Word, inside * channels.next_multiple_of(LANES)),
            }
        }
        let pairs = window.pixels / PIXELS;
        if fours > 0 {
            if pairs > 0 {
                tiles(&mut work, pairs, false, fours);
            }
            if window.pixels % PIXELS == 1 {
                tiles(&mut work, 1, true, fours);
            }
        }
        if left > 0 {
            (0..pairs).for_each(|_| tiles(&mut work, 1, false, 1));
            if window.pixels % PIXELS == 1 {
                tiles(&mut work, 1, true, 1);
            }
            work.add(Count::Other, window.pixels.div_ceil(PIXELS));
        }
    }
    work.with(Count::Border, shape.out_h)
}

/// Lines of up to sixteen channels, eight pixels of a channel at a time.
fn lines(shape: &Sizes, way: &Way) -> Work {
    let (lines, size, pixels) = match way.columns {
        true => (shape.out_w, shape.in_h, shape.out_h),
        false => (shape.out_h, shape.in_w, shape.out_w),
    };
    let groups = lines * shape.in_c.div_ceil(LANES);
    let results = lines * shape.in_c * way.results();
    let copied = groups * way.copied(shape);
    Work::default()
        .with(Count::Tile, groups)
        .with(Count::Line, lines * shape.in_c)
        .with(Count::Result, results)
        .with(Count::Product, results * (way.vectors() - 1) * LANES)
        .with(Count::Turn, if way.vectors() == 1 { results / way.together() } else { 0 })
        .with(Count::Run, copied)
        .with(Count::Word, copied * size * LANES)
        .with(Count::Pixel, groups * pixels)
}

/// Sixteen channels of a pixel at a time. It looks for the taps of a row once, and for those of each pixel that reads padding.
fn channels(shape: &Sizes) -> Work {
    let taps = shape.k_h * shape.k_w;
    let mut work = Work::default();
    let results = shape.out_h * shape.out_w * shape.in_c.next_multiple_of(LANES);
    let inside =
        |at: usize, taps: usize, dilation: usize, size: usize| at < size && at + (taps - 1) * dilation < size;
    for row in 0..shape.out_h {
        let top = (row * shape.stride_h).wrapping_sub(shape.pad_top);
        let whole = |column: &usize| {
            let left = (column * shape.stride_w).wrapping_sub(shape.pad_left);
            inside(top, shape.k_h, shape.dilation_h, shape.in_h)
                && inside(left, shape.k_w, shape.dilation_w, shape.in_w)
        };
        let together = (0..shape.out_w).filter(whole).count();
        let runs = usize::from(together > 0);
        work.add(Count::Border, shape.out_w - together);
        work.add(Count::Other, (shape.out_w - together) * taps);
        work.add(Count::Run, runs);
        work.add(Count::Tap, runs * taps);
    }
    work.with(Count::Product, results * taps)
        .with(Count::Result, results)
        .with(Count::Pixel, shape.out_h * shape.out_w)
        .with(Count::Piece, shape.out_h)
}
