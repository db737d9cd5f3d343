//! Products of floats, which some cores sum four filters at a time.

use crate::{Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    conv2d_f32, conv2d_f32xi4, conv2d_f32xi8, dense_f32, depthwise2d_f32, Band, Conv, Rows, ScaledWeights,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "dense_f32, by definition", run: dense },
    Check { name: "conv2d_f32, by definition", run: |rng, scratch| windows(rng, scratch, false) },
    Check { name: "depthwise2d_f32, by definition", run: |rng, scratch| windows(rng, scratch, true) },
    Check { name: "conv2d_f32xi8", run: |rng, scratch| scaled(rng, scratch, false) },
    Check { name: "conv2d_f32xi4", run: |rng, scratch| scaled(rng, scratch, true) },
];

/// Products are rounded, and summed in order.
fn dense(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    const MOST: usize = 23;
    let (size, filters) = (rng.size(1, MOST), rng.size(1, MOST));
    let mut number = || rng.int(-4000, 4000) as f32 / 37.0;
    let x = [(); MOST].map(|()| Cell::new(number()));
    let (mut w, bias) = ([0.0; MOST * MOST], [(); MOST].map(|()| number()));
    w.iter_mut().for_each(|w| *w = number());
    let (x, bias) = (&x[..size], &bias[..filters]);
    let y = scratch.words.twins(filters, 0, 0);
    let out = [const { Cell::new(0.0) }; MOST];
    let band = Band { first: 0, rows: 1 };
    dense_f32(
        Rows::whole(x, size),
        &w[..size * filters],
        bias,
        -300.0,
        1e9,
        Rows::whole(&out[..filters], filters),
        band,
    );
    for (o, (y, expected)) in y.got().iter().zip(y.expected()).enumerate() {
        // Filters alternate in fours; those that are left follow one by one.
        let four = o / 4 * 4;
        let weight = |i: usize| if four + 4 <= filters { four * size + 4 * i + o % 4 } else { o * size + i };
        let sum = x.iter().enumerate().fold(0.0, |sum: f32, (i, x)| sum + x.get() * w[weight(i)]);
        expected.set((sum + bias[o]).max(-300.0).to_bits() as i32);
        y.set(out[o].get().to_bits() as i32);
    }
    y.compare(Case::new().with("size", size).with("filters", filters))
}

/// Windows, with padding at each edge or none: products are rounded, and summed in the order of the taps.
fn windows(rng: &mut Rng, mut scratch: Scratch<'_>, depthwise: bool) -> Result<(), Mismatch> {
    const MOST: usize = 1000;
    let (in_h, in_w, in_c) = (rng.size(1, 5), rng.size(1, 5), rng.size(1, if depthwise { 19 } else { 9 }));
    let (k_h, k_w) = (rng.size(1, 3), rng.size(1, 3));
    let (stride_h, stride_w) = (rng.size(1, 2), rng.size(1, 2));
    let (dilation_h, dilation_w) = (rng.size(1, 2), rng.size(1, 2));
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    let out = |len: usize, pad: usize, stride| (len + pad).div_ceil(stride);
    let (out_h, out_w) = (out(in_h, pad_top, stride_h), out(in_w, pad_left, stride_w));
    let out_c = if depthwise { in_c } else { rng.size(1, 11) };
    let groups = if depthwise { in_c } else { 1 };
    #[rustfmt::skip]
    let p = Conv {
        in_h, in_w, in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups,
    };
    let mut number = || rng.int(-4000, 4000) as f32 / 37.0;
    let x = [(); MOST].map(|()| Cell::new(number()));
    let (w, bias) = ([(); MOST].map(|()| number()), [(); 19].map(|()| number()));
    let (lo, hi) = if rng.one_in(2) { (-3e3, 9e3) } else { (f32::NEG_INFINITY, f32::INFINITY) };
    let size = k_h * k_w * if depthwise { 1 } else { in_c };
    let y = scratch.words.twins(out_h * out_w * out_c, 0, 0);
    let results = [const { Cell::new(0.0) }; MOST];
    let result = Rows::whole(&results[..out_h * out_w * out_c], out_w * out_c);
    let image = Rows::whole(&x[..in_h * in_w * in_c], in_w * in_c);
    let kernel = if depthwise { depthwise2d_f32 } else { conv2d_f32 };
    let band = Band { first: 0, rows: out_h };
    kernel(&p, image, &w[..size * out_c], &bias[..out_c], lo, hi, result, band);
    for (at, (y, expected)) in y.got().iter().zip(y.expected()).enumerate() {
        let (row, column, o) = (at / out_c / out_w, at / out_c % out_w, at % out_c);
        // Filters alternate in fours; those that are left follow one by one. Those of single channels all alternate.
        let four = o / 4 * 4;
        let weight = |i: usize| match depthwise {
            true => i * out_c + o,
            false if four + 4 <= out_c => four * size + 4 * i + o % 4,
            false => o * size + i,
        };
        let mut sum = 0.0;
        for i in 0..size {
            let (tap, c) = if depthwise { (i, o) } else { (i / in_c, i % in_c) };
            let iy = (row * stride_h + tap / k_w * dilation_h).wrapping_sub(pad_top);
            let ix = (column * stride_w + tap % k_w * dilation_w).wrapping_sub(pad_left);
            if iy < in_h && ix < in_w {
                sum += x[(iy * in_w + ix) * in_c + c].get() * w[weight(i)];
            }
        }
        expected.set((sum + bias[o]).max(lo).min(hi).to_bits() as i32);
        y.set(results[at].get().to_bits() as i32);
    }
    let case = Case::new().with("in_h", in_h).with("in_w", in_w).with("in_c", in_c).with("k_h", k_h);
    let case = case.with("k_w", k_w).with("stride_h", stride_h).with("stride_w", stride_w);
    let case = case.with("dilation_h", dilation_h).with("dilation_w", dilation_w);
    y.compare(case.with("pad_top", pad_top).with("pad_left", pad_left).with("out_c", out_c))
}

