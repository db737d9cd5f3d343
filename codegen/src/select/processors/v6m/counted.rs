//! What the kernels do for a layer, counted.

use super::pack::{self, MOST_PART, PAIR_BLOCK, SINGLE_BLOCK, WIDE};
use super::{Pixels, Way, TILES};
use crate::select::counted::{calls, rows_inside};
use crate::select::kernel::{self, Asked};
use crate::select::predict::Ring;
use crate::select::shape::Shape;
use crate::select::winograd;
use kiln_kernel_table::{Count, Work};

/// Channels for which the depthwise kernel looks for taps at once.
const CHANNELS: usize = 64;

impl Way {
    /// What it does in a step that computes all rows at once, or in a pipeline with a call for each row.
    pub(super) fn work(self, asked: &Asked<'_>) -> Work {
        let (graph, node) = (asked.graph, asked.node);
        match self {
            Way::Conv(shape, pixels) => {
                let work = match pixels {
                    Pixels::Pairs => in_pairs(&shape, 2, asked.whole),
                    Pixels::Wide => {
                        let rests = pixels_in_pairs(&shape, asked.whole) / 2 * self.rests(asked, &shape);
                        in_pairs(&shape, 4, asked.whole).with(Count::Rest, rests)
                    }
                    Pixels::Singles | Pixels::WideSingles => alone(&shape, 2),
                };
                calls(work, &shape, asked.whole)
            }
            Way::Dense(pixels) => {
                let Some(shape) = Shape::of_dense(graph, node) else { return kernel::work(graph, node, 0) };
                let work = match pixels {
                    Pixels::Pairs | Pixels::Wide => in_pairs(&shape, 2, asked.whole),
                    Pixels::Singles => alone(&shape, 2),
                    Pixels::WideSingles => {
                        let rests = self.rests(asked, &shape);
                        alone(&shape, WIDE).with(Count::Rest, shape.out_h * shape.out_w * rests)
                    }
                };
                work.with(Count::Call, 1)
            }
            Way::Winograd(shape) => winograd::work(&shape, winograd::Side::Two, TILES),
            Way::Depthwise(shape) => calls(depthwise(&shape), &shape, asked.whole),
            Way::Rolling(shape) => calls(rolling(&shape), &shape, asked.whole),
            Way::Column(shape) => calls(column(&shape), &shape, asked.whole),
        }
    }

    /// Rests of all filters, whose windows are wide.
    fn rests(self, asked: &Asked<'_>, shape: &Shape) -> usize {
        let (Way::Conv(_, pixels) | Way::Dense(pixels)) = self else { return 0 };
        asked.layer().map_or(0, |layer| pixels.filters(&layer, shape.k_w * shape.in_c).rest_count())
    }

    /// How many times it finds a row by a division. It asks for the lap of the first row that a pixel reads, in pairs once for all pixels of a row, then for each row of the window, which is on the same
    /// lap or the next one, in pairs once for both pixels, and for the row of the result.
    pub(super) fn divisions(self, operand: Option<Ring>, result: Option<Ring>) -> usize {
        let (shape, laps, windows) = match self {
            Way::Conv(shape, Pixels::Pairs | Pixels::Wide) => {
                let [_, parts] = taps(&shape, 2);
                let windows = match parts {
                    1 => shape.out_w.div_ceil(2),
                    _ => shape.out_w * shape.out_c.div_ceil(PAIR_BLOCK),
                };
                (shape, 1, windows)
            }
            Way::Conv(shape, Pixels::Singles | Pixels::WideSingles) => {
                let [_, parts] = taps(&shape, 2);
                let blocks = if parts > 1 { shape.out_c.div_ceil(SINGLE_BLOCK) } else { 1 };
                (shape, shape.out_w, shape.out_w * blocks)
            }
            Way::Depthwise(shape) => {
                let windows = shape.out_w * shape.in_c.div_ceil(CHANNELS);
                (shape, windows, windows)
            }
            // They ask once for each two or three rows of the result.
            Way::Dense(_) | Way::Winograd(_) | Way::Rolling(_) | Way::Column(_) => return 0,
        };
        let rows: usize = (0..shape.out_h).map(|row| rows_inside(&shape, row, 0)).sum();
        let operand = operand.map_or(0, |ring| {
            ring.behind(1, shape.out_h * laps) + ring.behind(2, if ring.turned { rows * windows } else { 0 })
        });
        operand + result.map_or(0, |ring| ring.behind(2, shape.out_h))
    }
}

