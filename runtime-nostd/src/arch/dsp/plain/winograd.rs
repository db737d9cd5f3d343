//! Pairs of channels, and their products, in plain Rust.

/// Bytes 0 and 2 of a word as halves.
#[inline(always)]
pub(crate) fn widen(word: u32) -> u32 {
    halves(|shift| i32::from((word >> shift) as i8))
}

/// The sums of halves.
#[inline(always)]
pub(crate) fn add(a: u32, b: u32) -> u32 {
    halves(|shift| half(a, shift).wrapping_add(half(b, shift)))
}

/// The differences of halves.
#[inline(always)]
pub(crate) fn sub(a: u32, b: u32) -> u32 {
    halves(|shift| half(a, shift).wrapping_sub(half(b, shift)))
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles.
///
/// # Safety
/// As there.
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    for frequency in 0..16 {
        for tile in 0..2 {
            for filter in 0..4 {
                let mut sum = 0i32;
                for pair in 0..pairs {
                    let (x, w) =
                        (2 * (16 * pair + frequency) + tile, 4 * (frequency * pairs + pair) + filter);
                    // SAFETY: as the caller says.
                    let (v, u) = unsafe { (*v.add(x) as u32, *u.add(w) as u32) };
                    sum = [0, 16].iter().fold(sum, |sum, &shift| {
                        sum.wrapping_add(half(v, shift).wrapping_mul(half(u, shift)))
                    });
                }
                // SAFETY: as the caller says.
                unsafe { m.add(8 * frequency + 4 * tile + filter).write(sum) };
            }
        }
    }
}

#[inline(always)]
fn half(word: u32, shift: u32) -> i32 {
    i32::from((word >> shift) as i16)
}

#[inline(always)]
fn halves(of: impl Fn(u32) -> i32) -> u32 {
    of(0) as u32 & 0xffff | (of(16) as u32) << 16
}
