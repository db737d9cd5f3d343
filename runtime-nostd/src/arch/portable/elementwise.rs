//! Elementwise operations with two operands.

use super::walk::Walk;
use super::{math, sum::clip};
use crate::arch::opaque;
use crate::fixed::{high_mul, round_shift_any, to_i8};
use crate::params::{AddFloat, AddParams, Broadcast, MulFloat, MulParams, Scale};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Sum of `i8` operands: TFLite's `ADD`.
///
/// `(a − x_zero) · 2^left_shift · x + (b − y_zero) · 2^left_shift · y`, each product rounded, rescaled by `out`, plus `out_zero`, clamped to
/// `lo..=hi`.
#[inline(always)]
pub fn add_i8(shape: &Broadcast, p: &AddParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    add_signed(shape, p, 1, a.slice(), b.slice(), y);
}

/// Difference of `i8` operands: as [`add_i8`], with the second operand negated after its rescaling.
#[inline(always)]
pub fn sub_i8(shape: &Broadcast, p: &AddParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    add_signed(shape, p, -1, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add_signed(
    shape: &Broadcast,
    p: &AddParams,
    sign: i32,
    a: impl ReadSlice<i8>,
    b: impl ReadSlice<i8>,
    y: &[Cell<i8>],
) {
    zip(shape, a, b, y, |a, b| {
        let x = p.x.apply(i32::from(a).wrapping_sub(p.x_zero).wrapping_shl(p.left_shift));
        let y = p.y.apply(i32::from(b).wrapping_sub(p.y_zero).wrapping_shl(p.left_shift));
        to_i8(p.out.apply(x.wrapping_add(y.wrapping_mul(sign))), p.out_zero, p.lo, p.hi)
    });
}

macro_rules! quantised {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($p:ident) = $f:expr; )+) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        $vis fn $name(shape: &Broadcast, p: &$p, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
            bytes(shape, p, a.slice(), b.slice(), y, $f);
        }
    )+};
}

quantised! {
    /// Product of `i8` operands: TFLite's `MUL`.
    ///
    /// `(a − x_zero) · (b − y_zero)`, rescaled by `out`, plus `out_zero`, clamped to `lo..=hi`.
    pub fn mul_i8(MulParams) = |p, a, b| {
        let product = a.wrapping_sub(p.x_zero).wrapping_mul(b.wrapping_sub(p.y_zero));
        to_i8(p.out.apply(product), p.out_zero, p.lo, p.hi)
    };
    /// Sum of `i8` operands in floats: ONNX Runtime's `QLinearAdd`.
    pub fn add_i8_float(AddFloat) = |p, a, b| {
        let (x, y) = (a.wrapping_add(p.offset), b.wrapping_add(p.offset));
        let sum = (p.constant + x as f32 * p.x) + y as f32 * p.y;
        to_i8(math::round_even(sum), p.offset.wrapping_neg(), p.lo, p.hi)
    };
    /// Product of `i8` operands in floats: ONNX Runtime's `QLinearMul`.
    pub fn mul_i8_float(MulFloat) = |p, a, b| {
        let product = a.wrapping_sub(p.x_zero).wrapping_mul(b.wrapping_sub(p.y_zero));
        to_i8(math::round_even(product as f32 * p.by + p.plus), p.minus.wrapping_neg(), p.lo, p.hi)
    };
}

/// Applies `f` to the parameters and each pair of stored values.
#[inline(never)]
fn bytes<P>(
    shape: &Broadcast,
    p: &P,
    a: impl ReadSlice<i8>,
    b: impl ReadSlice<i8>,
    y: &[Cell<i8>],
    f: impl Fn(&P, i32, i32) -> i8,
) {
    let p = opaque(p);
    zip(shape, a, b, y, |a, b| f(p, a.into(), b.into()));
}

