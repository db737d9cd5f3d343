//! Every operation of every level that the processor has, against what it means.

use super::scalar::Scalar;
use super::{Clamp, Simd, BLOCK};

/// A block of lanes: whole vectors of any width.
type Ints = [i32; BLOCK];
type Floats = [f32; BLOCK];
/// Four bytes for each of them.
type Bytes = [u8; 4 * BLOCK];

/// A small generator of repeatable numbers (xorshift64*).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// One of so many.
    fn one_of(&mut self, count: u64) -> u64 {
        (self.next() >> 33) % count
    }

    /// Of every magnitude, and extreme ones.
    fn int(&mut self) -> i32 {
        match self.one_of(12) {
            0 => i32::MIN,
            1 => i32::MAX,
            2 => 0,
            _ => self.next() as i32 >> self.one_of(32),
        }
    }

    fn byte(&mut self) -> u8 {
        match self.one_of(5) {
            0 => 0x80,
            1 => 0x7f,
            2 => 0xff,
            _ => self.next() as u8,
        }
    }

    /// Finite, of moderate magnitudes, and both zeros.
    fn float(&mut self) -> f32 {
        match self.one_of(12) {
            0 => 0.0,
            1 => -0.0,
            _ => (self.next() as i32 >> 8) as f32 * libm::exp2f(-(self.one_of(30) as f32)),
        }
    }

    /// One that sums are multiplied with: a few significant bits now and then, for results halfway between integers.
    fn factor(&mut self) -> f32 {
        let significant = match self.one_of(3) {
            0 => 1 << self.one_of(4),
            _ => 1 | self.next() as u32 >> 9,
        };
        significant as f32 * libm::exp2f(-(self.one_of(46) as f32))
    }
}

/// What operations are applied to.
struct Operands {
    a: Ints,
    b: Ints,
    shift: u32,
    x: Bytes,
    w: Bytes,
    rows: [Bytes; 4],
    factors: Floats,
    halves: Floats,
    constants: Floats,
    multipliers: Ints,
    shifts: Ints,
    clamp: Clamp,
    f: Floats,
    g: Floats,
    h: Floats,
    /// Whole numbers that a float may have as its exponent.
    exponents: Floats,
    /// With values that are no numbers.
    any: Floats,
    lo: f32,
    hi: f32,
}

impl Operands {
    fn draw(rng: &mut Rng) -> Operands {
        let (lo, hi) = (rng.byte() as i8, rng.byte() as i8);
        let (low, high) = (rng.float(), rng.float());
        let any = |rng: &mut Rng| match rng.one_of(8) {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => f32::NEG_INFINITY,
            _ => rng.float(),
        };
        Operands {
            a: core::array::from_fn(|_| rng.int()),
            b: core::array::from_fn(|_| rng.int()),
            shift: rng.one_of(32) as u32,
            x: core::array::from_fn(|_| rng.byte()),
            w: core::array::from_fn(|_| rng.byte()),
            rows: core::array::from_fn(|_| core::array::from_fn(|_| rng.byte())),
            factors: core::array::from_fn(|_| rng.factor()),
            halves: core::array::from_fn(|_| if rng.one_of(4) > 0 { 0.5 } else { 0.499_999_97 }),
            constants: core::array::from_fn(|_| (rng.next() as i8) as f32 + rng.float() * 1e-9),
            multipliers: core::array::from_fn(|_| rng.int().max(0)),
            shifts: core::array::from_fn(|_| rng.one_of(31) as i32),
            clamp: Clamp { zero_point: (rng.byte() as i8).into(), lo: lo.min(hi), hi: lo.max(hi) },
            f: core::array::from_fn(|_| rng.float()),
            g: core::array::from_fn(|_| rng.float()),
            h: core::array::from_fn(|_| rng.float()),
            exponents: core::array::from_fn(|_| rng.one_of(254) as f32 - 126.0),
            any: core::array::from_fn(|_| any(rng)),
            lo: low.min(high),
            hi: low.max(high),
        }
    }
}

