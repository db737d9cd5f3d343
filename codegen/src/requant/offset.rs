//! Offsets for arithmetic that scales an accumulator, adds an offset and shifts the sum to the right: [`Halves`](super::Halves) and [`Upper`](super::Upper).

use super::{Interval, Steps};
use std::ops::Range;

/// The accumulators whose results are computed. Those before them are below the first step, and those behind them above the last one: they saturate. It has none where all results are the same.
pub(super) fn computed(steps: &Steps, lo: i32, hi: i32) -> Range<i64> {
    let Interval { lo: least, hi: most } = steps.range;
    let start = match steps.at.first() {
        Some(&first) if steps.first == lo => first,
        None if steps.first == lo => most + 1,
        _ => least,
    };
    let end = match steps.at.last() {
        Some(&last) if steps.last() == hi => last,
        None if steps.last() == hi => least,
        _ => most + 1,
    };
    start..end.max(start)
}

/// Multipliers that are tried, the nearest to the exact one first.
pub(super) fn multipliers(exact: f64, steps: &Steps) -> impl Iterator<Item = i64> {
    let nearest = exact.round() as i64;
    let candidates = [0, 1, -1, 2, -2, 3, -3].into_iter().map(move |near| nearest + near);
    // A result that never changes needs no multiplier.
    steps.at.is_empty().then_some(0).into_iter().chain(candidates)
}

/// The offset, and that of negative accumulators if these have one of their own (`signed`). `scaled` is a function of how far an accumulator is behind the first that is computed. `None` where the
/// steps leave no room for an offset.
pub(super) fn offsets(
    steps: &Steps,
    computed: &Range<i64>,
    shift: u32,
    signed: bool,
    scaled: impl Fn(u32) -> u32,
) -> Option<[i32; 2]> {
    // What each step demands of the offset on its side of zero: that the accumulator reaches the result, and the one before it does not.
    let mut windows = [(i64::MIN, i64::MAX); 2];
    let mut demand = |y: i32, acc: i64, reached: bool| {
        if computed.contains(&acc) {
            let (lo, hi) = &mut windows[usize::from(signed && acc < 0)];
            let offset = (i64::from(y) << shift) - i64::from(scaled((acc - computed.start) as u32));
            if reached {
                *lo = (*lo).max(offset);
            } else {
                *hi = (*hi).min(offset - 1);
            }
        }
    };
    for (y, at) in steps.iter() {
        demand(y, at, true);
        demand(y, at - 1, false);
    }
    let result = |acc: i64| steps.first + steps.at.partition_point(|&at| at <= acc) as i32;
    for acc in [computed.start, -1, 0, computed.end - 1] {
        demand(result(acc), acc, true);
        demand(result(acc) + 1, acc, false);
    }
    let middle = |(lo, hi): (i64, i64)| match (lo, hi) {
        (i64::MIN, i64::MAX) => Some(0),
        _ if lo > hi => None,
        _ => i32::try_from(lo + (hi - lo) / 2).ok(),
    };
    Some([middle(windows[0])?, middle(windows[1])?])
}

/// Whether arithmetic that is monotone on both sides of zero is the reference: accumulators can be moved by `delta`, it does not fall between the sides, and it takes the same steps.
pub(super) fn agrees(steps: &Steps, delta: i32, apply: impl Fn(i32) -> i32) -> bool {
    let Interval { lo, hi } = steps.range;
    let moved = |acc: i64| i32::try_from(acc + i64::from(delta)).is_ok();
    let rises = !(lo < 0 && 0 <= hi) || apply(-1) <= apply(0);
    moved(lo) && moved(hi) && rises && steps.are_those_of(apply)
}
