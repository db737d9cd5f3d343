//! Blocks of integer filters, and how their sums become bytes.

use super::{Clamp, Simd, BLOCK};
use crate::params::FilterBlocks;

/// Bytes of a block before its weights: sixteen first values of sums for unsigned operands, for signed ones, factors, and halves.
pub(crate) const HEADER: usize = 4 * 4 * BLOCK;

/// Bytes of sixteen filters' weights for four taps.
pub(crate) const GROUP: usize = 4 * BLOCK;

/// [`Rounding`](crate::params::Rounding) as an argument of functions that are compiled for each.
pub(crate) const NEAREST: u8 = 0;
pub(crate) const AWAY: u8 = 1;
pub(crate) const EVEN: u8 = 2;
pub(crate) const TWICE: u8 = 3;

/// Calls an unsafe function that is generic over a rounding, behind its other arguments, with the one that is asked for.
macro_rules! with_rounding {
    ($rounding:expr, $function:ident::<$($generic:tt),+>($($arg:expr),* $(,)?)) => {
        match $rounding {
            Rounding::Nearest => $function::<$($generic),+, { requant::NEAREST }>($($arg),*),
            Rounding::Away => $function::<$($generic),+, { requant::AWAY }>($($arg),*),
            Rounding::Even => $function::<$($generic),+, { requant::EVEN }>($($arg),*),
            Rounding::Twice => $function::<$($generic),+, { requant::TWICE }>($($arg),*),
        }
    };
}

pub(crate) use with_rounding;

/// The first value of the `n`-th vector of sums from the block at `block` on, blocks being `block_bytes` apart.
///
/// # Safety
///
/// As the other functions here: the blocks are there.
#[inline(always)]
pub(crate) unsafe fn start<S: Simd>(block: *const i8, block_bytes: usize, n: usize) -> S::I {
    let lane = n * S::LANES;
    let signed = if S::FLIP == 0 { 4 * BLOCK } else { 0 };
    // SAFETY: within the header.
    unsafe { S::load_i(block.add(lane / BLOCK * block_bytes + signed + 4 * (lane % BLOCK)).cast()) }
}

/// Sums as integers before zero point and clamp.
///
/// # Safety
///
/// As above.
#[inline(always)]
pub(crate) unsafe fn scale<S: Simd, const R: u8>(
    sum: S::I,
    block: *const i8,
    block_bytes: usize,
    n: usize,
) -> S::I {
    let lane = n * S::LANES;
    // SAFETY: within the header.
    unsafe {
        let first = block.add(lane / BLOCK * block_bytes + 8 * BLOCK + 4 * (lane % BLOCK));
        let second = first.add(4 * BLOCK);
        match R {
            NEAREST => S::round_nearest(sum, S::load(first.cast()), S::load(second.cast())),
            AWAY => S::round_away(sum, S::load(first.cast()), S::load(second.cast())),
            EVEN => S::round_even(sum, S::load(first.cast())),
            _ => S::round_twice(sum, S::load_i(first.cast()), S::load_i(second.cast())),
        }
    }
}

/// Writes the vectors of a block as bytes: at most `len` of the sixteen.
///
/// # Safety
///
/// `to` is valid for `len` bytes.
#[inline(always)]
pub(crate) unsafe fn write<S: Simd>(x: &[S::I], clamp: &Clamp, to: *mut i8, len: usize) {
    // SAFETY: whole blocks are written where there is room for one.
    unsafe {
        if len >= BLOCK {
            return S::narrow(x, clamp, to);
        }
        let mut bytes = [0i8; BLOCK];
        S::narrow(x, clamp, bytes.as_mut_ptr());
        let from = bytes.as_ptr();
        if len >= 8 {
            // Two words, which overlap.
            let last = len - 8;
            let (a, b) = (from.cast::<u64>().read_unaligned(), from.add(last).cast::<u64>().read_unaligned());
            to.cast::<u64>().write_unaligned(a);
            return to.add(last).cast::<u64>().write_unaligned(b);
        }
        for i in 0..len {
            *to.add(i) = *from.add(i);
        }
    }
}

/// What follows the factors.
#[inline(always)]
pub(crate) fn clamp(filters: &FilterBlocks<'_>) -> Clamp {
    let byte = |x: i32| x.clamp(-128, 127) as i8;
    Clamp { zero_point: byte(filters.zero_point).into(), lo: byte(filters.lo), hi: byte(filters.hi) }
}
