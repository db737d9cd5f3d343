//! Vectors of four lanes in plain Rust: what each operation means, and what runs where there is nothing better.

use super::{Clamp, Simd, BLOCK};
use crate::arch::portable::math::round_even;
use crate::params::Scale;

/// No instructions at all.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

const LANES: usize = 4;

type Bytes = [[i8; 4]; LANES];

// SAFETY: it needs nothing of the processor.
unsafe impl Simd for Scalar {
    const LANES: usize = LANES;
    const FLIP: u8 = 0;
    const PIXELS: usize = 1;
    const FLOAT_PIXELS: usize = 1;

    type Half = Self;
    type I = [i32; LANES];
    type F = [f32; LANES];
    type X = Bytes;
    type W = Bytes;

    #[inline(always)]
    unsafe fn load_i(from: *const i32) -> Self::I {
        // SAFETY: the caller's pointer is valid for a vector.
        unsafe { from.cast::<Self::I>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store_i(x: Self::I, to: *mut i32) {
        // SAFETY: as above.
        unsafe { to.cast::<Self::I>().write_unaligned(x) }
    }

    #[inline(always)]
    unsafe fn splat_i(x: i32) -> Self::I {
        [x; LANES]
    }

    #[inline(always)]
    unsafe fn add_i(a: Self::I, b: Self::I) -> Self::I {
        core::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    unsafe fn mul_i(a: Self::I, b: Self::I) -> Self::I {
        core::array::from_fn(|i| a[i].wrapping_mul(b[i]))
    }

    #[inline(always)]
    unsafe fn shift_right_i(x: Self::I, by: u32) -> Self::I {
        x.map(|x| x.wrapping_shr(by))
    }

    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self::I {
        // SAFETY: the caller's pointer is valid for as many bytes as there are lanes.
        unsafe { from.cast::<[i8; LANES]>().read_unaligned() }.map(i32::from)
    }

    #[inline(always)]
    unsafe fn broadcast(from: *const u8) -> Self::X {
        // SAFETY: the caller's pointer is valid for four bytes.
        [unsafe { from.cast::<[i8; 4]>().read_unaligned() }; LANES]
    }

    #[inline(always)]
    unsafe fn operand(from: *const u8) -> Self::X {
        // SAFETY: the caller's pointer is valid for a vector.
        unsafe { from.cast::<Bytes>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn weights(from: *const i8) -> Self::W {
        // SAFETY: as above.
        unsafe { from.cast::<Bytes>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn dot(acc: Self::I, x: Self::X, w: Self::W) -> Self::I {
        core::array::from_fn(|i| {
            x[i].iter().zip(w[i]).fold(acc[i], |sum, (&x, w)| sum.wrapping_add(i32::from(x) * i32::from(w)))
        })
    }

    #[inline(always)]
    unsafe fn interleave(rows: [*const u8; 4], to: *mut u8) {
        for i in 0..4 * LANES {
            for (r, row) in rows.into_iter().enumerate() {
                // SAFETY: rows are valid for a vector of bytes, `to` for four of them.
                unsafe { *to.add(4 * i + r) = *row.add(i) };
            }
        }
    }

    #[inline(always)]
    unsafe fn round_away(acc: Self::I, factor: Self::F, half: Self::F) -> Self::I {
        core::array::from_fn(|i| {
            let acc = acc[i] as f32;
            (acc * factor[i] + if acc < 0.0 { -half[i] } else { half[i] }) as i32
        })
    }

    #[inline(always)]
    unsafe fn round_even(acc: Self::I, factor: Self::F) -> Self::I {
        core::array::from_fn(|i| round_even(acc[i] as f32 * factor[i]))
    }

    #[inline(always)]
    unsafe fn round_nearest(acc: Self::I, factor: Self::F, constant: Self::F) -> Self::I {
        core::array::from_fn(|i| round_even(acc[i] as f32 * factor[i] + constant[i]))
    }

    #[inline(always)]
    unsafe fn round_twice(acc: Self::I, multiplier: Self::I, shift: Self::I) -> Self::I {
        core::array::from_fn(|i| Scale { multiplier: multiplier[i], shift: -1 - shift[i] }.apply(acc[i]))
    }

    #[inline(always)]
    unsafe fn narrow(x: &[Self::I], clamp: &Clamp, to: *mut i8) {
        for (i, &x) in x.iter().flatten().take(BLOCK).enumerate() {
            let y = x.saturating_add(clamp.zero_point.into());
            // SAFETY: `to` is valid for a block of bytes.
            unsafe { *to.add(i) = y.max(clamp.lo.into()).min(clamp.hi.into()) as i8 };
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::F {
        // SAFETY: the caller's pointer is valid for a vector.
        unsafe { from.cast::<Self::F>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(x: Self::F, to: *mut f32) {
        // SAFETY: as above.
        unsafe { to.cast::<Self::F>().write_unaligned(x) }
    }

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::F {
        [x; LANES]
    }

    #[inline(always)]
    unsafe fn mul_add(acc: Self::F, a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| acc[i] + a[i] * b[i])
    }

    #[inline(always)]
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| a[i] + b[i])
    }

    #[inline(always)]
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| a[i] * b[i])
    }

    #[inline(always)]
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| a[i] - b[i])
    }

    #[inline(always)]
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| a[i] / b[i])
    }

    #[inline(always)]
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F {
        core::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    unsafe fn sqrt(x: Self::F) -> Self::F {
        x.map(libm::sqrtf)
    }

    #[inline(always)]
    unsafe fn power(n: Self::F) -> Self::F {
        n.map(|n| f32::from_bits(((n as i32).wrapping_add(127) as u32) << 23))
    }

    #[inline(always)]
    unsafe fn clip(x: Self::F, lo: Self::F, hi: Self::F) -> Self::F {
        core::array::from_fn(|i| {
            let x = if x[i] < lo[i] { lo[i] } else { x[i] };
            if x > hi[i] {
                hi[i]
            } else {
                x
            }
        })
    }
}
