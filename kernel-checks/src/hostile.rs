//! Kernels of assembly with sizes that no compiler would write, and slices that are too short for them: they write nothing beside the result, and return. Where they read cannot be seen
//! on a microcontroller, but for addresses that there are not; `tests/hostile/` calls all kernels on hosts, where it can.

use crate::conv::{describe, shape};
use crate::{cells, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    conv1_i16_i8_dsp, conv1_i8_dsp, conv1_i8_dsp_eights, conv2d_i8_dsp, conv2d_i8_dsp_compact,
    conv2d_i8_dsp_exact, conv2d_i8_dsp_points, conv2d_i8_dsp_points_small, conv2d_i8_dsp_small,
    conv2d_i8_dsp_winograd, conv2d_i8_dsp_winograd_4x4, conv2d_i8_v6m_pairs, conv2d_i8_v6m_pairs_wide,
    conv2d_i8_v6m_singles, conv2d_i8_v6m_winograd, dense_i8_dsp, dense_i8_dsp_compact, dense_i8_dsp_dot,
    depthwise2d_i8_dsp, depthwise2d_i8_dsp_compact, depthwise2d_i8_dsp_planar, depthwise2d_i8_v6m,
    depthwise2d_i8_v6m_column, depthwise2d_i8_v6m_rolling, max_pool2d_i8_dsp, mean_pool2d_i8_dsp, Band,
    CompactConv, CompactDense, Conv, HalfRequant, MeanLinear, Pool, Requant, Rescale, Rows, Scale, Stride,
};

#[cfg(not(target_arch = "arm"))]
use kiln::kernels::{
    conv1_i16_i8_rv32, conv2d_i8_rv32_mixed, conv2d_i8_rv32_pairs, conv2d_i8_rv32_quads,
    conv2d_i8_rv32_winograd, conv2d_i8_rv32_winograd_4x4, dense_i8_i16_rv32, dense_i8_rv32_singles,
    depthwise2d_i8_rv32, depthwise2d_i8_rv32_rolling, UpperRequant,
};

pub(crate) const CHECKS: &[Check] = &[Check { name: "hostile sizes write nothing beside the result", run }];

/// Half of the bits: the product of two wraps to 0.
const HALF: usize = 1 << (usize::BITS / 2);

const ODD: [usize; 12] = [
    0,
    1,
    2,
    3,
    17,
    HALF,
    HALF + 1,
    usize::MAX / 8 + 1,
    usize::MAX / 4 + 2,
    usize::MAX / 2,
    usize::MAX / 2 + 1,
    usize::MAX,
];

/// A size, or now and then another one.
fn size(rng: &mut Rng, fitting: usize) -> usize {
    if rng.one_in(6) {
        rng.pick(&ODD)
    } else {
        fitting
    }
}

