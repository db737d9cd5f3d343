//! How the weights of layers lie in flash: as whole elements; or in fewer bits than they are computed with, `i8` of 4 bits, and floats of half precision. Some of those are
//! unpacked at a time.

use super::sum::{dot, Sum};
use core::cell::Cell;

/// Weights in the order in which a kernel reads them.
pub(crate) trait Weights: Copy {
    /// A weight that is computed with.
    type W: Copy + 'static;
    /// Room for weights that are unpacked.
    type Room;
    /// Such room.
    const ROOM: Self::Room;

    /// The weights from `at` on; `None` where there are none.
    fn behind(self, at: usize) -> Option<Self>;

    /// The `len` weights from `at` on, of which there is room for 64. Where those of channels alternate, the first is that of channel `channel`.
    fn part<'b>(
        self,
        at: usize,
        channel: usize,
        len: usize,
        room: &'b mut Self::Room,
    ) -> Option<&'b [Self::W]>
    where
        Self: 'b;

    /// The weights from `at` on as they are computed with, unless they are packed.
    #[inline(always)]
    fn whole<'b>(self, _at: usize) -> Option<&'b [Self::W]>
    where
        Self: 'b,
    {
        None
    }
}

/// Weights of filters that one operand is multiplied with.
pub(crate) trait Filters: Weights {
    /// Adds the products of `x` with the first weights: see [`dot`].
    fn dot<S: Sum<W = Self::W>>(self, x: &[Cell<S::T>], acc: &mut [S::Acc]);
}

impl<W: Copy + 'static> Weights for &[W] {
    type W = W;
    type Room = ();
    const ROOM: () = ();

    #[inline(always)]
    fn behind(self, at: usize) -> Option<Self> {
        self.get(at..)
    }

    #[inline(always)]
    fn part<'b>(self, at: usize, _: usize, len: usize, _: &'b mut ()) -> Option<&'b [W]>
    where
        Self: 'b,
    {
        self.get(at..at + len)
    }

    #[inline(always)]
    fn whole<'b>(self, at: usize) -> Option<&'b [W]>
    where
        Self: 'b,
    {
        self.get(at..)
    }
}

impl<W: Copy + 'static> Filters for &[W] {
    #[inline(always)]
    fn dot<S: Sum<W = W>>(self, x: &[Cell<S::T>], acc: &mut [S::Acc]) {
        dot::<S>(x, self, acc);
    }
}

/// Weights unpacked at a time: those of 16 taps of four filters, or of 64 of one.
const UNPACKED: usize = 64;

/// How weights are packed.
pub(crate) trait Format: Copy {
    /// A weight that is computed with.
    type W: Copy + 'static;
    /// Any weight.
    const ANY: Self::W;

    /// Weights that the memory has room for.
    fn room(self) -> usize;

    /// Weight `at`.
    fn weight(self, at: usize) -> Option<Self::W>;
}

/// Packed weights from one of them on.
#[derive(Clone, Copy)]
pub(crate) struct Packed<F> {
    all: F,
    first: usize,
}

impl<F: Format> Weights for Packed<F> {
    type W = F::W;
    type Room = [F::W; UNPACKED];
    const ROOM: [F::W; UNPACKED] = [F::ANY; UNPACKED];

    #[inline(always)]
    fn behind(self, at: usize) -> Option<Self> {
        let first = self.first.wrapping_add(at);
        (first <= self.all.room()).then_some(Packed { first, ..self })
    }

    #[inline(always)]
    fn part<'b>(self, at: usize, _: usize, len: usize, room: &'b mut Self::Room) -> Option<&'b [F::W]>
    where
        Self: 'b,
    {
        let room = room.get_mut(..len)?;
        unpack(self.all, self.first.wrapping_add(at), room);
        Some(room)
    }
}

