//! What the kernels do for a layer, counted.

use super::depthwise::Way;
use super::pack::LANES;
use super::*;
use crate::select::counted::{calls, rows_inside, windows};
use crate::select::predict::Ring;
use kiln_kernel_table::{Count, Work};

/// Pixels and filters of a tile.
const PIXELS: usize = 2;
const FILTERS: usize = 4;

impl Kernel {
    /// What it does in a step that computes all rows at once, or in a pipeline with a call for each row.
    pub(super) fn work(&self, asked: &Asked<'_>) -> Work {
        let (graph, node) = (asked.graph, asked.node);
        match self {
            Kernel::Tiled(shape, pixels, fitted) => {
                let held = holds(shape, asked.options);
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
                // Filters behind the last whole eight are a call of their own.
                let work = Work::of_call()
                    .with(Count::Product, results * k.next_multiple_of(LANES))
                    .with(Count::Result, results)
                    .with(Count::Pixel, rows)
                    .with(Count::Tile, rows * (usize::from(n >= 8) + usize::from(n % 8 > 0)))
                    .with(Count::Left, rows * (n % 8));
                corrected(work, fitted)
            }
            Kernel::Wide(wide) => wide.work(asked),
            Kernel::MaxPool(_) | Kernel::Add(_) | Kernel::Means(_) | Kernel::Quantize(..) => {
                kernel::work(graph, node, 0)
            }
        }
    }

    /// How many times it finds a row by a division: each row of each window.
    pub(super) fn far_rows(&self, operand: Option<Ring>) -> usize {
        let (Kernel::Tiled(shape, Some(pixels), _), Some(ring)) = (self, operand) else { return 0 };
        let rows: usize = (0..shape.out_h).map(|row| rows_inside(shape, row, 0)).sum();
        ring.behind(2, rows * shape.out_w.div_ceil((*pixels).max(1)))
    }

    /// What it does in a step that computes all rows at once, over its operand: see [`kernel::Kernel::work_over`].
    pub(super) fn over(&self, options: &Options, gap: usize) -> Option<Work> {
        match self {
            Kernel::Tiled(shape, None, fitted) if shape.images == 1 => {
                let work = over(shape, holds(shape, options), gap);
                Some(calls(corrected(work, fitted), shape, true))
            }
            _ => None,
        }
    }
}

/// Whether filters stay in registers while pixels go by.
fn holds(shape: &Sizes, options: &Options) -> bool {
    options.optimize != Optimize::Size && shape.taps() <= LANES
}

/// With results that take one more step, where the form asks for it.
fn corrected(work: Work, fitted: &Fitted) -> Work {
    match fitted.is_cheap() {
        false => work.with(Count::Corrected, (work.of(Count::Result) + work.of(Count::Turn)) as usize),
        true => work,
    }
}

/// Tiles of two pixels and four filters of one image. `held`: filters of one vector stay in registers while pixels go by.
fn tiled(shape: &Sizes, most: Option<usize>, held: bool) -> Work {
    let mut work = Work::default();
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
        together(&mut work, shape, held, window.pixels);
    }
    work.with(Count::Border, shape.out_h)
}

/// Tiles of pixels that are read where they lie, of one image whose result begins `gap` bytes before its operand and lies over it: no result may lie over taps that are still to be read. So
/// the first pixels of a row are computed together, as far as that allows, and the others one by one.
fn over(shape: &Sizes, held: bool, gap: usize) -> Work {
    let mut work = Work::default();
    let step = shape.stride_w * shape.in_c;
    for row in 0..shape.out_h {
        // Bytes from a pixel's results to its taps.
        let gap_at = |pixel: usize| {
            let (taps, results) = (
                gap + row * shape.stride_h * shape.in_w * shape.in_c + pixel * step,
                (row * shape.out_w + pixel) * shape.out_c,
            );
            taps.saturating_sub(results)
        };
        let apart = pixels_apart(gap_at(0), step, shape.out_c);
        let mut pixel = 0;
        while pixel < shape.out_w {
            let pixels = match apart.min(shape.out_w).saturating_sub(pixel) {
                0 => 1,
                left if held => left.min(match gap_at(pixel) / shape.out_c.max(1) {
                    0 | 1 => 1,
                    free => free & !1,
                }),
                left => left,
            };
            together(&mut work, shape, held, pixels);
            pixel += pixels;
        }
    }
    work.with(Count::Border, shape.out_h)
}

/// How many of the first pixels of a row can be computed together, whose results begin `gap` bytes before their taps.
fn pixels_apart(gap: usize, step: usize, filters: usize) -> usize {
    if filters % FILTERS != 0 {
        // The last filters come when all others are done.
        return gap.checked_div(filters).unwrap_or(0);
    }
    match (filters.checked_sub(step), gap.checked_sub(PIXELS * filters)) {
        (_, None) => 0,
        (None | Some(0), Some(_)) => usize::MAX,
        (Some(more), Some(left)) => PIXELS + left / more,
    }
}

/// Pixels of a row that are computed together.
fn together(work: &mut Work, shape: &Sizes, held: bool, pixels: usize) {
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
    let pairs = pixels / PIXELS;
    if fours > 0 {
        if pairs > 0 {
            tiles(work, pairs, false, fours);
        }
        if pixels % PIXELS == 1 {
            tiles(work, 1, true, fours);
        }
    }
    if left > 0 {
        (0..pairs).for_each(|_| tiles(work, 1, false, 1));
        if pixels % PIXELS == 1 {
            tiles(work, 1, true, 1);
        }
        work.add(Count::Other, pixels.div_ceil(PIXELS));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_over_their_taps_are_alone() {
        let of = |gap, step, filters| pixels_apart(gap, step, filters);
        // Two pixels of 8 results need 16 bytes before the taps of the first.
        assert_eq!((of(15, 8, 8), of(16, 8, 8)), (0, usize::MAX));
        // Each pixel more takes 4 bytes of what is left.
        assert_eq!((of(16, 4, 8), of(24, 4, 8)), (2, 4));
        assert_eq!((of(11, 8, 6), of(12, 8, 6)), (1, 2));
    }
}
