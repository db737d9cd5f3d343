//! What the kernels do for a layer, counted.

use super::*;
use crate::select::counted::{calls, taps_inside, windows, Window};
use kiln_kernel_table::Count;

/// Pixels and filters of a tile.
const PIXELS: usize = 2;
const FILTERS: usize = 4;

/// Pairs of taps behind the first in a turn of the loop that layers share, and pairs of pixels in a call of its block.
const PER_TURN: usize = 32;
const PER_CALL: usize = 24;

impl Kernel {
    /// What it does in a step that computes all rows at once, or in a pipeline with a call for each row.
    pub(super) fn work(&self, asked: &Asked<'_>) -> Work {
        let (graph, node) = (asked.graph, asked.node);
        let macs = kiln_ir::macs(graph, node) as usize;
        let filters = graph.ty(node.result).shape.last().max(1);
        let filled = |at_once: usize| (macs / filters).saturating_mul(filters.next_multiple_of(at_once));
        let plain = |products: usize| kernel::work(graph, node, products);
        let corrected = |work: Work, proof: &Proof| match &proof.form {
            Some(form) if form.form.signed => work.with(Count::Corrected, work.of(Count::Result) as usize),
            _ => work,
        };
        match self {
            Kernel::Tiled(shape, pixels, proof) => {
                let work = match asked.options.optimize {
                    Optimize::Size => compact(shape, *pixels),
                    _ if points(shape) => by_points(shape, *pixels, asked.whole),
                    _ => tiled(shape, *pixels, asked.whole),
                };
                calls(corrected(work, proof), shape, asked.whole)
            }
            Kernel::Patches(shape, pixels, proof) => {
                calls(corrected(by_patches(shape, *pixels, asked.whole), proof), shape, asked.whole)
            }
            Kernel::Winograd(shape, side, proof) => {
                corrected(winograd::work(shape, *side, conv::TILES), proof)
            }
            Kernel::Column(_, Tiling::Dots, _) | Kernel::Dense(Tiling::Dots, _) => plain(filled(1)),
            Kernel::Column(..) | Kernel::Dense(..) => plain(filled(FILTERS)),
            Kernel::DepthwisePlanar(shape, _) => calls(planar(shape), shape, asked.whole),
            Kernel::Depthwise(shape, proof) => calls(corrected(by_fours(shape), proof), shape, asked.whole),
            Kernel::Temporal(shape, ..) => {
                plain(macs / shape.out_c.max(1) * shape.out_c.next_multiple_of(FILTERS))
            }
            Kernel::DenseWide(_) => plain(filled(1)),
            Kernel::Add(_) | Kernel::MaxPool(_) | Kernel::Means(_) | Kernel::Quantize(_) => plain(0),
        }
    }
}

/// Tiles of two pixels and four filters of one image.
fn tiled(shape: &Sizes, most: usize, whole: bool) -> Work {
    let mut work = Work::default();
    let (fours, left) = (shape.out_c / FILTERS, shape.out_c % FILTERS);
    let pairs = shape.taps().div_ceil(2);
    let turns = special::turns(pairs);
    let tiles = |work: &mut Work, pixels: usize| {
        let tiles = pixels / PIXELS * fours;
        work.add(Count::Product, tiles * pairs * 2 * PIXELS * FILTERS);
        work.add(Count::Turn, tiles * turns);
        work.add(Count::Result, tiles * PIXELS * FILTERS);
        work.add(Count::Pixel, pixels);
        work.add(Count::Tile, 1);
    };
    let kept = if whole && most >= shape.out_w { rows_kept(shape) } else { 0 };
    for window in windows(shape, most, true) {
        let kept = if window.row > 0 { kept } else { 0 };
        if kept > 0 {
            let columns = (window.pixels - 1) * shape.stride_w + shape.k_w;
            let all = columns * shape.k_h * shape.in_c;
            work.add(Count::Moved, all.saturating_sub(shape.stride_h * shape.in_c));
        }
        fill(&mut work, shape, &window, kept);
        match window.pixels {
            1 => left_over(&mut work, 1, shape.out_c.div_ceil(FILTERS), pairs),
            pixels => {
                tiles(&mut work, pixels & !1);
                if pixels % PIXELS == 1 {
                    tiles(&mut work, PIXELS);
                }
                if left > 0 {
                    left_over(&mut work, pixels, 1, pairs);
                }
            }
        }
    }
    work
}

/// Tiles of single pixels of one image, which are paired as if all rows were one.
fn by_points(shape: &Sizes, most: usize, whole: bool) -> Work {
    let mut work = Work::default();
    let (rows, times) = if whole { (shape.out_h, 1) } else { (1, shape.out_h) };
    let all = (rows * shape.out_w).div_ceil(PIXELS);
    let pairs = shape.in_c / 2;
    let tiles = all * shape.out_c / FILTERS;
    let windows = all.div_ceil((most / PIXELS).clamp(1, PER_CALL));
    // Each window takes a run of each row that it begins in or reaches, and a pair of each two rows if these have odd numbers of pixels.
    let odd = if shape.out_w % PIXELS == 1 { rows.div_ceil(PIXELS) } else { 0 };
    work.add(Count::Product, tiles * pairs * 2 * PIXELS * FILTERS);
    work.add(Count::Turn, tiles * (pairs - 1).div_ceil(PER_TURN).saturating_sub(1));
    work.add(Count::Result, tiles * PIXELS * FILTERS);
    work.add(Count::Pixel, all * PIXELS);
    work.add(Count::Window, windows);
    work.add(Count::Run, (rows + odd).max(windows));
    work.add(Count::Word, all * PIXELS * shape.in_c);
    work.times(times)
}

