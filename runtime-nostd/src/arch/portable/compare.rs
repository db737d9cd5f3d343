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

/// The kernel of a comparison for one type.
macro_rules! comparison {
    ($($doc:literal)+ ; $f:ident $name:ident $t:ident) => {
        $(#[doc = $doc])+
        #[inline(always)]
        pub fn $name(shape: &Broadcast, a: impl Read<$t>, b: impl Read<$t>, y: &[Cell<u8>]) {
            pairs(shape, a.slice(), b.slice(), y, |a, b| $t::$f(&a, &b));
        }
    };
}

macro_rules! comparisons {
    ($( $(#[doc = $doc:literal])+ $f:ident $f32:ident $i32:ident $i64:ident $i8:ident $u8:ident $i16:ident $scaled:ident; )+) => {$(
        comparison! { $($doc)+ ; $f $f32 f32 }
        comparison! { $($doc)+ ; $f $i32 i32 }
        comparison! { $($doc)+ ; $f $i64 i64 }
        comparison! { $($doc)+ ; $f $i8 i8 }
        comparison! { $($doc)+ ; $f $u8 u8 }
        comparison! { $($doc)+ ; $f $i16 i16 }

        $(#[doc = $doc])+
        ///
        /// Of quantised numbers of two scales.
        #[inline(always)]
        pub fn $scaled(
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
    eq equal_f32 equal_i32 equal_i64 equal_i8 equal_u8 equal_i16 equal_i8_scaled;
    /// Whether elements of the first operand are greater.
    gt greater_f32 greater_i32 greater_i64 greater_i8 greater_u8 greater_i16 greater_i8_scaled;
    /// Whether elements of the first operand are greater or equal.
    ge greater_equal_f32 greater_equal_i32 greater_equal_i64 greater_equal_i8 greater_equal_u8 greater_equal_i16 greater_equal_i8_scaled;
    /// Whether elements of the first operand are less.
    lt less_f32 less_i32 less_i64 less_i8 less_u8 less_i16 less_i8_scaled;
    /// Whether elements of the first operand are less or equal.
    le less_equal_f32 less_equal_i32 less_equal_i64 less_equal_i8 less_equal_u8 less_equal_i16 less_equal_i8_scaled;
    /// Whether elements differ.
    ne not_equal_f32 not_equal_i32 not_equal_i64 not_equal_i8 not_equal_u8 not_equal_i16 not_equal_i8_scaled;
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
