//! Kernels whose results several threads compute: rows, pixels or channels in parts.
//!
//! Each part is a call of the kernel itself, for other rows of the result or on some of the operand's and the result's pixels, so that the results are the same bits.
//! Units of a part are computed by one thread; each thread has a workspace of its own, one of `cores` equal ones that `work` consists of.

use super::conv::conv2d_i8_simd;
use super::crew::{Crew, Step};
use super::dense::dense_i8_simd;
use super::depthwise::depthwise2d_i8_simd;
use super::float::conv::conv2d_f32_simd;
use super::float::dense::dense_f32_simd;
use super::float::depthwise::depthwise2d_f32_simd;
use super::float::reproducible::{
    conv2d_f32_simd_reproducible, dense_f32_simd_reproducible, depthwise2d_f32_simd_reproducible,
};
use super::requant::{GROUP, HEADER};
use super::work::SLACK;
use super::BLOCK;
use crate::arch::extent::product_of;
use crate::arch::portable::dense::matrix;
use crate::params::{Conv, FilterBlocks};
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::ops::Range;

/// Rows, pixels and blocks of filters that make a part, at least: a part has its own beginning, whatever it is of.
const FEW_ROWS: usize = 4;
const FEW_PIXELS: usize = 16;
const FEW_BLOCKS: usize = 4;

/// Parts for each thread, at most: so that one that comes late finds something to do.
const PARTS: usize = 4;

/// As [`conv2d_i8_simd`](crate::kernels::conv2d_i8_simd), with the help of a crew. `work` consists of `cores` workspaces of equal length, a multiple of 64 bytes; where filters are points
/// and every pixel of the operand has its result, each holds at least one pixel and 256 bytes besides, and all together what the kernel needs alone.
///
/// The kernel runs alone where nobody helps, or operand, result and workspace are not apart.
pub fn conv2d_i8_simd_crew<const SYMMETRIC: bool>(
    crew: &Crew,
    cores: usize,
    p: &Conv,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let divided = match pixels(p, x, y, band) {
        Some(rows) => {
            // What a workspace holds.
            let room = (4 * chunk(work, cores)).saturating_sub(SLACK) / 64 * 64;
            let most = room.checked_div(p.in_c).unwrap_or(0);
            let units = Units { all: 0..rows[0].held().unwrap_or(0), few: FEW_PIXELS, most };
            let compute = |[x, y]: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
                let count = part.len();
                let some = [x, y].map(|of| of.run(part.start, count));
                let [Some(x), Some(y)] = some else { return };
                let p = Conv { in_h: 1, in_w: count, out_w: count, ..*p };
                let [x, y] = [Rows::whole(x, x.len()), Rows::whole(y, y.len())];
                conv2d_i8_simd::<SYMMETRIC>(&p, x, filters, pad, work, y, Band { first: 0, rows: 1 });
            };
            // SAFETY: results of a pixel are written by the part that it belongs to, and operands only read.
            unsafe { divide(crew, cores, rows, work, units, &compute) }
        }
        None => {
            let compute = |[x, y]: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
                conv2d_i8_simd::<SYMMETRIC>(p, x, filters, pad, work, y, band_of(part));
            };
            // SAFETY: rows of results are written by the part that they belong to, and operands only read.
            unsafe { divide(crew, cores, [x, y], work, Units::rows(y, band), &compute) }
        }
    };
    if !divided {
        conv2d_i8_simd::<SYMMETRIC>(p, x, filters, pad, work, y, band);
    }
}

/// As [`depthwise2d_i8_simd`](crate::kernels::depthwise2d_i8_simd), with the help of a crew. `work` consists of `cores` workspaces of equal length, a multiple of 64 bytes.
pub fn depthwise2d_i8_simd_crew<const SYMMETRIC: bool>(
    crew: &Crew,
    cores: usize,
    p: &Conv,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let compute = |[x, y]: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
        depthwise2d_i8_simd::<SYMMETRIC>(p, x, filters, pad, work, y, band_of(part));
    };
    // SAFETY: rows of results are written by the part that they belong to, and operands only read.
    if !unsafe { divide(crew, cores, [x, y], work, Units::rows(y, band), &compute) } {
        depthwise2d_i8_simd::<SYMMETRIC>(p, x, filters, pad, work, y, band);
    }
}

