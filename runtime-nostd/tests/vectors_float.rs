//! Kernels of floats in vectors against their portable twins, on random shapes, at every level that this processor has.
//!
//! Both add the same products, in another order and with one rounding instead of two. Each of the n additions and products of a sum errs by at most ε/2 of what is summed
//! so far, which is at most the sum of magnitudes m, so that either differs from the exact sum by at most (n + 1) · ε · m (Higham, Accuracy and Stability of
//! Numerical Algorithms, 3.1, with both roundings of a term), and they differ from each other by at most twice that. Clamping brings them no further apart.
//!
//! Reproducible kernels have the bits of the portable ones.
#![allow(clippy::unwrap_used)]

#[path = "simd/layers.rs"]
mod layers;
mod simd;

use kiln::kernels::{self, Band, Broadcast, Conv, MatMul, Pool, Reduce, Rows};
use layers::{alternating, held, ring};
use simd::{at_each_level, cells, Random};
use std::cell::Cell;

impl Random {
    fn float(&mut self) -> f32 {
        self.below(2001) as f32 / 512.0 - 2.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}

/// A random convolution, the rows of its result, and the pixels of its operand and its result that a clamp lets through.
fn random_conv(random: &mut Random, in_c: usize, out_c: usize, groups: usize) -> (Conv, usize) {
    let point = random.below(4) == 0;
    let size = |random: &mut Random| if point { 1 } else { 1 + random.below(4) };
    let (k_h, k_w) = (size(random), size(random));
    let (dilation_h, dilation_w) = (1 + random.below(4) / 3, 1 + random.below(4) / 3);
    let (stride_h, stride_w) = match random.below(2) {
        0 => (1, 1),
        _ => (1 + random.below(3), 1 + random.below(3)),
    };
    let (pad_top, pad_left) = match random.below(2) {
        0 => (0, 0),
        _ => (random.below(k_h), random.below(k_w)),
    };
    let (in_h, in_w) = (1 + random.below(9), 1 + random.below(30));
    // Padding at the bottom and on the right, but no window without any pixel.
    let out = |len: usize, pad: usize, stride: usize, ahead: usize| 1 + (len - 1 + pad.min(ahead)) / stride;
    let whole = |len: usize, stride: usize, reach: usize| 1 + (len.max(reach) - reach) / stride;
    let (reach_h, reach_w) = ((k_h - 1) * dilation_h + 1, (k_w - 1) * dilation_w + 1);
    let (out_h, out_w) = match pad_top + pad_left > 0 {
        true => (out(in_h, pad_top, stride_h, 0), out(in_w, pad_left, stride_w, 0)),
        // A row of padding below is what transposed convolutions have.
        false => (whole(in_h, stride_h, reach_h) + random.below(2), whole(in_w, stride_w, reach_w)),
    };
    let conv = Conv {
        in_h,
        in_w,
        in_c,
        out_w,
        out_c,
        k_h,
        k_w,
        stride_h,
        stride_w,
        dilation_h,
        dilation_w,
        pad_top,
        pad_left,
        groups,
    };
    (conv, out_h)
}

/// Elements of the workspace.
fn workspace(p: &Conv, phases: usize) -> usize {
    let (row, covered) = ring(p, phases);
    covered * row + 256
}

/// Blocks of sixteen filters \[o\]\[k\].
fn blocks(w: &[f32], bias: &[f32], k: usize) -> Vec<f32> {
    let filter = |o: usize, i: usize| if o < bias.len() { w[o * k + i] } else { 0.0 };
    let mut packed = Vec::new();
    for block in (0..bias.len()).step_by(16) {
        packed.extend((block..block + 16).map(|o| bias.get(o).copied().unwrap_or(0.0)));
        for i in 0..k {
            packed.extend((block..block + 16).map(|o| filter(o, i)));
        }
    }
    packed
}

/// Blocks of sixteen channels with filters \[tap\]\[c\].
fn depthwise_blocks(w: &[f32], bias: &[f32]) -> Vec<f32> {
    let c = bias.len();
    let period = c / [16, 8, 4, 2, 1].into_iter().find(|d| c % d == 0).unwrap();
    let flat = period > 1 && period <= 15;
    let count = if flat { period } else { c.div_ceil(16) };
    let lane = |of: &[f32], e: usize| match flat {
        true => of[e % c],
        false => of.get(e).copied().unwrap_or(0.0),
    };
    let mut packed = Vec::new();
    for block in 0..count {
        packed.extend((16 * block..16 * block + 16).map(|e| lane(bias, e)));
        for tap in w.chunks(c) {
            packed.extend((16 * block..16 * block + 16).map(|e| lane(tap, e)));
        }
    }
    packed
}

/// Operand, weights and bias, with which sums of magnitudes are computed, and the clamp.
struct Layer {
    x: Vec<f32>,
    w: Vec<f32>,
    bias: Vec<f32>,
    range: [f32; 2],
    terms: usize,
}

impl Layer {
    fn random(random: &mut Random, x: usize, w: usize, bias: usize) -> Layer {
        let range = [[f32::MIN, f32::MAX], [0.0, 6.0]][random.below(2)];
        let (x, w, bias) = (random.floats(x), random.floats(w), random.floats(bias));
        Layer { terms: w.len() / bias.len() + 1, x, w, bias, range }
    }

