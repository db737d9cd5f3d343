//! How the sums of a layer become results: by one multiplication where that is proven to be exact, otherwise as the reference does it.

use crate::ir::DType;
use crate::requant::{Choice, Form, Reference, Scaling};
use crate::select::kernel::Asked;
use crate::select::layer::{Gains, Layer};
use crate::select::Generic;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// A layer, and how its sums become results.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub(super) layer: Rc<Layer>,
    /// Smallest and largest element of the result.
    saturated: (i32, i32),
    /// The cheap form, if it is one; it is unsigned.
    cheap: Option<Rc<Choice>>,
    /// In the reference's form, whether sums are shifted to the left or not at all.
    left: bool,
}

impl Fitted {
    /// For a layer with results of 8 bits; `None` where the kernels have no exact form for it.
    pub(super) fn of(asked: &Asked<'_>) -> Option<Fitted> {
        let cheap =
            asked.proof(Gains::None).and_then(|proof| proof.form).filter(|fitted| !fitted.form.signed);
        let Some(cheap) = cheap else { return Fitted::exact(asked) };
        Some(Fitted { layer: asked.layer()?, saturated: saturated(asked), cheap: Some(cheap), left: false })
    }

    /// As the reference does it, with results of 8 or 16 bits, and shifts to the right.
    fn exact(asked: &Asked<'_>) -> Option<Fitted> {
        Fitted::shifted(asked, -MOST_SHIFT..=-1)
    }

    /// For a layer with results of 16 bits: as the reference does it, with all shifts to the right, or none.
    pub(super) fn wide(asked: &Asked<'_>) -> Option<Fitted> {
        let left = || Fitted::shifted(asked, 0..=MOST_LEFT).map(|fitted| Fitted { left: true, ..fitted });
        Fitted::exact(asked).or_else(left)
    }

    fn shifted(asked: &Asked<'_>, shifts: RangeInclusive<i32>) -> Option<Fitted> {
        let layer = asked.layer()?;
        let exact = (0..layer.bias.len()).all(|o| is_exact(&layer, o, &shifts));
        exact.then_some(Fitted { layer, saturated: saturated(asked), cheap: None, left: false })
    }

    /// Whether its form is the cheap one.
    pub(super) fn is_cheap(&self) -> bool {
        self.cheap.is_some()
    }

    /// `CLAMPED` and `LEFT` of kernels for results of 16 bits.
    pub(super) fn wide_generics(&self) -> Vec<Generic> {
        vec![Generic::Flag(self.is_clamped()), Generic::Flag(self.left)]
    }

    /// The kernels' `SHIFT`, `EXACT` and `CLAMPED`.
    pub(super) fn generics(&self) -> [Generic; 3] {
        let shift = self.cheap.as_ref().map_or(0, |fitted| fitted.form.shift as usize);
        [Generic::Size(shift), Generic::Flag(self.cheap.is_none()), Generic::Flag(self.is_clamped())]
    }

    /// The words of a filter: first value, multiplier, constant, and in the reference's form the shift, and the clamp if there is one.
    pub(super) fn words(&self, o: usize) -> Vec<i32> {
        let bias = self.layer.bias.get(o).copied().unwrap_or(0);
        if let Some(fitted) = &self.cheap {
            let affine = fitted.affine.get(o).copied().unwrap_or_default();
            return vec![bias.wrapping_add(affine.delta), affine.multiplier, affine.constant];
        }
        let Some(reference) = self.layer.references.get(o) else { return Vec::new() };
        let (lo, hi) = self.layer.clamp;
        let words =
            [bias, reference.multiplier.value, constant(reference), reference.multiplier.shift, lo, hi];
        words.into_iter().take(if self.is_clamped() { 6 } else { 4 }).collect()
    }

    /// The cheap form.
    pub(super) fn form(&self) -> Option<Form> {
        self.cheap.as_ref().map(|fitted| fitted.form)
    }

    fn is_clamped(&self) -> bool {
        self.cheap.is_none() && self.layer.clamp != self.saturated
    }
}

/// Smallest and largest element of the result, which has 8 bits or 16.
fn saturated(asked: &Asked<'_>) -> (i32, i32) {
    match asked.graph.ty(asked.node.result).dtype {
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        _ => (i8::MIN.into(), i8::MAX.into()),
    }
}

/// Whether the kernels compute the reference of a filter: it rounds twice, shifts so far, and nothing overflows.
fn is_exact(layer: &Layer, o: usize, shifts: &RangeInclusive<i32>) -> bool {
    let Some(reference) = layer.references.get(o) else { return false };
    let range = layer.range(o);
    let multiplier = reference.multiplier;
    reference.scaling == Scaling::Twice
        && multiplier.value >= 0
        && shifts.contains(&multiplier.shift)
        && (-128..=127).contains(&reference.zero_point)
        && range.lo > -(MOST_SUM >> multiplier.shift.max(0))
        && range.hi < MOST_SUM >> multiplier.shift.max(0)
}

/// Shifts to the right, for which the zero point stays a small part of a word.
const MOST_SHIFT: i32 = 22;

/// Shifts to the left, which only tiny sums have.
const MOST_LEFT: i32 = 16;

/// Sums to which that zero point can be added, once shifted to the left.
const MOST_SUM: i64 = 1 << 30;

/// The zero point, and half of the unit that is rounded to, before the shift to the right.
fn constant(reference: &Reference) -> i32 {
    let shift = -reference.multiplier.shift;
    if shift > 0 {
        (reference.zero_point << shift) + (1 << (shift - 1))
    } else {
        reference.zero_point
    }
}
