//! Convolutions with weights that are operands like any other.

use super::support::{assert_same, cells, rescale, rounds, Rng};
use super::table::{random_convolution, Shape, CONVOLUTIONS, DEPTHWISE};
use kiln::kernels::{
    computed_conv2d_f32, computed_conv2d_i16, computed_conv2d_i8, ComputedConv, Conv, Requant, Scale,
};

/// Calls `tap(operand index, weight index)` for the taps of a result element that lie inside the image, in order.
fn taps(p: &Conv, [image, oy, ox, o]: [usize; 4], mut tap: impl FnMut(usize, usize)) {
    let depth = p.in_c / p.groups;
    let first = o / (p.out_c / p.groups) * depth;
    for (ky, kx) in (0..p.k_h).flat_map(|ky| (0..p.k_w).map(move |kx| (ky, kx))) {
        let iy = (oy * p.stride_h + ky * p.dilation_h).checked_sub(p.pad_top).filter(|&i| i < p.in_h);
        let ix = (ox * p.stride_w + kx * p.dilation_w).checked_sub(p.pad_left).filter(|&i| i < p.in_w);
        let Some((iy, ix)) = iy.zip(ix) else { continue };
        for c in 0..depth {
            let x = ((image * p.in_h + iy) * p.in_w + ix) * p.in_c + first + c;
            tap(x, ((o * p.k_h + ky) * p.k_w + kx) * depth + c);
        }
    }
}

/// The places of all results of so many images.
fn places(shape: Shape, images: usize) -> impl Iterator<Item = [usize; 4]> {
    let (rows, columns, channels) = (shape.out_h, shape.conv.out_w, shape.conv.out_c);
    (0..images * rows * columns * channels).map(move |i| {
        let (pixel, o) = (i / channels, i % channels);
        [pixel / columns / rows, pixel / columns % rows, pixel % columns, o]
    })
}

fn check(shape: Shape, rng: &mut Rng) {
    let (p, images) = (shape.conv, rng.size(1, 2));
    let depth = p.k_h * p.k_w * p.in_c / p.groups;
    let count = p.in_h * shape.in_row() * images;
    let (mut x, mut w) = (rng.i8s(count), rng.i8s(p.out_c * depth));
    let (x_zero, w_zero) = (i32::from(rng.zero_point()), i32::from(rng.zero_point()));
    let mut bias: Vec<i32> = (0..p.out_c).map(|_| rng.int(-20_000, 20_000) as i32).collect();
    let scales: Vec<Scale> =
        (0..if rng.int(0, 2) > 0 { p.out_c } else { 1 }).map(|_| rng.scale(depth as f64 * 8192.0)).collect();
    let multipliers: Vec<i32> = scales.iter().map(|s| s.multiplier).collect();
    let shifts: Vec<i8> = scales.iter().map(|s| s.shift as i8).collect();
    let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -100, hi: 120 };
    let layer = ComputedConv { conv: p, images, out_h: shape.out_h, x_zero, w_zero };

    let mut expected = Vec::new();
    for place in places(shape, images) {
        let mut sum = i64::from(bias[place[3]]);
        taps(&p, place, |i, j| {
            sum += (i64::from(x[i]) - i64::from(x_zero)) * (i64::from(w[j]) - i64::from(w_zero))
        });
        let by = scales[if scales.len() == 1 { 0 } else { place[3] }];
        expected.push((rescale(sum, by) + 3).clamp(-100, 120) as i8);
    }
    let mut y = vec![99; expected.len()];
    computed_conv2d_i8(&layer, &q, cells(&mut x), cells(&mut w), cells(&mut bias), cells(&mut y));
    assert_same(&y, &expected, (shape.name, layer));

    // Constants give the same, and a result that is too short is all that is written.
    let (few, mut short) = (expected.len() / 2, vec![99; expected.len() / 2]);
    computed_conv2d_i8(&layer, &q, &x[..], &w[..], &bias[..], cells(&mut short));
    assert_same(&short, &expected[..few], (shape.name, layer));

    let (real_x, real_w, real_bias) = (rng.f32s(count), rng.f32s(w.len()), rng.f32s(p.out_c));
    let mut expected = Vec::new();
    for place in places(shape, images) {
        let mut sum = 0f32;
        taps(&p, place, |i, j| sum += real_x[i] * real_w[j]);
        expected.push((sum + real_bias[place[3]]).clamp(-3.0, 5.0));
    }
    let mut y = vec![99.0; expected.len()];
    computed_conv2d_f32(&layer, -3.0, 5.0, &real_x[..], &real_w[..], &real_bias[..], cells(&mut y));
    assert_same(&y, &expected, (shape.name, layer));
}

#[test]
fn they_equal_the_definition() {
    let mut rng = Rng::new(11);
    for (shapes, depthwise) in [(CONVOLUTIONS, false), (DEPTHWISE, true)] {
        for &shape in
            shapes.iter().filter(|shape| shape.is_tried() && shape.conv.in_c * shape.conv.out_c <= 512)
        {
            check(shape, &mut rng);
        }
        for _ in 0..rounds(300) {
            let shape = random_convolution(&mut rng, depthwise);
            check(shape, &mut rng);
        }
    }
}

/// Sums that 32 bits do not hold.
#[test]
fn sums_of_16_bits_are_wide() {
    let conv = Conv {
        in_c: 1024,
        out_c: 1,
        groups: 1,
        k_h: 1,
        k_w: 1,
        pad_top: 0,
        pad_left: 0,
        ..CONVOLUTIONS[0].conv
    };
    let conv = Conv { in_h: 1, in_w: 1, out_w: 1, stride_h: 1, stride_w: 1, ..conv };
    let layer = ComputedConv { conv, images: 1, out_h: 1, x_zero: 0, w_zero: 0 };
    let (x, w, mut y) = (vec![i16::MAX; 1024], vec![127i8; 1024], vec![0i16; 1]);
    let q = Requant { multipliers: &[1 << 30], shifts: &[-17], zero_point: 0, lo: -32768, hi: 32767 };
    computed_conv2d_i16(&layer, &q, &x[..], &w[..], &[1i64 << 20][..], cells(&mut y));
    // (1024 · 32767 · 127 + 2²⁰) / 2¹⁸
    assert_eq!(y, [16260]);
}

/// Sizes that no compiler would write: nothing is read or written out of place, and the kernel returns.
#[test]
fn sizes_may_be_anything() {
    let odd = [0, 1, 3, 17, usize::MAX / 2 + 1, usize::MAX];
    let (x, w, bias, mut y) = ([1i8; 64], [1i8; 64], [0i32; 64], vec![7i8; 64]);
    let q = Requant { multipliers: &[1 << 30], shifts: &[0], zero_point: 0, lo: -128, hi: 127 };
    let sizes = odd.iter().flat_map(|&a| odd.iter().flat_map(move |&b| odd.map(|c| (a, b, c))));
    for (a, b, c) in sizes.step_by(if cfg!(miri) { 43 } else { 1 }) {
        for (d, e) in odd.iter().flat_map(|&d| odd.map(|e| (d, e))) {
            let conv = Conv {
                in_h: a,
                in_w: b,
                in_c: c,
                out_w: d,
                out_c: e,
                k_h: d,
                k_w: a,
                ..CONVOLUTIONS[0].conv
            };
            for groups in [0, 1, e] {
                let conv = Conv { groups, ..conv };
                let layer = ComputedConv { conv, images: b, out_h: a, x_zero: i32::MIN, w_zero: i32::MAX };
                computed_conv2d_i8(&layer, &q, &x[..], &w[..], &bias[..], cells(&mut y));
            }
        }
    }
}
