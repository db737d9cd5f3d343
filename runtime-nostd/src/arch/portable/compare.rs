//! Comparisons, choices between operands, and changes of type.

use super::elementwise::zip;
use super::number::Number;
use super::unary::map;
use super::walk::Walk;
use crate::fixed::{high_mul, round_shift_any};
use crate::params::{Broadcast, Choice, CompareParams, Scale};
use crate::rows::{Read, ReadSlice};
use crate::Element;
use core::cell::Cell;

macro_rules! comparisons {
    ($(
        #[doc = $doc:literal]
        $f:ident: $($vis:vis fn $name:ident($t:ident)),+; $scaled_vis:vis fn $scaled:ident;
    )+) => {$(
        $(
            #[doc = $doc]
            #[inline(always)]
            $vis fn $name(shape: &Broadcast, a: impl Read<$t>, b: impl Read<$t>, y: &[Cell<u8>]) {
                pairs(shape, a.slice(), b.slice(), y, |a, b| $t::$f(&a, &b));
            }
        )+

        #[doc = $doc]
        ///
        /// Of quantised numbers of two scales.
        #[inline(always)]
        $scaled_vis fn $scaled(
            shape: &Broadcast,
            p: &CompareParams,
            a: impl Read<i8>,
            b: impl Read<i8>,
            y: &[Cell<u8>],
        ) {
            scaled(shape, p, a.slice(), b.slice(), y, |a, b| i32::$f(&a, &b));
        }
    )+};
}

comparisons! {
    /// Whether elements are equal.
    eq: pub fn equal_f32(f32), pub fn equal_i32(i32), pub fn equal_i64(i64),
        pub fn equal_i8(i8), pub fn equal_u8(u8), pub fn equal_i16(i16); pub fn equal_i8_scaled;
    /// Whether elements of the first operand are greater.
    gt: pub fn greater_f32(f32), pub fn greater_i32(i32), pub fn greater_i64(i64),
        pub fn greater_i8(i8), pub fn greater_u8(u8), pub fn greater_i16(i16); pub fn greater_i8_scaled;
    /// Whether elements of the first operand are greater or equal.
    ge: pub fn greater_equal_f32(f32), pub fn greater_equal_i32(i32), pub fn greater_equal_i64(i64),
        pub fn greater_equal_i8(i8), pub fn greater_equal_u8(u8), pub fn greater_equal_i16(i16); pub fn greater_equal_i8_scaled;
    /// Whether elements of the first operand are less.
    lt: pub fn less_f32(f32), pub fn less_i32(i32), pub fn less_i64(i64),
        pub fn less_i8(i8), pub fn less_u8(u8), pub fn less_i16(i16); pub fn less_i8_scaled;
    /// Whether elements of the first operand are less or equal.
    le: pub fn less_equal_f32(f32), pub fn less_equal_i32(i32), pub fn less_equal_i64(i64),
        pub fn less_equal_i8(i8), pub fn less_equal_u8(u8), pub fn less_equal_i16(i16); pub fn less_equal_i8_scaled;
    /// Whether elements differ.
    ne: pub fn not_equal_f32(f32), pub fn not_equal_i32(i32), pub fn not_equal_i64(i64),
        pub fn not_equal_i8(i8), pub fn not_equal_u8(u8), pub fn not_equal_i16(i16); pub fn not_equal_i8_scaled;
}

#[inline(never)]
fn pairs<T: Copy>(
    shape: &Broadcast,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<u8>],
    holds: impl Fn(T, T) -> bool,
) {
    zip(shape, a, b, y, |a, b| u8::from(holds(a, b)));
}

#[inline(never)]
fn scaled(
    shape: &Broadcast,
    p: &CompareParams,
    a: impl ReadSlice<i8>,
    b: impl ReadSlice<i8>,
    y: &[Cell<u8>],
    holds: impl Fn(i32, i32) -> bool,
) {
    zip(shape, a, b, y, |a, b| {
        let a = below_one(p.x, i32::from(a).wrapping_sub(p.x_zero).wrapping_shl(p.left_shift));
        let b = below_one(p.y, i32::from(b).wrapping_sub(p.y_zero).wrapping_shl(p.left_shift));
        u8::from(holds(a, b))
    });
}

/// `x` times a factor below 1: TFLite's `MultiplyByQuantizedMultiplierSmallerThanOneExp`, which does not shift to the left for others.
#[inline(always)]
fn below_one(by: Scale, x: i32) -> i32 {
    round_shift_any(high_mul(x, by.multiplier), by.shift.wrapping_neg())
}

/// Elements of `a` where the condition is not 0, else of `b`.
#[inline(always)]
pub fn select<T: Element>(p: &Choice, c: impl Read<u8>, a: impl Read<T>, b: impl Read<T>, y: &[Cell<T>]) {
    choose(p, c.slice(), a.slice(), b.slice(), y);
}

#[inline(never)]
fn choose<T: Element>(
    p: &Choice,
    c: impl ReadSlice<u8>,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<T>],
) {
    let ([.., step_c], [.., step_a], [.., step_b]) = (p.c, p.a, p.b);
    let [.., n] = p.dims;
    let walk = Walk::new(&p.dims, [(&p.c, 0), (&p.a, 0), (&p.b, 0)]);
    for (y, [mut at_c, mut at_a, mut at_b]) in y.chunks_exact(n.max(1)).zip(walk) {
        for y in y {
            let Some(c) = c.at(at_c) else { return };
            let Some(chosen) = (if c != 0 { a.at(at_a) } else { b.at(at_b) }) else { return };
            y.set(chosen);
            at_c = at_c.wrapping_add(step_c);
            at_a = at_a.wrapping_add(step_a);
            at_b = at_b.wrapping_add(step_b);
        }
    }
}

/// The same numbers as another type. Booleans are bytes, 0 or 1.
#[inline(never)]
pub fn cast<A: Number<B>, B: Element>(x: &[Cell<A>], y: &[Cell<B>]) {
    map(x, y, Number::number);
}

/// Whether numbers are not 0, as bytes.
#[inline(never)]
pub fn cast_to_bool<A: Element + PartialEq + Default>(x: &[Cell<A>], y: &[Cell<u8>]) {
    map(x, y, |x| u8::from(x != A::default()));
}