macro_rules! functions {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $f:expr; )+) => {$(
        $(#[doc = $doc])+
        ///
        /// Results are clamped to `lo..=hi`.
        #[inline(always)]
        $vis fn $name(
            shape: &Broadcast,
            lo: f32,
            hi: f32,
            a: impl Read<f32>,
            b: impl Read<f32>,
            y: &[Cell<f32>],
        ) {
            float(shape, lo, hi, a.slice(), b.slice(), y, $f);
        }
    )+};
}

functions! {
    /// Sum of floats.
    pub fn add_f32 = |a, b| a + b;
    /// Difference of floats.
    pub fn sub_f32 = |a, b| a - b;
    /// Product of floats.
    pub fn mul_f32 = |a, b| a * b;
    /// Angles of the points (`b`, `a`), in radians.
    pub fn atan2_f32 = libm::atan2f;
    /// Quotient of floats.
    pub fn div_f32 = |a, b| a / b;
    /// The greatest integers that are not above the quotients.
    pub fn floor_div_f32 = |a, b| libm::floorf(a / b);
    /// What the greatest such integers leave, with the sign of the divisor.
    pub fn floor_mod_f32 = floor_mod;
    /// The larger one of two floats; `b` where one is NaN.
    pub fn max_f32 = |a, b| if a > b { a } else { b };
    /// The smaller one of two floats; `b` where one is NaN.
    pub fn min_f32 = |a, b| if a < b { a } else { b };
    /// Powers: `a` to the `b`.
    pub fn pow_f32 = libm::powf;
    /// `a` where it is not negative, else `a · b`.
    pub fn prelu_f32 = |a, b| if a >= 0.0 { a } else { a * b };
    /// Squares of differences.
    pub fn squared_difference_f32 = |a, b| (a - b) * (a - b);
}

macro_rules! integers {
    ($($t:ident : $( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $f:expr; )+ )+) => {$($(
        $(#[doc = $doc])+
        ///
        /// Results are clamped to `lo..=hi`.
        #[inline(always)]
        $vis fn $name(shape: &Broadcast, lo: $t, hi: $t, a: impl Read<$t>, b: impl Read<$t>, y: &[Cell<$t>]) {
            plain(shape, lo, hi, a.slice(), b.slice(), y, $f);
        }
    )+)+};
}

integers! {
    i8:
    /// The larger one of two stored values of the same quantisation: TFLite's `MAXIMUM`.
    pub fn max_i8 = i8::max;
    /// The smaller one of two stored values of the same quantisation: TFLite's `MINIMUM`.
    pub fn min_i8 = i8::min;
    i16:
    /// As [`max_i8`].
    pub fn max_i16 = i16::max;
    /// As [`min_i8`].
    pub fn min_i16 = i16::min;
    i32:
    /// Sum of plain integers, which wraps.
    pub fn add_i32 = i32::wrapping_add;
    /// Difference of plain integers, which wraps.
    pub fn sub_i32 = i32::wrapping_sub;
    /// Product of plain integers, which wraps.
    pub fn mul_i32 = i32::wrapping_mul;
    /// The larger one of two integers.
    pub fn max_i32 = i32::max;
    /// The smaller one of two integers.
    pub fn min_i32 = i32::min;
    /// Quotients, rounded towards zero; 0 for a division by zero.
    pub fn div_i32 = |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
    /// The greatest integers that are not above the quotients; 0 for a division by zero.
    pub fn floor_div_i32 = |a, b| floor_div_mod(a.into(), b.into()).0 as i32;
    /// What the greatest such integers leave, with the sign of the divisor; 0 for a division by zero.
    pub fn floor_mod_i32 = |a, b| floor_div_mod(a.into(), b.into()).1 as i32;
    /// Powers, the least integer where they are beyond the type; 0 for negative exponents.
    pub fn pow_i32 = |a, b| i32::try_from(power(a.into(), b.into(), i64::saturating_mul)).unwrap_or(i32::MIN);
    /// Squares of differences, which wrap.
    pub fn squared_difference_i32 = |a, b| a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b));
    i64:
    /// Sum of plain integers, which wraps.
    pub fn add_i64 = i64::wrapping_add;
    /// Difference of plain integers, which wraps.
    pub fn sub_i64 = i64::wrapping_sub;
    /// Product of plain integers, which wraps.
    pub fn mul_i64 = i64::wrapping_mul;
    /// The larger one of two integers.
    pub fn max_i64 = i64::max;
    /// The smaller one of two integers.
    pub fn min_i64 = i64::min;
    /// Quotients, rounded towards zero; 0 for a division by zero.
    pub fn div_i64 = |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
    /// The greatest integers that are not above the quotients; 0 for a division by zero.
    pub fn floor_div_i64 = |a, b| floor_div_mod(a, b).0;
    /// What the greatest such integers leave, with the sign of the divisor; 0 for a division by zero.
    pub fn floor_mod_i64 = |a, b| floor_div_mod(a, b).1;
    /// Powers, which wrap; 0 for negative exponents.
    pub fn pow_i64 = |a, b| power(a, b, i64::wrapping_mul);
    /// Squares of differences, which wrap.
    pub fn squared_difference_i64 = |a, b| a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b));
}

