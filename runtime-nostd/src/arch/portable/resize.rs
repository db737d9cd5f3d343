//! Images of another size, each pixel interpolated between four.

use crate::params::Resize;
use core::cell::Cell;

/// Floats. Pixel `i` of the result is pixel `(i + half) · scale − half` of the operand, for rows and columns.
#[inline(never)]
pub fn resize_bilinear_f32(
    p: &Resize,
    scale_y: f32,
    scale_x: f32,
    half: f32,
    x: &[Cell<f32>],
    y: &[Cell<f32>],
) {
    let rows = |i| real_place(i, scale_y, half, p.in_h);
    let columns = |i| real_place(i, scale_x, half, p.in_w);
    interpolate(p, x, y, rows, columns, blend);
}

/// As [`resize_bilinear_f32`] of bytes: what comes of them is rounded, halves up.
#[inline(never)]
pub fn resize_bilinear_u8(p: &Resize, scale_y: f32, scale_x: f32, half: f32, x: &[Cell<u8>], y: &[Cell<u8>]) {
    let rows = |i| real_place(i, scale_y, half, p.in_h);
    let columns = |i| real_place(i, scale_x, half, p.in_w);
    interpolate(p, x, y, rows, columns, |pixels: [u8; 4], down, right| {
        (blend(pixels.map(f32::from), down, right) + 0.5) as u8
    });
}

/// The pixels before and behind a place of pixel `i`, and how far it is behind the first.
#[inline(always)]
fn real_place(i: usize, scale: f32, half: f32, size: usize) -> (usize, usize, f32) {
    let at = (i as f32 + half) * scale - half;
    let last = size.wrapping_sub(1);
    // Negative ones become 0.
    let before = (libm::floorf(at) as usize).min(last);
    (before, (libm::ceilf(at) as usize).min(last), at - before as f32)
}

/// Four pixels made one, in TFLite's order.
#[inline(always)]
fn blend([a, b, c, d]: [f32; 4], down: f32, right: f32) -> f32 {
    a * (1.0 - down) * (1.0 - right) + b * down * (1.0 - right) + c * (1.0 - down) * right + d * down * right
}

/// `i8`, as TFLite: pixel `i` of the result is pixel `(i · scale + start) / 1024` of the operand, for rows and columns.
#[inline(never)]
pub fn resize_bilinear_i8(
    p: &Resize,
    scale_y: i32,
    start_y: i32,
    scale_x: i32,
    start_x: i32,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
) {
    let rows = |i| place(i, scale_y, start_y, p.in_h);
    let columns = |i| place(i, scale_x, start_x, p.in_w);
    interpolate(p, x, y, rows, columns, |[a, b, c, d]: [i8; 4], down: i32, right: i32| {
        let (up, left) = (1024i32.wrapping_sub(down), 1024i32.wrapping_sub(right));
        let part = |x: i8, v: i32, h: i32| i32::from(x).wrapping_mul(v).wrapping_mul(h);
        let sum = part(a, up, left).wrapping_add(part(b, down, left));
        let sum = sum.wrapping_add(part(c, up, right)).wrapping_add(part(d, down, right));
        let half = if sum > 0 { 1 << 19 } else { -(1 << 19) };
        (sum.wrapping_add(half) / (1 << 20)) as i8
    });
}

/// As [`resize_bilinear_i8`], with sums of 64 bits.
#[inline(never)]
pub fn resize_bilinear_i16(
    p: &Resize,
    scale_y: i32,
    start_y: i32,
    scale_x: i32,
    start_x: i32,
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    let rows = |i| place(i, scale_y, start_y, p.in_h);
    let columns = |i| place(i, scale_x, start_x, p.in_w);
    interpolate(p, x, y, rows, columns, |[a, b, c, d]: [i16; 4], down: i32, right: i32| {
        let (up, left) = (1024i32.wrapping_sub(down), 1024i32.wrapping_sub(right));
        let part = |x: i16, v: i32, h: i32| i64::from(x).wrapping_mul(v.wrapping_mul(h).into());
        let sum = part(a, up, left).wrapping_add(part(b, down, left));
        let sum = sum.wrapping_add(part(c, up, right)).wrapping_add(part(d, down, right));
        let half = if sum > 0 { 1 << 19 } else { -(1 << 19) };
        (sum.wrapping_add(half) / (1 << 20)) as i16
    });
}

/// The pixels before and behind a place of pixel `i`, and how far it is behind the first, in units of 1/1024.
#[inline(always)]
fn place(i: usize, scale: i32, start: i32, size: usize) -> (usize, usize, i32) {
    let at = (i as i32).wrapping_mul(scale).wrapping_add(start);
    let last = size.wrapping_sub(1) as i32;
    let before = (at >> 10).max(0).min(last);
    let behind = (at.wrapping_add(1023) >> 10).max(0).min(last);
    (before as usize, behind as usize, at.wrapping_sub(before.wrapping_shl(10)))
}

/// Of each pixel of the result, `blend` makes one from the four around it (that above and left of it, those below, right, and below and right of it)
/// and how far it is below and right of the first.
#[inline(always)]
fn interpolate<T: Copy, D: Copy>(
    p: &Resize,
    x: &[Cell<T>],
    y: &[Cell<T>],
    rows: impl Fn(usize) -> (usize, usize, D),
    columns: impl Fn(usize) -> (usize, usize, D),
    blend: impl Fn([T; 4], D, D) -> T,
) {
    let row = p.in_w.wrapping_mul(p.c);
    let image = p.in_h.wrapping_mul(row);
    // Each turn of the innermost loop takes a pixel of the result, or ends.
    if p.out_h == 0 || p.out_w == 0 {
        return;
    }
    let mut pixels = y.chunks_exact(p.c.max(1));
    for n in 0..p.images {
        let first = n.wrapping_mul(image);
        for i in 0..p.out_h {
            let (above, below, down) = rows(i);
            let (above, below) =
                (first.wrapping_add(above.wrapping_mul(row)), first.wrapping_add(below.wrapping_mul(row)));
            for j in 0..p.out_w {
                let (left, behind, right) = columns(j);
                let (left, behind) = (left.wrapping_mul(p.c), behind.wrapping_mul(p.c));
                let pixel = |at: usize| x.get(at..at.wrapping_add(p.c));
                let (Some(a), Some(b)) = (pixel(above.wrapping_add(left)), pixel(below.wrapping_add(left)))
                else {
                    return;
                };
                let (Some(c), Some(d)) =
                    (pixel(above.wrapping_add(behind)), pixel(below.wrapping_add(behind)))
                else {
                    return;
                };
                let Some(y) = pixels.next() else { return };
                for ((((y, a), b), c), d) in y.iter().zip(a).zip(b).zip(c).zip(d) {
                    y.set(blend([a.get(), b.get(), c.get(), d.get()], down, right));
                }
            }
        }
    }
}
