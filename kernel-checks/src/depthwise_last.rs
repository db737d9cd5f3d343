//! Depthwise convolutions of channel-last images for cores with DSP.

use crate::affine::Forms;
use crate::conv::{describe, run_overlaid};
use crate::reference::{requantize, tap};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    depthwise2d_i8_dsp as kernel, depthwise2d_i8_dsp_compact, depthwise2d_i8_dsp_exact, Band, CompactConv,
    Conv, Requant, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "depthwise2d_i8_dsp", run: |rng, scratch| dsp(rng, scratch, false) },
    Check { name: "depthwise2d_i8_dsp_compact", run: |rng, scratch| dsp(rng, scratch, true) },
    Check { name: "depthwise2d_i8_dsp_exact", run: dsp_exact },
];

/// How a kernel is called.
type Kernel = fn(&Conv, Rows<'_, i8>, &[i32], i8, Rows<'_, i8>, Band);

/// Channels, columns of filters and of their dilation (rows of the only column), shift, signed form, and the kernel for them.
const KERNELS: &[(usize, usize, usize, u32, bool, Kernel)] = &[
    (4, 3, 1, 6, false, kernel::<4, 3, 6, false>),
    (7, 3, 2, 0, false, kernel::<14, 3, 0, false>),
    (6, 5, 1, 4, true, kernel::<6, 5, 4, true>),
    (9, 7, 1, 8, false, kernel::<9, 7, 8, false>),
    (260, 2, 1, 7, true, kernel::<260, 1, 7, true>),
    (12, 1, 1, 5, false, kernel::<12, 8, 5, false>),
    (10, 1, 2, 5, true, kernel::<20, 3, 5, true>),
];

fn dsp(rng: &mut Rng, mut scratch: Scratch<'_>, compact: bool) -> Result<(), Mismatch> {
    let (channels, k_w, dilation, shift, signed, kernel) = rng.pick(KERNELS);
    let (p, out_h) = shape(rng, channels, k_w, dilation);
    let pad = rng.i8();
    let weights = scratch.bytes.take(p.k_h * p.k_w * p.in_c);
    rng.fill_i8(weights);
    let forms = Forms::draw(rng, &mut scratch, p.in_c, shift, signed);
    let each = if signed { 4 } else { 3 };
    let stream = scratch.words.take(p.in_c.div_ceil(4) * (p.k_h * p.k_w + 4 * each));
    pack(&p, weights, stream, |c| forms.words(c));
    if compact && signed {
        corrections_first(stream, 4 + p.k_h * p.k_w);
    }
    let (first, finish) = (|c: usize| forms.first(c), |sum: i32, c: usize| forms.result(sum, c));
    let all = CompactConv { conv: p, weights: stream, pad, shift, signed, pixels: 1 };
    compare(rng, scratch, (&p, out_h), (weights, pad), first, finish, |x, y, band| match compact {
        true => depthwise2d_i8_dsp_compact(&all, x, y, band),
        false => kernel(&p, x, stream, pad, y, band),
    })
}

fn dsp_exact(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (channels, k_w) = (rng.size(4, 9), rng.size(1, 3));
    let (p, out_h) = shape(rng, channels, k_w, 1);
    let pad = rng.i8();
    let weights = scratch.bytes.take(p.k_h * p.k_w * p.in_c);
    rng.fill_i8(weights);
    let bias = scratch.words.take(p.in_c);
    rng.fill_i32(bias, -20_000, 20_000);
    let (multipliers, shifts) = (scratch.words.take(p.in_c), scratch.bytes.take(p.in_c));
    for (multiplier, shift) in multipliers.iter_mut().zip(shifts.iter_mut()) {
        let scale = rng.scale(9 * 8192);
        (*multiplier, *shift) = (scale.multiplier, scale.shift as i8);
    }
    let zero_point = rng.i8().into();
    let (lo, hi) = rng.clamp(zero_point);
    let q = Requant { multipliers, shifts, zero_point, lo, hi };
    let stream = scratch.words.take(p.in_c.div_ceil(4) * (p.k_h * p.k_w + 4));
    pack(&p, weights, stream, |c| &bias[c..][..1]);
    let (first, finish) = (|c: usize| bias[c], |sum: i32, c: usize| requantize(sum, c, &q));
    compare(rng, scratch, (&p, out_h), (weights, pad), first, finish, |x, y, band| {
        depthwise2d_i8_dsp_exact(&p, x, stream, pad, &q, y, band)
    })
}

