//! Complex numbers of 16 bits, with both parts in a word.
#![allow(unsafe_code)]

use super::portable::block::Shifted;
use super::portable::fft::Point;
use core::arch::asm;

/// The real part in the lower half.
#[derive(Clone, Copy)]
pub(crate) struct Halves(u32);

/// Sums or differences of halves, exchanged or not, or of their products.
macro_rules! parts {
    ($instruction:literal, $a:expr, $b:expr) => {{
        let result: u32;
        // SAFETY: it reads and writes registers only; every core with the DSP extension has it.
        unsafe {
            asm!(
                concat!($instruction, " {result}, {a}, {b}"),
                result = lateout(reg) result, a = in(reg) $a, b = in(reg) $b,
                options(pure, nomem, nostack)
            );
        }
        result
    }};
}

/// Products of halves, added to half of the last bit that is left.
macro_rules! products {
    ($instruction:literal, $a:expr, $b:expr) => {{
        let sum: u32;
        // SAFETY: as in `parts`.
        unsafe {
            asm!(
                concat!($instruction, " {sum}, {a}, {b}, {half}"),
                sum = lateout(reg) sum, a = in(reg) $a, b = in(reg) $b, half = in(reg) 1u32 << 14,
                options(pure, nomem, nostack)
            );
        }
        sum
    }};
}

/// The upper halves, behind the sign, of two sums of products.
#[inline(always)]
fn upper(re: u32, im: u32) -> Halves {
    Halves((re >> 15) & 0xffff | (im << 1) & 0xffff_0000)
}

impl Halves {
    /// Both parts times a number of 15 bits of fraction, rounded.
    #[inline(always)]
    fn scaled(self, factor: u32) -> Self {
        upper(products!("smlabb", self.0, factor), products!("smlatb", self.0, factor))
    }
}

impl Point<i16> for Halves {
    #[inline(always)]
    fn new(re: i16, im: i16) -> Self {
        Halves(u32::from(re as u16) | u32::from(im as u16) << 16)
    }

    #[inline(always)]
    fn re(self) -> i16 {
        self.0 as i16
    }

    #[inline(always)]
    fn im(self) -> i16 {
        (self.0 >> 16) as i16
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Halves(parts!("sadd16", self.0, other.0))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Halves(parts!("ssub16", self.0, other.0))
    }

    #[inline(always)]
    fn plus_left(self, other: Self) -> Self {
        Halves(parts!("sasx", self.0, other.0))
    }

    #[inline(always)]
    fn minus_left(self, other: Self) -> Self {
        Halves(parts!("ssax", self.0, other.0))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        upper(products!("smlsd", self.0, other.0), products!("smladx", self.0, other.0))
    }

    #[inline(always)]
    fn conjugate(self) -> Self {
        Halves(parts!("ssub16", self.0 & 0xffff, self.0 & 0xffff_0000))
    }

    #[inline(always)]
    fn halved(self) -> Self {
        self.scaled(i16::MAX as u32 / 2)
    }

    #[inline(always)]
    fn quartered(self) -> Self {
        self.scaled(i16::MAX as u32 / 4)
    }
}

impl Shifted for Halves {
    #[inline(always)]
    fn times_shifted(self, other: Self, bits: u32) -> Self {
        let re = parts!("smusd", self.0, other.0);
        let im = parts!("smuadx", self.0, other.0);
        Self::of_products(re as i32, im as i32, bits)
    }
}
