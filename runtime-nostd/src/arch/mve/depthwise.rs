//! Depthwise convolutions, eight pixels of a channel at a time.
//!
//! The taps of a pixel lie behind each other in a vector: the window is copied channel by channel, with the pixels of all its lines next to each other. One load of a vector has the taps
//! of up to three pixels, which differ in where the weights begin.
#![allow(unsafe_code)]

use super::affine::End;
use super::blocks::depthwise::{eights_of_pixels, Prepared};
use super::blocks::lines::{collect, spread};
use super::LANES;
use crate::arch::extent::{product, reach, sum};
use crate::arch::memory::bytes_of_words;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Depthwise convolution of an `i8` image, for cores with Helium: `groups`, `in_c` and `out_c` are the same, `dilation_w` is 1.
///
/// `w` holds for each channel words of `EXACT` and `CLAMPED`, as in [`conv2d_i8_mve`](crate::kernels::conv2d_i8_mve): first value, C, M …, and then bytes: so many zeros as the taps of the last
/// of the pixels of a vector are behind those of the first, the taps in the order \[k_w\]\[k_h\], and zeros up to the end of the vector behind the first zeros, and of the word.
///
/// `LINES` is `k_h`, `ALONG` `k_w` and `STRIDE` `stride_w`. `work` has [`depthwise2d_mve_work_words`](crate::kernels::depthwise2d_mve_work_words). Operand rows, padding and `y` are as in
/// [`conv2d_i8`](crate::kernels::conv2d_i8). Nothing is written if these do not fit each other.
#[inline(never)]
pub fn depthwise2d_i8_mve<
    const LINES: usize,
    const ALONG: usize,
    const STRIDE: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let (tile, end) = (Tile::of(LINES, ALONG, STRIDE), End::of(SHIFT, EXACT, CLAMPED));
    let fits = (p.k_h, p.k_w, p.stride_w) == (LINES, ALONG, STRIDE)
        && p.in_c == p.out_c
        && x.row_len() >= p.in_row()
        && y.row_len() >= p.out_row();
    let Some(space) = Space::of(work, tile, p.in_c, p.out_w).filter(|_| fits) else { return };
    let along = Along { size: p.in_w, before: p.pad_left, steps: [p.in_c; 2], pixels: p.out_w };
    space.fill(pad);
    let padding = [const { Cell::new(0) }; LANES];
    padding.iter().for_each(|cell| cell.set(pad));
    let [whole, last] = Extent::of_groups(&space, p.in_c, end, along);
    for (oy, y) in y.of_band(band) {
        let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
        let mut w = w;
        for c in (0..p.in_c).step_by(LANES) {
            let extent = if p.in_c - c < LANES { &last } else { &whole };
            let Some((group, others)) = Group::of(&space, w, extent, along) else { return };
            for line in 0..LINES {
                let iy = top.wrapping_add(line.wrapping_mul(p.dilation_h));
                let row = if iy < p.in_h { x.row(iy).get(c..) } else { None };
                group.spread(row, &padding, line);
            }
            eights_of_pixels::<LINES, ALONG, STRIDE, SHIFT, EXACT, CLAMPED, false>(&group, 0);
            group.collect(y.get(c..).unwrap_or(&[]));
            w = others;
        }
    }
}

/// As [`depthwise2d_i8_mve`], column by column: for whole images that are higher than wide, with operand and result apart. `LINES` is `k_w`, `ALONG` `k_h` and `STRIDE` `stride_h`, taps are
/// in the order \[k_h\]\[k_w\], and `dilation_h` is 1.
#[inline(never)]
pub fn depthwise2d_i8_mve_columns<
    const LINES: usize,
    const ALONG: usize,
    const STRIDE: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let (tile, end) = (Tile::of(LINES, ALONG, STRIDE), End::of(SHIFT, EXACT, CLAMPED));
    let (in_row, out_row) = (x.row_len(), y.row_len());
    let fits = (p.k_w, p.k_h, p.stride_h, band.first) == (LINES, ALONG, STRIDE, 0)
        && p.in_c == p.out_c
        && in_row >= p.in_row()
        && out_row >= p.out_row()
        && !x.overlaps(&y);
    let Some((image, result)) = x.run(0, p.in_h).zip(y.run(0, band.rows)).filter(|_| fits) else { return };
    let Some(space) = Space::of(work, tile, p.in_c, band.rows) else { return };
    let along = Along { size: p.in_h, before: p.pad_top, steps: [in_row, out_row], pixels: band.rows };
    space.fill(pad);
    let padding = [const { Cell::new(0) }; LANES];
    padding.iter().for_each(|cell| cell.set(pad));
    // Columns that two neighbours read stay in the windows: their lines are a ring, and weights are turned.
    let turns = Tile::turns(LINES, ALONG) && p.dilation_w == 1 && p.stride_w < LINES;
    let [whole, last] = Extent::of_groups(&space, p.in_c, end, along);
    let mut w = w;
    for c in (0..p.in_c).step_by(LANES) {
        let extent = if p.in_c - c < LANES { &last } else { &whole };
        let Some((group, others)) = Group::of(&space, w, extent, along) else { return };
        for ox in 0..p.out_w {
            let before = ox.wrapping_mul(p.stride_w);
            let phase = if turns { before % LINES.max(1) } else { 0 };
            let copied = if turns && ox > 0 { LINES - p.stride_w } else { 0 };
            for line in copied..LINES {
                let ix = before.wrapping_add(line.wrapping_mul(p.dilation_w)).wrapping_sub(p.pad_left);
                let column = if ix < p.in_w { image.get(ix * p.in_c + c..) } else { None };
                let slot = line + phase;
                group.spread(column, &padding, if slot < LINES { slot } else { slot - LINES });
            }
            if Tile::turns(LINES, ALONG) {
                eights_of_pixels::<LINES, ALONG, STRIDE, SHIFT, EXACT, CLAMPED, true>(&group, phase);
            } else {
                eights_of_pixels::<LINES, ALONG, STRIDE, SHIFT, EXACT, CLAMPED, false>(&group, 0);
            }
            group.collect(result.get(ox * p.out_c + c..).unwrap_or(&[]));
        }
        w = others;
    }
}

