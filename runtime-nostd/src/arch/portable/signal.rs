//! The steps of an audio front end: those of TensorFlow Lite Micro's signal library, but for its transforms.
//!
//! Numbers without a sign are held as the bits of signed elements of the same size: what is said to be `u32` comes in `i32` cells, `u64` in `i64` cells.

use super::number::Arithmetic;
use crate::params::{Noise, NoiseFloor};
use core::cell::Cell;

/// Samples times a window: each row of as many samples as there are `weights`, products shifted right by `shift` and saturated.
#[inline(never)]
pub fn window_i16(shift: u32, weights: &[i16], x: &[Cell<i16>], y: &[Cell<i16>]) {
    let row = weights.len().max(1);
    for (x, y) in x.chunks_exact(row).zip(y.chunks_exact(row)) {
        for ((x, w), y) in x.iter().zip(weights).zip(y) {
            y.set(saturated(i32::from(x.get()).wrapping_mul((*w).into()).wrapping_shr(shift)));
        }
    }
}

/// By how many bits samples can be shifted left so that the largest magnitude keeps its sign: the one element of `y`. The magnitude of −32768 counts as −32768, so that the search for the largest begins
/// again behind it, as in the reference.
#[inline(never)]
pub fn headroom_i16(x: &[Cell<i16>], y: &[Cell<i32>]) {
    let mut largest = 0i16;
    for x in x {
        let x = x.get();
        if x > largest {
            largest = x;
        } else if i32::from(x).wrapping_neg() > largest.into() {
            largest = x.wrapping_neg();
        }
    }
    let bits = if largest > 0 { (largest.leading_zeros() as i32).wrapping_sub(1) } else { 0 };
    if let Some(y) = y.first() {
        y.set(bits);
    }
}

/// Samples shifted left by `bits`, wrapping.
#[inline(never)]
pub fn shift_left_i16(x: &[Cell<i16>], bits: &[Cell<i32>], y: &[Cell<i16>]) {
    let bits = bits.first().map_or(0, Cell::get) as u32;
    for (x, y) in x.iter().zip(y) {
        y.set(i32::from(x.get()).wrapping_shl(bits) as i16);
    }
}

/// Squared magnitudes (`u32`) of a spectrum of real and imaginary parts, 0 outside of `start..end`.
#[inline(never)]
pub fn energy_i16(start: usize, end: usize, x: &[Cell<i16>], y: &[Cell<i32>]) {
    for (i, (z, y)) in x.chunks_exact(2).zip(y).enumerate() {
        let square = |x: &Cell<i16>| i32::from(x.get()).wrapping_mul(x.get().into());
        let energy = z.iter().fold(0i32, |sum, x| sum.wrapping_add(square(x)));
        y.set(if i >= start && i < end { energy } else { 0 });
    }
}

/// Sums (`u64`) of energies (`u32`) over channels that overlap. `channels` has of each the first energy, the first weight and the number of both; `weights` the weight for the channel itself and the one
/// for the channel above, by turns. The first channel is there for the one above it only, and has no sum.
#[inline(never)]
pub fn filter_bank_i32(channels: &[i16], weights: &[i16], x: &[Cell<i32>], y: &[Cell<i64>]) {
    let channels = channels.chunks_exact(3).filter_map(|row| <&[i16; 3]>::try_from(row).ok());
    let mut sums = y.iter();
    let mut above = 0u64;
    for (channel, &[first, start, width]) in channels.enumerate() {
        let (mut own, mut next) = (above, 0u64);
        for i in 0..width {
            let at = |from: i16| usize::try_from(i32::from(from).wrapping_add(i.into())).ok();
            let Some(of_weights) = at(start) else { continue };
            let pair = weights.get(of_weights.wrapping_mul(2)..).and_then(|behind| behind.get(..2));
            let Some(&[w, rest]) = pair else { break };
            // Channels may be longer than the spectrum, by weights of zero.
            let Some(x) = at(first).and_then(|i| x.get(i)) else { continue };
            let energy = u64::from(x.get() as u32);
            own = own.wrapping_add((i64::from(w) as u64).wrapping_mul(energy));
            next = next.wrapping_add((i64::from(rest) as u64).wrapping_mul(energy));
        }
        above = next;
        if channel > 0 {
            let Some(y) = sums.next() else { return };
            y.set(own as i64);
        }
    }
}

/// Square roots of `u64`, rounded to the nearest and shifted right by `bits`: `u32`.
#[inline(never)]
pub fn square_root_i64(x: &[Cell<i64>], bits: &[Cell<i32>], y: &[Cell<i32>]) {
    let bits = bits.first().map_or(0, Cell::get) as u32;
    for (x, y) in x.iter().zip(y) {
        let x = x.get() as u64;
        let root = match u32::try_from(x) {
            Ok(x) => root_32(x),
            Err(_) => root_64(x),
        };
        y.set(root.wrapping_shr(bits) as i32);
    }
}

