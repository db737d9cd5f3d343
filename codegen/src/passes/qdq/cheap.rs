//! Which layers have cheap arithmetic on microcontrollers that rounds as floats do.

use crate::ir::{AddRescale, DType, Multiplier, Op, Real, Type};
use crate::passes::zero_point::folded_bias;
use crate::requant::{
    fit_add_float, fits, is_cheap, largest_shift, reachable, AddFloatReference, Channel, Form, Products,
    Reference, Scaling,
};

/// Whether the sum of two operands, if it is one in floats, has a form in integers that is exactly that.
pub(super) fn is_cheap_sum(op: &Op) -> bool {
    let Op::Add { rescale: AddRescale::Float { x, y, constant, offset }, clamp } = op else { return true };
    let (lo, hi) = clamp.int_bounds();
    let reference = AddFloatReference { by: [x.0, y.0], constant: constant.0, offset: *offset, lo, hi };
    [Products::Upper, Products::Low].into_iter().all(|products| fit_add_float(&reference, products).is_some())
}

/// By how many powers of two, in units in the last place, a multiplier is changed where it has no cheap form: at most by 2⁻¹⁷ of itself, which is 2⁻⁹ of a step.
const NUDGES: u32 = 14;

/// A multiplier and those next to it, as near as they are useful.
fn nudged(by: Multiplier) -> impl Iterator<Item = Multiplier> {
    let nudges = (0..NUDGES).flat_map(|k| [1 << k, -(1 << k)]);
    let value = move |nudge: i32| by.value.checked_add(nudge).filter(|&value| value >= 1 << 30);
    [0].into_iter().chain(nudges).filter_map(value).map(move |value| Multiplier { value, ..by })
}

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

    /// Whether the sums of all filters have a form in integers that is exactly the rescale in floats.
    pub(super) fn are_cheap_by(&self, factors: &[Real]) -> bool {
        let reference = |o: usize| {
            let by = *factors.get(if factors.len() == 1 { 0 } else { o })?;
            Reference::of_float(by, self.zero_point, BOUNDS)
        };
        let channels: Option<Vec<[Channel; 2]>> =
            (0..self.filters.len()).map(|o| self.channels(o, reference(o)?)).collect();
        channels.is_some_and(|channels| is_cheap(&channels.concat()))
    }

    /// Multipliers near the real ones of the filters, with which all have one cheap form; the real ones where there are none.
    pub(super) fn near(&self, by: impl Fn(usize) -> Option<f64>) -> Option<Vec<Multiplier>> {
        let filters = 0..self.filters.len();
        let real: Vec<Multiplier> = filters.clone().map(|o| Multiplier::of(by(o)?)).collect::<Option<_>>()?;
        let channels = |o: usize, multiplier: Multiplier| {
            let ((lo, hi), zero_point) = (BOUNDS, self.zero_point);
            self.channels(o, Reference { multiplier, scaling: Scaling::Twice, zero_point, lo, hi })
        };
        let all: Option<Vec<[Channel; 2]>> = filters.clone().map(|o| channels(o, real[o])).collect();
        let found = largest_shift(&all?.concat()).and_then(|shift| {
            [false, true].into_iter().find_map(|signed| {
                let fits = |o: usize, by: &Multiplier| {
                    channels(o, *by).is_some_and(|channels| fits(&channels, Form { shift, signed }))
                };
                let near = |o: usize| nudged(real[o]).find(|by| fits(o, by));
                filters.clone().map(near).collect::<Option<Vec<_>>>()
            })
        });
        Some(found.unwrap_or(real))
    }

    /// A filter for kernels whose sums have no gain, and for those whose sums have 8 bits of it.
    fn channels(&self, o: usize, reference: Reference) -> Option<[Channel; 2]> {
        let &(filter, bias) = self.filters.get(o)?;
        let range = reachable(filter.iter().copied(), bias, BOUNDS);
        Some([0, 8].map(|gain_bits| Channel { reference, range, gain_bits }))
    }
}
