//! Which layers have cheap arithmetic on microcontrollers that rounds as floats do.

use crate::ir::{AddRescale, DType, Multiplier, Op, Real, Type};
use crate::passes::zero_point::folded_bias;
use crate::requant::{
    choose, fit_add_float, reachable, AddFloatReference, Channel, Products, Reference, Scaling,
};

/// Whether the sum of two operands, if it is one in floats, has a form in integers that is exactly that.
pub(super) fn is_cheap_sum(op: &Op) -> bool {
    let Op::Add { rescale: AddRescale::Float { x, y, constant, offset }, clamp } = op else { return true };
    let (lo, hi) = clamp.int_bounds();
    let reference = AddFloatReference { by: [x.0, y.0], constant: constant.0, offset: *offset, lo, hi };
    [Products::Upper, Products::Low].into_iter().all(|products| fit_add_float(&reference, products).is_some())
}

/// By how many units in the last place a multiplier may be changed where it has no cheap form: far less than what a step takes.
const NUDGES: [i32; 13] = [0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32];

/// A layer with constant weights of 8 bits, and its biases in accumulators.
pub(super) struct Sums<'a> {
    filters: Vec<(&'a [i8], i32)>,
    zero_point: i32,
}

/// Of results without a clamp of their own: cheap arithmetic saturates, and has no other one whatever the factor is. In files a clamp often follows behind, and is not known here.
const BOUNDS: (i32, i32) = (i8::MIN as i32, i8::MAX as i32);

impl<'a> Sums<'a> {
    /// `None` for layers that have portable kernels alone.
    pub(super) fn of(weights: &'a [i8], bias: &[f64], [x, y]: [&Type; 2]) -> Option<Sums<'a>> {
        let size = weights.len().checked_div(bias.len()).unwrap_or(0).max(1);
        let bias: Vec<i32> = bias.iter().map(|&bias| bias as i32).collect();
        let bias = folded_bias(weights, &bias, x.zero_point(), bias.len());
        let filters = weights.chunks(size).zip(bias).collect();
        (x.dtype == DType::I8).then(|| Sums { filters, zero_point: y.zero_point() })
    }

    /// How many filters there are.
    pub(super) fn filters(&self) -> usize {
        self.filters.len()
    }

    /// Whether the sums of all filters have a form in integers that is exactly the rescale in floats.
    pub(super) fn are_cheap_by(&self, factors: &[Real]) -> bool {
        let reference = |o: usize| {
            let by = *factors.get(if factors.len() == 1 { 0 } else { o })?;
            Reference::of_float(by, self.zero_point, BOUNDS)
        };
        let channels: Option<Vec<[Channel; 2]>> =
            (0..self.filters.len()).map(|o| self.channels(o, reference(o)?)).collect();
        channels.is_some_and(|channels| choose(&channels.concat(), &[]).is_ok())
    }

    /// A multiplier near the one of a filter whose sums have a cheap form; the same where there is none.
    pub(super) fn near(&self, o: usize, multiplier: Multiplier) -> Multiplier {
        let nudged = |by: &i32| {
            let value = multiplier.value.checked_add(*by).filter(|&value| value >= 1 << 30)?;
            Some(Multiplier { value, ..multiplier })
        };
        let is_cheap = |&multiplier: &Multiplier| {
            let ((lo, hi), zero_point) = (BOUNDS, self.zero_point);
            let reference = Reference { multiplier, scaling: Scaling::Twice, zero_point, lo, hi };
            self.channels(o, reference).is_some_and(|channels| choose(&channels, &[]).is_ok())
        };
        NUDGES.iter().filter_map(nudged).find(is_cheap).unwrap_or(multiplier)
    }

    /// A filter for kernels whose sums have no gain, and for those whose sums have 8 bits of it.
    fn channels(&self, o: usize, reference: Reference) -> Option<[Channel; 2]> {
        let &(filter, bias) = self.filters.get(o)?;
        let range = reachable(filter.iter().copied(), bias, BOUNDS);
        Some([0, 8].map(|gain_bits| Channel { reference, range, gain_bits }))
    }
}