    fn magnitudes(&self) -> Layer {
        let abs = |values: &[f32]| values.iter().map(|v| v.abs()).collect();
        let (x, w, bias) = (abs(&self.x), abs(&self.w), abs(&self.bias));
        Layer { x, w, bias, range: [f32::MIN, f32::MAX], terms: self.terms }
    }

    /// Compares what both kernels compute.
    fn compare(&self, found: &[f32], twin: impl Fn(&Layer) -> Vec<f32>, what: &str) {
        let (expected, magnitudes) = (twin(self), twin(&self.magnitudes()));
        let epsilon = 2.0 * (self.terms + 1) as f32 * f32::EPSILON;
        assert_eq!(found.len(), expected.len());
        for (i, ((found, expected), m)) in found.iter().zip(&expected).zip(&magnitudes).enumerate() {
            assert!((found - expected).abs() <= epsilon * m, "{what}: {i}: {found} is not {expected}");
        }
    }
}

/// Calls a kernel with bands of random heights; in a ring, whose rows are copied there as they come.
fn in_bands(
    random: &mut Random,
    p: &Conv,
    out_h: usize,
    x: &[f32],
    y: &mut [f32],
    kernel: impl Fn(Rows<'_, f32>, Rows<'_, f32>, Band),
) {
    let row = p.in_w * p.in_c;
    let y = Rows::whole(cells(y), p.out_w * p.out_c);
    let mut first = 0;
    while first < out_h {
        let rows = 1 + random.below(out_h - first);
        let band = Band { first, rows };
        if random.below(2) == 0 {
            kernel(Rows::whole(cells(&mut x.to_vec()), row), y, band);
        } else {
            let mut held = held(random, p, band, x, row, |_, len| vec![f32::NAN; len]);
            let ring = held.len() / row;
            kernel(Rows::ring(cells(&mut held), row, ring), y, band);
        }
        first += rows;
    }
}

/// What a kernel computes in one call.
fn at_once(
    p: &Conv,
    out_h: usize,
    x: &[f32],
    kernel: impl Fn(Rows<'_, f32>, Rows<'_, f32>, Band),
) -> Vec<f32> {
    let (mut x, mut y) = (x.to_vec(), vec![0.0; out_h * p.out_w * p.out_c]);
    let (x, rows) =
        (Rows::whole(cells(&mut x), p.in_w * p.in_c), Rows::whole(cells(&mut y), p.out_w * p.out_c));
    kernel(x, rows, Band { first: 0, rows: out_h });
    y
}

fn conv(random: &mut Random) {
    let (in_c, out_c) = (1 + random.below(40), 1 + random.below(70));
    let (p, out_h) = random_conv(random, in_c, out_c, 1);
    let k = p.k_h * p.k_w * in_c;
    let layer = Layer::random(random, p.in_h * p.in_w * in_c, out_c * k, out_c);
    let ([lo, hi], w) = (layer.range, blocks(&layer.w, &layer.bias, k));
    let mut y = vec![f32::NAN; out_h * p.out_w * out_c];
    let mut work = vec![f32::NAN; workspace(&p, 1)];
    let work = cells(&mut work);
    in_bands(random, &p, out_h, &layer.x, &mut y, |x, y, band| {
        kernels::conv2d_f32_simd(&p, x, &w, lo, hi, work, y, band);
    });
    let mut exact = vec![f32::NAN; y.len()];
    in_bands(random, &p, out_h, &layer.x, &mut exact, |x, y, band| {
        kernels::conv2d_f32_simd_reproducible(&p, x, &w, lo, hi, work, y, band);
    });
    let twin = |layer: &Layer| {
        let ([lo, hi], w) = (layer.range, alternating(&layer.w, k));
        at_once(&p, out_h, &layer.x, |x, y, all| {
            kernels::conv2d_f32(&p, x, &w, &layer.bias, lo, hi, y, all);
        })
    };
    same_bits(&exact, &twin(&layer), &format!("bits of {p:?}"));
    layer.compare(&y, twin, &format!("{p:?}"));
}

fn depthwise(random: &mut Random) {
    let c = match random.below(3) {
        0 => 8 * (1 + random.below(12)),
        _ => 1 + random.below(70),
    };
    let (p, out_h) = random_conv(random, c, c, c);
    let layer = Layer::random(random, p.in_h * p.in_w * c, p.k_h * p.k_w * c, c);
    let ([lo, hi], w) = (layer.range, depthwise_blocks(&layer.w, &layer.bias));
    let mut y = vec![f32::NAN; out_h * p.out_w * c];
    let mut work = vec![f32::NAN; workspace(&p, p.stride_w)];
    let work = cells(&mut work);
    in_bands(random, &p, out_h, &layer.x, &mut y, |x, y, band| {
        kernels::depthwise2d_f32_simd(&p, x, &w, lo, hi, work, y, band);
    });
    let mut exact = vec![f32::NAN; y.len()];
    in_bands(random, &p, out_h, &layer.x, &mut exact, |x, y, band| {
        kernels::depthwise2d_f32_simd_reproducible(&p, x, &w, lo, hi, work, y, band);
    });
    let twin = |layer: &Layer| {
        let [lo, hi] = layer.range;
        at_once(&p, out_h, &layer.x, |x, y, all| {
            kernels::depthwise2d_f32(&p, x, &layer.w, &layer.bias, lo, hi, y, all);
        })
    };
    same_bits(&exact, &twin(&layer), &format!("bits of {p:?}"));
    layer.compare(&y, twin, &format!("{p:?}"));
}

fn dense(random: &mut Random) {
    let (k, n) = (1 + random.below(150), 1 + random.below(70));
    let m = 1 + random.below(3) * random.below(6) * random.below(3);
    let layer = Layer::random(random, m * k, n * k, n);
    let ([lo, hi], w) = (layer.range, blocks(&layer.w, &layer.bias, k));
    let all = Band { first: 0, rows: m };
    let rows = |of: &mut [f32], twin: bool, layer: &Layer| {
        let mut x = layer.x.clone();
        let (x, y) = (Rows::whole(cells(&mut x), k), Rows::whole(cells(of), n));
        match twin {
            true => {
                let [lo, hi] = layer.range;
                kernels::dense_f32(x, &alternating(&layer.w, k), &layer.bias, lo, hi, y, all);
            }
            false => kernels::dense_f32_simd(x, &w, lo, hi, cells(&mut vec![f32::NAN; m * k + 16]), y, all),
        }
    };
    let mut y = vec![f32::NAN; m * n];
    rows(&mut y, false, &layer);
    let twin = |layer: &Layer| {
        let mut y = vec![0.0; m * n];
        rows(&mut y, true, layer);
        y
    };
    let mut exact = vec![f32::NAN; m * n];
    let mut x = layer.x.clone();
    let (x, rows) = (Rows::whole(cells(&mut x), k), Rows::whole(cells(&mut exact), n));
    kernels::dense_f32_simd_reproducible(x, &w, lo, hi, cells(&mut vec![f32::NAN; m * k + 16]), rows, all);
    same_bits(&exact, &twin(&layer), &format!("bits of {m} × {k} × {n}"));
    match m {
        1 => same(&y, &twin(&layer), &format!("bits of one row, {k} × {n}")),
        _ => layer.compare(&y, twin, &format!("{m} × {k} × {n}")),
    }
    // Row by row, the result lies over operands that are done with.
    let ahead = (0..m).map(|row| (n * (row + 1)).saturating_sub(k * row)).max().unwrap();
    let mut memory = [vec![f32::NAN; ahead], layer.x.clone(), vec![f32::NAN; m * n]].concat();
    {
        let memory = cells(&mut memory);
        let (x, y) = (Rows::whole(&memory[ahead..][..m * k], k), Rows::whole(&memory[..m * n], n));
        let room = [0, m * k / 2, m * k + 16][random.below(3)];
        kernels::dense_f32_simd(x, &w, lo, hi, cells(&mut vec![f32::NAN; room]), y, all);
    }
    layer.compare(&memory[..m * n], twin, &format!("{m} × {k} × {n} over its operand"));
}

/// The functions in lanes are libm's: numbers of all magnitudes and signs, and those near the bounds between the cases that libm tells apart. With `KILN_SWEEP`, every number.
fn lanes(random: &mut Random) {
    type Map = fn(&[Cell<f32>], &[Cell<f32>]);
    let twins: [(Map, Map); 3] = [
        (kernels::exp_f32_simd_reproducible, kernels::exp_f32),
        (kernels::logistic_f32_simd_reproducible, kernels::logistic_f32),
        (kernels::gelu_f32_simd_reproducible, kernels::gelu_f32),
    ];
    let bounds = [0x3eb1_7218, 0x3f85_1592, 0x3900_0000, 0x42b1_7218, 0x42cf_f1b5, 0x42ae_ac50, 0x7f80_0000];
    let bounds = bounds.into_iter().chain([0x3180_0000, 0x3f58_0000, 0x3fa0_0000, 0x4036_db6d, 0x40c0_0000]);
    // For gelu the bounds are those of x / √2.
    let scaled = |bits: u32| (f32::from_bits(bits) * std::f32::consts::SQRT_2).to_bits();
    let near: Vec<u32> = bounds
        .flat_map(|bits| [bits, scaled(bits)])
        .flat_map(|bits| bits - 40..bits.saturating_add(40))
        .flat_map(|bits| [bits, bits | 1 << 31])
        .collect();
    let some: Vec<u32> = near.into_iter().chain((0..50_000).map(|_| random.next())).collect();
    let compare = |mut x: Vec<f32>| {
        for (lanes, portable) in twins {
            let (mut y, mut expected) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            lanes(cells(&mut x), cells(&mut y));
            portable(cells(&mut x), cells(&mut expected));
            for ((x, y), expected) in x.iter().zip(&y).zip(&expected) {
                assert!(
                    y.to_bits() == expected.to_bits() || y.is_nan() && expected.is_nan(),
                    "{x:e}: {y:e} is not {expected:e}"
                );
            }
        }
    };
    compare(some.into_iter().map(f32::from_bits).collect());
    if std::env::var_os("KILN_SWEEP").is_some() {
        for high in 0..1u32 << 16 {
            compare((0..1u32 << 16).map(|low| f32::from_bits(high << 16 | low)).collect());
        }
    }
}

/// The same floats, or both none.
fn same(found: &[f32], expected: &[f32], what: &str) {
    let equal = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
    assert!(found.iter().zip(expected).all(equal) && found.len() == expected.len(), "{what}");
}

/// The same bits, or both NaN.
fn same_bits(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{what}: {i}: {a:e} is not {b:e}");
    }
}