#[inline(never)]
fn plain<T: Copy + Ord>(
    shape: &Broadcast,
    lo: T,
    hi: T,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<T>],
    f: impl Fn(T, T) -> T,
) {
    zip(shape, a, b, y, |a, b| f(a, b).max(lo).min(hi));
}

/// The greatest integer that is not above `a / b`, and what it leaves.
fn floor_div_mod(a: i64, b: i64) -> (i64, i64) {
    let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b)) else {
        // The one quotient that there is no number for wraps.
        return (if b == 0 { 0 } else { a }, 0);
    };
    if rest != 0 && (rest < 0) != (b < 0) {
        (quotient.wrapping_sub(1), rest.wrapping_add(b))
    } else {
        (quotient, rest)
    }
}

#[inline(always)]
fn power(a: i64, b: i64, product: impl Fn(i64, i64) -> i64) -> i64 {
    let (mut power, mut square, mut left) = (i64::from(b >= 0), a, b);
    while left > 0 {
        if left & 1 == 1 {
            power = product(power, square);
        }
        square = product(square, square);
        left >>= 1;
    }
    power
}

fn floor_mod(a: f32, b: f32) -> f32 {
    let rest = math::fmod(a, b);
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// Squares of differences of `i8` operands: TFLite's `SQUARED_DIFFERENCE`.
///
/// Operands are brought to a common scale as by [`add_i8`]; the square of their difference is rescaled by `out`.
#[inline(never)]
pub fn squared_difference_i8(
    shape: &Broadcast,
    p: &AddParams,
    a: impl Read<i8>,
    b: impl Read<i8>,
    y: &[Cell<i8>],
) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let x = p.x.apply(i32::from(a).wrapping_sub(p.x_zero).wrapping_shl(p.left_shift));
        let y = p.y.apply(i32::from(b).wrapping_sub(p.y_zero).wrapping_shl(p.left_shift));
        let difference = x.wrapping_sub(y);
        to_i8(p.out.apply(difference.wrapping_mul(difference)), p.out_zero, p.lo, p.hi)
    });
}

/// `i8` operands where they are not below their zero point, rescaled by `identity`; else their products as of [`mul_i8`]: TFLite's `PRELU`.
#[inline(never)]
pub fn prelu_i8(
    shape: &Broadcast,
    p: &MulParams,
    identity: &Scale,
    a: impl Read<i8>,
    b: impl Read<i8>,
    y: &[Cell<i8>],
) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let (a, b) = (i32::from(a).wrapping_sub(p.x_zero), i32::from(b).wrapping_sub(p.y_zero));
        let real = if a >= 0 { identity.apply(a) } else { p.out.apply(a.wrapping_mul(b)) };
        to_i8(real, p.out_zero, p.lo, p.hi)
    });
}