/// What they make of them: one value for each lane.
#[derive(Debug, PartialEq)]
struct Results {
    splat_i: Ints,
    add_i: Ints,
    mul_i: Ints,
    shift_right_i: Ints,
    widen: Ints,
    dot: Ints,
    dot_of_broadcast: Ints,
    interleave: [Bytes; 4],
    round_away: Ints,
    round_even: Ints,
    round_nearest: Ints,
    round_twice: Ints,
    narrow: [i8; BLOCK],
    splat: [u32; BLOCK],
    load_some: [u32; BLOCK],
    store_some: Floats,
    add: [u32; BLOCK],
    sub: [u32; BLOCK],
    mul: [u32; BLOCK],
    div: [u32; BLOCK],
    max: [u32; BLOCK],
    sqrt: [u32; BLOCK],
    power: [u32; BLOCK],
    mul_add: [u32; BLOCK],
    clip: [u32; BLOCK],
}

/// The lanes of a block, vector by vector: `$at` is the first lane of each.
macro_rules! ints {
    ($s:ty, $at:ident => $vector:expr) => {{
        let mut lanes = [0; BLOCK];
        for $at in (0..BLOCK).step_by(<$s>::LANES) {
            <$s>::store_i($vector, lanes.as_mut_ptr().add($at));
        }
        lanes
    }};
}

/// The same of floats, as bits.
macro_rules! floats {
    ($s:ty, $at:ident => $vector:expr) => {{
        let mut lanes = [0.0; BLOCK];
        for $at in (0..BLOCK).step_by(<$s>::LANES) {
            <$s>::store($vector, lanes.as_mut_ptr().add($at));
        }
        // One value for all that are no numbers.
        lanes.map(|x: f32| if x.is_nan() { u32::MAX } else { x.to_bits() })
    }};
}

/// # Safety
///
/// The processor has the level.
#[inline(always)]
unsafe fn results<S: Simd>(o: &Operands) -> Results {
    let flipped = o.x.map(|x| x ^ S::FLIP);
    // What kernels prepare of their weights: sums begin lower where operands are 128 more than stored.
    let less = |lane: usize| match S::FLIP {
        0 => 0,
        _ => o.w[4 * lane..4 * lane + 4].iter().map(|&w| 128 * i32::from(w as i8)).sum(),
    };
    let starts: Ints = core::array::from_fn(|lane| o.a[lane].wrapping_sub(less(lane)));
    // SAFETY: the processor has the level; all operands are of a block, of which `at` and a vector's lanes are a part.
    unsafe {
        let a = |at: usize| S::load_i(o.a.as_ptr().add(at));
        let b = |at: usize| S::load_i(o.b.as_ptr().add(at));
        let w = |at: usize| S::weights(o.w.as_ptr().add(4 * at).cast());
        let f = |at: usize| S::load(o.f.as_ptr().add(at));
        let g = |at: usize| S::load(o.g.as_ptr().add(at));
        let h = |at: usize| S::load(o.h.as_ptr().add(at));
        let factors = |at: usize| S::load(o.factors.as_ptr().add(at));
        let away = ints!(S, at => S::round_away(a(at), factors(at), S::load(o.halves.as_ptr().add(at))));
        let even = ints!(S, at => S::round_even(a(at), factors(at)));
        let nearest = ints!(S, at => {
            S::round_nearest(a(at), factors(at), S::load(o.constants.as_ptr().add(at)))
        });
        let multipliers = |at: usize| S::load_i(o.multipliers.as_ptr().add(at));
        let shifts = |at: usize| S::load_i(o.shifts.as_ptr().add(at));
        let mut vectors = [S::splat_i(0); BLOCK];
        for (i, at) in (0..BLOCK).step_by(S::LANES).enumerate() {
            vectors[i] = a(at);
        }
        // Some of a block's first lanes: of a vector all of them, some or none.
        let count = o.shift as usize % BLOCK;
        let some = |at: usize| count.saturating_sub(at).min(S::LANES);
        let mut store_some = [0.5; BLOCK];
        for at in (0..BLOCK).step_by(S::LANES) {
            S::store_some(f(at), store_some.as_mut_ptr().add(at), some(at));
        }
        let mut narrow = [0; BLOCK];
        S::narrow(&vectors[..BLOCK / S::LANES], &o.clamp, narrow.as_mut_ptr());
        let mut interleave = [[0; 4 * BLOCK]; 4];
        for at in (0..4 * BLOCK).step_by(4 * S::LANES) {
            let rows = [0, 1, 2, 3].map(|row| o.rows[row].as_ptr().add(at));
            S::interleave(rows, interleave.as_mut_ptr().cast::<u8>().add(4 * at));
        }
        Results {
            splat_i: ints!(S, at => S::splat_i(o.a[0])),
            add_i: ints!(S, at => S::add_i(a(at), b(at))),
            mul_i: ints!(S, at => S::mul_i(a(at), b(at))),
            shift_right_i: ints!(S, at => S::shift_right_i(a(at), o.shift)),
            widen: ints!(S, at => S::widen(o.x.as_ptr().add(at).cast())),
            dot: ints!(S, at => {
                let x = S::operand(flipped.as_ptr().add(4 * at));
                S::dot(S::load_i(starts.as_ptr().add(at)), x, w(at))
            }),
            dot_of_broadcast: ints!(S, at => {
                // From an odd address as well.
                let x = S::broadcast(flipped.as_ptr().add(o.shift as usize));
                S::dot(S::load_i(starts.as_ptr().add(at)), x, w(at))
            }),
            interleave,
            round_away: core::array::from_fn(|lane| rounded(o, lane, away[lane])),
            round_even: core::array::from_fn(|lane| rounded(o, lane, even[lane])),
            round_nearest: core::array::from_fn(|lane| rounded(o, lane, nearest[lane])),
            round_twice: ints!(S, at => S::round_twice(a(at), multipliers(at), shifts(at))),
            narrow,
            splat: floats!(S, at => S::splat(o.f[0])),
            add: floats!(S, at => S::add(f(at), g(at))),
            load_some: floats!(S, at => S::load_some(o.f.as_ptr().add(at), some(at), 1.5)),
            store_some,
            sub: floats!(S, at => S::sub(f(at), g(at))),
            mul: floats!(S, at => S::mul(f(at), g(at))),
            div: floats!(S, at => S::div(f(at), g(at))),
            max: floats!(S, at => S::max(S::load(o.any.as_ptr().add(at)), f(at))),
            sqrt: floats!(S, at => S::sqrt(S::load(o.any.as_ptr().add(at)))),
            power: floats!(S, at => S::power(S::load(o.exponents.as_ptr().add(at)))),
            mul_add: {
                let sums = floats!(S, at => S::mul_add(f(at), g(at), h(at)));
                core::array::from_fn(|lane| {
                    // With one rounding is as good as with two.
                    let (f, g, h) = (o.f[lane], o.g[lane], o.h[lane]);
                    let fused = libm::fmaf(g, h, f).to_bits();
                    if sums[lane] == fused {
                        (f + g * h).to_bits()
                    } else {
                        sums[lane]
                    }
                })
            },
            clip: floats!(S, at => {
                S::clip(S::load(o.any.as_ptr().add(at)), S::splat(o.lo), S::splat(o.hi))
            }),
        }
    }
}

