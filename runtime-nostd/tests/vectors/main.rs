//! Kernels of integers in vectors against their portable twins and against what their documentation says, bit for bit, on random shapes, at every level that this
//! processor has.
//!
//! Operands are whole or rings, results come in bands, rows may be longer than what is read or written of them. Workspaces and filters are as large as documented
//! and not larger; around workspaces and results lie bytes that nothing may change. Where a workspace or a filter is too small, nothing is written.
#![allow(clippy::unwrap_used)]

mod check;
#[path = "../simd/layers.rs"]
mod layers;
#[path = "../simd/mod.rs"]
mod simd;

use check::{moderate, random_conv, Check, Guarded, Operand, Scaling};
use kiln::kernels::{self, AddLinear, Band, Conv, FilterBlocks, MeanLinear, Pool, Rows};
use layers::{alternating, ring};
use simd::{at_each_level, cells, Random};
use std::cell::Cell;

/// The results of a layer, pixel by pixel, of the sums that `sum` computes of a channel of a pixel.
fn results(p: &Conv, out_h: usize, scaling: &Scaling, sum: impl Fn(usize, usize, usize) -> i32) -> Vec<i8> {
    let pixels = (0..out_h).flat_map(|y| (0..p.out_w).map(move |x| (y, x)));
    pixels
        .flat_map(|(y, x)| (0..p.out_c).map(move |o| (y, x, o)))
        .map(|(y, x, o)| scaling.apply(o, sum(y, x, o)))
        .collect()
}

/// Blocks of filters \[o\]\[run\]\[element\].
fn blocks(w: &[i8], bias: &[i32], runs: usize, run: usize, scaling: &Scaling) -> Vec<i8> {
    let k = runs * run;
    let sums: Vec<i32> = w.chunks(k).map(|filter| filter.iter().map(|&w| i32::from(w)).sum()).collect();
    let mut packed = Vec::new();
    for block in (0..bias.len()).step_by(16) {
        let channels: Vec<Option<usize>> =
            (block..block + 16).map(|o| Some(o).filter(|&o| o < bias.len())).collect();
        scaling.header(&channels, bias, &sums, &mut packed);
        for r in 0..runs {
            for four in (0..run).step_by(4) {
                let weight = |o: usize, i: usize| if i < run { w[o * k + r * run + i] } else { 0 };
                let of = |o: &Option<usize>| [0, 1, 2, 3].map(|i| o.map_or(0, |o| weight(o, four + i)));
                packed.extend(channels.iter().flat_map(of));
            }
        }
    }
    packed
}

fn conv(random: &mut Random) {
    let (p, out_h) = moderate(random, |random| {
        let (in_c, out_c) = (random.within(1, 70), random.within(1, 70));
        random_conv(random, in_c, out_c, 1, [7, 7])
    });
    let k = p.k_h * p.k_w * p.in_c;
    let operand = Operand::random(random, p.in_h, p.in_w * p.in_c);
    let ((w, symmetric), bias) = (random.weights(p.out_c * k), random.bias(p.out_c));
    let scaling = Scaling::random(random, p.out_c);
    // One run for each tap where columns are dilated.
    let (runs, run) =
        if p.dilation_w > 1 && p.k_w > 1 { (p.k_h * p.k_w, p.in_c) } else { (p.k_h, p.k_w * p.in_c) };
    let packed = blocks(&w, &bias, runs, run, &scaling);
    let expected = |operand: &Operand| {
        results(&p, out_h, &scaling, |y, x, o| {
            let tap = |i: usize| {
                let (ky, kx, c) = (i / p.in_c / p.k_w, i / p.in_c % p.k_w, i % p.in_c);
                operand.at(&p, y * p.stride_h + ky * p.dilation_h, x * p.stride_w + kx * p.dilation_w, c)
            };
            let products = w[o * k..][..k].iter().enumerate().map(|(i, &w)| tap(i) * i32::from(w));
            products.fold(bias[o], i32::wrapping_add)
        })
    };
    let found = expected(&operand);
    let mut y = vec![0; found.len()];
    let (rows, all) = (p.out_w * p.out_c, Band { first: 0, rows: out_h });
    let twin = {
        let (mut x, w) = (operand.x.clone(), alternating(&w, k));
        let (x, y) = (Rows::whole(cells(&mut x), operand.row), Rows::whole(cells(&mut y), rows));
        scaling.twin(
            |q| kernels::conv2d_i8(&p, x, &w, &bias, operand.pad, q, y, all),
            |q| kernels::conv2d_i8_float(&p, x, &w, &bias, operand.pad, q, y, all),
        )
    };
    assert!(!twin || y == found, "{p:?}, {:?}", scaling.rounding);
    let (row, covered) = ring(&p, 1);
    let (pad, work, filters) = (operand.pad, covered * row + 256, scaling.filters(&packed));
    let what = format!("convolution, {:?}", scaling.rounding);
    let check =
        Check { p: &p, out_h, operand: &operand, expected: &found, filters, work, longer: true, what };
    let kernel = |x: Rows<'_, i8>, filters: &FilterBlocks<'_>, work: &[Cell<i32>], y: Rows<'_, i8>, band| {
        match symmetric {
            true => kernels::conv2d_i8_simd::<true>(&p, x, filters, pad, work, y, band),
            false => kernels::conv2d_i8_simd::<false>(&p, x, filters, pad, work, y, band),
        }
    };
    check.run(random, kernel);
    check.without_operand_row(expected, kernel);
}