/// Taps of a filter, whose rows are filled up to windows of so many, and in how many parts they come.
fn taps(shape: &Shape, window: usize) -> [usize; 2] {
    let size = shape.k_h * (shape.k_w * shape.in_c).next_multiple_of(window);
    [size, size.div_ceil(MOST_PART).max(1)]
}

/// Pixels, one more where they are odd.
fn pixels_in_pairs(shape: &Shape, whole: bool) -> usize {
    match whole {
        true => (shape.out_h * shape.out_w).next_multiple_of(2),
        false => shape.out_h * shape.out_w.next_multiple_of(2),
    }
}

/// Two pixels at a time, and three filters, or two where a single one would be left.
fn in_pairs(shape: &Shape, window: usize, whole: bool) -> Work {
    let [size, parts] = taps(shape, window);
    let pixels = pixels_in_pairs(shape, whole);
    let blocks = if parts > 1 { shape.out_c.div_ceil(PAIR_BLOCK) } else { 1 };
    let twos = match shape.out_c % 3 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    let (left, threes) = (2 * twos.min(shape.out_c / 2), shape.out_c - 2 * twos.min(shape.out_c / 2));
    gathered_in_pairs(shape, window, whole, blocks, parts > 1)
        .with(Count::Product, pixels * threes * size)
        .with(Count::LeftProduct, pixels * left * size)
        .with(Count::Result, pixels * threes)
        .with(Count::Left, pixels * left)
        .with(Count::Moved, if parts > 1 { pixels * shape.out_c * parts } else { 0 })
        .with(Count::Window, pixels / 2 * parts * blocks)
        .with(Count::Tile, pixels / 2 * parts * blocks * (usize::from(threes > 0) + usize::from(left > 0)))
}

/// One pixel at a time, and four filters, in windows of so many taps.
fn alone(shape: &Shape, window: usize) -> Work {
    let [size, parts] = taps(shape, window);
    let (pixels, filters) = (shape.out_h * shape.out_w, shape.out_c.next_multiple_of(4));
    let blocks = shape.out_c.div_ceil(SINGLE_BLOCK);
    gathered(shape, window, pixels, if parts > 1 { blocks } else { 1 })
        .with(Count::Product, pixels * filters * size)
        .with(Count::Result, pixels * shape.out_c)
        .with(Count::Moved, pixels * filters * parts)
        .with(Count::Tile, pixels * parts * blocks)
}

/// Whether the taps of a pixel in this column lie side by side in the operand.
fn is_inside(shape: &Shape, column: usize) -> bool {
    let left = (column * shape.stride_w).checked_sub(shape.pad_left);
    shape.dilation_w == 1 && left.is_some_and(|left| left + shape.k_w <= shape.in_w)
}

/// The operands of pixels in pairs, read so many times. Taps of both are gathered at once where they lie side by side, if the layer is computed in one part.
fn gathered_in_pairs(shape: &Shape, window: usize, whole: bool, times: usize, in_parts: bool) -> Work {
    let row = (shape.k_w * shape.in_c).next_multiple_of(window);
    let (pixels, width) = (pixels_in_pairs(shape, whole), shape.out_w.max(1));
    // A row that is computed alone ends with two that are the same.
    let row_pixels = if whole { width } else { width.next_multiple_of(2) };
    let (mut at_once, mut alone, mut padded) = (0, 0, 0);
    for first in (0..pixels).step_by(2) {
        let both = [first, first + 1].map(|pixel| [pixel / row_pixels, (pixel % row_pixels).min(width - 1)]);
        let [a, b] = both;
        if !in_parts && a[0] == b[0] && a[1] + 1 == b[1] && both.iter().all(|at| is_inside(shape, at[1])) {
            at_once += shape.k_h;
            continue;
        }
        for [line, column] in both {
            alone += shape.k_h * times;
            let outside = shape.k_h - rows_inside(shape, line.min(shape.out_h - 1), 0);
            padded += times * if is_inside(shape, column) { outside } else { shape.k_h };
        }
    }
    Work::default()
        .with(Count::Pixel, pixels)
        .with(Count::Piece, at_once)
        .with(Count::Run, alone)
        .with(Count::Word, pixels * shape.k_h * row * times)
        .with(Count::Other, padded * row)
}

