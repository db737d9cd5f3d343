//! Kernels whose results two cores compute, in parts of rows or pixels. Each part is a call of the kernel itself, so that the results are the same bits.
#![allow(unsafe_code)]

use super::conv::{conv2d_i8_rv32_mixed, conv2d_i8_rv32_pairs, conv2d_i8_rv32_quads};
use super::depthwise::{depthwise2d_i8_rv32, depthwise2d_i8_rv32_rolling};
use super::upper::UpperRequant;
use super::winograd::{conv2d_i8_rv32_winograd, conv2d_i8_rv32_winograd_4x4};
use crate::arch::crew::parts::in_parts;

in_parts! {
    pub fn conv2d_i8_rv32_pairs_crew = conv2d_i8_rv32_pairs <>
        (w: &[i8], pad: i8, q: &UpperRequant<'_>) work () y () if |_p| true;
    pub fn conv2d_i8_rv32_quads_crew = conv2d_i8_rv32_quads <>
        (w: &[i8], pad: i8, q: &UpperRequant<'_>) work () y () if |_p| true;
    pub fn conv2d_i8_rv32_mixed_crew = conv2d_i8_rv32_mixed <>
        (w: &[i8], pad: i8, q: &UpperRequant<'_>) work () y () if |_p| true;
    pub fn conv2d_i8_rv32_winograd_crew = conv2d_i8_rv32_winograd <>
        (w: &[i32], pad: i8, q: &UpperRequant<'_>) work () y () if |_p| false, rows = 2;
    pub fn conv2d_i8_rv32_winograd_4x4_crew = conv2d_i8_rv32_winograd_4x4 <>
        (w: &[i32], pad: i8, q: &UpperRequant<'_>) work () y () if |_p| false, rows = 4;
    pub fn depthwise2d_i8_rv32_crew = depthwise2d_i8_rv32 <>
        (w: &[i8], pad: i8, q: &UpperRequant<'_>) () y () if |_p| false;
    pub fn depthwise2d_i8_rv32_rolling_crew = depthwise2d_i8_rv32_rolling <>
        (w: &[i8], pad: i8, q: &UpperRequant<'_>) () y () if |_p| false;
}