/// Blocks of filters \[tap\]\[c\].
fn depthwise_blocks(p: &Conv, w: &[i8], bias: &[i32], scaling: &Scaling) -> Vec<i8> {
    let c = bias.len();
    let sums: Vec<i32> = (0..c).map(|c_| w.iter().skip(c_).step_by(c).map(|&w| i32::from(w)).sum()).collect();
    // Four taps each: rows of a column, or columns of the only row.
    let mut fours: Vec<[(usize, usize); 4]> = Vec::new();
    if p.k_h == 1 {
        fours.extend((0..p.k_w).step_by(4).map(|kx| [0, 1, 2, 3].map(|i| (0, kx + i))));
    } else {
        for ky in (0..p.k_h).step_by(4) {
            fours.extend((0..p.k_w).map(|kx| [0, 1, 2, 3].map(|i| (ky + i, kx))));
        }
    }
    let (mut packed, mut element) = (Vec::new(), 0);
    loop {
        let channels: Vec<Option<usize>> = (element..element + 16).map(|e| Some(e % c)).collect();
        scaling.header(&channels, bias, &sums, &mut packed);
        for four in &fours {
            for channel in channels.iter().flatten() {
                let weight = |(ky, kx): (usize, usize)| match ky < p.k_h && kx < p.k_w {
                    true => w[(ky * p.k_w + kx) * c + channel],
                    false => 0,
                };
                packed.extend(four.map(weight));
            }
        }
        element += 16;
        if element % c == 0 {
            return packed;
        }
    }
}