/// Words that [`depthwise2d_i8_mve`](crate::kernels::depthwise2d_i8_mve) needs for images of so many channels: `pixels` is `out_w`, `lines` `k_h`, `along` `k_w` and `stride` `stride_w`. For
/// columns they are the other way round.
pub const fn depthwise2d_mve_work_words(
    channels: usize,
    pixels: usize,
    lines: usize,
    along: usize,
    stride: usize,
) -> usize {
    let tile = Tile::of(lines, along, stride);
    let channels = if channels < LANES { channels } else { LANES };
    sum(product(channels, tile.window(pixels)), product(channels, Tile::results(pixels))).div_ceil(4)
}

/// How a tile of eight pixels is computed.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    /// Taps of a pixel.
    pub taps: usize,
    /// Elements of the window from one pixel to the next.
    pub step: usize,
    /// Elements of the window from one column to the next.
    pub lines: usize,
    /// Vectors that hold the taps of a pixel.
    pub vectors: usize,
    /// Pixels whose taps are in one vector.
    pub together: usize,
}

impl Tile {
    pub(crate) const fn of(lines: usize, along: usize, stride: usize) -> Self {
        let (taps, step) = (product(lines, along), product(stride, lines));
        let vectors = taps.div_ceil(LANES);
        let room = LANES.saturating_sub(taps);
        let together = match room.checked_div(step) {
            Some(more) if vectors == 1 && more < MOST_TOGETHER => more + 1,
            Some(_) if vectors == 1 => MOST_TOGETHER,
            _ => 1,
        };
        Tile { taps, step, lines, vectors, together }
    }

    /// Whether the lines of a window may be a ring: where all taps are in one vector, weights can be loaded in any order.
    pub(crate) const fn turns(lines: usize, along: usize) -> bool {
        lines > 1 && product(lines, along) <= LANES
    }

    /// Zeros before the taps of a channel.
    pub(crate) const fn before(self) -> usize {
        product(self.together.saturating_sub(1), self.step)
    }

    /// Bytes of a channel's taps with the zeros around them.
    pub(crate) const fn bytes(self) -> usize {
        sum(self.before(), product(self.vectors, LANES)).div_ceil(4).saturating_mul(4)
    }

    /// Words of a channel.
    pub(crate) const fn words(self, end: End) -> usize {
        sum(end.words(), self.bytes() / 4)
    }

    /// Elements of a channel's results: of whole tiles, the last of which may be half of one.
    pub(crate) const fn results(pixels: usize) -> usize {
        product(pixels.div_ceil(4), 4)
    }

    /// Elements of a channel's window: as far as the vectors of the last tile reach.
    pub(crate) const fn window(self, pixels: usize) -> usize {
        reach(Self::results(pixels), self.step, product(self.vectors, LANES))
    }
}

/// Pixels whose taps are in one vector at most: the registers for their weights.
const MOST_TOGETHER: usize = 3;

/// The work space: windows of up to sixteen channels, and their results.
pub(crate) struct Space<'a> {
    pub windows: &'a [Cell<i8>],
    pub results: &'a [Cell<i8>],
    /// Elements of the window of a channel.
    pub window: usize,
    /// Results of a channel, a multiple of four.
    pub row: usize,
    pub tile: Tile,
}