/// A lane's rounded product, as far as it is determined: beyond 17 bits its sign, and beyond the range of `i32` that 16 bits do not hold it.
fn rounded(o: &Operands, lane: usize, result: i32) -> i32 {
    let product = f64::from(o.a[lane] as f32) * f64::from(o.factors[lane]);
    match product.abs() < 2_147_483_000.0 {
        true => result.clamp(-131_072, 131_072),
        false if i16::try_from(result).is_err() => i32::MAX,
        false => result,
    }
}

/// Compares a level's results of random and extreme operands with those of plain Rust.
// Other processors have no level.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_feature = "neon", target_feature = "simd128")),
    allow(dead_code)
)]
fn compare(results_of_level: unsafe fn(&Operands) -> Results) {
    compare_with(|operands| operands, results_of_level);
}

#[cfg_attr(
    not(any(target_arch = "x86_64", target_feature = "neon", target_feature = "simd128")),
    allow(dead_code)
)]
fn compare_with(prepare: fn(Operands) -> Operands, results_of_level: unsafe fn(&Operands) -> Results) {
    let mut rng = Rng(0x1234_5678_9abc_def1);
    for _ in 0..if cfg!(miri) { 3 } else { 3000 } {
        let operands = prepare(Operands::draw(&mut rng));
        // SAFETY: callers name levels that the processor has.
        let (got, meant) = unsafe { (results_of_level(&operands), results::<Scalar>(&operands)) };
        assert_eq!(got, meant);
    }
}

