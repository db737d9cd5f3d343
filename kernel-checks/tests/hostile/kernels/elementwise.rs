//! Elementwise kernels, comparisons, and what moves elements.

use super::{pairs, Fuzzed};
use crate::args::{Kernel, Operand};
use kiln::kernels::*;
use std::cell::Cell;

/// Kernels with two operands.
pub(super) const PAIRS: &[Fuzzed] = pairs! {
    (s: &Broadcast) f32 => u8: equal_f32 greater_equal_f32 greater_f32 less_equal_f32 less_f32 not_equal_f32;
    (s: &Broadcast) i32 => u8: equal_i32 greater_equal_i32 greater_i32 less_equal_i32 less_i32 not_equal_i32;
    (s: &Broadcast) i64 => u8: equal_i64 greater_equal_i64 greater_i64 less_equal_i64 less_i64 not_equal_i64;
    (s: &Broadcast) i8 => u8: equal_i8 greater_equal_i8 greater_i8 less_equal_i8 less_i8 not_equal_i8;
    (s: &Broadcast) u8 => u8: equal_u8 greater_equal_u8 greater_u8 less_equal_u8 less_u8 not_equal_u8;
    (s: &Broadcast) i16 => u8: equal_i16 greater_equal_i16 greater_i16 less_equal_i16 less_i16 not_equal_i16;
    (s: &Broadcast, p: &CompareParams) i8 => u8: equal_i8_scaled greater_equal_i8_scaled greater_i8_scaled less_equal_i8_scaled less_i8_scaled not_equal_i8_scaled;
    (s: &Broadcast, lo: f32, hi: f32) f32 => f32: add_f32 sub_f32 mul_f32 atan2_f32 div_f32 floor_div_f32 floor_mod_f32 max_f32 min_f32 pow_f32 prelu_f32 squared_difference_f32 add_f32_mve mul_f32_mve sub_f32_mve add_f32_simd div_f32_simd mul_f32_simd sub_f32_simd;
    (s: &Broadcast, lo: i32, hi: i32) i32 => i32: add_i32 sub_i32 mul_i32 max_i32 min_i32 div_i32 floor_div_i32 floor_mod_i32 pow_i32 squared_difference_i32;
    (s: &Broadcast, lo: i64, hi: i64) i64 => i64: add_i64 sub_i64 mul_i64 max_i64 min_i64 div_i64 floor_div_i64 floor_mod_i64 pow_i64 squared_difference_i64;
    (s: &Broadcast, p: &AddParams) i8 => i8: add_i8 sub_i8 squared_difference_i8;
    (s: &Broadcast, p: &AddFloat) i8 => i8: add_i8_float;
    (s: &Broadcast, p: &MulParams) i8 => i8: mul_i8 mul_i8_mve mul_i8_simd;
    (s: &Broadcast, p: &MulFloat) i8 => i8: mul_i8_float;
    (s: &Broadcast, p: &MulParams, identity: &Scale) i8 => i8: prelu_i8;
    (s: &Broadcast, p: &MulParams, reciprocals: &[i32]) i8 => i8: div_i8;
    (s: &Broadcast, lo: i8, hi: i8) i8 => i8: max_i8 min_i8 max_i8_mve min_i8_mve;
    (s: &Broadcast, lo: i16, hi: i16) i16 => i16: max_i16 min_i16;
    (s: &Broadcast, p: &AddParams) i16 => i16: add_i16 sub_i16 squared_difference_i16;
    (s: &Broadcast, p: &MulParams) i16 => i16: mul_i16;
    (p: &AddLinear, shift: u32) i8 => i8: add_i8_dsp_compact add_i8_simd;
    (p: &MatMul, lo: f32, hi: f32) f32 => f32: matmul_f32;
    (p: &MatMul, q: &MulParams) i16 => i16: matmul_i16;
    (p: &MatMul, q: &MulParams) i8 => i8: matmul_i8;
    (p: &MatMul, q: &MulFloat) i8 => i8: matmul_i8_float;
    (width: usize) f32 => f32: squared_distances_f32;
};

/// A kernel whose types are left open, as a closure that says them.
macro_rules! typed {
    ($( $name:ident |$($p:ident: $t:ty),*| $call:expr; )*) => {
        &[$( Fuzzed { name: stringify!($name), preset: None, call: |d| Kernel::call(|$($p: $t),*| $call, d) }, )*]
    };
}