fn pools(random: &mut Random) {
    let (c, k_h, k_w) = (1 + random.below(140), 1 + random.below(4), 1 + random.below(4));
    let (in_h, in_w) = (k_h + random.below(6), k_w + random.below(9));
    let (stride_h, stride_w) = (1 + random.below(3), 1 + random.below(3));
    let (pad_top, pad_left) = (random.below(k_h), random.below(k_w));
    let (out_h, out_w) = (1 + (in_h - 1) / stride_h, 1 + (in_w - 1) / stride_w);
    let p = Pool { in_h, in_w, c, out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left };
    let mut x = random.floats(in_h * in_w * c);
    let x = Rows::whole(cells(&mut x), in_w * c);
    let all = |kernel: fn(&Pool, Rows<'_, f32>, f32, f32, Rows<'_, f32>, Band)| {
        let mut y = vec![0.0; out_h * out_w * c];
        let rows = Rows::whole(cells(&mut y), out_w * c);
        kernel(&p, x, -1.5, f32::MAX, rows, Band { first: 0, rows: out_h });
        y
    };
    same(&all(kernels::max_pool2d_f32_simd), &all(kernels::max_pool2d_f32), &format!("{p:?}"));
    same(&all(kernels::avg_pool2d_f32_simd), &all(kernels::avg_pool2d_f32), &format!("{p:?}"));
}

