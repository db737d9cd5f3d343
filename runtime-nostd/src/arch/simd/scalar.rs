//! Vectors of four lanes in plain Rust: what each operation means, and what runs where there is nothing better.

use super::{Clamp, Simd, BLOCK};
use crate::arch::portable::math::round_even;
use crate::arch::vector::operations;
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

    operations! {
        fn load_i(from: *const i32) -> Self::I = from.cast::<Self::I>().read_unaligned();
        fn store_i(x: Self::I, to: *mut i32) = to.cast::<Self::I>().write_unaligned(x);
        fn splat_i(x: i32) -> Self::I = [x; LANES];
        fn add_i(a: Self::I, b: Self::I) -> Self::I = core::array::from_fn(|i| a[i].wrapping_add(b[i]));
        fn mul_i(a: Self::I, b: Self::I) -> Self::I = core::array::from_fn(|i| a[i].wrapping_mul(b[i]));
        fn shift_right_i(x: Self::I, by: u32) -> Self::I = x.map(|x| x.wrapping_shr(by));
        fn widen(from: *const i8) -> Self::I = from.cast::<[i8; LANES]>().read_unaligned().map(i32::from);
        fn broadcast(from: *const u8) -> Self::X = [from.cast::<[i8; 4]>().read_unaligned(); LANES];
        fn operand(from: *const u8) -> Self::X = from.cast::<Bytes>().read_unaligned();
        fn weights(from: *const i8) -> Self::W = from.cast::<Bytes>().read_unaligned();
        fn dot(acc: Self::I, x: Self::X, w: Self::W) -> Self::I = core::array::from_fn(|i| {
            x[i].iter().zip(w[i]).fold(acc[i], |sum, (&x, w)| sum.wrapping_add(i32::from(x) * i32::from(w)))
        });
        // Rows are valid for a vector of bytes, `to` for four of them.
        fn interleave(rows: [*const u8; 4], to: *mut u8) = {
            for i in 0..4 * LANES {
                for (r, row) in rows.into_iter().enumerate() {
                    *to.add(4 * i + r) = *row.add(i);
                }
            }
        };
        fn round_away(acc: Self::I, factor: Self::F, half: Self::F) -> Self::I = core::array::from_fn(|i| {
            let acc = acc[i] as f32;
            (acc * factor[i] + if acc < 0.0 { -half[i] } else { half[i] }) as i32
        });
        fn round_even(acc: Self::I, factor: Self::F) -> Self::I =
            core::array::from_fn(|i| round_even(acc[i] as f32 * factor[i]));
        fn round_nearest(acc: Self::I, factor: Self::F, constant: Self::F) -> Self::I =
            core::array::from_fn(|i| round_even(acc[i] as f32 * factor[i] + constant[i]));
        fn round_twice(acc: Self::I, multiplier: Self::I, shift: Self::I) -> Self::I =
            core::array::from_fn(|i| Scale { multiplier: multiplier[i], shift: -1 - shift[i] }.apply(acc[i]));
        fn narrow(x: &[Self::I], clamp: &Clamp, to: *mut i8) = {
            for (i, &x) in x.iter().flatten().take(BLOCK).enumerate() {
                let y = x.saturating_add(clamp.zero_point.into());
                *to.add(i) = y.max(clamp.lo.into()).min(clamp.hi.into()) as i8;
            }
        };
        fn load(from: *const f32) -> Self::F = from.cast::<Self::F>().read_unaligned();
        fn store(x: Self::F, to: *mut f32) = to.cast::<Self::F>().write_unaligned(x);
        fn splat(x: f32) -> Self::F = [x; LANES];
        fn mul_add(acc: Self::F, a: Self::F, b: Self::F) -> Self::F =
            core::array::from_fn(|i| acc[i] + a[i] * b[i]);
        fn add(a: Self::F, b: Self::F) -> Self::F = core::array::from_fn(|i| a[i] + b[i]);
        fn mul(a: Self::F, b: Self::F) -> Self::F = core::array::from_fn(|i| a[i] * b[i]);
        fn sub(a: Self::F, b: Self::F) -> Self::F = core::array::from_fn(|i| a[i] - b[i]);
        fn div(a: Self::F, b: Self::F) -> Self::F = core::array::from_fn(|i| a[i] / b[i]);
        fn max(a: Self::F, b: Self::F) -> Self::F =
            core::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] });
        fn sqrt(x: Self::F) -> Self::F = x.map(libm::sqrtf);
        fn power(n: Self::F) -> Self::F =
            n.map(|n| f32::from_bits(((n as i32).wrapping_add(127) as u32) << 23));
        fn clip(x: Self::F, lo: Self::F, hi: Self::F) -> Self::F = core::array::from_fn(|i| {
            let x = if x[i] < lo[i] { lo[i] } else { x[i] };
            if x > hi[i] {
                hi[i]
            } else {
                x
            }
        });
    }
}