impl<F: Format> Filters for Packed<F> {
    #[inline(always)]
    fn dot<S: Sum<W = F::W>>(self, x: &[Cell<S::T>], acc: &mut [S::Acc]) {
        let lanes = acc.len().max(1);
        let mut room = Self::ROOM;
        let mut at = 0usize;
        for x in x.chunks(UNPACKED.checked_div(lanes).unwrap_or(0).max(1)) {
            let len = x.len().wrapping_mul(lanes);
            let Some(w) = self.part(at, 0, len, &mut room) else { return };
            dot::<S>(x, w, acc);
            at = at.wrapping_add(len);
        }
    }
}

/// Unpacks the weights from `at` on.
#[inline(never)]
pub(crate) fn unpack<F: Format>(all: F, at: usize, room: &mut [F::W]) {
    for (i, weight) in room.iter_mut().enumerate() {
        let Some(unpacked) = all.weight(at.wrapping_add(i)) else { return };
        *weight = unpacked;
    }
}

/// Two's complement of 4 bits, two to a byte, the first in the low half.
#[derive(Clone, Copy)]
pub(crate) struct Nibbles<'a>(&'a [u8]);

impl Format for Nibbles<'_> {
    type W = i8;
    const ANY: i8 = 0;

    #[inline(always)]
    fn room(self) -> usize {
        self.0.len().wrapping_mul(2)
    }

    #[inline(always)]
    fn weight(self, at: usize) -> Option<i8> {
        let byte = *self.0.get(at >> 1)?;
        let high = if at & 1 == 0 { byte.wrapping_shl(4) } else { byte };
        Some((high as i8) >> 4)
    }
}

/// IEEE 754 half precision.
#[derive(Clone, Copy)]
pub(crate) struct Halves<'a>(&'a [u16]);

impl Format for Halves<'_> {
    type W = f32;
    const ANY: f32 = 0.0;

    #[inline(always)]
    fn room(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn weight(self, at: usize) -> Option<f32> {
        self.0.get(at).map(|&half| widen(half))
    }
}

/// The same number in single precision: subnormal ones become normal, infinities and what is no number stay what they are.
#[inline(always)]
fn widen(half: u16) -> f32 {
    /// 2⁻¹⁴, the smallest normal half.
    const NORMAL: u32 = (127 - 14) << 23;
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let bits = match magnitude >> 10 {
        0 => (f32::from_bits(NORMAL | (magnitude << 13)) - f32::from_bits(NORMAL)).to_bits(),
        31 => 0x7f80_0000 | (magnitude << 13),
        _ => (magnitude << 13).wrapping_add((127 - 15) << 23),
    };
    f32::from_bits(sign | bits)
}

#[inline(always)]
pub(crate) fn nibbles(w: &[u8]) -> Packed<Nibbles<'_>> {
    Packed { all: Nibbles(w), first: 0 }
}

#[inline(always)]
pub(crate) fn halves(w: &[u16]) -> Packed<Halves<'_>> {
    Packed { all: Halves(w), first: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_are_widened_exactly() {
        // Not `powi`, which need not be exact.
        let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
        for half in (0..=u16::MAX).step_by(if cfg!(miri) { 37 } else { 1 }) {
            let (exponent, mantissa) = (i32::from(half >> 10 & 31), f64::from(half & 1023));
            let magnitude = match exponent {
                0 => mantissa * power(-24),
                31 if mantissa > 0.0 => f64::NAN,
                31 => f64::INFINITY,
                _ => (1024.0 + mantissa) * power(exponent - 25),
            };
            let expected = if half >> 15 == 1 { -magnitude } else { magnitude };
            let widened = widen(half);
            assert!(f64::from(widened) == expected || widened.is_nan() && expected.is_nan(), "{half:#x}");
            assert_eq!(widened.is_sign_negative(), half >> 15 == 1);
        }
    }

    #[test]
    fn nibbles_are_signed_and_the_low_one_comes_first() {
        let mut room = Packed::<Nibbles<'_>>::ROOM;
        let all = nibbles(&[0x87, 0xf0, 0x0d]);
        assert_eq!(all.part(0, 0, 5, &mut room), Some(&[7, -8, 0, -1, -3][..]));
        assert_eq!(all.behind(3).and_then(|w| w.part(0, 0, 2, &mut room)), Some(&[-1, -3][..]));
    }
}