type Pairs = fn(&Broadcast, f32, f32, &[Cell<f32>], &[f32], &[Cell<f32>]);

fn pairs(random: &mut Random) {
    let dims: [usize; 6] = std::array::from_fn(|_| 1 + random.below(4) * random.below(3) * random.below(4));
    let mut operand = || {
        let kept: [bool; 6] = match random.below(3) {
            0 => [true; 6],
            _ => std::array::from_fn(|_| random.below(2) == 0),
        };
        let mut len = 1;
        let mut strides = [0; 6];
        for axis in (0..6).rev().filter(|&axis| kept[axis]) {
            strides[axis] = if dims[axis] == 1 { 0 } else { len };
            len *= dims[axis];
        }
        (strides, random.floats(len))
    };
    let ((a, mut x), (b, z)) = (operand(), operand());
    let shape = Broadcast { dims, a, b };
    let x = cells(&mut x);
    let all = |kernel: Pairs| {
        let mut y = vec![f32::NAN; dims.iter().product()];
        kernel(&shape, -3.0, 3.0, x, &z, cells(&mut y));
        y
    };
    let twins: [[Pairs; 2]; 4] = [
        [
            |s, l, h, a, b, y| kernels::add_f32_simd(s, l, h, a, b, y),
            |s, l, h, a, b, y| kernels::add_f32(s, l, h, a, b, y),
        ],
        [
            |s, l, h, a, b, y| kernels::sub_f32_simd(s, l, h, a, b, y),
            |s, l, h, a, b, y| kernels::sub_f32(s, l, h, a, b, y),
        ],
        [
            |s, l, h, a, b, y| kernels::mul_f32_simd(s, l, h, a, b, y),
            |s, l, h, a, b, y| kernels::mul_f32(s, l, h, a, b, y),
        ],
        [
            |s, l, h, a, b, y| kernels::div_f32_simd(s, l, h, a, b, y),
            |s, l, h, a, b, y| kernels::div_f32(s, l, h, a, b, y),
        ],
    ];
    for [vectors, portable] in twins {
        same(&all(vectors), &all(portable), &format!("{shape:?}"));
    }
}

