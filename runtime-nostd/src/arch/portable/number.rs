//! What kernels that are generic over numbers ask of them.

use crate::Element;

/// Sums and products of plain numbers; integers wrap.
pub trait Arithmetic: Element {
    /// The empty sum.
    const ZERO: Self;
    /// The empty product.
    const ONE: Self;

    /// A sum.
    fn plus(self, other: Self) -> Self;

    /// A product.
    fn times(self, other: Self) -> Self;
}

impl Arithmetic for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn plus(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }
}

/// Numbers that are compared.
pub trait Ordered: Element + PartialOrd {
    /// Not above any other one.
    const LOWEST: Self;
    /// Not below any other one.
    const HIGHEST: Self;
}

macro_rules! integers {
    ($($t:ident)+) => { $(
        impl Arithmetic for $t {
            const ZERO: $t = 0;
            const ONE: $t = 1;

            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
        }
    )+ };
}

integers! { i32 i64 }

macro_rules! ordered {
    ($($t:ident)+) => { $(
        impl Ordered for $t {
            const LOWEST: $t = $t::MIN;
            const HIGHEST: $t = $t::MAX;
        }
    )+ };
}

ordered! { f32 i8 u8 i16 i32 i64 }

/// Integers that count elements.
pub trait Count: Element {
    /// So many.
    fn count(n: usize) -> Self;
}

impl Count for i32 {
    #[inline(always)]
    fn count(n: usize) -> i32 {
        n as i32
    }
}

impl Count for i64 {
    #[inline(always)]
    fn count(n: usize) -> i64 {
        n as i64
    }
}

/// A number that becomes another type's: floats are rounded towards zero and saturate, integers lose their high bits.
pub trait Number<T>: Element {
    /// The number as the other type.
    fn number(self) -> T;
}

macro_rules! numbers {
    ($($from:ident)+ ; $all:tt) => { $( numbers! { @from $from $all } )+ };
    (@from $from:ident ($($to:ident)+)) => { $(
        impl Number<$to> for $from {
            #[inline(always)]
            fn number(self) -> $to {
                self as $to
            }
        }
    )+ };
}

numbers! { f32 i8 u8 i16 i32 i64 ; (f32 i8 u8 i16 i32 i64) }
