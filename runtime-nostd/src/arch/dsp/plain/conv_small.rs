//! Tiles of layers of any shape in plain Rust.

use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::tile::{requantised, sums, Shape, Tiles, FIRST_WORDS};

/// All quads for pairs of pixels, requantised.
///
/// # Safety
///
/// None.
pub(crate) unsafe fn pairs_of_any<const SHIFT: u32, const SIGNED: bool>(t: &Tiles<'_>, shape: &Shape) {
    let &Shape { xd, pairs, out } = shape;
    let quad = FIRST_WORDS + 2 * pairs + requant_words(SIGNED);
    for (pixel, q) in (0..t.pixels & !1).flat_map(|pixel| (0..t.quads).map(move |q| (pixel, q))) {
        let Some(w) = t.w.get(q * quad..(q + 1) * quad) else { return };
        let results = requantised::<SHIFT, SIGNED>(4 * q, sums(w, t.x, t.x_at + pixel * xd, pairs), w);
        let (y, at) = if pixel % 2 == 1 { t.second } else { (t.y, t.at) };
        for (f, result) in results.into_iter().enumerate() {
            let Some(y) = y.get(at + pixel / 2 * 2 * out.pixel + (4 * q + f) * out.channel) else { return };
            y.set(result);
        }
    }
}
