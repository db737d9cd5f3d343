//! The functions of libm without branches, bit for bit: compilers make vectors of them.
//!
//! Every case is computed and one of them taken. The arithmetic is that of FreeBSD's `e_expf.c` and `s_erff.c`, which libm has: the same operations on the same
//! constants in the same order, so that results are the same on every processor. `runtime-nostd/tests/vectors_float.rs` compares them.
// Constants with the digits that libm gives them.
#![allow(clippy::excessive_precision)]

/// Elements that are computed together: a multiple of all vectors.
pub(crate) const LANES: usize = crate::arch::vector::BLOCK;

/// [`libm::expf`] of each element.
#[inline(always)]
pub(crate) fn exps(x: [f32; LANES]) -> [f32; LANES] {
    each(x, exp)
}

/// [`logistic`](crate::arch::portable::unary::logistic) of each element.
#[inline(always)]
pub(crate) fn logistics(x: [f32; LANES]) -> [f32; LANES] {
    each(x, |x| {
        let far = x < -9.0;
        let power = exp(if far { x } else { -x });
        let y = if far { power } else { 1.0 / (1.0 + power) };
        if x > 16.619_047 {
            1.0
        } else {
            y
        }
    })
}

/// [`gelu_f32`](crate::kernels::gelu_f32) of each element.
#[inline(always)]
pub(crate) fn gelus(x: [f32; LANES]) -> [f32; LANES] {
    let erfs = erfs(each(x, |x| x * core::f32::consts::FRAC_1_SQRT_2));
    let mut y = [0.0; LANES];
    for i in 0..LANES {
        y[i] = 0.5 * x[i] * (1.0 + erfs[i]);
    }
    y
}

/// A loop, which vectors are made of.
#[inline(always)]
fn each(x: [f32; LANES], f: impl Fn(f32) -> f32) -> [f32; LANES] {
    let mut y = [0.0; LANES];
    for i in 0..LANES {
        y[i] = f(x[i]);
    }
    y
}

/// The number without its sign, as bits: ordered as magnitudes are, with NaN at the end.
#[inline(always)]
fn magnitude(x: f32) -> u32 {
    x.to_bits() & 0x7fff_ffff
}

/// [`libm::expf`].
#[inline(always)]
fn exp(x: f32) -> f32 {
    const INV_LN2: f32 = 1.442_695_022_1;
    const LN2: [f32; 2] = [6.931_457_519_5e-1, 1.428_606_765_3e-6];
    const P: [f32; 2] = [1.666_662_544_0e-1, -2.766_733_290_6e-3];
    let bits = magnitude(x);
    let negative = x < 0.0;
    // |x| > 1.5 ln 2, |x| > 0.5 ln 2.
    let near = if negative { -1 } else { 1 };
    let far = whole(INV_LN2 * x + if negative { -0.5 } else { 0.5 }, negative, near);
    let k = if bits > 0x3f85_1592 { far } else { near };
    let k = if bits > 0x3eb1_7218 { k } else { 0 };
    let (high, low) = (x - k as f32 * LN2[0], k as f32 * LN2[1]);
    let r = high - low;
    let square = r * r;
    let c = r - square * (P[0] + square * P[1]);
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    // |x| ≤ 2⁻¹⁴.
    let y = if bits > 0x3900_0000 { y } else { 1.0 + x };
    // In two steps, of which the first is exact.
    let half = k >> 1;
    let y = y * power(half) * power(k.wrapping_sub(half));
    let y = if x >= 88.722_839 { f32::INFINITY } else { y };
    let y = if negative && bits >= 0x42cf_f1b5 { 0.0 } else { y };
    if x.is_nan() {
        x
    } else {
        y
    }
}

/// `x` without its fraction, for |x| < 2²²; otherwise any number. `one` is 1 with its sign. (Conversions that saturate are made one by one.)
#[inline(always)]
fn whole(x: f32, negative: bool, one: i32) -> i32 {
    // Added to 1.5 · 2²³, a number is rounded to an integer, which the sum's bits count.
    const UNIT: f32 = 12_582_912.0;
    let sum = x + UNIT;
    let (nearest, count) = (sum - UNIT, (sum.to_bits() as i32).wrapping_sub(UNIT.to_bits() as i32));
    let beyond = if negative { nearest < x } else { nearest > x };
    count.wrapping_sub(if beyond { one } else { 0 })
}

/// 2ᵏ for −126 ≤ k ≤ 127, otherwise any number.
#[inline(always)]
fn power(k: i32) -> f32 {
    f32::from_bits((k.wrapping_add(127) as u32) << 23)
}

/// c₀ + x · (c₁ + x · (…)).
#[inline(always)]
fn horner<const N: usize>(x: f32, c: &[f32; N]) -> f32 {
    let mut sum = c[N - 1];
    for i in (0..N - 1).rev() {
        sum = c[i] + x * sum;
    }
    sum
}

/// Numerator and denominator of erf(x) / x − 1 for |x| < 0.84375, over x².
const NEAR: ([f32; 5], [f32; 6]) = (
    [1.283_791_661_3e-1, -3.250_420_987_6e-1, -2.848_174_981_8e-2, -5.770_270_247_0e-3, -2.376_301_745_2e-5],
    [
        1.0,
        3.979_172_110_6e-1,
        6.502_225_250_0e-2,
        5.081_306_211_7e-3,
        1.324_947_370_4e-4,
        -3.960_228_241_3e-6,
    ],
);