/// The operands of so many pixels, some of which may be the same, read so many times.
fn gathered(shape: &Shape, window: usize, pixels: usize, times: usize) -> Work {
    let row = (shape.k_w * shape.in_c).next_multiple_of(window);
    let outside = (0..shape.out_w).filter(|&column| !is_inside(shape, column)).count() * shape.out_h;
    // Rows above and below the image are all padding, which is gathered, too.
    let rows_outside = (0..shape.out_h).map(|row| shape.k_h - rows_inside(shape, row, 0)).sum::<usize>();
    let padded = (outside * shape.k_h + rows_outside * (shape.out_w - outside / shape.out_h.max(1))) * times;
    Work::default()
        .with(Count::Pixel, pixels)
        .with(Count::Piece, pixels * shape.k_h * times)
        .with(Count::Word, pixels * shape.k_h * row * times)
        .with(Count::Run, padded)
        .with(Count::Padding, padded * shape.k_w)
        .with(Count::Other, padded * row)
}

/// A channel at a time, and three taps.
fn depthwise(shape: &Shape) -> Work {
    let taps = (shape.k_h * shape.k_w).next_multiple_of(3);
    let pixels = shape.out_h * shape.out_w;
    let blocks = shape.in_c.div_ceil(CHANNELS);
    let reach = (shape.k_w.max(1) - 1) * shape.dilation_w + 1;
    let inside = |column: usize| {
        let left = (column * shape.stride_w).checked_sub(shape.pad_left);
        left.is_some_and(|left| left + reach < shape.in_w)
    };
    // Taps of a pixel that is inside of the image move, if those of the one before were.
    let move_on = (1..shape.out_w).filter(|&column| inside(column) && inside(column - 1)).count();
    let moves = shape.out_h * blocks * move_on;
    Work::default()
        .with(Count::Product, pixels * shape.in_c * taps)
        .with(Count::Result, pixels * shape.in_c)
        .with(Count::Pixel, pixels * blocks)
        .with(Count::Moved, moves * taps)
        .with(Count::Tap, (pixels * blocks - moves) * taps)
        .with(Count::Border, pixels * blocks - moves)
        .with(Count::Piece, shape.out_h * blocks * taps)
}

/// Channel by channel, along two rows of the result at once. Where some of their operand is padding, they are computed in parts.
fn rolling(shape: &Shape) -> Work {
    let pairs = shape.out_h.div_ceil(2);
    let padded =
        |row: usize| rows_inside(shape, row, 0) < shape.k_h || rows_inside(shape, row + 1, 0) < shape.k_h;
    let padded = (0..shape.out_h).step_by(2).filter(|&row| padded(row)).count();
    let parts = pairs - padded + padded * shape.out_w.div_ceil(pack::rolling_pixels(shape));
    let turn = if shape.stride_w == 1 { Count::Turn } else { Count::Tile };
    Work::default()
        .with(turn, pairs * shape.in_c * shape.out_w)
        .with(Count::Line, parts * shape.in_c)
        .with(Count::Piece, parts)
        .with(Count::Result, shape.out_h * shape.out_w * shape.in_c)
}

/// Three rows at once, and a channel at a time.
fn column(shape: &Shape) -> Work {
    let (threes, taps) = (shape.out_h.div_ceil(3) * shape.out_w, shape.k_h);
    let parts = threes * shape.in_c.div_ceil(CHANNELS);
    Work::default()
        .with(Count::Product, 3 * threes * shape.in_c * taps)
        .with(Count::Result, 3 * threes * shape.in_c)
        .with(Count::Tile, parts)
        .with(Count::Tap, parts * (taps + 2))
}