fn depthwise(random: &mut Random) {
    let (p, out_h) = moderate(random, |random| {
        let c = if random.below(3) == 0 { 8 * random.within(1, 12) } else { random.within(1, 70) };
        let k = [[7, 7], [1, 30], [30, 1], [12, 3]][random.below(7).saturating_sub(3)];
        random_conv(random, c, c, c, k)
    });
    let c = p.in_c;
    let operand = Operand::random(random, p.in_h, p.in_w * c);
    let ((w, symmetric), bias) = (random.weights(p.k_h * p.k_w * c), random.bias(c));
    let scaling = Scaling::random(random, c);
    let packed = depthwise_blocks(&p, &w, &bias, &scaling);
    let expected = |operand: &Operand| {
        results(&p, out_h, &scaling, |y, x, o| {
            let taps = (0..p.k_h).flat_map(|ky| (0..p.k_w).map(move |kx| (ky, kx)));
            taps.fold(bias[o], |sum, (ky, kx)| {
                let (y, x) = (y * p.stride_h + ky * p.dilation_h, x * p.stride_w + kx * p.dilation_w);
                sum.wrapping_add(operand.at(&p, y, x, o) * i32::from(w[(ky * p.k_w + kx) * c + o]))
            })
        })
    };
    let found = expected(&operand);
    let mut y = vec![0; found.len()];
    let (rows, all) = (p.out_w * c, Band { first: 0, rows: out_h });
    let twin = {
        let mut x = operand.x.clone();
        let (x, y) = (Rows::whole(cells(&mut x), operand.row), Rows::whole(cells(&mut y), rows));
        scaling.twin(
            |q| kernels::depthwise2d_i8(&p, x, &w, &bias, operand.pad, q, y, all),
            |q| kernels::depthwise2d_i8_float(&p, x, &w, &bias, operand.pad, q, y, all),
        )
    };
    assert!(!twin || y == found, "{p:?}, {:?}", scaling.rounding);
    let (row, covered) = ring(&p, if c % 16 == 0 { 1 } else { p.stride_w });
    let parts = if p.k_h == 1 { p.k_w.div_ceil(4) } else { p.k_h.div_ceil(4) };
    let work = covered * row + 256 + 4 * (parts * row + 256);
    let (pad, filters) = (operand.pad, scaling.filters(&packed));
    let what = format!("depthwise, {:?}", scaling.rounding);
    let check =
        Check { p: &p, out_h, operand: &operand, expected: &found, filters, work, longer: true, what };
    let kernel = |x: Rows<'_, i8>, filters: &FilterBlocks<'_>, work: &[Cell<i32>], y: Rows<'_, i8>, band| {
        match symmetric {
            true => kernels::depthwise2d_i8_simd::<true>(&p, x, filters, pad, work, y, band),
            false => kernels::depthwise2d_i8_simd::<false>(&p, x, filters, pad, work, y, band),
        }
    };
    check.run(random, kernel);
    check.without_operand_row(expected, kernel);
}

/// A shape by which row `r` of the result reads row `r` of the operand.
fn rows_of(rows: usize) -> Conv {
    Conv {
        in_h: rows,
        in_w: 1,
        in_c: 1,
        out_w: 1,
        out_c: 1,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    }
}

fn dense(random: &mut Random) {
    let (k, n) = (random.within(1, 150), random.within(1, 200));
    let m = random.within(1, 5);
    let operand = Operand { x: random.bytes(m * k), row: k, pad: 0 };
    let (w, symmetric) = random.weights(n * k);
    let (bias, scaling) = (random.bias(n), Scaling::random(random, n));
    let packed = blocks(&w, &bias, 1, k, &scaling);
    let shape = Conv { out_c: n, ..rows_of(m) };
    let found = results(&shape, m, &scaling, |row, _, o| {
        let products = operand.x[row * k..][..k].iter().zip(&w[o * k..][..k]);
        products.fold(bias[o], |sum, (&x, &w)| sum.wrapping_add(i32::from(x) * i32::from(w)))
    });
    let mut y = vec![0; m * n];
    let all = Band { first: 0, rows: m };
    let twin = {
        let (mut x, w) = (operand.x.clone(), alternating(&w, k));
        let (x, y) = (Rows::whole(cells(&mut x), k), Rows::whole(cells(&mut y), n));
        scaling.twin(
            |q| kernels::dense_i8(x, &w, &bias, q, y, all),
            |q| kernels::dense_i8_float(x, &w, &bias, q, y, all),
        )
    };
    assert!(!twin || y == found, "{m} × {k} × {n}, {:?}", scaling.rounding);
    let what = format!("{m} × {k} × {n}, {:?}", scaling.rounding);
    let (work, filters) = (k.next_multiple_of(32), scaling.filters(&packed));
    let check = Check {
        p: &shape,
        out_h: m,
        operand: &operand,
        expected: &found,
        filters,
        work,
        longer: false,
        what,
    };
    check.run(random, |x, filters, work, y, band| match symmetric {
        true => kernels::dense_i8_simd::<true>(x, filters, work, y, band),
        false => kernels::dense_i8_simd::<false>(x, filters, work, y, band),
    });
}