/// Those of erf(x) − `ERX` for |x| < 1.25, over |x| − 1.
const NEXT: ([f32; 7], [f32; 7]) = (
    [
        -2.362_118_568_3e-3,
        4.148_561_060_4e-1,
        -3.722_078_800_2e-1,
        3.183_466_196_1e-1,
        -1.108_946_949_2e-1,
        3.547_830_507_2e-2,
        -2.166_375_517_8e-3,
    ],
    [
        1.0,
        1.064_208_820_5e-1,
        5.403_979_420_7e-1,
        7.182_865_589_9e-2,
        1.261_712_163_7e-1,
        1.363_708_358_3e-2,
        1.198_450_010_3e-2,
    ],
);
const ERX: f32 = 8.450_629_115_1e-1;

/// Those of the exponent of erfc(x) for |x| < 1/0.35, over 1/x².
const FAR: ([f32; 8], [f32; 9]) = (
    [
        -9.864_944_033_3e-3,
        -6.938_585_639_0e-1,
        -1.055_862_617_5e+1,
        -6.237_533_187_9e+1,
        -1.623_966_674_8e+2,
        -1.846_050_872_8e+2,
        -8.128_743_743_9e+1,
        -9.814_329_147_3,
    ],
    [
        1.0,
        1.965_127_182_0e+1,
        1.376_577_606_2e+2,
        4.345_658_874_5e+2,
        6.453_872_680_7e+2,
        4.290_081_481_9e+2,
        1.086_350_021_4e+2,
        6.570_249_557_5,
        -6.042_441_353_2e-2,
    ],
);

/// The same beyond.
const BEYOND: ([f32; 7], [f32; 8]) = (
    [
        -9.864_943_102_0e-3,
        -7.992_832_660_7e-1,
        -1.775_795_555_1e+1,
        -1.606_363_830_6e+2,
        -6.375_664_672_9e+2,
        -1.025_095_092_8e+3,
        -4.835_191_955_6e+2,
    ],
    [
        1.0,
        3.033_806_037_9e+1,
        3.257_925_109_9e+2,
        1.536_729_614_3e+3,
        3.199_858_154_3e+3,
        2.553_050_293_0e+3,
        4.745_285_339_4e+2,
        -2.244_095_230_1e+1,
    ],
);

/// [`libm::erff`] of each element: of the cases that libm tells apart, those that one of them has.
#[inline(always)]
fn erfs(x: [f32; LANES]) -> [f32; LANES] {
    let sizes = x.map(magnitude);
    let has = |from: u32, to: u32| sizes.iter().any(|&bits| from <= bits && bits < to);
    let mut y = each(x, erf_near);
    if has(0x3f58_0000, u32::MAX) {
        let next = each(x, erf_next);
        for i in 0..LANES {
            y[i] = if sizes[i] < 0x3f58_0000 { y[i] } else { next[i] };
        }
    }
    if has(0x3fa0_0000, u32::MAX) {
        let far = each(x, |x| erf_tail(x, &FAR.0, &FAR.1));
        for i in 0..LANES {
            y[i] = if sizes[i] < 0x3fa0_0000 { y[i] } else { far[i] };
        }
    }
    if has(0x4036_db6d, u32::MAX) {
        let beyond = each(x, |x| erf_tail(x, &BEYOND.0, &BEYOND.1));
        for i in 0..LANES {
            y[i] = if sizes[i] < 0x4036_db6d { y[i] } else { beyond[i] };
        }
    }
    for i in 0..LANES {
        y[i] = if x[i].is_nan() { x[i] } else { y[i] };
    }
    y
}

/// For |x| < 0.84375.
#[inline(always)]
fn erf_near(x: f32) -> f32 {
    let square = x * x;
    let near = x + x * (horner(square, &NEAR.0) / horner(square, &NEAR.1));
    // |x| < 2⁻²⁸.
    if magnitude(x) < 0x3180_0000 {
        0.125 * (8.0 * x + 1.027_033_329_0 * x)
    } else {
        near
    }
}

/// For |x| < 1.25.
#[inline(always)]
fn erf_next(x: f32) -> f32 {
    let s = f32::from_bits(magnitude(x)) - 1.0;
    signed(1.0 - (1.0 - ERX - horner(s, &NEXT.0) / horner(s, &NEXT.1)), x)
}

/// For larger ones, whose exponents have these coefficients.
#[inline(always)]
fn erf_tail<const R: usize, const Q: usize>(x: f32, r: &[f32; R], q: &[f32; Q]) -> f32 {
    let (bits, size) = (magnitude(x), f32::from_bits(magnitude(x)));
    let s = 1.0 / (size * size);
    let z = f32::from_bits(bits & 0xffff_e000);
    let ratio = horner(s, r) / horner(s, q);
    let tail = exp(-z * z - 0.5625) * exp((z - size) * (z + size) + ratio) / size;
    signed(if bits < 0x40c0_0000 { 1.0 - tail } else { 1.0 }, x)
}

/// A magnitude with the sign of `x`.
#[inline(always)]
fn signed(size: f32, x: f32) -> f32 {
    f32::from_bits(size.to_bits() | x.to_bits() & 0x8000_0000)
}