/// Functions against `f64`: `bound` is what a result may err by, given operand and exact result.
fn functions(random: &mut Random) {
    let special = [0.0, -0.0, 1.0, -1.0, 87.5, 88.7, 89.0, -87.0, -103.0, -120.0, 1e30, -1e30];
    let mut x: Vec<f32> = (0..1 + random.below(200)).map(|_| random.float() * 10.0).collect();
    x.extend(special);
    type Map = fn(&[Cell<f32>], &[Cell<f32>]);
    let mut all = |kernel: Map| {
        let mut y = vec![f32::NAN; x.len()];
        kernel(cells(&mut x), cells(&mut y));
        (x.clone(), y)
    };
    let ulp = |exact: f64| (exact.abs() * f64::from(f32::EPSILON)).max(f64::from(f32::from_bits(2)));
    let check =
        |(x, y): (Vec<f32>, Vec<f32>), exact: &dyn Fn(f64) -> f64, bound: &dyn Fn(f64, f64) -> f64| {
            for (x, y) in x.into_iter().zip(y) {
                let (x, y) = (f64::from(x), f64::from(y));
                let exact = exact(x);
                if exact > f64::from(f32::MAX) {
                    assert!(y == f64::INFINITY || x < 89.0, "{x}: {y}");
                } else {
                    assert!((y - exact).abs() <= bound(x, exact), "{x}: {y} is not {exact}");
                }
            }
        };
    check(all(kernels::exp_f32_simd), &|x| x.exp(), &|_, y| 3.0 * ulp(y));
    let logistic = |x: f64| if x < -9.0 { x.exp() } else { 1.0 / (1.0 + (-x).exp()) };
    check(all(kernels::logistic_f32_simd), &logistic, &|_, y| 6.0 * ulp(y));
    check(
        all(kernels::gelu_f32_simd),
        &|x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        &|x, _| 4e-7 * x.abs(),
    );
    for [vectors, portable] in [
        [kernels::exp_f32_simd_reproducible as Map, kernels::exp_f32],
        [kernels::logistic_f32_simd_reproducible, kernels::logistic_f32],
        [kernels::gelu_f32_simd_reproducible, kernels::gelu_f32],
    ] {
        same_bits(&all(vectors).1, &all(portable).1, "bits of functions");
    }
    for [vectors, portable] in
        [[kernels::sqrt_f32_simd as Map, kernels::sqrt_f32], [kernels::rsqrt_f32_simd, kernels::rsqrt_f32]]
    {
        same(&all(vectors).1, &all(portable).1, "roots");
    }
}

