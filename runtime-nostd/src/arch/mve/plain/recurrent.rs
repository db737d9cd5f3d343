//! Units of an LSTM one after the other.

use crate::arch::mve::recurrent::{Four, Sums, FOUR};
use crate::params::Lstm;

/// What the block reads of a layer.
pub(crate) struct Prepared<'a>(&'a Lstm<'a>);

impl<'a> Prepared<'a> {
    pub(crate) fn of(p: &'a Lstm<'a>) -> Option<Self> {
        Some(Prepared(p))
    }
}

/// Cell states and outputs of four units, from the sums of their gates and their cell states so far.
pub(crate) fn update(p: &Prepared<'_>, sums: &mut Sums, states: &mut Four) -> [i8; FOUR] {
    let mut results = [0; FOUR];
    for (unit, (state, result)) in states.0.iter_mut().zip(&mut results).enumerate() {
        let sum = |gate: usize| sums.0.get(FOUR * gate + unit).copied().unwrap_or(0);
        let (inputs, outputs) = ([0, 1, 2, 3].map(sum), [4, 5, 6, 7].map(sum));
        if let Some((new, output)) = p.0.update(inputs, outputs, *state as i16) {
            (*state, *result) = (new.into(), output);
        }
    }
    results
}