/// As [`dense_i8_simd`](crate::kernels::dense_i8_simd), with the help of a crew where `band` is one row. `work` consists of `cores` workspaces of equal length, a multiple of 64 bytes.
pub fn dense_i8_simd_crew<const SYMMETRIC: bool>(
    crew: &Crew,
    cores: usize,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let block = HEADER.saturating_add(x.row_len().div_ceil(4).saturating_mul(GROUP));
    let compute = |[x, y]: [Rows<'_, i8>; 2], work: &[Cell<i32>], part: Range<usize>| {
        let blocks = part.start.saturating_mul(block)..part.end.saturating_mul(block);
        let (Some(blocks), Some(y)) =
            (filters.blocks.get(blocks), y.row(0).get(channels(&part, y.row_len())))
        else {
            return;
        };
        let filters = FilterBlocks { blocks, ..*filters };
        dense_i8_simd::<SYMMETRIC>(x, &filters, work, Rows::whole(y, y.len()), Band { first: 0, rows: 1 });
    };
    let units = Units { all: 0..y.row_len().div_ceil(BLOCK), few: FEW_BLOCKS, most: usize::MAX };
    let rows = single(x, y, band);
    // SAFETY: channels are written by the part that they belong to, and the operand only read.
    let divided = rows.is_some_and(|rows| unsafe { divide(crew, cores, rows, work, units, &compute) });
    if !divided {
        dense_i8_simd::<SYMMETRIC>(x, filters, work, y, band);
    }
}

/// Kernels of floats with the help of a crew, all with the same arguments.
macro_rules! of_floats {
    ($(
        $conv_vis:vis fn $conv_on:ident = $conv:ident;
        $depthwise_vis:vis fn $depthwise_on:ident = $depthwise:ident;
        $dense_vis:vis fn $dense_on:ident = $dense:ident;
    )+) => {$(
        #[doc = concat!(
            "As [`", stringify!($conv), "`](crate::kernels::", stringify!($conv), "), with the help of a crew. `work` consists of `cores` workspaces of equal length, a multiple of ",
            "64 bytes, or is empty where that of the kernel may be.",
        )]
        $conv_vis fn $conv_on(
            crew: &Crew,
            cores: usize,
            p: &Conv,
            x: Rows<'_, f32>,
            w: &[f32],
            lo: f32,
            hi: f32,
            work: &[Cell<f32>],
            y: Rows<'_, f32>,
            band: Band,
        ) {
            conv2d_f32_on($conv, crew, cores, p, Layer { w, lo, hi }, x, work, y, band);
        }

        #[doc = concat!(
            "As [`", stringify!($depthwise), "`](crate::kernels::", stringify!($depthwise), "), with the help of a crew. `work` consists of `cores` workspaces of equal length, a ",
            "multiple of 64 bytes.",
        )]
        $depthwise_vis fn $depthwise_on(
            crew: &Crew,
            cores: usize,
            p: &Conv,
            x: Rows<'_, f32>,
            w: &[f32],
            lo: f32,
            hi: f32,
            work: &[Cell<f32>],
            y: Rows<'_, f32>,
            band: Band,
        ) {
            let compute = |[x, y]: [Rows<'_, f32>; 2], work: &[Cell<f32>], part: Range<usize>| {
                $depthwise(p, x, w, lo, hi, work, y, band_of(part));
            };
            // SAFETY: rows of results are written by the part that they belong to, and operands only read.
            if !unsafe { divide(crew, cores, [x, y], work, Units::rows(y, band), &compute) } {
                $depthwise(p, x, w, lo, hi, work, y, band);
            }
        }

        #[doc = concat!(
            "As [`", stringify!($dense), "`](crate::kernels::", stringify!($dense), "), with the help of a crew. `work` as of [`", stringify!($conv_on), "`].",
        )]
        $dense_vis fn $dense_on(
            crew: &Crew,
            cores: usize,
            x: Rows<'_, f32>,
            w: &[f32],
            lo: f32,
            hi: f32,
            work: &[Cell<f32>],
            y: Rows<'_, f32>,
            band: Band,
        ) {
            let layer = Layer { w, lo, hi };
            if band.rows > 1 {
                let matrix = matrix(x.row_len(), y.row_len());
                return conv2d_f32_on($conv, crew, cores, &matrix, layer, x, work, y, band);
            }
            let block = x.row_len().saturating_add(1).saturating_mul(BLOCK);
            let compute = |[x, y]: [Rows<'_, f32>; 2], work: &[Cell<f32>], part: Range<usize>| {
                let blocks = part.start.saturating_mul(block)..part.end.saturating_mul(block);
                let (Some(w), Some(y)) = (w.get(blocks), y.row(0).get(channels(&part, y.row_len()))) else {
                    return;
                };
                $dense(x, w, lo, hi, work, Rows::whole(y, y.len()), Band { first: 0, rows: 1 });
            };
            let units = Units { all: 0..y.row_len().div_ceil(BLOCK), few: FEW_BLOCKS, most: usize::MAX };
            let rows = single(x, y, band);
            // SAFETY: channels are written by the part that they belong to, and the operand only read.
            let divided = rows.is_some_and(|rows| unsafe { divide(crew, cores, rows, work, units, &compute) });
            if !divided {
                $dense(x, w, lo, hi, work, y, band);
            }
        }
    )+};
}

