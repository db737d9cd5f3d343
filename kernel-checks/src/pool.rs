//! Pooling and means.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{
    avg_pool2d_i8, max_pool2d_i8, max_pool2d_i8_dsp, max_pool2d_i8_mve, mean_pool2d_i8_dsp,
    mean_pool2d_i8_dsp_compact, mean_pool2d_i8_mve, Band, MeanLinear, Pool, Rows,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "max_pool2d_i8_dsp", run: max_pool2d_i8_dsp_against_portable },
    Check { name: "max_pool2d_i8_mve", run: max_pool2d_i8_mve_against_portable },
    Check { name: "max_pool2d_i8_mve, of a ring", run: max_pool2d_i8_mve_of_a_ring },
    Check {
        name: "mean_pool2d_i8_dsp, by definition",
        run: |r, s| mean_by_definition(r, s, mean_pool2d_i8_dsp),
    },
    Check { name: "mean_pool2d_i8_dsp, average of taps", run: |r, s| mean_average(r, s, mean_pool2d_i8_dsp) },
    Check {
        name: "mean_pool2d_i8_mve, by definition",
        run: |r, s| mean_by_definition(r, s, mean_pool2d_i8_mve),
    },
    Check { name: "mean_pool2d_i8_mve, average of taps", run: |r, s| mean_average(r, s, mean_pool2d_i8_mve) },
    Check {
        name: "mean_pool2d_i8_dsp_compact, by definition",
        run: |r, s| mean_by_definition(r, s, mean_pool2d_i8_dsp_compact),
    },
    Check {
        name: "mean_pool2d_i8_dsp_compact, average of taps",
        run: |r, s| mean_average(r, s, mean_pool2d_i8_dsp_compact),
    },
];

fn describe(p: &Pool) -> Case {
    Case::new()
        .with("in_h", p.in_h)
        .with("in_w", p.in_w)
        .with("c", p.c)
        .with("out_w", p.out_w)
        .with("k_h", p.k_h)
        .with("k_w", p.k_w)
        .with("stride_h", p.stride_h)
        .with("stride_w", p.stride_w)
        .with("pad_top", p.pad_top)
        .with("pad_left", p.pad_left)
}

/// A random pooling of windows of that size, padded or not, and its number of result rows.
fn shape(rng: &mut Rng, [k_h, k_w]: [usize; 2], c: usize, padded: bool) -> (Pool, usize) {
    let pad = |rng: &mut Rng, k: usize| if padded { rng.size(0, k - 1) } else { 0 };
    let (pad_top, pad_left) = (pad(rng, k_h), pad(rng, k_w));
    let (in_h, in_w) = (rng.size(k_h, k_h + 5), rng.size(k_w, k_w + 6));
    let (stride_h, stride_w) = (rng.size(1, 3), rng.size(1, 3));
    // As much padding behind as before.
    let out = |size: usize, pad: usize, k: usize, stride: usize| (size + 2 * pad - k) / stride + 1;
    let (out_h, out_w) = (out(in_h, pad_top, k_h, stride_h), out(in_w, pad_left, k_w, stride_w));
    (Pool { in_h, in_w, c, out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left }, out_h)
}

fn max_pool2d_i8_dsp_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let window = [rng.size(1, 3), rng.size(1, 3)];
    let (c, padded) = (rng.pick(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17]), rng.one_in(2));
    let (p, out_h) = shape(rng, window, c, padded);
    let x = cells(scratch.bytes.take_at(p.in_h * p.in_w * c, rng.size(0, 3)));
    rng.fill_i8_cells(x);
    let (lo, hi) = rng.clamp(-128);
    let row = p.out_w * c;
    let y = scratch.bytes.twins(out_h * row, rng.size(0, 3), rng.i8());
    let x = Rows::whole(x, p.in_w * c);
    max_pool2d_i8(&p, x, lo, hi, Rows::whole(y.expected(), row), Band { first: 0, rows: out_h });
    let first = rng.size(0, out_h);
    for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
        let got = Rows::whole(y.got(), row);
        match window {
            [1, 1] => max_pool2d_i8_dsp::<1, 1>(&p, x, lo, hi, got, band),
            [1, 2] => max_pool2d_i8_dsp::<1, 2>(&p, x, lo, hi, got, band),
            [1, _] => max_pool2d_i8_dsp::<1, 3>(&p, x, lo, hi, got, band),
            [2, 1] => max_pool2d_i8_dsp::<2, 1>(&p, x, lo, hi, got, band),
            [2, 2] => max_pool2d_i8_dsp::<2, 2>(&p, x, lo, hi, got, band),
            [2, _] => max_pool2d_i8_dsp::<2, 3>(&p, x, lo, hi, got, band),
            [_, 1] => max_pool2d_i8_dsp::<3, 1>(&p, x, lo, hi, got, band),
            [_, 2] => max_pool2d_i8_dsp::<3, 2>(&p, x, lo, hi, got, band),
            _ => max_pool2d_i8_dsp::<3, 3>(&p, x, lo, hi, got, band),
        }
    }
    y.compare(describe(&p).with("lo", lo).with("hi", hi).with("first", first))
}

