//! Finding the constants of an [`Affine`].
//!
//! A step to `y` at accumulator `t` demands of multiplier M and offset K that `t·M + K ≥ y·q > (t − 1)·M + K`, with
//! q = 2^(32 + shift): two half planes. All steps together leave a thin polygon. A multiplier leaves a window of offsets, and the
//! window's width is a concave function of the multiplier. The nearest multiplier to the exact one mostly has room; otherwise the widest window is
//! found by bisection. Offsets come as K = delta·M + constant·2^(32 − gain) + 2^(31 − gain): `delta` is the fine adjustment, found modulo the
//! coarse one.

use super::affine::{Affine, Form, SIGNED_GAIN_BITS};
use super::residue::nearest_factor;
use super::{Interval, Reference, Steps};

/// The largest shift: with it, all offsets of results fit 63 bits.
pub(super) const MOST_SHIFT: u32 = 22;

/// The constants of a channel whose accumulators come with a gain of `gain_bits` (0 or 8), or `None` where none were found.
/// What is returned is proven on the whole range.
pub fn fit(reference: &Reference, range: Interval, gain_bits: u32, form: Form) -> Option<Affine> {
    fit_steps(reference, &Steps::of(reference, range)?, gain_bits, form)
}

/// As [`fit`], for a reference with these steps.
pub(super) fn fit_steps(reference: &Reference, steps: &Steps, gain_bits: u32, form: Form) -> Option<Affine> {
    if form.shift > MOST_SHIFT || form.shift + form.product_gain(gain_bits) > 31 {
        return None;
    }
    if steps.clamped(reference) {
        return None;
    }
    let fitting = Fitting { steps, zero_point: reference.zero_point, gain_bits, form };
    let exact = exact_multiplier(reference, form.shift);
    let nearest = exact.map(|m| [m, m + 1, m - 1]).into_iter().flatten();
    // A result that never changes needs no accumulator.
    let none = (steps.at.is_empty()).then_some(0);
    let near = none.into_iter().chain(nearest).find_map(|m| fitting.with_multiplier(m));
    near.or_else(|| fitting.around(fitting.widest(exact?)))
}

/// The reference's factor in units of 2^−(32 + shift), or `None` where it is no positive `i32`.
fn exact_multiplier(reference: &Reference, shift: u32) -> Option<i64> {
    let exponent = i64::from(shift) + 1 + i64::from(reference.multiplier.shift);
    let value = i64::from(reference.multiplier.value);
    let m = match u32::try_from(exponent) {
        Ok(left) => value.checked_mul(1 << left.min(32))?,
        Err(_) => {
            let right = exponent.unsigned_abs().min(62);
            (value + (1 << (right - 1))) >> right
        }
    };
    (m > 0 && m <= i64::from(i32::MAX)).then_some(m)
}

/// The offsets that a multiplier leaves, both ends included; empty if `lo > hi`. An end without a condition is `None`.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Smallest offset, and the accumulator of the step that demands it.
    lo: Option<(i64, i64)>,
    /// Largest offset, and the last accumulator before the step that demands it.
    hi: Option<(i64, i64)>,
}

impl Window {
    fn at_least(&mut self, offset: i64, acc: i64) {
        if self.lo.is_none_or(|(lo, _)| lo < offset) {
            self.lo = Some((offset, acc));
        }
    }

    fn at_most(&mut self, offset: i64, acc: i64) {
        if self.hi.is_none_or(|(hi, _)| offset < hi) {
            self.hi = Some((offset, acc));
        }
    }

    /// Ends with a missing one set two results of `unit` away from the other; `None` where nothing is demanded.
    fn ends(&self, unit: i64) -> Option<(i64, i64)> {
        match (self.lo, self.hi) {
            (Some((lo, _)), Some((hi, _))) => Some((lo, hi)),
            (Some((lo, _)), None) => Some((lo, lo.saturating_add(2 * unit))),
            (None, Some((hi, _))) => Some((hi.saturating_sub(2 * unit), hi)),
            (None, None) => None,
        }
    }

    fn is_empty(&self) -> bool {
        self.width().is_some_and(|(width, _)| width < 0)
    }

    /// Width, and its derivative by the multiplier.
    fn width(&self) -> Option<(i64, i64)> {
        let ((lo, reached), (hi, before)) = (self.lo?, self.hi?);
        Some((hi - lo, reached - before))
    }
}

/// Which steps a window is for: all, or those on one side of the zero point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    All,
    Above,
    Below,
}

struct Fitting<'a> {
    steps: &'a Steps,
    zero_point: i32,
    gain_bits: u32,
    form: Form,
}