#[test]
fn plain_rust_computes_what_is_said() {
    let mut o = Operands::draw(&mut Rng(1));
    (o.x, o.w) = ([0x80; 4 * BLOCK], [0x80; 4 * BLOCK]);
    o.a = [i32::MAX, i32::MIN, 0, -1, 3, -3, 5, -5, 301, -301, 2, -2, 100, -100, 7, -7];
    (o.factors, o.halves) = ([0.5; BLOCK], [0.5; BLOCK]);
    (o.constants, o.multipliers, o.shifts) = ([0.25; BLOCK], [1 << 30; BLOCK], [1; BLOCK]);
    o.clamp = Clamp { zero_point: 10, lo: -100, hi: 120 };
    (o.lo, o.hi) = (-1.0, 6.0);
    o.any = core::array::from_fn(|i| [f32::NAN, -7.0, 7.0, 0.25][i % 4]);
    o.rows = core::array::from_fn(|row| core::array::from_fn(|i| (64 * row + i) as u8));
    // SAFETY: it needs nothing of the processor.
    let r = unsafe { results::<Scalar>(&o) };
    assert_eq!(r.dot[..4], [i32::MAX, i32::MIN, 0, -1].map(|start: i32| start.wrapping_add(65536)));
    assert_eq!(r.dot, r.dot_of_broadcast);
    assert_eq!(r.widen, [-128; BLOCK]);
    assert_eq!(r.round_away[2..], [0, -1, 2, -2, 3, -3, 151, -151, 1, -1, 50, -50, 4, -4]);
    assert_eq!(r.round_even[2..], [0, 0, 2, -2, 2, -2, 150, -150, 1, -1, 50, -50, 4, -4]);
    assert_eq!(r.round_nearest[2..], [0, 0, 2, -1, 3, -2, 151, -150, 1, -1, 50, -50, 4, -3]);
    assert_eq!(r.round_twice[2..], [0, 0, 1, 0, 1, -1, 38, -38, 0, 0, 13, -13, 1, -1]);
    assert_eq!(r.narrow, [120, -100, 10, 9, 13, 7, 15, 5, 120, -100, 12, 8, 110, -90, 17, 3]);
    assert_eq!(r.clip[..4], [u32::MAX, (-1.0f32).to_bits(), 6.0f32.to_bits(), 0.25f32.to_bits()]);
    assert_eq!(r.power, o.exponents.map(|n| libm::exp2f(n).to_bits()));
    assert_eq!(r.interleave[0][..8], [0, 64, 128, 192, 1, 65, 129, 193]);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{compare, compare_with, results, Operands, Results};
    use crate::arch::{self, x86};
    use crate::arch::{level::Level, simd::dispatch::is_available};

    #[test]
    fn avx2_computes_the_same() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn of_level(o: &Operands) -> Results {
            // SAFETY: as this function's.
            unsafe { results::<x86::avx2::Avx2>(o) }
        }
        if is_available(Level::Avx2) {
            compare(of_level);
        }
    }

    #[test]
    fn avx2_computes_the_same_of_symmetric_weights() {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn of_level(o: &Operands) -> Results {
            // SAFETY: as this function's.
            unsafe { results::<x86::avx2::Symmetric>(o) }
        }
        let symmetric = |o: Operands| Operands { w: o.w.map(|w| if w == 0x80 { 0x81 } else { w }), ..o };
        if is_available(Level::Avx2) {
            compare_with(symmetric, of_level);
        }
    }

    arch::with_avx512! {
        #[test]
        fn avx_vnni_computes_the_same() {
            #[target_feature(enable = "avx2,fma,avxvnni")]
            unsafe fn of_level(o: &Operands) -> Results {
                // SAFETY: as this function's.
                unsafe { results::<arch::avx_vnni::AvxVnni>(o) }
            }
            if is_available(Level::AvxVnni) {
                compare(of_level);
            }
        }

        #[test]
        fn avx512_computes_the_same() {
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
            unsafe fn of_level(o: &Operands) -> Results {
                // SAFETY: as this function's.
                unsafe { results::<arch::avx512::Avx512>(o) }
            }
            if is_available(Level::Avx512) {
                compare(of_level);
            }
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[test]
fn neon_computes_the_same() {
    compare(results::<crate::arch::aarch64::neon::Neon>);
}

#[cfg(all(target_arch = "aarch64", target_feature = "dotprod"))]
#[test]
fn dot_products_compute_the_same() {
    compare(results::<crate::arch::aarch64::dotprod::DotProduct>);
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[test]
fn simd128_computes_the_same() {
    compare(results::<crate::arch::wasm::simd128::Simd128>);
}
