//! What the kernels do for a layer, counted.

use super::*;
use crate::select::counted::{calls, rows_inside};
use kiln_kernel_table::{Count, Work};

/// Channels for which the depthwise kernel looks for taps at once.
const CHANNELS: usize = 64;

impl Way {
    /// What it does in a step that computes all rows at once, or in a pipeline with a call for each row.
    pub(super) fn work(&self, asked: &Asked<'_>, layer: &Layer) -> Work {
        let (graph, node) = (asked.graph, asked.node);
        let windows = || {
            let tiles = layer.bias.len().div_ceil(3);
            pack::tiles(layer).len().saturating_sub(tiles + layer.weights.len()) / 2
        };
        match self {
            Way::Tiles(shape, tile) => {
                let work = tiles(shape, *tile, asked.whole);
                let all = work.of(Count::Tile) as usize * windows();
                calls(work.with(Count::Window, all), shape, asked.whole)
            }
            Way::Dense(tile) => match Shape::of_dense(graph, node) {
                Some(shape) => {
                    let work = tiles(&shape, *tile, asked.whole).with(Count::Call, 1);
                    let all = work.of(Count::Tile) as usize * windows();
                    work.with(Count::Window, all)
                }
                None => kernel::work(graph, node, 0),
            },
            Way::Row(_) | Way::Image(_) | Way::Singles => {
                let work = singles(layer);
                let results = graph.ty(node.result).shape.numel();
                work.times(results.checked_div(layer.bias.len()).unwrap_or(0)).with(Count::Call, 1)
            }
            Way::Depthwise(shape) => calls(depthwise(shape), shape, asked.whole),
            Way::Rolling(shape) => calls(rolling(shape), shape, asked.whole),
            Way::Winograd(shape, side) => winograd::work(shape, *side, TILES),
        }
    }
}

/// The same with channels that have constants of their own.
pub(super) fn corrected(work: Work) -> Work {
    let results = [Count::Result, Count::Pixel, Count::Left].map(|count| work.of(count) as usize);
    work.with(Count::Corrected, results.iter().sum())
}

/// Most rows of filters whose tiles of four pixels the kernels gather at once.
const MOST_ROWS: usize = 16;

/// All rows as one, where each pixel reads the one at the same place.
fn as_one_row(shape: Shape) -> Shape {
    let Shape { in_h, in_w, out_h, out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left, .. } = shape;
    let is_point = [k_h, k_w, stride_h, stride_w, pad_top, pad_left] == [1, 1, 1, 1, 0, 0];
    match is_point && [in_h, in_w] == [out_h, out_w] {
        true => Shape { in_h: 1, in_w: in_h * in_w, out_h: 1, out_w: out_h * out_w, ..shape },
        false => shape,
    }
}

/// Tiles of two or four pixels, and three filters, or two where a single one would be left.
fn tiles(shape: &Shape, tile: Tile, whole: bool) -> Work {
    let shape = &if tile == Tile::Mixed && whole { as_one_row(*shape) } else { *shape };
    let mut work = Work::default();
    let side = if tile == Tile::Two { 2 } else { 4 };
    let left = match shape.out_c % 3 {
        0 => 0,
        1 => 4,
        _ => 2,
    };
    let threes = shape.out_c.saturating_sub(left);
    let left = shape.out_c - threes;
    let taps = shape.taps();
    // Pixels of a band come one behind the other, those of the next row as well.
    let all = shape.out_h * shape.out_w;
    let (mut done, mut inside) = (0, false);
    while done < all {
        let (row, column) = (done / shape.out_w, done % shape.out_w);
        let there = if whole { all - done } else { shape.out_w - column };
        let of_two = tile == Tile::Mixed && there <= 2;
        let pixels = if of_two { 2 } else { side };
        let first = (column * shape.stride_w).checked_sub(shape.pad_left);
        let columns = (pixels - 1) * shape.stride_w + shape.k_w;
        let was_inside = inside && column > 0;
        inside = !of_two
            && shape.dilation_w == 1
            && (side == 2 || shape.k_h <= MOST_ROWS)
            && column + pixels <= shape.out_w
            && first.is_some_and(|first| first + columns <= shape.in_w);
        let padding = shape.k_h - rows_inside(shape, row, 0);
        work.add(Count::Tile, 1);
        if inside {
            work.add(Count::Piece, shape.k_h - padding);
            work.add(Count::Word, (shape.k_h - padding) * shape.k_w * shape.in_c * pixels / 2);
            // One kernel begins tiles side by side together.
            if tile != Tile::Mixed || !was_inside {
                work.add(Count::Padding, padding * shape.k_w * shape.in_c * pixels / 2);
            }
        } else {
            work.add(Count::Border, 1);
            work.add(Count::Run, shape.k_h);
            let runs = match first {
                Some(first) if first + columns <= shape.in_w => 1,
                _ => shape.k_w,
            };
            work.add(Count::Other, shape.k_h * runs);
            work.add(Count::Word, taps * pixels / 2);
        }
        if of_two {
            work.add(Count::LeftProduct, taps * pixels * shape.out_c);
            work.add(Count::Left, pixels * shape.out_c);
        } else {
            work.add(Count::Product, taps * pixels * threes);
            work.add(Count::Result, pixels * threes);
            work.add(Count::Turn, taps * pixels * left);
            work.add(Count::Pixel, pixels * left);
        }
        done += pixels.min(there);
    }
    work
}

/// One row: tiles of eight filters, and of four where no more are left.
fn singles(layer: &Layer) -> Work {
    let (filters, taps) = (layer.bias.len(), layer.filter(0).len());
    let eights = filters / 8 + usize::from(filters % 8 > 4);
    let fours = usize::from((1..=4).contains(&(filters % 8)));
    let words = pack::singles(layer).len();
    let windows = words.saturating_sub(eights + fours + taps * (2 * eights + fours));
    Work::default()
        .with(Count::Product, 8 * eights * taps)
        .with(Count::LeftProduct, 4 * fours * taps)
        .with(Count::Window, windows)
        .with(Count::Tile, eights + fours)
        .with(Count::Result, filters)
        .with(Count::Line, 1)
}

/// Rows with results of 16 bits: four filters at a time.
pub(super) fn fours(asked: &Asked<'_>, layer: &Layer) -> Work {
    let (filters, taps) = (layer.bias.len(), layer.filter(0).len());
    let results = asked.graph.ty(asked.node.result).shape.numel();
    let tiles = filters.div_ceil(4);
    let work = Work::default().with(Count::Product, 4 * tiles * taps).with(Count::Tile, tiles);
    let work = work.with(Count::Result, filters).with(Count::Line, 1);
    work.times(results.checked_div(filters).unwrap_or(0)).with(Count::Call, 1)
}

/// Of any filters, pixel by pixel.
fn depthwise(shape: &Shape) -> Work {
    let taps = shape.k_h * shape.k_w;
    let pixels = shape.out_h * shape.out_w;
    let blocks = shape.in_c.div_ceil(CHANNELS);
    Work::default()
        .with(Count::Product, pixels * shape.in_c.next_multiple_of(4) * taps)
        .with(Count::Result, pixels * shape.in_c.next_multiple_of(4))
        .with(Count::Pixel, pixels * blocks)
        .with(Count::Tap, pixels * blocks * taps)
}

/// Of filters of 3 × 3, channel by channel.
fn rolling(shape: &Shape) -> Work {
    let lines = shape.out_h * shape.in_c;
    let of = if shape.stride_w == 1 { Count::Result } else { Count::Corrected };
    Work::default().with(of, lines * shape.out_w).with(Count::Line, lines).with(Count::Piece, shape.out_h)
}
