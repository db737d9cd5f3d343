//! Kernels whose results several threads compute: rows, pixels or channels in parts.
//!
//! Each part is a call of the kernel itself, for other rows of the result or on some of the operand's and the result's pixels, so that the results are the same bits.
//! Units of a part are computed by one thread; each thread has a workspace of its own, one of `cores` equal ones that `work` consists of.

use super::conv::conv2d_i8_simd;
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
use crate::arch::crew::parts::{band_of, chunk, divide, pixels, single, Units};
use crate::arch::crew::Crew;
use crate::arch::portable::dense::matrix;
use crate::params::{Conv, FilterBlocks};
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::ops::Range;

/// Pixels and blocks of filters that make a part, at least: a part has its own beginning, whatever it is of.
const FEW_PIXELS: usize = 16;
const FEW_BLOCKS: usize = 4;

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

/// The channels of some blocks.
fn channels(blocks: &Range<usize>, all: usize) -> Range<usize> {
    blocks.start.saturating_mul(BLOCK).min(all)..blocks.end.saturating_mul(BLOCK).min(all)
}
