//! Which layers have cheap arithmetic on microcontrollers that rounds as floats do.

use crate::ir::{AddRescale, DType, Multiplier, Op, Real, Type};
use crate::requant::{
    filters, fit_add_float, fits, folded_bias, is_cheap, largest_shift, AddFloatReference, Channel, Form,
    Products, Reference, Scaling, SIGNS,
};

/// Whether the sum of two operands, if it is one in floats, has a form in integers that is exactly that.
pub(super) fn is_cheap_sum(op: &Op) -> bool {
    let Op::Add { rescale: AddRescale::Float { x, y, constant, offset }, clamp } = op else { return true };
    let (lo, hi) = clamp.int_bounds();
    let reference = AddFloatReference { by: [x.0, y.0], constant: constant.0, offset: *offset, lo, hi };
    [Products::Upper, Products::Low].into_iter().all(|products| fit_add_float(&reference, products).is_some())
}

/// Where a multiplier has no cheap form, it is changed by 2ᵏ units in the last place, for k below this: by 2⁻¹⁷ of itself at most, which is 2⁻⁹ of a step.
const NUDGES: u32 = 14;

/// A multiplier, and those near it: the nearest first.
fn nudged(by: Multiplier) -> impl Iterator<Item = Multiplier> {
    let nudges = (0..NUDGES).flat_map(|k| [1 << k, -(1 << k)]);
    let value = move |nudge: i32| by.value.checked_add(nudge).filter(|&value| value >= 1 << 30);
    [0].into_iter().chain(nudges).filter_map(value).map(move |value| Multiplier { value, ..by })
}

/// A layer with constant weights of 8 bits.
pub(super) struct Sums<'a> {
    weights: &'a [i8],
    /// In accumulators, with the operand's zero point.
    bias: Vec<i32>,
    zero_point: i32,
}

/// The bounds of all layers. A narrower clamp has no cheap form, whatever the factor is. In files it often follows behind, where it is not known yet.
const BOUNDS: (i32, i32) = (i8::MIN as i32, i8::MAX as i32);

impl<'a> Sums<'a> {
    /// `None` for layers that have portable kernels alone.
    pub(super) fn of(weights: &'a [i8], bias: &[f64], [x, y]: [&Type; 2]) -> Option<Sums<'a>> {
        let bias: Vec<i32> = bias.iter().map(|&bias| bias as i32).collect();
        let bias = folded_bias(weights, &bias, x.zero_point(), bias.len());
        (x.dtype == DType::I8).then(|| Sums { weights, bias, zero_point: y.zero_point() })
    }

    /// Whether the sums of all filters have a form in integers that is exactly the rescale in floats.
    pub(super) fn are_cheap_by(&self, factors: &[Real]) -> bool {
        let reference = |o: usize| {
            let by = *factors.get(if factors.len() == 1 { 0 } else { o })?;
            Reference::of_float(by, self.zero_point, BOUNDS)
        };
        self.channels(reference).is_some_and(|channels| is_cheap(&channels.concat()))
    }

    /// Multipliers near the real ones of the filters, with which all have one cheap form; the real ones where there are none.
    pub(super) fn near(&self, by: impl Fn(usize) -> Option<f64>) -> Option<Vec<Multiplier>> {
        let real: Vec<Multiplier> =
            (0..self.bias.len()).map(|o| Multiplier::of(by(o)?)).collect::<Option<_>>()?;
        let reference = |multiplier: Multiplier| {
            let ((lo, hi), zero_point) = (BOUNDS, self.zero_point);
            Reference { multiplier, scaling: Scaling::Twice, zero_point, lo, hi }
        };
        let channels = self.channels(|o| real.get(o).map(|&by| reference(by)))?;
        let shift = largest_shift(&channels.concat());
        let found = shift.and_then(|shift| {
            SIGNS.into_iter().find_map(|signed| {
                let fits = |channels: &[Channel; 2], by: Multiplier| {
                    fits(&channels.map(|c| Channel { reference: reference(by), ..c }), Form { shift, signed })
                };
                let near = |(channels, &by)| nudged(by).find(|&by| fits(channels, by));
                channels.iter().zip(&real).map(near).collect::<Option<Vec<_>>>()
            })
        });
        Some(found.unwrap_or(real))
    }

    fn channels(&self, reference: impl Fn(usize) -> Option<Reference>) -> Option<Vec<[Channel; 2]>> {
        filters(self.weights, &self.bias, reference)
    }
}
