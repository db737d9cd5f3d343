//! Fourier transforms of an axis, as products with matrices.

use super::cx::NodeCx;
use super::{Lowered, Refusal};
use kiln_ir::ValueId;

/// Most numbers along an axis that are transformed by a matrix.
const LONGEST: usize = 2048;

/// A transform of one axis.
pub(crate) struct Transform {
    pub(crate) axis: usize,
    /// Its length.
    pub(crate) n: usize,
    pub(crate) inverse: bool,
    /// Whether one side is real, so that the other has but one half.
    pub(crate) halves: bool,
}

impl Transform {
    /// Real and imaginary parts of the transform of what has these parts; a part that is left out is 0, or is not computed.
    pub(crate) fn of(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        re: ValueId,
        im: Option<ValueId>,
    ) -> Lowered<(ValueId, Option<ValueId>)> {
        let &Transform { axis, n, inverse, halves } = self;
        let half = n / 2 + 1;
        let (inputs, outputs) = match (halves, inverse) {
            (true, true) => (half, n),
            (true, false) => (n, half),
            _ => (n, n),
        };
        malformed_if!(cx.dims(re).get(axis) != Some(&inputs), "its length {n} does not fit {}", cx.shown(re));
        if n > LONGEST {
            let what = format!("a Fourier transform of {n} numbers cannot be compiled");
            return Err(Refusal::unsupported(what, format!("use at most {LONGEST} numbers")));
        }
        let bytes = 8 * inputs * outputs;
        if bytes >= 4096 && !cx.importer.budget.inline(bytes.div_ceil(2048)) {
            let what = "it would be written out as too many numbers";
            return Err(Refusal::unsupported(what, "use fewer, or store them in the model"));
        }
        let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
        let direction = if inverse { 1.0 } else { -1.0 };
        // Of a half, each number but the first and the middle one stands for two.
        let weight = |k: usize| match halves && inverse && k != 0 && 2 * k != n {
            true => 2.0,
            false => 1.0,
        };
        let entry = |j: usize, k: usize, function: fn(f64) -> f64| -> f32 {
            let angle = 2.0 * std::f64::consts::PI * ((j * k) % n) as f64 / n as f64;
            (function(direction * angle) * scale * weight(k)) as f32
        };
        let matrix = |function: fn(f64) -> f64| -> Vec<f32> {
            (0..outputs)
                .flat_map(|j| (0..inputs).map(move |k| (j, k)))
                .map(|(j, k)| entry(j, k, function))
                .collect()
        };
        let (cos, sin) = (matrix(libm::cos), matrix(libm::sin));
        let cos = cx.float_constant("cosines", &[outputs, inputs], &cos)?;
        let sin = cx.float_constant("sines", &[outputs, inputs], &sin)?;
        let rows = |cx: &mut NodeCx<'_, '_, '_>, x: ValueId, matrix: ValueId| -> Lowered<ValueId> {
            let turned = cx.swapped(x, axis)?;
            cx.layer(turned, matrix)
        };
        let (mut y_re, mut y_im) = (rows(cx, re, cos)?, None);
        if !(inverse && halves) {
            y_im = Some(rows(cx, re, sin)?);
        }
        if let Some(im) = im {
            let part = rows(cx, im, sin)?;
            y_re = cx.difference(y_re, part)?;
            if let Some(own) = y_im {
                let part = rows(cx, im, cos)?;
                y_im = Some(cx.sum(own, part)?);
            }
        }
        let im = y_im.map(|y| cx.swapped(y, axis)).transpose()?;
        Ok((cx.swapped(y_re, axis)?, im))
    }
}