fn shares(random: &mut Random) {
    let (rows, depth) = (1 + random.below(20), 1 + random.below(70));
    let mut x: Vec<f32> = random.floats(rows * depth).iter().map(|x| x * 20.0 - 100.0).collect();
    let beta = [1.0, 0.5][random.below(2)];
    let (mut y, mut expected) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
    kernels::softmax_f32_simd(depth, beta, cells(&mut x), cells(&mut y));
    kernels::softmax_f32(depth, beta, cells(&mut x), cells(&mut expected));
    // Three units for each exponential, of which the sum's additions add no more than their number.
    let bound = (8 + depth) as f32 * f32::EPSILON;
    for (y, expected) in y.iter().zip(&expected) {
        assert!(
            (y - expected).abs() <= bound * expected + f32::from_bits(2),
            "{depth}: {y} is not {expected}"
        );
    }
    let mut exact = vec![f32::NAN; x.len()];
    kernels::softmax_f32_simd_reproducible(depth, beta, cells(&mut x), cells(&mut exact));
    same_bits(&exact, &expected, "bits of shares");
    let mut over = x.clone();
    let all = cells(&mut over);
    kernels::softmax_f32_simd_reproducible(depth, beta, all, all);
    same_bits(&over, &expected, "bits of shares, in place");
    // In place.
    let all = cells(&mut x);
    kernels::softmax_f32_simd(depth, beta, all, all);
    same(&x, &y, "in place");
}

