//! Units of an LSTM one after the other.

use crate::arch::mve::recurrent::{Factor, Factors, Four, Sums, FOUR};
use crate::arch::portable::sigmoid::{sigmoid, tanh};
use crate::fixed::{high_mul, round_shift};

/// Cell states and outputs of four units, from the sums of their gates and their cell states so far.
pub(crate) fn update(p: &Factors, sums: &mut Sums, states: &mut Four) -> [i8; FOUR] {
    let mut results = [0; FOUR];
    for (unit, (state, result)) in states.0.iter_mut().zip(&mut results).enumerate() {
        let scaled = |index: usize, x: i32| p.by.get(index).map_or(0, |by| by.apply(x));
        let sum = |gate: usize| sums.0.get(FOUR * gate + unit).copied().unwrap_or(0);
        let [i, f, g, o] = [0, 1, 2, 3].map(|gate| {
            saturated(saturated(scaled(gate, sum(gate))) + saturated(scaled(gate + 4, sum(gate + 4))))
        });
        let (i, f, g, o) = (sigmoid(i), sigmoid(f), tanh(g, 0), sigmoid(o));
        let kept = saturated(scaled(8, f.wrapping_mul(*state)));
        *state = saturated(kept + saturated(scaled(9, i * g))).max(p.lo).min(p.hi);
        let y = scaled(10, tanh(*state, p.tanh_shift).wrapping_mul(o));
        *result = y.saturating_add(p.zero_point).clamp(-128, 127) as i8;
    }
    results
}

/// A number within 16 bits.
fn saturated(x: i32) -> i32 {
    x.clamp(i16::MIN.into(), i16::MAX.into())
}

impl Factor {
    fn apply(self, x: i32) -> i32 {
        let x = high_mul(x.wrapping_shl(self.left.unsigned_abs()), self.multiplier);
        round_shift(x, self.right.unsigned_abs())
    }
}