of_floats! {
    pub fn conv2d_f32_simd_crew = conv2d_f32_simd;
    pub fn depthwise2d_f32_simd_crew = depthwise2d_f32_simd;
    pub fn dense_f32_simd_crew = dense_f32_simd;
    pub fn conv2d_f32_simd_reproducible_crew = conv2d_f32_simd_reproducible;
    pub fn depthwise2d_f32_simd_reproducible_crew = depthwise2d_f32_simd_reproducible;
    pub fn dense_f32_simd_reproducible_crew = dense_f32_simd_reproducible;
}

/// A convolution of floats.
type FloatConv = fn(&Conv, Rows<'_, f32>, &[f32], f32, f32, &[Cell<f32>], Rows<'_, f32>, Band);

/// The constants of a layer of floats.
#[derive(Clone, Copy)]
struct Layer<'a> {
    w: &'a [f32],
    lo: f32,
    hi: f32,
}

/// A convolution in parts.
fn conv2d_f32_on(
    kernel: FloatConv,
    crew: &Crew,
    cores: usize,
    p: &Conv,
    Layer { w, lo, hi }: Layer<'_>,
    x: Rows<'_, f32>,
    work: &[Cell<f32>],
    y: Rows<'_, f32>,
    band: Band,
) {
    let divided = match pixels(p, x, y, band) {
        Some(rows) => {
            let p = matrix(p.in_c, p.out_c);
            let units = Units { all: 0..rows[0].held().unwrap_or(0), few: FEW_PIXELS, most: usize::MAX };
            let compute = |[x, y]: [Rows<'_, f32>; 2], work: &[Cell<f32>], part: Range<usize>| {
                kernel(&p, x, w, lo, hi, work, y, band_of(part));
            };
            // SAFETY: results of a pixel are written by the part that it belongs to, and operands only read.
            unsafe { divide(crew, cores, rows, work, units, &compute) }
        }
        None => {
            let compute = |[x, y]: [Rows<'_, f32>; 2], work: &[Cell<f32>], part: Range<usize>| {
                kernel(p, x, w, lo, hi, work, y, band_of(part));
            };
            // SAFETY: rows of results are written by the part that they belong to, and operands only read.
            unsafe { divide(crew, cores, [x, y], work, Units::rows(y, band), &compute) }
        }
    };
    if !divided {
        kernel(p, x, w, lo, hi, work, y, band);
    }
}

/// Operand and result with pixels as rows, where filters are points, every pixel of the operand has its result, and the band's lie one behind the other.
fn pixels<'a, T>(p: &Conv, x: Rows<'a, T>, y: Rows<'a, T>, band: Band) -> Option<[Rows<'a, T>; 2]> {
    let points = product_of([p.k_h, p.k_w, p.stride_h, p.stride_w]) == 1 && p.pad_top == 0 && p.pad_left == 0;
    let whole = p.in_w == p.out_w
        && x.row_len() == p.in_w.checked_mul(p.in_c)?
        && y.row_len() == p.out_w.checked_mul(p.out_c)?
        && band.range().end <= p.in_h;
    let (xs, ys) = (x.run(band.first, band.rows)?, y.run(band.first, band.rows)?);
    (points && whole).then(|| [Rows::whole(xs, p.in_c), Rows::whole(ys, p.out_c)])
}

