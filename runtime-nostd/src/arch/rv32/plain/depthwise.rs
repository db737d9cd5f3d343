//! Depthwise convolution in plain Rust.

use crate::kernels::UpperRequant;
use core::cell::Cell;

/// Results of channels from `c` on, of elements for each tap and weights as the kernel has them.
pub(crate) fn sum(taps: &[&[Cell<i8>]], w: &[i8], c: usize, q: &UpperRequant<'_>, out: &[Cell<i8>]) {
    let blocks = out.chunks(4).zip(w.chunks_exact((4 * taps.len()).max(1)));
    for (block, (out, w)) in blocks.enumerate() {
        for (lane, out) in out.iter().enumerate() {
            let at = 4 * block + lane;
            let Some((first, result)) = q.channel(c.wrapping_add(at)) else { return };
            let weights = w.iter().skip(lane).step_by(4);
            let product = |(x, &w): (&&[Cell<i8>], &i8)| {
                x.get(at).map_or(0, |x| i32::from(x.get()).wrapping_mul(w.into()))
            };
            let v = taps.iter().zip(weights).map(product).fold(first, i32::wrapping_add);
            out.set(result(v));
        }
    }
}
