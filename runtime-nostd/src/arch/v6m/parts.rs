//! Kernels whose results two cores compute, in parts of rows or pixels. Each part is a call of the kernel itself, so that the results are the same bits.
#![allow(unsafe_code)]

use super::column::depthwise2d_i8_v6m_column;
use super::conv::{conv2d_i8_v6m_pairs, conv2d_i8_v6m_pairs_wide, conv2d_i8_v6m_singles};
use super::depthwise::{depthwise2d_i8_v6m, depthwise2d_i8_v6m_rolling};
use super::steps::HalfRequant;
use super::winograd::conv2d_i8_v6m_winograd;
use crate::arch::crew::parts::in_parts;

in_parts! {
    pub fn conv2d_i8_v6m_pairs_crew = conv2d_i8_v6m_pairs <>
        (w: &[i8], first: &[i32], part: usize, pad: i8, q: &HalfRequant<'_>) () y () if |_p| true;
    pub fn conv2d_i8_v6m_pairs_wide_crew = conv2d_i8_v6m_pairs_wide <>
        (w: &[i8], rests: &[i8], first: &[i32], part: usize, pad: i8, q: &HalfRequant<'_>) () y () if |_p| true;
    pub fn conv2d_i8_v6m_singles_crew = conv2d_i8_v6m_singles <>
        (w: &[i32], first: &[i32], part: usize, pad: i8, q: &HalfRequant<'_>) () y () if |_p| true;
    pub fn conv2d_i8_v6m_winograd_crew = conv2d_i8_v6m_winograd <>
        (w: &[i32], pad: i8, q: &HalfRequant<'_>) work () y () if |_p| false, rows = 2;
    pub fn depthwise2d_i8_v6m_crew = depthwise2d_i8_v6m <>
        (w: &[i8], pad: i8, q: &HalfRequant<'_>) () y () if |_p| false;
    pub fn depthwise2d_i8_v6m_rolling_crew = depthwise2d_i8_v6m_rolling <>
        (w: &[i32], pad: i8, q: &HalfRequant<'_>) () y () if |_p| false, rows = 2;
    pub fn depthwise2d_i8_v6m_column_crew = depthwise2d_i8_v6m_column <>
        (w: &[i32], pad: i8, q: &HalfRequant<'_>) () y () if |_p| false, rows = 3;
}
