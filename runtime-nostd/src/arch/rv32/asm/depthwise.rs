//! Depthwise convolution, through pointers.

use crate::arch::extent::product;
use crate::arch::rv32::upper::Channels;
use crate::kernels::UpperRequant;
use core::cell::Cell;

/// Results of channels from `c` on, of elements for each tap and weights as the kernel has them.
#[inline(never)]
pub(crate) fn sum(taps: &[&[Cell<i8>]], w: &[i8], c: usize, q: &UpperRequant<'_>, out: &[Cell<i8>]) {
    let count = out.len();
    let each = product(4, taps.len());
    if taps.iter().any(|tap| tap.len() < count) || product(each, count.div_ceil(4)) > w.len() {
        return;
    }
    let Some(channels) = q.channels_from(c, count) else { return };
    // SAFETY: each tap and `out` have `count` elements, the weights a block for each four of them, and there are constants of so many channels (all compared above).
    unsafe {
        match q.is_own() {
            true => blocks::<true>(taps, w.as_ptr(), channels, q, out),
            false => blocks::<false>(taps, w.as_ptr(), channels, q, out),
        }
    }
}

/// Results of as many channels as `out` has. `OWN` says whether channels have constants of their own.
///
/// # Safety
/// Elements, weights and constants of so many channels are there. Channels have eight words if and only if `OWN`.
#[inline(always)]
unsafe fn blocks<const OWN: bool>(
    taps: &[&[Cell<i8>]],
    w: *const i8,
    mut channels: Channels<'_>,
    q: &UpperRequant<'_>,
    out: &[Cell<i8>],
) {
    let (each, count) = (4 * taps.len(), out.len());
    let mut w = w;
    let mut at = 0;
    // SAFETY: as the caller says.
    unsafe {
        while count - at >= 4 {
            lanes::<4, OWN>(taps, at, w, &mut channels, q, out.as_ptr().add(at));
            w = w.wrapping_add(each);
            at += 4;
        }
        // Channels that are no block.
        while at < count {
            lanes::<1, OWN>(taps, at, w, &mut channels, q, out.as_ptr().add(at));
            w = w.wrapping_add(1);
            at += 1;
        }
    }
}

/// Results of the next `LANES` channels, whose elements begin at `at` in each tap, and whose weights are every four bytes from `w` on.
///
/// # Safety
/// Elements, weights, constants and results of so many channels are there. They have eight words if and only if `OWN`.
#[inline(always)]
unsafe fn lanes<const LANES: usize, const OWN: bool>(
    taps: &[&[Cell<i8>]],
    at: usize,
    w: *const i8,
    channels: &mut Channels<'_>,
    q: &UpperRequant<'_>,
    out: *const Cell<i8>,
) {
    let mut w = w;
    // SAFETY: as the caller says.
    unsafe {
        let mut v: [i32; LANES] = core::array::from_fn(|lane| channels.first(lane));
        let mut add = |tap: &[Cell<i8>], w: *const i8| {
            // One by one: signed bytes are loaded as they are.
            let x = tap.as_ptr().add(at);
            for (lane, v) in v.iter_mut().enumerate() {
                let product = i32::from((*x.add(lane)).get()).wrapping_mul((*w.add(lane)).into());
                *v = v.wrapping_add(product);
            }
        };
        // Two taps at a time, where that is worth the code.
        let mut pairs = taps.get(..if LANES > 1 { taps.len() } else { 0 }).unwrap_or(&[]).chunks_exact(2);
        for pair in pairs.by_ref() {
            if let [a, b] = pair {
                add(a, w);
                add(b, w.add(4));
            }
            w = w.wrapping_add(8);
        }
        for tap in if LANES > 1 { pairs.remainder() } else { taps } {
            add(tap, w);
            w = w.wrapping_add(4);
        }
        for (lane, v) in v.into_iter().enumerate() {
            let channel = channels.next();
            let result = match OWN {
                true => q.own(v, channel, channels.own()),
                false => q.common(v, channel),
            };
            (*out.add(lane)).set(result);
        }
    }
}
