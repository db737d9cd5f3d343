//! Depthwise convolution, through pointers.

use crate::kernels::UpperRequant;
use core::cell::Cell;

/// Results of channels from `c` on, of elements for each tap and weights as the kernel has them.
#[inline(never)]
pub(crate) fn sum(taps: &[&[Cell<i8>]], w: &[i8], c: usize, q: &UpperRequant<'_>, out: &[Cell<i8>]) {
    let count = out.len();
    let blocks = count / 4;
    if taps.iter().any(|tap| tap.len() < count) {
        return;
    }
    let mut w = w.chunks_exact((4 * taps.len()).max(1));
    for block in 0..blocks {
        let at = 4 * block;
        let Some(w) = w.next() else { return };
        let channels = [0, 1, 2, 3].map(|lane| q.channel(c.wrapping_add(at + lane)));
        let [Some(a), Some(b), Some(c), Some(d)] = channels else { return };
        let mut v = [a.first, b.first, c.first, d.first];
        let mut w = w.as_ptr();
        for tap in taps {
            // SAFETY: each tap has `count` elements (compared above), and `chunks_exact` four weights for each tap.
            let (x, weights) =
                unsafe { (&*tap.as_ptr().add(at).cast::<[Cell<i8>; 4]>(), *w.cast::<[i8; 4]>()) };
            for lane in 0..4 {
                let product = i32::from(x[lane].get()).wrapping_mul(weights[lane].into());
                v[lane] = v[lane].wrapping_add(product);
            }
            w = w.wrapping_add(4);
        }
        for ((out, v), channel) in out[at..].iter().zip(v).zip([a, b, c, d]) {
            out.set(q.result(v, channel));
        }
    }
    // Channels that are no block.
    let Some(w) = w.next() else { return };
    for at in 4 * blocks..count {
        let Some(channel) = q.channel(c.wrapping_add(at)) else { return };
        let weights = w.iter().skip(at % 4).step_by(4);
        let product =
            |(x, &w): (&&[Cell<i8>], &i8)| x.get(at).map_or(0, |x| i32::from(x.get()).wrapping_mul(w.into()));
        let v = taps.iter().zip(weights).map(product).fold(channel.first, i32::wrapping_add);
        out[at].set(q.result(v, channel));
    }
}
