//! Folds an operand's zero point into the bias.

/// `bias[o] − zx · Σ w[o]`, wrapping: the accumulator of Σ (x − zx)·w + bias is Σ x·w plus this.
///
/// `weights` are `[channels][…]`, symmetric.
pub fn folded_bias(weights: &[i8], bias: &[i32], zx: i32, channels: usize) -> Vec<i32> {
    let taps = weights.len() / channels.max(1);
    let sum = |o: usize| weights.iter().skip(o * taps).take(taps).map(|&w| i32::from(w)).sum::<i32>();
    (0..channels).zip(bias).map(|(o, b)| b.wrapping_sub(zx.wrapping_mul(sum(o)))).collect()
}