impl Fitting<'_> {
    /// One result, in units of offsets.
    fn unit(&self) -> i64 {
        1 << (32 + self.form.shift)
    }

    /// The offsets that are possible with a multiplier.
    fn window(&self, m: i64, side: Side) -> Window {
        let mut window = Window::default();
        let steps = self.steps;
        let of_side = |y: i32| side == Side::All || (side == Side::Above) == (y > self.zero_point);
        let unit = self.unit();
        for (y, at) in steps.iter().filter(|&(y, _)| of_side(y)) {
            let offset = i64::from(y) * unit - at * m;
            window.at_least(offset, at);
            window.at_most(offset + m - 1, at - 1);
        }
        // Beyond the first and the last result, saturation helps or nothing may be reached.
        if steps.first > -128 && of_side(steps.first) {
            window.at_least(i64::from(steps.first) * unit - steps.range.lo * m, steps.range.lo);
        }
        let beyond = steps.last() + 1;
        if beyond <= 127 && of_side(beyond) {
            window.at_most(i64::from(beyond) * unit - steps.range.hi * m - 1, steps.range.hi);
        }
        window
    }

    /// The multiplier with the widest window, near `exact`.
    fn widest(&self, exact: i64) -> i64 {
        let reach = (exact >> 6) + 2;
        let (mut lo, mut hi) = ((exact - reach).max(0), (exact + reach).min(i32::MAX.into()));
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            let narrowest = self.sides().iter().filter_map(|&side| self.window(middle, side).width()).min();
            match narrowest {
                Some((_, slope)) if slope > 0 => lo = middle + 1,
                _ => hi = middle,
            }
        }
        lo
    }

    /// The constants with a multiplier close to the one of the widest window.
    fn around(&self, widest: i64) -> Option<Affine> {
        const MOST: i64 = 100;
        // Windows only become narrower on the way out.
        let out = |step: i64| {
            let multipliers = (0..MOST).map(move |i| widest + i * step);
            multipliers.take_while(|&m| self.sides().iter().all(|&side| !self.window(m, side).is_empty()))
        };
        out(1).chain(out(-1)).find_map(|m| self.with_multiplier(m))
    }

    /// Which windows there are.
    fn sides(&self) -> &'static [Side] {
        if self.form.signed {
            &[Side::Above, Side::Below]
        } else {
            &[Side::All]
        }
    }

    /// The constants with a given multiplier.
    fn with_multiplier(&self, m: i64) -> Option<Affine> {
        let multiplier = i32::try_from(m).ok().filter(|&m| m >= 0)?;
        let exact = |affine: &Affine| affine.is_exact(self.steps, self.gain_bits, self.form);
        // Channels of signed layers whose results lie on one side need no correction.
        let plain = self.uncorrected(m, multiplier).filter(exact);
        plain.or_else(|| self.corrected(m, multiplier).filter(exact).filter(|_| self.form.signed))
    }

    fn uncorrected(&self, m: i64, multiplier: i32) -> Option<Affine> {
        let (lo, hi) = self.window(m, Side::All).ends(self.unit())?;
        let gain = self.form.product_gain(self.gain_bits);
        let coarse = 1 << (32 - gain);
        // Accumulators far from zero are brought to where they do not overflow.
        let Interval { lo: least, hi: most } = self.steps.range;
        let start = if self.steps.range.fits_i32(gain + 1) { 0 } else { -(least + (most - least) / 2) };
        let taken = start * m + coarse / 2;
        let delta = start + nearest_factor(m, coarse, lo - taken, hi - taken)?;
        let constant = div_ceil(lo - coarse / 2 - delta * m, coarse);
        Some(Affine {
            delta: delta.try_into().ok()?,
            multiplier,
            constant: constant.try_into().ok()?,
            correction: 0,
        })
    }

    fn corrected(&self, m: i64, multiplier: i32) -> Option<Affine> {
        let (above, below) = (self.window(m, Side::Above), self.window(m, Side::Below));
        let (above, below) = (above.ends(self.unit()), below.ends(self.unit()));
        let (above, below) = (above.or(below)?, below.or(above)?);
        if above.0 > above.1 || below.0 > below.1 {
            return None;
        }
        let (least, most) = self.deltas_by_sign();
        let coarse = 1 << (32 - SIGNED_GAIN_BITS);
        let start = 0.clamp(least, most);
        (0..=1024)
            .flat_map(|away| [start + away, start - away])
            .filter(|delta| (least..=most).contains(delta))
            .find_map(|delta| {
                let rest = delta * m + coarse / 2;
                let constant = div_ceil(above.0 - rest, coarse);
                let offset = rest + constant * coarse;
                // offset + correction·m / 256 has to lie in `below`.
                let down = |end: i64| i128::from(end - offset) << SIGNED_GAIN_BITS;
                let correction = if m == 0 { 0 } else { down(below.1).div_euclid(m.into()).min(0) };
                let fits = offset <= above.1 && correction * i128::from(m) >= down(below.0);
                fits.then_some(Affine {
                    delta: delta.try_into().ok()?,
                    multiplier,
                    constant: constant.try_into().ok()?,
                    correction: correction.try_into().ok()?,
                })
            })
    }

    /// The smallest and largest `delta` with which accumulators change sign where the result is the zero point.
    fn deltas_by_sign(&self) -> (i64, i64) {
        let Steps { range, first, .. } = *self.steps;
        let (zero, last) = (self.zero_point, self.steps.last());
        let step = |y: i32| usize::try_from(y - first - 1).ok().and_then(|i| self.steps.at.get(i)).copied();
        let negative_until = match step(zero) {
            Some(at) => at,
            None if last < zero => range.hi + 1,
            None => i64::from(i32::MIN),
        };
        let positive_from = match step(zero + 1) {
            Some(at) => at,
            None if first > zero => range.lo,
            None => i64::from(i32::MAX),
        };
        (-positive_from, -negative_until)
    }
}

/// `a / b` rounded up, for positive `b`.
fn div_ceil(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}
