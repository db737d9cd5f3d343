//! The straight lines that take all steps of a reference.
//!
//! Arithmetic of the form `clamp((acc·M + K) >> bits)` takes the step to `y` at accumulator `t` if `t·M + K ≥ y·2^bits > (t − 1)·M + K`: two half
//! planes. All steps together leave a thin polygon of multipliers M and offsets K. A multiplier leaves a window of offsets, and the window's width
//! is a concave function of the multiplier. The nearest multiplier to the exact one mostly has room; otherwise the widest window is found by bisection.

use super::{Reference, Steps};

/// The offsets that a multiplier leaves, both ends included; empty if `lo > hi`. An end without a condition is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
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
    pub(super) fn ends(&self, unit: i64) -> Option<(i64, i64)> {
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
pub(super) enum Side {
    All,
    Above,
    Below,
}

/// The lines for the steps of a channel.
#[derive(Clone, Copy)]
pub(super) struct Corridor<'a> {
    pub(super) steps: &'a Steps,
    pub(super) zero_point: i32,
    /// Bits of one result, in units of offsets: at most 54.
    pub(super) bits: u32,
    /// Whether there are two offsets, one for each side of the zero point.
    pub(super) signed: bool,
}

impl Corridor<'_> {
    /// One result, in units of offsets.
    pub(super) fn unit(&self) -> i64 {
        1 << self.bits
    }

    /// Calls `with` with multipliers for which there are offsets, the nearest to the exact one and the one with the widest window first,
    /// until it returns something. On either side of the widest window, `most` are tried.
    pub(super) fn find<T>(
        &self,
        reference: &Reference,
        most: i64,
        with: impl Fn(i64) -> Option<T>,
    ) -> Option<T> {
        // A result that never changes needs no accumulator.
        if self.steps.at.is_empty() {
            if let Some(found) = with(0) {
                return Some(found);
            }
        }
        let exact = exact_multiplier(reference, self.bits)?;
        if let Some(found) = [exact, exact + 1, exact - 1].into_iter().find_map(&with) {
            return Some(found);
        }
        let widest = self.widest(exact);
        // Windows only become narrower on the way out.
        let out = |step: i64| {
            let multipliers = (0..most).map(move |i| widest + i * step);
            multipliers.take_while(|&m| self.sides().iter().all(|&side| !self.window(m, side).is_empty()))
        };
        out(1).chain(out(-1)).find_map(with)
    }

    /// The offsets that are possible with a multiplier.
    pub(super) fn window(&self, m: i64, side: Side) -> Window {
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

    /// Which windows there are.
    fn sides(&self) -> &'static [Side] {
        if self.signed {
            &[Side::Above, Side::Below]
        } else {
            &[Side::All]
        }
    }
}

/// The reference's factor in units of 2^−`bits`, or `None` where it is no positive `i32`.
fn exact_multiplier(reference: &Reference, bits: u32) -> Option<i64> {
    let exponent = i64::from(bits) - 31 + i64::from(reference.multiplier.shift);
    let value = i64::from(reference.multiplier.value);
    let m = match u32::try_from(exponent) {
        Ok(left) => value.checked_mul(1 << left.min(31))?,
        Err(_) => {
            let right = exponent.unsigned_abs().min(62);
            (value + (1 << (right - 1))) >> right
        }
    };
    (m > 0 && m <= i64::from(i32::MAX)).then_some(m)
}

/// `a / b` rounded up, for positive `b`.
pub(super) fn div_ceil(a: i128, b: i128) -> i128 {
    match (i64::try_from(-a), i64::try_from(b)) {
        // Many times faster.
        (Ok(a), Ok(b)) => -i128::from(a.div_euclid(b)),
        _ => -(-a).div_euclid(b),
    }
}