/// Kernels whose operands are of several types, or that have more or less than two.
pub(super) const OTHERS: &[Fuzzed] = typed! {
    add_i8_dsp |p: &AddLinear, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_dsp::<7>(p, a, b, y);
    add_i8_dsp |p: &AddLinear, a: &[Cell<i8>], b: &[i8], y: &[Cell<i8>]| add_i8_dsp::<31>(p, a, b, y);
    add_i8_v6m |p: &AddLinear, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_v6m::<1>(p, a, b, y);
    add_i8_v6m |p: &AddLinear, a: &[i8], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_v6m::<17>(p, a, b, y);
    add_i8_rv32 |p: &AddLinear, shift: u32, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_rv32(p, shift, a, b, y);
    add_i8_rv32 |p: &AddLinear, shift: u32, a: &[i8], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_rv32(p, shift, a, b, y);
    add_i8_mve |p: &AddLinear, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_mve::<17>(p, a, b, y);
    add_i8_mve |p: &AddLinear, a: &[i8], b: &[Cell<i8>], y: &[Cell<i8>]| add_i8_mve::<3>(p, a, b, y);
    matmul_f32_simd |p: &MatMul, lo: f32, hi: f32, a: &[Cell<f32>], b: &[f32], y: &[Cell<f32>], work: &[Cell<f32>]|
        matmul_f32_simd(p, lo, hi, a, b, y, work);
    matmul_f32_simd |p: &MatMul, lo: f32, hi: f32, a: &[Cell<f32>], b: &[Cell<f32>], y: &[Cell<f32>], work: &[Cell<f32>]|
        matmul_f32_simd(p, lo, hi, a, b, y, work);
    matmul_f32_simd_reproducible |p: &MatMul, lo: f32, hi: f32, a: &[Cell<f32>], b: &[f32], y: &[Cell<f32>], work: &[Cell<f32>]|
        matmul_f32_simd_reproducible(p, lo, hi, a, b, y, work);
    matmul_f32_simd_reproducible |p: &MatMul, lo: f32, hi: f32, a: &[f32], b: &[Cell<f32>], y: &[Cell<f32>], work: &[Cell<f32>]|
        matmul_f32_simd_reproducible(p, lo, hi, a, b, y, work);
    computed_conv2d_i8 |p: &ComputedConv, q: &Requant<'_>, x: &[Cell<i8>], w: &[Cell<i8>], bias: &[Cell<i32>], y: &[Cell<i8>]|
        computed_conv2d_i8(p, q, x, w, bias, y);
    computed_conv2d_i8 |p: &ComputedConv, q: &Requant<'_>, x: &[Cell<i8>], w: &[i8], bias: &[i32], y: &[Cell<i8>]|
        computed_conv2d_i8(p, q, x, w, bias, y);
    computed_conv2d_i8_once |p: &ComputedConv, q: &Requant<'_>, x: &[i8], w: &[Cell<i8>], bias: &[i32], y: &[Cell<i8>]|
        computed_conv2d_i8_once(p, q, x, w, bias, y);
    computed_conv2d_i8_float |p: &ComputedConv, q: &FloatRequant<'_>, x: &[Cell<i8>], w: &[Cell<i8>], bias: &[i32], y: &[Cell<i8>]|
        computed_conv2d_i8_float(p, q, x, w, bias, y);
    computed_conv2d_i16 |p: &ComputedConv, q: &Requant<'_>, x: &[Cell<i16>], w: &[Cell<i8>], bias: &[i64], y: &[Cell<i16>]|
        computed_conv2d_i16(p, q, x, w, bias, y);
    computed_conv2d_i16_narrow |p: &ComputedConv, q: &Requant<'_>, x: &[Cell<i16>], w: &[Cell<i8>], bias: &[i32], y: &[Cell<i16>]|
        computed_conv2d_i16_narrow(p, q, x, w, bias, y);
    computed_conv2d_f32 |p: &ComputedConv, lo: f32, hi: f32, x: &[Cell<f32>], w: &[Cell<f32>], bias: &[Cell<f32>], y: &[Cell<f32>]|
        computed_conv2d_f32(p, lo, hi, x, w, bias, y);
    select |p: &Choice, c: &[Cell<u8>], a: &[Cell<i8>], b: &[i8], y: &[Cell<i8>]| select(p, c, a, b, y);
    select |p: &Choice, c: &[u8], a: &[Cell<i64>], b: &[Cell<i64>], y: &[Cell<i64>]| select(p, c, a, b, y);
    cast |x: &[Cell<f32>], y: &[Cell<i8>]| cast(x, y);
    cast |x: &[Cell<i64>], y: &[Cell<f32>]| cast(x, y);
    cast_to_bool |x: &[Cell<f32>], y: &[Cell<u8>]| cast_to_bool(x, y);
    cast_to_bool |x: &[Cell<i64>], y: &[Cell<u8>]| cast_to_bool(x, y);
    gather_i32 |p: &Gather, x: &[Cell<i8>], at: &[Cell<i32>], y: &[Cell<i8>]| gather_i32(p, x, at, y);
    gather_i32 |p: &Gather, x: &[f32], at: &[i32], y: &[Cell<f32>]| gather_i32(p, x, at, y);
    gather_i64 |p: &Gather, x: &[Cell<i16>], at: &[Cell<i64>], y: &[Cell<i16>]| gather_i64(p, x, at, y);
    copy |p: &Copy, x: &[Cell<i8>], y: &[Cell<i8>]| copy(p, x, y);
    copy |p: &Copy, x: &[Cell<i16>], y: &[Cell<i16>]| copy(p, x, y);
    copy |p: &Copy, x: &[f32], y: &[Cell<f32>]| copy(p, x, y);
    copy |p: &Copy, x: &[i64], y: &[Cell<i64>]| copy(p, x, y);
    copy_dsp |x: &[Cell<f32>], y: &[Cell<f32>]| copy_dsp(x, y);
    copy_dsp |x: &[i32], y: &[Cell<i32>]| copy_dsp(x, y);
    copy_dsp |x: &[Cell<i8>], y: &[Cell<i8>]| copy_dsp(x, y);
    copy_mve |x: &[Cell<i8>], y: &[Cell<i8>]| copy_mve(x, y);
    copy_mve |x: &[i16], y: &[Cell<i16>]| copy_mve(x, y);
    copy_mve |x: &[Cell<i64>], y: &[Cell<i64>]| copy_mve(x, y);
    fill |value: f32, y: &[Cell<f32>]| fill(value, y);
    fill |value: i8, y: &[Cell<i8>]| fill(value, y);
    pad_rows |p: &Pad, value: i8, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band| pad_rows(p, value, x, y, band);
    pad_rows |p: &Pad, value: f32, x: Rows<'_, f32>, y: Rows<'_, f32>, band: Band| pad_rows(p, value, x, y, band);
    lookup_8 |table: &[u8; 256], x: &[Cell<u8>], y: &[Cell<u8>]| lookup_8(table, x, y);
    lookup_8_mve |table: &[u8; 256], x: &[Cell<u8>], y: &[Cell<u8>]| lookup_8_mve(table, x, y);
};