/// A sum with a shift that is known when the twin is compiled.
fn twin_of_sum<const SHIFT: u32>(p: &AddLinear, a: &[i8], b: &[i8]) -> Vec<i8> {
    let mut y = vec![0; a.len()];
    kernels::add_i8_v6m::<SHIFT>(p, a, b, cells(&mut y));
    y
}

fn add(random: &mut Random) {
    let len = random.below(120);
    let (a, mut b) = (random.bytes(len), random.bytes(len));
    // Factors of sums with such a shift, or any.
    let shift = [1, 12, 18, 31][random.below(4)];
    let factor = |random: &mut Random| match random.below(4) {
        0 => random.next() as i32,
        _ => (random.next() as i32 >> 8) / (1 << (22 - shift.min(18))),
    };
    let p = AddLinear { x: factor(random), y: factor(random), start: random.next() as i32 >> (31 - shift) };
    let expected: Vec<i8> = (a.iter().zip(&b))
        .map(|(&a, &b)| {
            let products = i32::from(a).wrapping_mul(p.x).wrapping_add(i32::from(b).wrapping_mul(p.y));
            (p.start.wrapping_add(products) >> shift).clamp(-128, 127) as i8
        })
        .collect();
    let twin = match shift {
        1 => twin_of_sum::<1>,
        12 => twin_of_sum::<12>,
        18 => twin_of_sum::<18>,
        _ => twin_of_sum::<31>,
    };
    assert_eq!(twin(&p, &a, &b), expected);

    // An operand of cells and a constant; too short ones; longer ones.
    let content = random.bytes(len);
    let mut y = Guarded::new(random, &content, |random| random.next() as i8);
    if len > 0 {
        kernels::add_i8_simd(&p, shift, &a[1..], cells(&mut b), y.cells());
        kernels::add_i8_simd(&p, shift, &a[..], &cells(&mut b)[1..], y.cells());
        y.assert(&content, "a sum of too short operands");
    }
    let longer: Vec<i8> = a.iter().copied().chain([1; 3]).collect();
    kernels::add_i8_simd(&p, shift, &longer[..], cells(&mut b), y.cells());
    y.assert(&expected, &format!("{len} sums, {p:?}"));
    // The result in the place of an operand, and below it.
    for below in [0, random.below(20)] {
        let content: Vec<i8> = vec![9; below].into_iter().chain(a.iter().copied()).collect();
        let mut both = Guarded::new(random, &content, |random| random.next() as i8);
        let all = both.cells();
        kernels::add_i8_simd(&p, shift, &all[below..], &b[..], &all[..len]);
        let kept = &content[len..];
        both.assert(&[&expected[..], kept].concat(), &format!("{len} sums {below} below an operand"));
    }
}

fn mean(random: &mut Random) {
    // The twin takes eight channels at least.
    let c = random.within(1, 70);
    let (k_h, k_w) = (random.within(1, 7), random.within(1, 7));
    let (stride_h, stride_w) = (random.within(1, 3), random.within(1, 3));
    let (out_h, out_w) = (random.within(1, 4), random.within(1, 4));
    let beside = random.below(2);
    let in_h = (out_h - 1) * stride_h + k_h + random.below(2);
    let in_w = (out_w - 1) * stride_w + k_w + beside;
    let shape = Conv { in_h, in_w, in_c: c, out_w, out_c: c, k_h, k_w, stride_h, stride_w, ..rows_of(1) };
    let p = Pool { in_h, in_w, c, out_w, k_h, k_w, stride_h, stride_w, pad_top: 0, pad_left: 0 };
    let operand = Operand { x: random.bytes(in_h * in_w * c), row: in_w * c, pad: 0 };
    let factor = ((1 << 30) / (k_h * k_w)) as i32;
    let factor = if random.below(2) == 0 { factor } else { factor / 30 * random.below(30) as i32 };
    let mean = MeanLinear { factor, start: random.next() as i32 >> random.within(8, 18) };
    let expected: Vec<i8> = (0..out_h)
        .flat_map(|y| (0..out_w).flat_map(move |x| (0..c).map(move |c| (y, x, c))))
        .map(|(y, x, c)| {
            let taps = (0..k_h).flat_map(|ky| (0..k_w).map(move |kx| (ky, kx)));
            let sum =
                taps.map(|(ky, kx)| operand.at(&shape, y * stride_h + ky, x * stride_w + kx, c)).sum::<i32>();
            let part = ((i64::from(mean.factor) * i64::from(sum)) >> 16) as i32;
            (mean.start.wrapping_add(part) >> MeanLinear::SHIFT).clamp(-128, 127) as i8
        })
        .collect();
    if c >= 8 {
        let (mut x, mut y) = (operand.x.clone(), vec![0; expected.len()]);
        let (x, rows) = (Rows::whole(cells(&mut x), in_w * c), Rows::whole(cells(&mut y), out_w * c));
        kernels::mean_pool2d_i8_dsp(&p, x, &mean, rows, Band { first: 0, rows: out_h });
        assert_eq!(y, expected, "{p:?}");
    }
    let filters = Scaling::random(random, 0).filters(&[]);
    let (operand, expected, what) = (&operand, &expected[..], format!("mean, {mean:?}"));
    let check = Check { p: &shape, out_h, operand, expected, filters, work: 0, longer: true, what };
    check.run(random, |x, _, _, y, band| kernels::mean_pool2d_i8_simd(&p, x, &mean, y, band));
}