/// Quotients of `i8` operands: TFLite's `DIV`.
///
/// `(a − x_zero) / (b − y_zero)`, rescaled by `out`, plus `out_zero`, clamped to `lo..=hi`. `reciprocals` are those of 0 to 255 in Q0.31 between
/// 1/2 and 1. Shifts that C++ does not define are those of x86-64.
#[inline(never)]
pub fn div_i8(
    shape: &Broadcast,
    p: &MulParams,
    reciprocals: &[i32],
    a: impl Read<i8>,
    b: impl Read<i8>,
    y: &[Cell<i8>],
) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let (a, b) = (i32::from(a).wrapping_sub(p.x_zero), i32::from(b).wrapping_sub(p.y_zero));
        let (a, b) = if b < 0 { (a.wrapping_neg(), b.wrapping_neg()) } else { (a, b) };
        let reciprocal = reciprocals.get(b.unsigned_abs() as usize).copied().unwrap_or(0);
        let right = 31i32.wrapping_sub(b.leading_zeros() as i32);
        let headroom = ((if a < 0 { !a } else { a }).leading_zeros() as i32).wrapping_sub(1);
        let unscaled = high_mul(a.wrapping_shl(headroom.unsigned_abs()), reciprocal);
        let scaled = high_mul(unscaled, p.out.multiplier);
        let quotient = round_shift_any(scaled, right.wrapping_add(headroom).wrapping_sub(p.out.shift));
        to_i8(quotient, p.out_zero, p.lo, p.hi)
    });
}

#[inline(never)]
fn float(
    shape: &Broadcast,
    lo: f32,
    hi: f32,
    a: impl ReadSlice<f32>,
    b: impl ReadSlice<f32>,
    y: &[Cell<f32>],
    f: impl Fn(f32, f32) -> f32,
) {
    // The range of a layer without activation in TFLite: infinity becomes the largest number, whose bits are those before it, with either sign.
    let is_finite = lo == f32::MIN && hi == f32::MAX;
    let f = |a, b| {
        let result: f32 = f(a, b);
        if !is_finite {
            return clip(result, lo, hi);
        }
        let bits = result.to_bits();
        let is_infinite = bits << 1 == f32::INFINITY.to_bits() << 1;
        f32::from_bits(bits.wrapping_sub(is_infinite.into()))
    };
    let [.., step_a] = shape.a;
    let [.., step_b] = shape.b;
    let [.., n] = shape.dims;
    if step_a != 1 || step_b > 1 {
        return zip(shape, a, b, y, f);
    }
    // Rows that are one behind the other, of which the second one may be a single element.
    let walk = Walk::new(&shape.dims, [(&shape.a, 0), (&shape.b, 0)]);
    for (y, [at_a, at_b]) in y.chunks_exact(n.max(1)).zip(walk) {
        let Some(a) = a.run(at_a, n) else { return };
        if step_b == 0 {
            let Some(b) = b.at(at_b) else { return };
            y.iter().zip(a.each()).for_each(|(y, a)| y.set(f(a, b)));
        } else {
            let Some(b) = b.run(at_b, n) else { return };
            y.iter().zip(a.each()).zip(b.each()).for_each(|((y, a), b)| y.set(f(a, b)));
        }
    }
}

/// Applies `f` to all pairs of elements, in the order of the result.
#[inline(always)]
pub(crate) fn zip<T: Copy, Y>(
    shape: &Broadcast,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<Y>],
    f: impl Fn(T, T) -> Y,
) {
    let [.., step_a] = shape.a;
    let [.., step_b] = shape.b;
    let [.., n] = shape.dims;
    let walk = Walk::new(&shape.dims, [(&shape.a, 0), (&shape.b, 0)]);
    for (y, [mut at_a, mut at_b]) in y.chunks_exact(n.max(1)).zip(walk) {
        for y in y {
            let (Some(x), Some(z)) = (a.at(at_a), b.at(at_b)) else { return };
            y.set(f(x, z));
            at_a = at_a.wrapping_add(step_a);
            at_b = at_b.wrapping_add(step_b);
        }
    }
}
