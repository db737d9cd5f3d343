//! Folding an operand's zero point into the bias.
//!
//! `Σ (x − zx)·w + bias = Σ x·w + (bias − zx·Σ w)`, if the sum on the right runs over *all* taps, padding reading as `zx`. The
//! bracket is known at compile time. All arithmetic is modulo 2³², as the accumulator's is, so that the two sides are equal
//! whatever overflows on the way.

/// The bias of each channel with the operand's zero point folded in. `weights` holds the taps of one output channel after the
/// other (OHWI), and has the zero point 0; there is one bias per channel.
pub fn folded_bias<W: Copy + Into<i32>>(
    weights: &[W],
    bias: &[i32],
    zero_point: i32,
    channels: usize,
) -> Vec<i32> {
    let taps = weights.len().checked_div(channels).unwrap_or(0);
    let fold = |(channel, &bias): (usize, &i32)| {
        let own = weights.iter().skip(channel * taps).take(taps);
        let sum = own.fold(0i32, |sum, &w| sum.wrapping_add(w.into()));
        bias.wrapping_sub(zero_point.wrapping_mul(sum))
    };
    bias.iter().take(channels).enumerate().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_all_taps_agree() {
        let weights = [1i8, -2, 3, 127, -128, 5];
        let bias = [1000, i32::MAX];
        let x = [-128i32, 7, 127];
        let zero_point = -128;
        let folded = folded_bias(&weights, &bias, zero_point, 2);
        for channel in 0..2 {
            let taps = || x.iter().zip(&weights[channel * 3..]).map(|(&x, &w)| (x, i32::from(w)));
            let centred = taps().fold(bias[channel], |sum, (x, w)| sum.wrapping_add((x - zero_point) * w));
            let plain = taps().fold(folded[channel], |sum, (x, w)| sum.wrapping_add(x * w));
            assert_eq!(centred, plain);
        }
    }

    #[test]
    fn channels_are_counted_by_weights_and_bias() {
        assert_eq!(folded_bias(&[1i8, 2, 3, 4], &[0, 0], 10, 2), [-30, -70]);
        assert_eq!(folded_bias::<i8>(&[], &[1, 2], 10, 2), [1, 2]);
        assert_eq!(folded_bias(&[1i8], &[], 10, 0), [0i32; 0]);
    }
}
