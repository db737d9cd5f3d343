//! Which layers have cheap arithmetic on microcontrollers that rounds as floats do.

use crate::ir::{Clamp, DType, Rescale, Type};
use crate::passes::zero_point::folded_bias;
use crate::requant::{choose, reachable, Channel, Reference};

/// Whether the sums of all filters, with these weights and biases, have a form in integers that is exactly the rescale in floats. What is not of 8 bits is not rescaled in floats.
pub(super) fn is_cheap(
    weights: &[i64],
    bias: &[f64],
    [x, y]: [&Type; 2],
    rescale: &Rescale,
    clamp: Clamp,
) -> bool {
    let Rescale::Float(factors) = rescale else { return true };
    let size = weights.len().checked_div(bias.len()).unwrap_or(0).max(1);
    let narrow: Option<Vec<i8>> = weights.iter().map(|&w| i8::try_from(w).ok()).collect();
    // Weights of 16 bits have portable kernels alone.
    let Some(narrow) = narrow.filter(|_| x.dtype == DType::I8) else { return true };
    let bias: Vec<i32> = bias.iter().map(|&bias| bias as i32).collect();
    let bias = folded_bias(&narrow, &bias, x.zero_point(), bias.len());
    let channels = |(o, filter): (usize, &[i8])| {
        let by = *factors.get(if factors.len() == 1 { 0 } else { o })?;
        let reference = Reference::of_float(by, y.zero_point(), clamp.int_bounds())?;
        let range = reachable(filter.iter().copied(), *bias.get(o)?, (i8::MIN.into(), i8::MAX.into()));
        // For kernels whose sums have no gain, and for those whose sums have 8 bits of it.
        Some([0, 8].map(|gain_bits| Channel { reference, range, gain_bits }))
    };
    let channels: Option<Vec<[Channel; 2]>> = narrow.chunks(size).enumerate().map(channels).collect();
    channels.is_some_and(|channels| choose(&channels.concat(), &[]).is_ok())
}