impl<'a> Space<'a> {
    /// For so many pixels; `None` if it is too small, or the tile too large.
    fn of(work: &'a [Cell<i32>], tile: Tile, channels: usize, pixels: usize) -> Option<Self> {
        let channels = channels.min(LANES);
        let window = tile.window(pixels);
        let (windows, rest) = bytes_of_words(work).split_at_checked(product(channels, window))?;
        let row = Tile::results(pixels);
        let results = rest.get(..product(channels, row))?;
        // Offsets of eight channels are halves of words.
        let fits = tile.taps > 0 && pixels > 0 && window < MOST_WINDOW;
        fits.then_some(Space { windows, results, window, row, tile })
    }

    fn fill(&self, pad: i8) {
        self.windows.iter().for_each(|cell| cell.set(pad));
    }
}

/// Along a line of the image, a row or a column.
#[derive(Clone, Copy)]
struct Along {
    /// Pixels of the operand.
    size: usize,
    /// Pixels of padding before them.
    before: usize,
    /// Elements from one pixel to the next, of operand and result.
    steps: [usize; 2],
    /// Pixels of the result.
    pixels: usize,
}

/// What up to sixteen channels reach, all of which is there.
struct Extent {
    channels: usize,
    /// Words of all their weights.
    words: usize,
    /// Pixels of the operand that a line of the result reads.
    columns: usize,
    /// Elements of operand and result that a line reaches.
    reach: [usize; 2],
}

impl Extent {
    /// Of sixteen channels, and of those that are left.
    fn of_groups(space: &Space<'_>, channels: usize, end: End, along: Along) -> [Option<Self>; 2] {
        [LANES, channels % LANES].map(|channels| Extent::of(space, channels, end, along))
    }

    /// `None` if something is missing.
    #[inline(never)]
    fn of(space: &Space<'_>, channels: usize, end: End, along: Along) -> Option<Self> {
        let Along { size, before, steps, pixels } = along;
        let tile = space.tile;
        let line = reach(pixels, tile.step / tile.lines.max(1), tile.taps / tile.lines.max(1));
        let columns = line.saturating_sub(before).min(size);
        let last = sum(product(before, tile.lines), reach(columns, tile.lines, tile.lines));
        let fits = channels > 0
            && pixels > 0
            && pixels <= space.row
            && space.window >= tile.window(space.row).max(last)
            && space.windows.len() >= product(channels, space.window)
            && space.results.len() >= product(channels, space.row);
        let reach = [reach(columns, steps[0], channels), reach(pixels, steps[1], channels)];
        fits.then_some(Extent { channels, words: product(channels, tile.words(end)), columns, reach })
    }
}

/// Up to sixteen channels, whose windows, results and weights are there.
pub(crate) struct Group<'a> {
    pub space: &'a Space<'a>,
    pub channels: usize,
    /// Words of each channel, and what else the inner block reads.
    pub prepared: Prepared<'a>,
    along: Along,
    extent: &'a Extent,
}

impl<'a> Group<'a> {
    /// The first channels of weights, and the weights behind theirs; `None` if something is missing.
    #[inline(always)]
    fn of(
        space: &'a Space<'a>,
        w: &'a [i32],
        extent: &'a Option<Extent>,
        along: Along,
    ) -> Option<(Self, &'a [i32])> {
        let extent = extent.as_ref()?;
        let (w, others) = w.split_at_checked(extent.words)?;
        let prepared = Prepared::of(space, w);
        Some((Group { space, channels: extent.channels, prepared, along, extent }, others))
    }

    /// Copies a line to the windows, or padding if there is none.
    #[inline(always)]
    fn spread(&self, x: Option<&[Cell<i8>]>, padding: &[Cell<i8>; LANES], line: usize) {
        let Group { space, channels, along, extent: &Extent { columns, reach, .. }, .. } = *self;
        let (x, step) = match x {
            Some(x) if x.len() >= reach[0] => (x, along.steps[0]),
            _ => (padding.as_slice(), 0),
        };
        let tile = space.tile;
        let to = space.windows.get(along.before * tile.lines + line..).unwrap_or(&[]);
        if columns > 0 && line < tile.lines {
            // SAFETY: `x` has the channels of all columns, or of the only one, where they are no elements from each other. The window of each channel has a place for each line of each column, as
            // `of` has compared.
            unsafe { spread(x, step, columns, channels, to, tile.lines, space.window) }
        }
    }

    /// Copies results to pixels of `y`.
    #[inline(always)]
    fn collect(&self, y: &[Cell<i8>]) {
        let Group { space, channels, along, extent, .. } = *self;
        if y.len() >= extent.reach[1] {
            // SAFETY: each channel has so many results, as `of` has compared, and each pixel of `y` an element for each channel.
            unsafe { collect(space.results, space.row, along.pixels, channels, y, along.steps[1]) }
        }
    }
}

/// Elements of a channel's window that it must not have.
const MOST_WINDOW: usize = 1 << 12;