/// Weights that are integers with scales, against the floats that they stand for.
fn scaled(rng: &mut Rng, mut scratch: Scratch<'_>, nibbles: bool) -> Result<(), Mismatch> {
    const MOST: usize = 23;
    let (size, filters, pixels) = (rng.size(1, MOST), rng.size(1, MOST), rng.size(1, MOST));
    // All weights, a filter, half of one, or each has a scale of its own.
    let parts = [1, if size % 2 == 0 { 2 } else { 1 }, size];
    let group = if rng.one_in(4) { size * filters } else { size / parts[rng.size(0, 2)] };
    let most = if nibbles { 7 } else { 127 };
    let mut scales = [0.0; MOST * MOST];
    let mut zero_points = [0; MOST * MOST];
    let has_zeros = rng.one_in(2);
    for (scale, zero) in scales.iter_mut().zip(&mut zero_points) {
        *scale = rng.int(1, 4000) as f32 / 3700.0;
        *zero = if has_zeros { rng.int(-most - 1, most) as i8 } else { 0 };
    }
    let (mut floats, mut ints) = ([0.0; MOST * MOST], [0; MOST * MOST]);
    for i in 0..size * filters {
        let int = rng.int(-most - 1, most) as i8;
        let (o, tap) = (i / size, i % size);
        let four = o / 4 * 4;
        let at = if four + 4 <= filters { four * size + 4 * tap + o % 4 } else { i };
        floats[at] = scales[i / group] * (i32::from(int) - i32::from(zero_points[i / group])) as f32;
        match nibbles {
            true => ints[at / 2] |= if at % 2 == 0 { int & 15 } else { int << 4 },
            false => ints[at] = int,
        }
    }
    let groups = (size * filters).div_ceil(group);
    let zero_points = if has_zeros { &zero_points[..groups] } else { &[] };
    let w = ScaledWeights { ints: &ints, scales: &scales[..groups], zero_points, group };
    let p = Conv {
        in_h: 1,
        in_w: pixels,
        in_c: size,
        out_w: pixels,
        out_c: filters,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    };
    let x = [const { Cell::new(0.0) }; MOST * MOST];
    x.iter().for_each(|x| x.set(rng.int(-4000, 4000) as f32 / 37.0));
    let x = Rows::whole(&x[..pixels * size], pixels * size);
    let (bias, band) = ([1.25; MOST], Band { first: 0, rows: 1 });
    let y = scratch.words.twins(pixels * filters, 0, 0);
    let out = [const { Cell::new(0.0) }; MOST * MOST];
    let result = Rows::whole(&out[..pixels * filters], pixels * filters);
    conv2d_f32(&p, x, &floats[..size * filters], &bias[..filters], -3e3, 9e3, result, band);
    y.expected().iter().zip(&out).for_each(|(y, out)| y.set(out.replace(7.0).to_bits() as i32));
    let kernel = if nibbles { conv2d_f32xi4 } else { conv2d_f32xi8 };
    kernel(&p, x, &w, &bias[..filters], -3e3, 9e3, result, band);
    y.got().iter().zip(&out).for_each(|(y, out)| y.set(out.get().to_bits() as i32));
    let case = Case::new().with("size", size).with("filters", filters).with("pixels", pixels);
    y.compare(case.with("group", group))
}
