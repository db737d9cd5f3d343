//! Depthwise convolution of channel-last images, four channels at a time.
//!
//! `SXTAB16` makes two pairs of 16-bit numbers of the bytes of four channels and subtracts the padding, `SXTB16` two pairs of their weights, and `SMLABB` and `SMLATT`
//! add the products of halves to four sums: 16 cycles a tap.

use super::Taps;
use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::blocks::compact::depthwise::pixel;
use crate::arch::extent::{product, reach};
use crate::params::{CompactConv, Conv};
use crate::rows::{Band, Rows};

/// Depthwise convolution with as many channels in the result as in the operand, at least four, for cores with the DSP extension.
///
/// The weights of `p` are, for each four channels, the last four of which may begin before the others end:
/// - the first values of the sums: bias and what exactness asks for;
/// - the weights of the taps \[k_h\]\[k_w\], one byte for each of the four channels, the first one low;
/// - if it is signed, their corrections;
/// - M and C of each channel.
///
/// The padding `p.pad` is subtracted from elements. So taps in the padding do not count, and are not computed. Results are those of
/// [`depthwise2d_i8_dsp`](crate::kernels::depthwise2d_i8_dsp); nothing is written where the arguments do not fit each other.
#[inline(never)]
pub fn depthwise2d_i8_dsp_compact(p: &CompactConv<'_>, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    let Conv { in_c, in_w, in_h, out_w, k_h, k_w, .. } = p.conv;
    // An empty filter counts as one tap, so that neither side of it is longer than the weights.
    let words = product(k_h.max(1), k_w.max(1)).saturating_add(4 + requant_words(p.signed));
    let fits = in_c >= 4
        && p.weights.len() >= in_c.div_ceil(4).saturating_mul(words)
        && in_w.checked_mul(in_c) == Some(x.row_len())
        // Slots of rows beyond are not within the ring.
        && in_h <= isize::MAX as usize
        // From a tap to the one below it is not more than a lap.
        && x.held().is_some_and(|held| held > 0 && (k_h == 1 || held >= p.conv.dilation_h.min(in_h)));
    if !fits {
        return;
    }
    for (oy, y) in y.of_band(band) {
        let rows =
            Taps::inside(oy.wrapping_mul(p.conv.stride_h), p.conv.pad_top, k_h, p.conv.dilation_h, in_h);
        let row = x.row(rows.at);
        // Taps in one column at equal distances are as good as a row of them.
        let upright = k_w == 1 && x.run(rows.at, reach(rows.count, p.conv.dilation_h, 1)).is_some();
        for (ox, out) in y.chunks_exact(in_c).take(out_w).enumerate() {
            let columns =
                Taps::inside(ox.wrapping_mul(p.conv.stride_w), p.conv.pad_left, k_w, p.conv.dilation_w, in_w);
            pixel(p, x, row, &rows, &columns, upright, out);
        }
    }
}

impl Taps {
    /// Of `taps` taps, the first of which is `pad` before `start`.
    #[inline(never)]
    fn inside(start: usize, pad: usize, taps: usize, dilation: usize, size: usize) -> Taps {
        let mut inside = Taps { first: 0, at: 0, count: 0 };
        let mut at = start.wrapping_sub(pad);
        for tap in 0..taps {
            if at < size {
                if inside.count == 0 {
                    inside = Taps { first: tap, at, count: 0 };
                }
                inside.count += 1;
            } else if inside.count > 0 {
                break;
            }
            at = at.wrapping_add(dilation);
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::Taps;

    #[test]
    fn taps_inside_of_an_image() {
        let inside = |start, pad, taps, dilation, size| {
            let Taps { first, at, count } = Taps::inside(start, pad, taps, dilation, size);
            (first, at, count)
        };
        assert_eq!(inside(0, 1, 3, 1, 5), (1, 0, 2));
        assert_eq!(inside(2, 1, 3, 1, 5), (0, 1, 3));
        assert_eq!(inside(4, 1, 3, 1, 5), (0, 3, 2));
        assert_eq!(inside(1, 3, 4, 2, 3), (1, 0, 2));
        assert_eq!(inside(0, 5, 3, 1, 4).2, 0);
    }
}