/// Tiles of pixels of one image whose taps are copied, from rows with their padding.
fn by_patches(shape: &Sizes, most: usize, whole: bool) -> Work {
    let mut work = Work::default();
    let (rows, times) = if whole { (shape.out_h, 1) } else { (1, shape.out_h) };
    let all = (rows * shape.out_w).div_ceil(PIXELS);
    let tiles = all * shape.out_c / FILTERS;
    work.add(Count::Product, tiles * shape.taps() * PIXELS * FILTERS);
    work.add(Count::Result, tiles * PIXELS * FILTERS);
    work.add(Count::Pixel, all * PIXELS);
    work.add(Count::Window, all.div_ceil((most / PIXELS).clamp(1, PER_CALL)));
    work.add(Count::Run, all * shape.k_h);
    work.add(Count::Word, all * PIXELS * shape.taps());
    // Each row is copied once, but for calls of single rows.
    let columns = (shape.out_w - 1) * shape.stride_w + shape.k_w;
    let held = shape.k_h + if whole { rows * shape.stride_h } else { 0 };
    work.add(Count::Piece, held);
    work.add(Count::Other, held * columns * shape.in_c);
    let moved = if whole { rows * shape.k_h * columns * shape.in_c } else { 0 };
    work.add(Count::Moved, moved);
    work.times(times)
}

/// Filters of pixels that make no full tile: of each pixel so many fours of them.
fn left_over(work: &mut Work, pixels: usize, fours: usize, pairs: usize) {
    work.add(Count::Left, pixels * fours * FILTERS);
    work.add(Count::LeftProduct, pixels * fours * FILTERS * 2 * pairs);
}

/// Rows of the operand that stay in the window from one row of the result to the next.
fn rows_kept(shape: &Sizes) -> usize {
    let kept = shape.k_h.saturating_sub(shape.stride_h);
    if shape.dilation_h == 1 && 2 * kept >= shape.k_h {
        kept
    } else {
        0
    }
}

/// What fills a window, but for its first rows.
fn fill(work: &mut Work, shape: &Sizes, window: &Window, kept: usize) {
    let ([columns, padding], [rows, outside]) = (window.columns(shape), window.rows(shape, kept));
    work.add(Count::Window, 1);
    work.add(Count::Piece, rows + outside);
    work.add(Count::Padding, rows * padding + outside * (columns + padding));
    let elements = rows * columns * shape.in_c;
    match shape.in_c {
        1 => work.add(Count::One, elements),
        3 => {
            work.add(Count::Three, rows * (columns / 4 * 12));
            work.add(Count::Other, rows * (columns % 4 * 3));
        }
        channels if channels % 4 == 0 => {
            let runs = if shape.k_h == 1 { columns.min(1) } else { columns };
            work.add(Count::Run, rows * runs);
            work.add(Count::Word, elements);
        }
        _ => {
            work.add(Count::Other, elements);
            work.add(Count::Border, rows * columns);
        }
    }
}

/// The small kernel's tiles, which computes a last pixel with itself.
fn compact(shape: &Sizes, most: usize) -> Work {
    let mut work = Work::default();
    let (fours, pairs) = (shape.out_c.div_ceil(FILTERS), shape.taps().div_ceil(2));
    for window in windows(shape, most, false) {
        let runs = shape.k_h * window.columns(shape).iter().sum::<usize>();
        work.add(Count::Window, 1);
        work.add(Count::Piece, shape.k_h);
        work.add(Count::Run, runs);
        let of = if shape.in_c % 4 == 0 { Count::Word } else { Count::Other };
        work.add(of, runs * shape.in_c);
        let pixels = window.pixels.next_multiple_of(PIXELS);
        let tiles = pixels / PIXELS * fours;
        work.add(Count::Product, tiles * pairs * 2 * PIXELS * FILTERS);
        work.add(Count::Result, tiles * PIXELS * FILTERS);
        work.add(Count::Pixel, pixels);
        work.add(Count::Tile, usize::from(window.pixels > 1) + window.pixels % PIXELS);
    }
    work
}

/// Planar rows of one image, channel by channel.
fn planar(shape: &Sizes) -> Work {
    let (lines, taps) = (shape.out_h * shape.out_c, shape.k_h * shape.k_w);
    let rows = Work::default().with(Count::Piece, shape.out_h);
    match depthwise::width_in_registers(shape) {
        0 => {
            // Two pixels at a time, those at the ends of a row apart.
            let ends = 2 * shape.pad_left.min(1);
            let pixels = shape.out_w.saturating_sub(ends).next_multiple_of(2);
            let of = if shape.stride_w == 1 { Count::Product } else { Count::LeftProduct };
            rows.with(of, pixels * lines * taps)
                .with(Count::Border, ends * lines)
                .with(Count::Line, lines)
                .with(Count::Result, lines * shape.out_w)
        }
        width => rows.with(Count::Turn, width * lines).with(Count::Run, lines),
    }
}

/// Four channels at a time of one channel-last image: only taps inside of the image are computed.
fn by_fours(shape: &Sizes) -> Work {
    let channels = shape.in_c.next_multiple_of(FILTERS);
    let [taps, rows] = taps_inside(shape);
    let pixels = shape.out_h * shape.out_w;
    // Taps in one column are one run.
    let runs = if shape.k_w == 1 { pixels } else { rows };
    Work::default()
        .with(Count::Product, taps * channels)
        .with(Count::Result, pixels * channels)
        .with(Count::Pixel, pixels)
        .with(Count::Run, runs)
        .with(Count::Turn, runs * channels / FILTERS)
        .with(Count::Tap, pixels * shape.k_w)
        .with(Count::Piece, shape.out_h)
}