/// Calls the kernel with the blocks that the compiler gives it.
fn max_pool_mve(p: &Pool, x: Rows<'_, i8>, (lo, hi): (i32, i32), y: Rows<'_, i8>, band: Band) {
    let kernel = match (p.k_h, p.k_w) {
        (1, 1) => max_pool2d_i8_mve::<1, 1, false>,
        (1, 2) => max_pool2d_i8_mve::<1, 2, false>,
        (1, 3) => max_pool2d_i8_mve::<1, 3, false>,
        (2, 1) => max_pool2d_i8_mve::<2, 1, false>,
        (2, 2) => max_pool2d_i8_mve::<2, 2, false>,
        (2, 3) => max_pool2d_i8_mve::<2, 3, false>,
        (3, 1) => max_pool2d_i8_mve::<3, 1, false>,
        (3, 2) => max_pool2d_i8_mve::<3, 2, false>,
        (3, 3) => max_pool2d_i8_mve::<3, 3, false>,
        (1, _) => max_pool2d_i8_mve::<1, 3, true>,
        (_, 2) => max_pool2d_i8_mve::<3, 2, true>,
        _ => max_pool2d_i8_mve::<3, 3, true>,
    };
    kernel(p, x, lo, hi, y, band);
}

fn max_pool2d_i8_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let most = if rng.one_in(3) { 8 } else { 3 };
    let window = [rng.size(1, most), rng.size(1, most)];
    let (c, padded) = (rng.pick(&[1, 3, 4, 8, 15, 16, 17, 24, 32, 35]), rng.one_in(2));
    let (p, out_h) = shape(rng, window, c, padded);
    let x = cells(scratch.bytes.take_at(p.in_h * p.in_w * c, rng.size(0, 3)));
    rng.fill_i8_cells(x);
    let range = rng.clamp(-128);
    let row = p.out_w * c;
    let y = scratch.bytes.twins(out_h * row, rng.size(0, 3), rng.i8());
    let x = Rows::whole(x, p.in_w * c);
    let all = Band { first: 0, rows: out_h };
    max_pool2d_i8(&p, x, range.0, range.1, Rows::whole(y.expected(), row), all);
    let first = rng.size(0, out_h);
    for band in [Band { first: 0, rows: first }, Band { first, rows: out_h - first }] {
        max_pool_mve(&p, x, range, Rows::whole(y.got(), row), band);
    }
    y.compare(describe(&p).with("lo", range.0).with("hi", range.1).with("first", first))
}

/// Rows of a ring that begins again within windows.
fn max_pool2d_i8_mve_of_a_ring(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let window = [rng.size(1, 5), rng.size(1, 5)];
    let (c, padded) = (rng.pick(&[1, 5, 16, 20, 33]), rng.one_in(2));
    let (p, _) = shape(rng, window, c, padded);
    let p = Pool { in_h: 1 << 20, ..p };
    let ring = rng.size(p.k_h, p.k_h + 3);
    let first = rng.size(0, 2 * ring);
    let x = cells(scratch.bytes.take_at(ring * p.in_w * c, rng.size(0, 3)));
    rng.fill_i8_cells(x);
    let row = p.out_w * c;
    let y = scratch.bytes.twins(row, rng.size(0, 3), rng.i8());
    let (x, band) = (Rows::ring(x, p.in_w * c, ring), Band { first, rows: 1 });
    max_pool2d_i8(&p, x, -128, 127, Rows::ring(y.expected(), row, 1), band);
    max_pool_mve(&p, x, (-128, 127), Rows::ring(y.got(), row, 1), band);
    y.compare(describe(&p).with("ring", ring).with("first", first))
}