/// √x, rounded to the nearest where 16 bits have room for it.
fn root_32(x: u32) -> u32 {
    let (mut rest, mut root) = (x, 0u32);
    // The highest power of four that x may hold.
    let mut bit = 1u32.wrapping_shl(31u32.wrapping_sub(x.leading_zeros()) & 30);
    while bit != 0 && x != 0 {
        let candidate = root.wrapping_add(bit);
        root = root.wrapping_shr(1);
        if rest >= candidate {
            rest = rest.wrapping_sub(candidate);
            root = root.wrapping_add(bit);
        }
        bit = bit.wrapping_shr(2);
    }
    if rest > root && root != 0xffff {
        root.wrapping_add(1)
    } else {
        root
    }
}

/// √x of a number of more than 32 bits, rounded to the nearest where 32 bits have room for it.
fn root_64(x: u64) -> u32 {
    let (mut rest, mut root) = (x, 0u64);
    let mut bit = 1u64.wrapping_shl(63u32.wrapping_sub(x.leading_zeros()) & 62);
    while bit != 0 {
        let candidate = root.wrapping_add(bit);
        root = root.wrapping_shr(1);
        if rest >= candidate {
            rest = rest.wrapping_sub(candidate);
            root = root.wrapping_add(bit);
        }
        bit = bit.wrapping_shr(2);
    }
    if rest > root && root != 0xffff_ffff {
        (root as u32).wrapping_add(1)
    } else {
        root as u32
    }
}

/// How loud the noise is in each channel: `x` (`u32`), smoothed over time, from the estimate `before`. Estimates have `smoothing_bits` bits of fraction. The result may lie in the place of `before`.
#[inline(never)]
pub fn noise_estimate_i32(p: &Noise, x: &[Cell<i32>], before: &[Cell<i32>], y: &[Cell<i32>]) {
    for (channel, ((x, before), y)) in x.iter().zip(before).zip(y).enumerate() {
        let [new, old] = if channel % 2 == 0 { p.even } else { p.odd };
        let signal = (x.get() as u32).wrapping_shl(p.smoothing_bits);
        let new = u64::from(signal).wrapping_mul(new.into());
        let old = u64::from(before.get() as u32).wrapping_mul(old.into());
        let estimate = new.wrapping_add(old).wrapping_shr(p.bits) as u32;
        y.set(if p.clamping { estimate.min(signal) } else { estimate } as i32);
    }
}

/// What is left of each channel (`u32`) without its noise: not less than a share of it.
#[inline(never)]
pub fn subtract_noise_i32(p: &NoiseFloor, x: &[Cell<i32>], noise: &[Cell<i32>], y: &[Cell<i32>]) {
    for ((x, noise), y) in x.iter().zip(noise).zip(y) {
        let x = x.get() as u32;
        let signal = x.wrapping_shl(p.smoothing_bits);
        let floor = u64::from(x).wrapping_mul(p.min_signal_remaining.into()).wrapping_shr(p.bits) as u32;
        let left = signal.saturating_sub(noise.get() as u32).wrapping_shr(p.smoothing_bits);
        y.set(left.max(floor) as i32);
    }
}

/// Automatic gain control of each channel (`u32`) by its noise. `gains` has the gains of noises 0 and 1, and for each number of bits from 2 on a parabola: of four numbers the first, the slope and the curvature.
/// Products are shifted right by `snr_shift`, so that 12 bits are fraction, and compressed: x² / 4 below 2, x − 1 from there on, with 6 bits of fraction.
#[inline(never)]
pub fn pcan_i32(snr_shift: u32, gains: &[i16], x: &[Cell<i32>], noise: &[Cell<i32>], y: &[Cell<i32>]) {
    for ((x, noise), y) in x.iter().zip(noise).zip(y) {
        let gain = i32::from(gain(noise.get() as u32, gains)) as u32;
        let product = u64::from(x.get() as u32).wrapping_mul(gain.into());
        let snr = product.wrapping_shr(snr_shift) as u32;
        let compressed = match snr < 2 << 12 {
            true => snr.wrapping_mul(snr).wrapping_shr(20),
            false => snr.wrapping_shr(6).wrapping_sub(1 << 6),
        };
        y.set(compressed as i32);
    }
}

fn gain(noise: u32, gains: &[i16]) -> i16 {
    if noise <= 2 {
        return gains.get(noise as usize).copied().unwrap_or(0);
    }
    let bits = 32u32.wrapping_sub(noise.leading_zeros());
    let first = (bits as usize).wrapping_mul(4).wrapping_sub(6);
    let Some(&[y, slope, curve]) = gains.get(first..).and_then(|gains| gains.get(..3)) else { return 0 };
    // The ten bits behind the first one.
    let behind = if bits < 11 {
        noise.wrapping_shl(11u32.wrapping_sub(bits))
    } else {
        noise.wrapping_shr(bits.wrapping_sub(11))
    };
    let fraction = (behind & 0x3ff) as i32;
    let slope = i32::from(curve)
        .wrapping_mul(fraction)
        .wrapping_shr(5)
        .wrapping_add(i32::from(slope).wrapping_shl(5));
    let rise = slope.wrapping_mul(fraction).wrapping_add(1 << 14).wrapping_shr(15);
    rise.wrapping_add(y.into()) as i16
}

