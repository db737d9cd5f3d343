//! Definitions to compare with, in exact arithmetic: slow, and close to the text of what they define.

use kiln::kernels::{Conv, Requant, Scale};

/// `x · multiplier · 2^(shift − 31)`, rounded twice as TensorFlow Lite Micro does (`MultiplyByQuantizedMultiplier`): after a left
/// shift modulo 2³² to the nearest integer (ties up), and after the right shift to the nearest integer (ties away from zero).
pub fn rescale(x: i32, scale: Scale) -> i32 {
    let x = x.wrapping_shl(scale.shift.max(0) as u32);
    let product = i64::from(x) * i64::from(scale.multiplier);
    let high = (product + (1 << 30)).div_euclid(1 << 31);
    let divisor = 1i64 << (-scale.shift).max(0);
    let magnitude = (2 * high.abs() + divisor) / (2 * divisor);
    (high.signum() * magnitude) as i32
}

/// The result of output channel `o` for an accumulator: rescaled, zero point added, clamped.
pub fn requantize(acc: i32, o: usize, q: &Requant<'_>) -> i8 {
    let of = |len: usize| if len == 1 { 0 } else { o };
    let scale = Scale {
        multiplier: q.multipliers[of(q.multipliers.len())],
        shift: q.shifts[of(q.shifts.len())].into(),
    };
    (i64::from(rescale(acc, scale)) + i64::from(q.zero_point)).clamp(q.lo.into(), q.hi.into()) as i8
}

/// The result of a sum by one multiplication, for M, C and a correction: `d` is 2^`gain` times the sum, and the correction more if that is negative.
pub fn affine(sum: i32, gain: u32, [m, c, correction]: [i32; 3], shift: u32) -> i8 {
    let d = (sum << gain).wrapping_add(if sum < 0 { correction } else { 0 });
    let product = i128::from(d) * i128::from(m) + (i128::from(c) << 32) + (1 << 31);
    (((product >> 32) as i32) >> shift).clamp(-128, 127) as i8
}

/// Where in the operand a tap of a convolution reads: result `(oy, ox)`, tap `(ky, kx)`, channel `c`. `None` in the padding.
pub fn tap(p: &Conv, [oy, ox]: [usize; 2], [ky, kx]: [usize; 2], c: usize) -> Option<usize> {
    let inside = |o: usize, stride: usize, k: usize, dilation: usize, pad, size: usize| {
        (o * stride + k * dilation).checked_sub(pad).filter(|&i| i < size)
    };
    let iy = inside(oy, p.stride_h, ky, p.dilation_h, p.pad_top, p.in_h)?;
    let ix = inside(ox, p.stride_w, kx, p.dilation_w, p.pad_left, p.in_w)?;
    Some((iy * p.in_w + ix) * p.in_c + c)
}