/// Windows of a mean: no padding, at least eight channels. Sometimes all columns and more rows than a ring holds one behind the other.
fn mean_shape(rng: &mut Rng) -> (Pool, usize) {
    let window = [rng.size(1, 6), rng.size(1, 6)];
    let c = rng.pick(&[8, 9, 10, 12, 15, 16, 20, 24]);
    let (p, out_h) = shape(rng, window, c, false);
    match rng.one_in(3) {
        true => (Pool { in_w: p.k_w, out_w: 1, ..p }, out_h),
        false => (p, out_h),
    }
}

/// A kernel of means.
type MeanKernel = fn(&Pool, Rows<'_, i8>, &MeanLinear, Rows<'_, i8>, Band);

fn mean_by_definition(rng: &mut Rng, mut scratch: Scratch<'_>, kernel: MeanKernel) -> Result<(), Mismatch> {
    let (p, out_h) = mean_shape(rng);
    let row = p.out_w * p.c;
    let x = cells(scratch.bytes.take_at(p.in_h * p.in_w * p.c, rng.size(0, 3)));
    rng.fill_i8_cells(x);
    let any = rng.one_in(4);
    let mean = MeanLinear {
        factor: if any { rng.word() as i32 } else { rng.int(1 << 20, 1 << 30) },
        start: rng.int(-(1 << 22), 1 << 22),
    };
    let y = scratch.bytes.twins(out_h * row, rng.size(0, 3), rng.i8());
    for (index, y) in y.expected().iter().enumerate() {
        let (pixel, channel) = (index / p.c, index % p.c);
        let (top, left) = (pixel / p.out_w * p.stride_h, pixel % p.out_w * p.stride_w);
        let taps = (0..p.k_h * p.k_w).map(|tap| (top + tap / p.k_w) * p.in_w + left + tap % p.k_w);
        let sum: i32 = taps.map(|pixel| i32::from(x[pixel * p.c + channel].get())).sum();
        let part = ((i64::from(mean.factor) * i64::from(sum)) >> 16) as i32;
        y.set((mean.start.wrapping_add(part) >> MeanLinear::SHIFT).clamp(-128, 127) as i8);
    }
    let x = Rows::whole(x, p.in_w * p.c);
    kernel(&p, x, &mean, Rows::whole(y.got(), row), Band { first: 0, rows: out_h });
    y.compare(describe(&p).with("factor", mean.factor).with("start", mean.start))
}

/// The average of up to 256 taps, from a ring that wraps within windows.
fn mean_average(rng: &mut Rng, mut scratch: Scratch<'_>, kernel: MeanKernel) -> Result<(), Mismatch> {
    let (mut p, _) = mean_shape(rng);
    if rng.one_in(4) {
        (p.k_h, p.k_w) = (16, 16);
        (p.in_h, p.in_w, p.out_w) = (16, 16, 1);
    }
    let ring = rng.size(p.k_h, p.k_h + 3);
    let first = rng.size(0, 2 * ring);
    let x = cells(scratch.bytes.take_at(ring * p.in_w * p.c, rng.size(0, 3)));
    rng.fill_i8_cells(x);
    p.in_h = 1 << 20;
    let n = (p.k_h * p.k_w) as i32;
    let mean = MeanLinear { factor: (1 << 30) / n + 2, start: 1 << (MeanLinear::SHIFT - 1) };
    let row = p.out_w * p.c;
    let y = scratch.bytes.twins(row, rng.size(0, 3), rng.i8());
    let (x, band) = (Rows::ring(x, p.in_w * p.c, ring), Band { first, rows: 1 });
    avg_pool2d_i8(&p, x, -128, 127, Rows::ring(y.expected(), row, 1), band);
    kernel(&p, x, &mean, Rows::ring(y.got(), row, 1), band);
    y.compare(describe(&p).with("ring", ring).with("first", first))
}