/// ln(x · 2^`correction_bits`) · `scale` of each channel (`u32`): not above 32767, and 0 for less than 2.
#[inline(never)]
pub fn log_i32_i16(scale: u32, correction_bits: u32, x: &[Cell<i32>], y: &[Cell<i16>]) {
    for (x, y) in x.iter().zip(y) {
        let x = (x.get() as u32).wrapping_shl(correction_bits);
        let log = if x > 1 { log(x, scale) } else { 0 };
        y.set(log.min(i16::MAX as u32) as i16);
    }
}

/// ln x · scale, for x > 0.
fn log(x: u32, scale: u32) -> u32 {
    let integer = 31u32.wrapping_sub(x.leading_zeros());
    let fraction = (u64::from(x).wrapping_shl(16).wrapping_shr(integer) & 0xffff) as u32;
    let segment = (fraction >> 9) as usize;
    let (Some(&low), Some(&high)) = (LOG2.get(segment), LOG2.get(segment.wrapping_add(1))) else { return 0 };
    // Of the way to the next point 1/128, as in the reference.
    let way =
        i32::from(high).wrapping_sub(low.into()).wrapping_mul((fraction & 0x1ff) as i32).wrapping_shr(16);
    let log2 =
        integer.wrapping_shl(16).wrapping_add(fraction).wrapping_add(low as u32).wrapping_add(way as u32);
    // ln 2 in 16 bits of fraction.
    let natural = u64::from(log2).wrapping_mul(45426).wrapping_add(1 << 15).wrapping_shr(16) as u32;
    scale.wrapping_mul(natural).wrapping_add(1 << 15).wrapping_shr(16)
}

/// log₂(1 + i/128) − i/128 in 16 bits of fraction, for i from 0 to 128.
pub(crate) static LOG2: [i16; 129] = [
    0, 224, 442, 654, 861, 1063, 1259, 1450, 1636, 1817, 1992, 2163, 2329, 2490, 2646, 2797, 2944, 3087,
    3224, 3358, 3487, 3611, 3732, 3848, 3960, 4068, 4172, 4272, 4368, 4460, 4549, 4633, 4714, 4791, 4864,
    4934, 5001, 5063, 5123, 5178, 5231, 5280, 5326, 5368, 5408, 5444, 5477, 5507, 5533, 5557, 5578, 5595,
    5610, 5622, 5631, 5637, 5640, 5641, 5638, 5633, 5626, 5615, 5602, 5586, 5568, 5547, 5524, 5498, 5470,
    5439, 5406, 5370, 5332, 5291, 5249, 5203, 5156, 5106, 5054, 5000, 4944, 4885, 4825, 4762, 4697, 4630,
    4561, 4490, 4416, 4341, 4264, 4184, 4103, 4020, 3935, 3848, 3759, 3668, 3575, 3481, 3384, 3286, 3186,
    3084, 2981, 2875, 2768, 2659, 2549, 2437, 2323, 2207, 2090, 1971, 1851, 1729, 1605, 1480, 1353, 1224,
    1094, 963, 830, 695, 559, 421, 282, 142, 0,
];

/// Frames of `size` numbers, each `step` behind the one before, added to what overlaps with them: of each of as many sequences as there are parts of `size` − `step` in `left`, which is what is
/// left of earlier frames. The result is the sum, whose last `size` − `step` numbers are left for later frames. Sums saturate one after the other.
#[inline(never)]
pub fn overlap_add_i16(step: usize, size: usize, x: &[Cell<i16>], left: &[Cell<i16>], y: &[Cell<i16>]) {
    overlap_add(step, size, x, left, y, 0, |a, b| saturated(i32::from(a).wrapping_add(b.into())));
}

/// [`overlap_add_i16`] for floats.
#[inline(never)]
pub fn overlap_add_f32(step: usize, size: usize, x: &[Cell<f32>], left: &[Cell<f32>], y: &[Cell<f32>]) {
    overlap_add(step, size, x, left, y, 0.0, Arithmetic::plus);
}

#[inline(always)]
fn overlap_add<T: Copy>(
    step: usize,
    size: usize,
    x: &[Cell<T>],
    left: &[Cell<T>],
    y: &[Cell<T>],
    zero: T,
    sum: impl Fn(T, T) -> T,
) {
    let rest = size.wrapping_sub(step).max(1);
    let sequences = left.len().checked_div(rest).unwrap_or(0);
    let [of_x, of_y] = [x.len(), y.len()].map(|len| len.checked_div(sequences).unwrap_or(0).max(1));
    for ((x, left), y) in x.chunks_exact(of_x).zip(left.chunks_exact(rest)).zip(y.chunks_exact(of_y)) {
        y.iter().for_each(|y| y.set(zero));
        left.iter().zip(y).for_each(|(left, y)| y.set(left.get()));
        for (frame, x) in x.chunks_exact(size.max(1)).enumerate() {
            let y = y.get(frame.wrapping_mul(step)..).unwrap_or_default();
            x.iter().zip(y).for_each(|(x, y)| y.set(sum(y.get(), x.get())));
        }
    }
}

#[inline(always)]
fn saturated(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}