/// A depthwise convolution, and its number of result rows. Where there is one column of taps, images are often one column wide and filters long.
fn shape(rng: &mut Rng, channels: usize, k_w: usize, dilation: usize) -> (Conv, usize) {
    let column = k_w == 1;
    let k_h = if column { rng.size(1, 20) } else { rng.size(1, 4) };
    let (dilation_h, dilation_w) = if column { (dilation, 1) } else { (rng.size(1, 2), dilation) };
    let in_w = if column { 1 } else { rng.size(1, if channels > 99 { 3 } else { 9 }) };
    let in_h = rng.size(1, if column { 30 } else { 6 });
    let (stride_h, stride_w) = (rng.size(1, 2), rng.size(1, 2));
    let (reach_h, reach_w) = ((k_h - 1) * dilation_h, (k_w - 1) * dilation_w);
    let (pad_top, pad_left) = (rng.size(0, reach_h), rng.size(0, reach_w));
    let out = |size: usize, pad: usize, reach: usize, stride: usize| {
        (size + 2 * pad).saturating_sub(reach + 1) / stride + 1
    };
    let (out_h, out_w) = (out(in_h, pad_top, reach_h, stride_h), out(in_w, pad_left, reach_w, stride_w));
    let p = Conv {
        in_h,
        in_w,
        in_c: channels,
        out_w: if column { 1 } else { out_w.min(9) },
        out_c: channels,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w,
        pad_top,
        pad_left,
        groups: channels,
    };
    (p, out_h.min(4))
}

/// Weights \[k_h\]\[k_w\]\[c\] as the kernel reads them. `of` gives the first value and what requantises of a channel.
fn pack<'a>(p: &Conv, weights: &[i8], stream: &mut [i32], of: impl Fn(usize) -> &'a [i32]) {
    let mut words = stream.iter_mut();
    let mut push = |word| words.next().map_or((), |to| *to = word);
    for quad in (0..p.in_c).step_by(4).map(|quad| quad.min(p.in_c - 4)) {
        (quad..quad + 4).for_each(|c| push(of(c)[0]));
        for tap in weights.chunks_exact(p.in_c) {
            push(i32::from_le_bytes([0, 1, 2, 3].map(|lane| tap[quad + lane] as u8)));
        }
        (quad..quad + 4).for_each(|c| of(c)[1..].iter().for_each(|&word| push(word)));
    }
}

/// Moves the corrections of each four channels in front of their factors and constants, which begin behind as many words.
fn corrections_first(stream: &mut [i32], before: usize) {
    for quad in stream.chunks_exact_mut(before + 12) {
        let mut sorted = [0; 12];
        for (lane, form) in quad[before..].chunks_exact(3).enumerate() {
            sorted[lane] = form[2];
            sorted[4 + 2 * lane..][..2].copy_from_slice(&form[..2]);
        }
        quad[before..].copy_from_slice(&sorted);
    }
}

/// Runs a kernel on a whole tensor in two calls, row by row on a ring, or with the result in the place of the operand.
fn compare(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    (p, out_h): (&Conv, usize),
    (weights, pad): (&[i8], i8),
    first: impl Fn(usize) -> i32,
    finish: impl Fn(i32, usize) -> i8,
    run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
) -> Result<(), Mismatch> {
    let (in_row, out_row) = (p.in_w * p.in_c, p.out_w * p.out_c);
    let image = scratch.bytes.take(p.in_h * in_row);
    rng.fill_i8(image);
    let y = scratch.bytes.twins(out_h * out_row, rng.size(0, 3), rng.i8());
    for (at, y) in y.expected().iter().enumerate() {
        let (pixel, c) = (at / p.in_c, at % p.in_c);
        let mut sum = first(c);
        for (k, w) in weights.iter().skip(c).step_by(p.in_c).enumerate() {
            let at = tap(p, [pixel / p.out_w, pixel % p.out_w], [k / p.k_w, k % p.k_w], c);
            let x = at.map_or(0, |at| i32::from(image[at]) - i32::from(pad));
            sum = sum.wrapping_add(x * i32::from(*w));
        }
        y.set(finish(sum, c));
    }
    let mode = rng.int(0, 2);
    if mode == 2 {
        let x = scratch.bytes.copy(image);
        run_overlaid(rng, &mut scratch, (p, out_h), cells(x), y.got(), run);
    } else if mode == 1 {
        let reach = (p.k_h - 1) * p.dilation_h + 1;
        let ring = rng.size(reach, reach + 2);
        let memory = cells(scratch.bytes.take_at(ring * in_row, rng.size(0, 3)));
        let mut filled = 0;
        for row in 0..out_h {
            while filled < (row * p.stride_h + reach).saturating_sub(p.pad_top).min(p.in_h) {
                let from = &image[filled * in_row..][..in_row];
                let to = &memory[filled % ring * in_row..][..in_row];
                to.iter().zip(from).for_each(|(to, from)| to.set(*from));
                filled += 1;
            }
            run(
                Rows::ring(memory, in_row, ring),
                Rows::whole(y.got(), out_row),
                Band { first: row, rows: 1 },
            );
        }
    } else {
        let split = rng.size(0, out_h);
        let x = scratch.bytes.take_at(image.len(), rng.size(0, 3));
        x.copy_from_slice(image);
        let x = Rows::whole(cells(x), in_row);
        for band in [Band { first: 0, rows: split }, Band { first: split, rows: out_h - split }] {
            run(x, Rows::whole(y.got(), out_row), band);
        }
    }
    y.compare(
        describe(p).with("dilation_h", p.dilation_h).with("dilation_w", p.dilation_w).with("mode", mode),
    )
}