/// The only row of a band, of operand and result.
fn single<'a, T>(x: Rows<'a, T>, y: Rows<'a, T>, band: Band) -> Option<[Rows<'a, T>; 2]> {
    let row = |of: Rows<'a, T>| Rows::whole(of.row(band.first), of.row_len());
    (band.rows == 1).then(|| [row(x), row(y)])
}

/// The channels of some blocks.
fn channels(blocks: &Range<usize>, all: usize) -> Range<usize> {
    blocks.start.saturating_mul(BLOCK).min(all)..blocks.end.saturating_mul(BLOCK).min(all)
}

fn band_of(part: Range<usize>) -> Band {
    Band { first: part.start, rows: part.len() }
}

/// What a step is divided into.
struct Units {
    all: Range<usize>,
    /// How many make a part, at least and at most; 0 where parts cannot be computed at all.
    few: usize,
    most: usize,
}

impl Units {
    /// The rows of a band, where the result has a place for each of them.
    fn rows<T>(y: Rows<'_, T>, band: Band) -> Units {
        let apart = y.held().is_some_and(|held| band.rows <= held);
        Units { all: band.range(), few: FEW_ROWS, most: if apart { usize::MAX } else { 0 } }
    }

    /// Into how many parts, for so many threads.
    fn parts(&self, threads: usize) -> usize {
        let count = self.all.len();
        let even = threads.saturating_mul((count / threads.saturating_mul(self.few).max(1)).clamp(1, PARTS));
        even.max(count.div_ceil(self.most.max(1))).min(count)
    }
}

/// Elements of one of `cores` workspaces, each of which begins on a multiple of 64 bytes if the first one does.
fn chunk<W>(work: &[Cell<W>], cores: usize) -> usize {
    work.len() / cores.max(1) / 16 * 16
}

/// What computes some units, in a workspace.
type Compute<'c, T, W> = dyn Fn([Rows<'_, T>; 2], &[Cell<W>], Range<usize>) + Sync + 'c;

/// Has units computed in parts, and says whether it did: if not, nothing was computed, since nobody helps, or operand, result and workspace are not apart.
///
/// # Safety
///
/// `compute([x, y], work, part)` writes no memory but `work` and those elements of `y` that belong to the units in `part`, and reads no other memory that is written by any
/// call of it: of all rows, that is, only `x`.
unsafe fn divide<T: Copy, W>(
    crew: &Crew,
    cores: usize,
    [x, y]: [Rows<'_, T>; 2],
    work: &[Cell<W>],
    units: Units,
    compute: &Compute<'_, T, W>,
) -> bool {
    let threads = cores.min(crew.helpers().saturating_add(1));
    let places = [place(x.cells()), place(y.cells()), place(work)];
    let [a, b, c] = &places;
    if threads < 2 || units.all.len() < 2 || units.most == 0 || !(apart(a, b) && apart(a, c) && apart(b, c)) {
        return false;
    }
    let chunk = chunk(work, cores);
    let memory = Shared(([x, y], work));
    let first = units.all.start;
    let part = |slot: usize, part: Range<usize>| {
        let (rows, work) = memory.get();
        let start = slot.saturating_mul(chunk);
        let Some(work) = work.get(start..start.saturating_add(chunk)) else { return };
        compute(rows, work, first + part.start..first + part.end);
    };
    crew.lead(&Step::new(units.all.len(), units.parts(threads), threads, &part));
    true
}

/// Cells that several threads use.
struct Shared<T>(T);

// SAFETY: `divide` alone makes one, of cells that only the calling thread has otherwise (they are not `Sync`), and that thread does nothing with them until `lead` returns: it runs no code of
// others, and afterwards no thread uses them any more. Meanwhile the operand is only read, since neither result nor workspaces lie over it. Each unit of the result is written in the
// one part that it belongs to, which `Step` gives to one thread, and each workspace is one thread's: by the promise of `divide`'s caller, no element is written by one thread and read
// or written by another. Elements are integers and floats, which belong to no thread.
unsafe impl<T> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn get(&self) -> T {
        self.0
    }
}

/// The addresses of cells.
fn place<T>(cells: &[Cell<T>]) -> Range<usize> {
    let cells = cells.as_ptr_range();
    cells.start as usize..cells.end as usize
}

fn apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}
