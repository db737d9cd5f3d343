//! Tiles of layers of any shape in plain Rust.

use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::tile::{requantised, sums, Shape, Tiles, FIRST_WORDS};
use crate::arch::extent::product;

/// All quads for pairs of pixels, requantised. Nothing happens where the slices are too short.
#[inline(never)]
pub(crate) fn pairs_of_any<const SHIFT: u32, const SIGNED: bool>(t: Tiles<'_>, shape: &Shape) {
    let &Shape { xd, pairs, out } = shape;
    let quad = FIRST_WORDS + 2 * pairs + requant_words(SIGNED);
    let (Some(last_pair), Some(last_channel)) =
        ((t.pixels / 2).checked_sub(1), t.quads.wrapping_mul(4).checked_sub(1))
    else {
        return;
    };
    // Where it wraps, there are fewer weights than `fits` asks for: four words at least of each quad.
    let last = product(2 * last_pair + 1, out.pixel).saturating_add(product(last_channel, out.channel));
    let x_end = (2 * last_pair + 1).saturating_mul(xd).saturating_add(t.x_at).saturating_add(4 * pairs);
    let fits = t.w.len() >= t.quads.saturating_mul(quad)
        && 4 * t.x.len() >= x_end
        && t.y.len() > t.at.saturating_add(last);
    if !fits || pairs == 0 {
        return;
    }
    for (pixel, q) in (0..t.pixels & !1).flat_map(|pixel| (0..t.quads).map(move |q| (pixel, q))) {
        let Some(w) = t.w.get(q * quad..(q + 1) * quad) else { return };
        let results = requantised::<SHIFT, SIGNED>(4 * q, sums(w, t.x, t.x_at + pixel * xd, pairs), w);
        for (f, result) in results.into_iter().enumerate() {
            let at = t.at + pixel * out.pixel + (4 * q + f) * out.channel;
            let Some(y) = t.y.get(at) else { return };
            y.set(result);
        }
    }
}
