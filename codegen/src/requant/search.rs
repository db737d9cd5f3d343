//! Where a monotone property begins to hold.

use super::Interval;

/// The smallest value in `range` for which `reached` holds; `range.hi + 1` if there is none. What is reached stays reached.
///
/// The search starts at `guess` and moves away from it in growing strides, then halves what is left: a good guess takes two calls,
/// and a bad one no more than twice those of a bisection.
pub(super) fn first_where(range: Interval, guess: i64, reached: impl Fn(i64) -> bool) -> i64 {
    // All up to `low` is not reached, all from `high` on is.
    let (mut low, mut high) = (range.lo - 1, range.hi + 1);
    let mut probe = guess.clamp(range.lo, range.hi.max(range.lo));
    let mut stride = 1;
    while high - low > 1 {
        let is_reached = reached(probe);
        *(if is_reached { &mut high } else { &mut low }) = probe;
        let middle = low + (high - low) / 2;
        probe = if is_reached { (probe - stride).max(middle) } else { (probe + stride).min(middle) };
        stride = (2 * stride).min(1 << 32);
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn finds_every_position_from_every_guess() {
        let range = Interval { lo: -9, hi: 12 };
        for position in -9..=13 {
            for guess in -30..30 {
                assert_eq!(first_where(range, guess, |x| x >= position), position, "from {guess}");
            }
        }
        assert_eq!(first_where(Interval { lo: 3, hi: 2 }, 0, |_| true), 3);
    }

    #[test]
    fn a_good_guess_is_cheap_and_a_bad_one_bearable() {
        let range = Interval { lo: -1 << 31, hi: (1 << 31) - 1 };
        let calls = |guess: i64| {
            let calls = Cell::new(0);
            let found = first_where(range, guess, |x| {
                calls.set(calls.get() + 1);
                x >= 1_234_567
            });
            assert_eq!(found, 1_234_567);
            calls.get()
        };
        assert_eq!(calls(1_234_567), 2);
        assert_eq!(calls(1_234_566), 2);
        assert!(calls(range.lo) <= 64 && calls(range.hi) <= 64);
    }
}
