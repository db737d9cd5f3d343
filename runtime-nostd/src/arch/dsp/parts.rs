//! Kernels whose results two cores compute: rows, pixels or filters in parts.
//!
//! Each part is a call of the kernel itself, so that the results are the same bits. `work` consists of `cores` workspaces of equal length, a multiple of 64 bytes, or is empty.
#![allow(unsafe_code)]

use super::affine::requant_words;
use super::conv::{conv2d_i8_dsp, conv2d_i8_dsp_exact, conv2d_i8_dsp_small};
use super::dense::{dense_i8_dsp, dense_i8_dsp_eights};
use super::depthwise::{
    depthwise2d_i8_dsp, depthwise2d_i8_dsp_exact, depthwise2d_i8_dsp_planar, depthwise2d_i8_dsp_planar_exact,
};
use super::patches::conv2d_i8_dsp_patches;
use super::points::{conv2d_i8_dsp_points, conv2d_i8_dsp_points_small};
use super::taps::eight_words;
use super::tile::FIRST_WORDS;
use super::winograd::{conv2d_i8_dsp_winograd, conv2d_i8_dsp_winograd_4x4};
use crate::arch::crew::parts::{filters_in_parts, in_parts};
use crate::arch::crew::Crew;
use crate::arch::extent::{product, sum};
use crate::params::{Conv, Requant, Stride};
use crate::rows::{Band, Rows};

in_parts! {
    pub fn conv2d_i8_dsp_crew = conv2d_i8_dsp
        <XD: usize, PAIRS: usize, UNROLL: usize, PIXEL: usize, CHANNEL: usize, SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y () if |p| CHANNEL == 1 && PIXEL == p.out_c;
    pub fn conv2d_i8_dsp_small_crew = conv2d_i8_dsp_small <SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y (out: &Stride) if |p| is_channel_last(p, out);
    pub fn conv2d_i8_dsp_points_crew = conv2d_i8_dsp_points
        <PAIRS: usize, PIXEL: usize, CHANNEL: usize, SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y () if |p| CHANNEL == 1 && PIXEL == p.out_c;
    pub fn conv2d_i8_dsp_points_small_crew = conv2d_i8_dsp_points_small <SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y (out: &Stride) if |p| is_channel_last(p, out);
    pub fn conv2d_i8_dsp_patches_crew = conv2d_i8_dsp_patches
        <PAIRS: usize, CHANNEL: usize, SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y (out: &Stride) if |p| is_channel_last(p, out);
    pub fn conv2d_i8_dsp_exact_crew = conv2d_i8_dsp_exact <>
        (w: &[i32], pad: i8) work (q: &Requant<'_>) y (out: &Stride) if |p| is_channel_last(p, out);
    pub fn conv2d_i8_dsp_winograd_crew = conv2d_i8_dsp_winograd <SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y () if |_p| false, rows = 2;
    pub fn conv2d_i8_dsp_winograd_4x4_crew = conv2d_i8_dsp_winograd_4x4 <SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) work () y () if |_p| false, rows = 4;
    pub fn depthwise2d_i8_dsp_crew = depthwise2d_i8_dsp <STEP: usize, UNROLL: usize, SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) () y () if |_p| false;
    pub fn depthwise2d_i8_dsp_exact_crew = depthwise2d_i8_dsp_exact <>
        (w: &[i32], pad: i8) (q: &Requant<'_>) y () if |_p| false;
    pub fn depthwise2d_i8_dsp_planar_crew = depthwise2d_i8_dsp_planar
        <WIDTH: usize, STRIDE: usize, PIXEL: usize, SHIFT: u32, SIGNED: bool>
        (w: &[i32], pad: i8) () y (channel: usize) if |_p| false;
    pub fn depthwise2d_i8_dsp_planar_exact_crew = depthwise2d_i8_dsp_planar_exact <>
        (w: &[i32], pad: i8) (q: &Requant<'_>) y (out: &Stride) if |_p| false;
}

/// Whether the pixels of a row of the result lie one behind the other.
fn is_channel_last(p: &Conv, out: &Stride) -> bool {
    *out == Stride { pixel: p.out_c, channel: 1 }
}

/// As [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), with the help of a crew where `band` is one row: each core has half of the filters.
pub fn dense_i8_dsp_crew<const SHIFT: u32, const SIGNED: bool>(
    crew: &Crew,
    cores: usize,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    let quad = sum(product(2, x.row_len().div_ceil(2)), FIRST_WORDS + requant_words(SIGNED));
    let kernel = |x: Rows<'_, i8>, w: &[i32], y: Rows<'_, i8>| {
        dense_i8_dsp::<SHIFT, SIGNED>(x, w, y, Band { first: 0, rows: 1 });
    };
    // SAFETY: the kernel reads the row, and writes the results of its filters.
    if !unsafe { filters_in_parts(crew, cores, [x, y], w, (quad, 4), band, &kernel) } {
        dense_i8_dsp::<SHIFT, SIGNED>(x, w, y, band);
    }
}

/// As [`dense_i8_dsp_eights`](crate::kernels::dense_i8_dsp_eights), with the help of a crew where `band` is one row: each core has half of the filters.
pub fn dense_i8_dsp_eights_crew<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    crew: &Crew,
    cores: usize,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    // What is longer is no slice.
    let eight = eight_words(x.row_len().div_ceil(2).min(usize::MAX / 16), SIGNED);
    let kernel = |x: Rows<'_, i8>, w: &[i32], y: Rows<'_, i8>| {
        dense_i8_dsp_eights::<SHIFT, SIGNED, REST>(x, w, y, Band { first: 0, rows: 1 });
    };
    // SAFETY: the kernel reads the row, and writes the results of its filters.
    if !unsafe { filters_in_parts(crew, cores, [x, y], w, (eight, 8), band, &kernel) } {
        dense_i8_dsp_eights::<SHIFT, SIGNED, REST>(x, w, y, band);
    }
}
