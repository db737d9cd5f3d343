//! Which filters have sums that are dear to rescale.
//!
//! Fast kernels rescale by one multiplication, if there are constants with which it takes the reference's steps on all sums that a filter can reach ([`requant`](kiln_codegen::requant)). For nearly all factors there are.
//! Where there are none, as next to some powers of two, the whole layer rescales as the reference does, in several times the instructions. A scale that is a little larger has another factor.

use super::format::{Format, Weights};
use kiln_codegen::requant::{filters, folded_bias, is_cheap, Channel, Reference, Scaling};
use kiln_ir::{Multiplier, Op};

/// The filters of a layer, an operand and a result of 8 bits, that keep it from being rescaled cheaply. None where nothing does, or no single one.
pub(super) fn dear(weights: &Weights, op: &Op, x: Format, y: Format) -> Vec<usize> {
    let Some(channels) = channels(weights, op, x, y) else { return Vec::new() };
    if is_cheap(&channels.concat()) {
        return Vec::new();
    }
    let several = weights.ty.quant.as_ref().is_some_and(|quant| quant.scales.len() > 1);
    let alone = (0..channels.len()).filter(|&o| !is_cheap(&channels[o]));
    let mut found: Vec<usize> = alone.map(|o| if several { o } else { 0 }).collect();
    found.dedup();
    found
}

/// Each filter, with the rescale in fixed point that it may have.
fn channels(weights: &Weights, op: &Op, x: Format, y: Format) -> Option<Vec<[Channel; 2]>> {
    let (Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. }) = op else { return None };
    let bounds = clamp.float_bounds();
    let (lo, hi) = (y.stored(bounds.0) as i32, y.stored(bounds.1) as i32);
    let count = weights.ty.shape.dims().first().copied().filter(|&count| count > 0)?;
    let stored = weights.data.to_i8();
    let bias = weights.bias.as_ref().map_or_else(|| vec![0; count], |(_, data)| data.to_i32());
    let bias = folded_bias(&stored, &bias, x.zero, count);
    filters(&stored, &bias, |o| {
        let real = f64::from(x.scale) * f64::from(weights.scale(o)) / f64::from(y.scale);
        let multiplier = Multiplier::of(real)?;
        Some(Reference { multiplier, scaling: Scaling::Twice, zero_point: y.zero, lo, hi })
    })
}