fn run(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (fitting, out_h) = shape(rng);
    let channels = rng.pick(&[4, 8, fitting.in_c]);
    let mut p = Conv { in_c: channels, ..fitting };
    if rng.one_in(2) {
        p.out_c = p.in_c;
    }
    let (in_row, out_row, in_h) = (p.in_w * p.in_c, p.out_w * p.out_c, p.in_h);
    let named = p;
    for field in [
        &mut p.in_h,
        &mut p.in_w,
        &mut p.in_c,
        &mut p.out_w,
        &mut p.out_c,
        &mut p.k_h,
        &mut p.k_w,
        &mut p.stride_h,
        &mut p.stride_w,
        &mut p.dilation_h,
        &mut p.dilation_w,
        &mut p.pad_top,
        &mut p.pad_left,
    ] {
        *field = size(rng, *field);
    }
    let x = scratch.bytes.take(in_h * in_row);
    rng.fill_i8(x);
    let x = cells(x);
    let halves = cells(scratch.halves.take(in_h * in_row));
    let count = rng.size(0, 1200);
    let w = scratch.words.take(count);
    rng.fill_i32(w, i32::MIN, i32::MAX);
    let count = rng.size(0, 1200);
    let bytes = scratch.bytes.take(count);
    rng.fill_i8(bytes);
    let words = rng.size(0, 600);
    let work = cells(scratch.words.take(words));
    let y = scratch.bytes.twins(out_h * out_row, rng.size(0, 3), rng.i8());
    let (rows, band) = (size(rng, in_row), Band { first: size(rng, 0), rows: size(rng, out_h) });
    let x_rows = Rows::ring(x, rows, size(rng, in_h));
    let y_rows = Rows::ring(y.got(), size(rng, out_row), size(rng, out_h));
    let out = Stride { pixel: size(rng, p.out_c), channel: size(rng, 1) };
    let (w, bytes) = (&*w, &*bytes);
    let pool = Pool {
        in_h: p.in_h,
        in_w: p.in_w,
        c: p.in_c,
        out_w: p.out_w,
        k_h: p.k_h,
        k_w: p.k_w,
        stride_h: p.stride_h,
        stride_w: p.stride_w,
        pad_top: p.pad_top,
        pad_left: p.pad_left,
    };
    let compact =
        CompactConv { conv: p, weights: w, pad: 0, shift: 7, signed: rng.one_in(2), pixels: size(rng, 4) };
    let by = Scale { multiplier: 1 << 30, shift: -8 };
    let rescale = Rescale { by, zero_point: 0, lo: -128, hi: 127 };
    let requant = Requant { multipliers: w, shifts: bytes, zero_point: 0, lo: -128, hi: 127 };
    let half = HalfRequant { channels: w, words: rng.size(3, 6), shift: 5, lo: -128, hi: 127 };
    let part = size(rng, 144);
    // Mostly of the only shape that some kernels take.
    let near = match rng.one_in(8) {
        true => p,
        false => Conv { k_h: 3, k_w: 3, stride_h: 1, stride_w: 1, dilation_h: 1, dilation_w: 1, ..p },
    };
    let kernel = rng.int(0, 25);
    match kernel {
        0 => mean_pool2d_i8_dsp(&pool, x_rows, &MeanLinear { factor: 1, start: 0 }, y_rows, band),
        1 => max_pool2d_i8_dsp::<2, 2>(&pool, x_rows, -128, 127, y_rows, band),
        2 => max_pool2d_i8_dsp::<3, 1>(&pool, x_rows, -128, 127, y_rows, band),
        3 if rng.one_in(2) => {
            let points = Conv { k_h: 1, k_w: 1, pad_top: 0, pad_left: 0, in_c: 4, out_c: 8, ..p };
            match rng.one_in(2) {
                true => conv2d_i8_dsp_points::<2, 8, 1, 7, false>(&points, x_rows, w, 0, work, y_rows, band),
                false => {
                    conv2d_i8_dsp_points_small::<7, true>(&points, x_rows, w, 0, work, y_rows, &out, band);
                }
            }
        }
        3 => conv2d_i8_dsp::<8, 2, 2, 8, 1, 7, false>(&p, x_rows, w, 0, work, y_rows, band),
        4 => conv2d_i8_dsp_small::<7, true>(&p, x_rows, w, 0, work, y_rows, &out, band),
        5 => conv2d_i8_dsp_exact(&p, x_rows, w, 0, work, &requant, y_rows, &out, band),
        6 => conv2d_i8_dsp_compact(&compact, x_rows, work, y_rows, band),
        7 => depthwise2d_i8_dsp_compact(&compact, x_rows, y_rows, band),
        8 => dense_i8_dsp_compact(&CompactDense { weights: w, shift: 7, signed: true }, x_rows, y_rows, band),
        9 => dense_i8_dsp::<7, true>(x_rows, w, y_rows, band),
        10 => dense_i8_dsp_dot::<7, false>(x_rows, w, y_rows, band),
        11 => conv1_i8_dsp::<7, true>(&p, x_rows, w, 0, y_rows, band),
        12 => conv1_i8_dsp_eights::<7, false, true>(&p, x_rows, w, 0, y_rows, band),
        13 => {
            let x = Rows::ring(halves, rows, size(rng, in_h));
            let weights = scratch.halves.take(rng.size(0, 600));
            conv1_i16_i8_dsp(&p, x, weights, w, &rescale, y_rows, band);
        }
        14 => depthwise2d_i8_dsp::<8, 3, 7, false>(&p, x_rows, w, 0, y_rows, band),
        15 => depthwise2d_i8_dsp_planar::<0, 1, 1, 7, true>(&p, x_rows, w, 0, y_rows, out.channel, band),
        16 if rng.one_in(2) => {
            let rests = scratch.bytes.take(rng.size(0, 60));
            conv2d_i8_v6m_pairs_wide(&p, x_rows, bytes, rests, w, part, 0, &half, y_rows, band);
        }
        16 => conv2d_i8_v6m_pairs(&p, x_rows, bytes, w, part, 0, &half, y_rows, band),
        17 if rng.one_in(3) => {
            let column = Conv { k_w: 1, stride_h: 1, stride_w: 1, dilation_h: 1, pad_left: 0, ..p };
            depthwise2d_i8_v6m_column(&column, x_rows, w, 0, &half, y_rows, band);
        }
        17 if rng.one_in(2) => conv2d_i8_v6m_winograd(&near, x_rows, w, 0, &half, work, y_rows, band),
        17 => conv2d_i8_v6m_singles(&p, x_rows, w, w, part, 0, &half, y_rows, band),
        #[cfg(not(target_arch = "arm"))]
        18..=23 => {
            let upper =
                UpperRequant { channels: w, words: rng.size(3, 8), spread: 3, shift: 5, lo: -128, hi: 127 };
            match kernel {
                18 => conv2d_i8_rv32_pairs(&p, x_rows, bytes, 0, &upper, work, y_rows, band),
                19 => depthwise2d_i8_rv32(&p, x_rows, bytes, 0, &upper, y_rows, band),
                20 if rng.one_in(2) => conv2d_i8_rv32_mixed(&p, x_rows, bytes, 0, &upper, work, y_rows, band),
                20 => conv2d_i8_rv32_quads(&p, x_rows, bytes, 0, &upper, work, y_rows, band),
                21 if rng.one_in(2) => {
                    conv2d_i8_rv32_winograd_4x4(&near, x_rows, w, 0, &upper, work, y_rows, band);
                }
                21 => conv2d_i8_rv32_winograd(&near, x_rows, w, 0, &upper, work, y_rows, band),
                22 if rng.one_in(2) => {
                    let y = Rows::ring(halves, size(rng, out_row), size(rng, out_h));
                    dense_i8_i16_rv32(x_rows, bytes, w, &rescale, y, band);
                }
                23 if rng.one_in(2) => {
                    let x = Rows::ring(halves, p.in_c, size(rng, in_h));
                    let weights = scratch.halves.take(rng.size(0, 600));
                    conv1_i16_i8_rv32(&p, x, weights, w, &rescale, y_rows, band);
                }
                22 => dense_i8_rv32_singles(x_rows, w, &upper, y_rows, band),
                _ => depthwise2d_i8_rv32_rolling(&p, x_rows, bytes, 0, &upper, y_rows, band),
            }
        }
        24 if rng.one_in(2) => {
            conv2d_i8_dsp_winograd_4x4::<7, true>(&near, x_rows, w, 0, work, y_rows, band);
        }
        24 => conv2d_i8_dsp_winograd::<7, true>(&near, x_rows, w, 0, work, y_rows, band),
        25 if rng.one_in(2) => depthwise2d_i8_v6m_rolling(&near, x_rows, w, 0, &half, y_rows, band),
        _ => depthwise2d_i8_v6m(&p, x_rows, bytes, 0, &half, y_rows, band),
    }
    // What is in the result does not matter.
    y.expected().iter().zip(y.got()).for_each(|(expected, got)| expected.set(got.get()));
    y.compare(describe(&named).with("kernel", kernel))
}
