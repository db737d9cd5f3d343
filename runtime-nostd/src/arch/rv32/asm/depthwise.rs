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
    let Some(mut channels) = q.channels_from(c, count) else { return };
    let mut w = w.as_ptr();
    let mut at = 0;
    // SAFETY: each tap and `out` have `count` elements, the weights a block for each four of them, and there are constants of so many channels (all compared above).
    unsafe {
        while count - at >= 4 {
            lanes::<4>(taps, at, w, &mut channels, q, out.as_ptr().add(at));
            w = w.wrapping_add(each);
            at += 4;
        }
        // Channels that are no block.
        while at < count {
            lanes::<1>(taps, at, w, &mut channels, q, out.as_ptr().add(at));
            w = w.wrapping_add(1);
            at += 1;
        }
    }
}

/// Results of the next `LANES` channels, whose elements begin at `at` in each tap, and whose weights are every four bytes from `w` on.
///
/// # Safety
/// Elements, weights, constants and results of so many channels are there.
#[inline(always)]
unsafe fn lanes<const LANES: usize>(
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
        for tap in taps {
            // One by one: signed bytes are loaded as they are.
            let x = tap.as_ptr().add(at);
            for (lane, v) in v.iter_mut().enumerate() {
                let product = i32::from((*x.add(lane)).get()).wrapping_mul((*w.add(lane)).into());
                *v = v.wrapping_add(product);
            }
            w = w.wrapping_add(4);
        }
        for (lane, v) in v.into_iter().enumerate() {
            let channel = channels.next();
            let result = match q.is_own() {
                true => q.own(v, channel, channels.own()),
                false => q.common(v, channel),
            };
            (*out.add(lane)).set(result);
        }
    }
}