fn means(random: &mut Random) {
    let (rows, len) = (1 + random.below(20), 1 + random.below(70));
    let (mut x, mut y, mut expected) =
        (random.floats(rows * len), vec![f32::NAN; rows], vec![f32::NAN; rows]);
    let p = Reduce {
        outer: [1, 1, 1, 1, 1, rows],
        outer_strides: [0, 0, 0, 0, 0, len],
        inner: [1, 1, 1, 1, 1, len],
        inner_strides: [0, 0, 0, 0, 0, 1],
    };
    kernels::mean_f32_simd(&p, -0.5, f32::MAX, cells(&mut x), cells(&mut y));
    kernels::mean_f32(&p, -0.5, f32::MAX, cells(&mut x), cells(&mut expected));
    let mut exact = vec![f32::NAN; rows];
    kernels::mean_f32_simd_reproducible(&p, -0.5, f32::MAX, cells(&mut x), cells(&mut exact));
    same_bits(&exact, &expected, "bits of means");
    for ((y, expected), x) in y.iter().zip(&expected).zip(x.chunks(len)) {
        let m = x.iter().map(|x| x.abs()).sum::<f32>() / len as f32;
        assert!(
            (y - expected).abs() <= 2.0 * (len + 1) as f32 * f32::EPSILON * m,
            "{len}: {y} is not {expected}"
        );
    }
}

fn matmul(random: &mut Random) {
    let (m, n, k, heads) =
        (1 + random.below(20), 1 + random.below(40), 1 + random.below(60), 1 + random.below(3));
    let shared = random.below(2) == 0;
    let count = if shared { 1 } else { heads };
    let p = MatMul {
        dims: [1, 1, 1, 1, 1, heads],
        a: [0, 0, 0, 0, 0, m * k],
        b: [0, 0, 0, 0, 0, if shared { 0 } else { n * k }],
        m,
        n,
        k,
    };
    let layer = Layer {
        x: random.floats(heads * m * k),
        w: random.floats(count * n * k),
        bias: vec![0.0],
        range: [-2.0, 2.0],
        terms: k,
    };
    let mut y = vec![f32::NAN; heads * m * n];
    let mut work = vec![f32::NAN; n.next_multiple_of(16) * (k + 1) + 16];
    kernels::matmul_f32_simd(
        &p,
        -2.0,
        2.0,
        cells(&mut layer.x.clone()),
        &layer.w[..],
        cells(&mut y),
        cells(&mut work),
    );
    let twin = |layer: &Layer| {
        let mut y = vec![f32::NAN; heads * m * n];
        let [lo, hi] = layer.range;
        kernels::matmul_f32(&p, lo, hi, cells(&mut layer.x.clone()), &layer.w[..], cells(&mut y));
        y
    };
    let mut exact = vec![f32::NAN; heads * m * n];
    let (x, w) = (&mut layer.x.clone(), &layer.w[..]);
    kernels::matmul_f32_simd_reproducible(&p, -2.0, 2.0, cells(x), w, cells(&mut exact), cells(&mut work));
    same_bits(&exact, &twin(&layer), &format!("bits of {p:?}"));
    layer.compare(&y, twin, &format!("{p:?}"));
}

#[test]
fn kernels_in_vectors_are_close_to_portable_ones() {
    at_each_level(|random| {
        lanes(random);
        for _ in 0..300 {
            conv(random);
            depthwise(random);
            dense(random);
            pools(random);
            pairs(random);
            functions(random);
            shares(random);
            means(random);
            matmul(random);
        }
    });
}
