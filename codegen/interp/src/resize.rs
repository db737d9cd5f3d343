//! Images of another size.

use super::tensor::{for_each_index, ints, pack_i32};
use super::{Evaluated, Tensor};
use kiln_ir::{DType, Data, Op, Type};

/// See `resize_bilinear` in the op table: `ResizeBilinear` (floats and `u8`) and `ResizeBilinearInteger` of TFLite's `reference/resize_bilinear.h`, which for
/// some sizes reads behind the image; there the last pixel is taken.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let Op::ResizeBilinear { align_corners, half_pixel } = *op else { return Ok(None) };
    let (ty, data) = operands[0];
    let (from, to) = (ty.shape.dims(), result.shape.dims());
    let strides = ty.shape.strides();
    let at = |index: &[usize], y: usize, x: usize| {
        index[0] * strides[0] + y * strides[1] + x * strides[2] + index[3]
    };
    if matches!(ty.dtype, DType::F32 | DType::U8) {
        let bytes = ty.dtype == DType::U8;
        let xs = match bytes {
            true => data.bytes().iter().map(|&x| f32::from(x)).collect(),
            false => data.to_f32(),
        };
        let side = |axis: usize| real_scale(from[axis], to[axis], align_corners);
        let scales = [side(1), side(2)];
        let mut out = Vec::with_capacity(result.shape.numel());
        for_each_index(to, |index| {
            let (y, y0, y1) = real(index[1], scales[0], half_pixel, from[1]);
            let (x, x0, x1) = real(index[2], scales[1], half_pixel, from[2]);
            let (down, right) = (y - y0 as f32, x - x0 as f32);
            out.push(
                xs[at(index, y0, x0)] * (1.0 - down) * (1.0 - right)
                    + xs[at(index, y1, x0)] * down * (1.0 - right)
                    + xs[at(index, y0, x1)] * (1.0 - down) * right
                    + xs[at(index, y1, x1)] * down * right,
            );
        });
        return Ok(Some(match bytes {
            true => Data::new(out.iter().map(|x| (x + 0.5) as u8).collect::<Vec<_>>()),
            false => Data::from_f32(&out),
        }));
    }
    let xs = ints(ty, data);
    let side = |axis: usize| integer_scale(from[axis], to[axis], align_corners);
    let scales = [side(1), side(2)];
    let mut out = Vec::with_capacity(result.shape.numel());
    for_each_index(to, |index| {
        let (down, y0, y1) = integer(index[1], scales[0], half_pixel, from[1]);
        let (right, x0, x1) = integer(index[2], scales[1], half_pixel, from[2]);
        let pixel = |y: usize, x: usize| i64::from(xs[at(index, y, x)]);
        let sum = pixel(y0, x0) * (1024 - down) * (1024 - right)
            + pixel(y1, x0) * down * (1024 - right)
            + pixel(y0, x1) * (1024 - down) * right
            + pixel(y1, x1) * down * right;
        let half = if sum > 0 { 1 << 19 } else { -(1 << 19) };
        out.push(((sum + half) / (1 << 20)) as i32);
    });
    Ok(Some(pack_i32(result.dtype, out)))
}

/// Pixels of the operand for one of the result.
pub fn real_scale(from: usize, to: usize, align_corners: bool) -> f32 {
    match align_corners && to > 1 {
        true => (from - 1) as f32 / (to - 1) as f32,
        false => from as f32 / to as f32,
    }
}

/// The same in units of 1/1024, rounded.
pub fn integer_scale(from: usize, to: usize, align_corners: bool) -> i64 {
    let (from, to) = match align_corners && to > 1 {
        true => (from as i64 - 1, to as i64 - 1),
        false => (from as i64, to as i64),
    };
    (1024 * from + to / 2) / to
}

/// Where pixel `i` of the result lies, and the pixels before and behind.
fn real(i: usize, scale: f32, half_pixel: bool, size: usize) -> (f32, usize, usize) {
    let at = if half_pixel { (i as f32 + 0.5) * scale - 0.5 } else { i as f32 * scale };
    // Negative ones become 0.
    (at, (at.floor() as usize).min(size - 1), (at.ceil() as usize).min(size - 1))
}

/// How far, in units of 1/1024, pixel `i` of the result lies behind the pixel before it, that pixel, and the one behind.
fn integer(i: usize, scale: i64, half_pixel: bool, size: usize) -> (i64, usize, usize) {
    let at = i as i64 * scale + if half_pixel { scale / 2 - 512 } else { 0 };
    let last = size as i64 - 1;
    let (before, behind) = ((at / 1024).clamp(0, last), ((at + 1023) / 1024).min(last));
    (at - 1024 * before, before as usize, behind.max(0) as usize)
}