/// Filters of more taps than kernels keep account of, and sizes that no memory has: nothing is written.
fn too_large(random: &mut Random) {
    let scaling = Scaling::random(random, 1);
    let blocks = random.bytes(20_000);
    let filters = scaling.filters(&blocks);
    let most = usize::MAX;
    let shapes = [
        Conv { in_w: 200, k_h: 1, k_w: 65, dilation_w: 2, ..rows_of(1) },
        Conv { in_w: 20, k_h: 65, k_w: 1, ..rows_of(70) },
        Conv { in_w: 20, k_h: 9, k_w: 11, ..rows_of(20) },
        Conv { in_w: 20, k_h: 1, k_w: 132, ..rows_of(20) },
        Conv { k_h: most, ..rows_of(1) },
        Conv { k_w: most, ..rows_of(1) },
        Conv { k_h: most / 2 + 1, k_w: 2, dilation_w: 2, ..rows_of(1) },
        Conv { in_w: most, ..rows_of(1) },
        Conv { pad_left: most, ..rows_of(1) },
        Conv { k_w: 2, dilation_w: most, ..rows_of(1) },
        Conv { k_h: 2, dilation_h: most, ..rows_of(1) },
        Conv { out_w: most, ..rows_of(1) },
        Conv { out_w: 2, stride_w: most, ..rows_of(1) },
        Conv { in_c: most, ..rows_of(1) },
        Conv { in_c: most / 4 + 1, k_w: 4, ..rows_of(1) },
        Conv { in_c: most, out_w: most, in_w: most, ..rows_of(1) },
    ];
    for p in shapes {
        let (mut x, mut work) = (random.bytes(5_000), vec![0; 20_000]);
        let content = random.bytes(600);
        let mut y = Guarded::new(random, &content, |random| random.next() as i8);
        let (x, work) = (Rows::ring(cells(&mut x), 200, 20), cells(&mut work));
        let band = Band { first: 0, rows: 1 };
        let joined = p.k_h <= 64 && p.k_w > 64 && p.dilation_w == 1 || p.k_h == 9;
        if !joined {
            kernels::conv2d_i8_simd::<false>(&p, x, &filters, 0, work, Rows::whole(y.cells(), 300), band);
        }
        if (p.k_h, p.k_w) != (1, 65) && (p.k_h, p.k_w) != (65, 1) {
            kernels::depthwise2d_i8_simd::<false>(
                &p,
                x,
                &filters,
                0,
                work,
                Rows::whole(y.cells(), 300),
                band,
            );
        }
        y.assert(&content, &format!("{p:?}"));
    }
}

#[test]
fn kernels_in_vectors_equal_portable_ones() {
    at_each_level(|random| {
        for _ in 0..200 {
            conv(random);
            depthwise(random);
            dense(random);
            add(random);
            mean(random);
        }
        too_large(random);
    });
}
