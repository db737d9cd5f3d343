//! Weights as vectors of sixteen taps.

use super::end::Fitted;
use crate::select::Shape;

/// Taps of a vector.
pub(super) const LANES: usize = 16;

/// The taps of a convolution in the order of a window of columns: `[k_w][k_h][in_c]`, while filters are `[k_h][k_w][in_c]`.
pub(super) fn columns_first(shape: &Shape) -> Vec<usize> {
    let of_filter = |tap: usize| {
        let (column, c) = (tap / shape.in_c.max(1), tap % shape.in_c.max(1));
        let (kx, ky) = (column / shape.k_h.max(1), column % shape.k_h.max(1));
        (ky * shape.k_w + kx) * shape.in_c + c
    };
    (0..shape.taps()).map(of_filter).collect()
}

/// Packs the filters of a layer and what requantises them, `at_once` at a time: four, or eight of which those with even indices come first in what requantises. Missing ones are zeros.
///
/// A vector of each filter follows that of the one before. The first vectors have what is left of full ones, completed by zeros.
pub(super) fn filters(fitted: &Fitted, order: &[usize], at_once: usize) -> Vec<i32> {
    let taps = |o: usize| {
        let filter = fitted.layer.filter(o);
        order.iter().map(|&tap| filter.get(tap).copied().unwrap_or(0)).collect()
    };
    let mut words = Vec::new();
    for first in (0..fitted.layer.bias.len()).step_by(at_once) {
        let filters: Vec<Vec<i8>> = (first..first + at_once).map(taps).collect();
        words.extend(words_of(&tile(&filters, at_once)));
        words.extend(ends(fitted, first, at_once));
    }
    words
}

/// The gates of an LSTM's units, which are given one after the other, as eights of filters of so many weights: two gates of four units.
pub(in crate::select) fn gates(units: &[i8], filter: usize) -> Vec<i8> {
    let gates = in_fours::<_, 4>(units, filter);
    let filters: Vec<&[i8]> = gates.chunks(filter.max(1)).collect();
    filters.chunks(8).flat_map(|eight| tile(eight, 8)).map(|byte| byte as i8).collect()
}

/// What an LSTM's units have of each of `GATES` gates, so many numbers, gate by gate of each four units. Those of a missing unit are zeros.
pub(in crate::select) fn in_fours<T: Copy + Default, const GATES: usize>(units: &[T], size: usize) -> Vec<T> {
    let unit = GATES * size;
    let number = |four: usize, gate: usize, lane: usize, i: usize| {
        units.get((4 * four + lane) * unit + gate * size + i).copied().unwrap_or_default()
    };
    let fours = 0..units.len().div_ceil(4 * unit.max(1));
    let gates = fours.flat_map(|four| (0..GATES).map(move |gate| (four, gate)));
    let lanes = gates.flat_map(|(four, gate)| (0..4).map(move |lane| (four, gate, lane)));
    lanes.flat_map(|(four, gate, lane)| (0..size).map(move |i| number(four, gate, lane, i))).collect()
}

/// Filters of as many taps, `at_once` of them, vector by vector.
fn tile<T: AsRef<[i8]>>(filters: &[T], at_once: usize) -> Vec<u8> {
    let vectors: Vec<Vec<&[i8]>> = filters.iter().map(|filter| vectors(filter.as_ref())).collect();
    let mut bytes = Vec::new();
    for vector in 0..vectors.first().map_or(0, Vec::len) {
        for f in 0..at_once {
            let taps = vectors.get(f).and_then(|filter| filter.get(vector)).copied().unwrap_or(&[]);
            bytes.extend(taps.iter().map(|&tap| tap as u8).chain(std::iter::repeat(0)).take(LANES));
        }
    }
    bytes
}

/// Taps in vectors, of which the first one has what is left of full ones.
fn vectors(taps: &[i8]) -> Vec<&[i8]> {
    let first = match taps.len() % LANES {
        0 => LANES.min(taps.len()),
        rest => rest,
    };
    let (first, others) = taps.split_at(first);
    std::iter::once(first).chain(others.chunks(LANES)).collect()
}

/// What requantises, in vectors of four filters.
fn ends(fitted: &Fitted, tile: usize, at_once: usize) -> Vec<i32> {
    let vectors = at_once / 4;
    let lanes = (0..vectors).flat_map(|vector| (0..4).map(move |lane| tile + vector + lane * vectors));
    let words: Vec<Vec<i32>> = lanes.map(|o| fitted.words(o)).collect();
    let most = words.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|what| words.iter().map(move |words| words.get(what).copied().unwrap_or(0))).collect()
}

/// Packs the filters of a depthwise convolution, and what requantises them, channel by channel. `order` are the taps in the order of a window, `before` the zeros in front of them.
pub(super) fn channels(fitted: &Fitted, order: &[usize], before: usize) -> Vec<i32> {
    let mut words = Vec::new();
    for c in 0..fitted.layer.bias.len() {
        let mut end = fitted.words(c);
        // The constant comes before the multiplier here.
        end.swap(1, 2);
        words.extend(end);
        let filter = fitted.layer.filter(c);
        let taps = order.iter().map(|&tap| filter.get(tap).map_or(0, |&w| w as u8));
        let mut bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(taps).collect();
        bytes.resize((before + order.len().next_multiple_of(LANES)).next_multiple_of(4), 0);
        words.extend(words_of(&bytes));
    }
    words
}

/// Packs the filters of a depthwise convolution of so many taps, and what requantises them, sixteen channels at a time. The last sixteen may begin before the others end.
pub(super) fn sixteens(fitted: &Fitted, taps: usize) -> Vec<i32> {
    let channels = fitted.layer.bias.len();
    let (lo, hi) = fitted.layer.clamp;
    let mut words = vec![fitted.form().map_or(0, |form| form.shift as i32), lo, hi, 0];
    for first in (0..channels).step_by(LANES).map(|first| first.min(channels.saturating_sub(LANES))) {
        // Even and odd ones of eight channels.
        let four = |four: usize| (0..4).map(move |lane| first + four / 2 * 8 + 2 * lane + four % 2);
        let ends: Vec<Vec<Vec<i32>>> = (0..4).map(|at| four(at).map(|c| fitted.words(c)).collect()).collect();
        let word = |words: &[i32], what: usize| words.get(what).copied().unwrap_or(0);
        words.extend(ends.iter().flatten().map(|end| word(end, 0)));
        let tap = |tap: usize| {
            (first..first + LANES).map(move |c| fitted.layer.filter(c).get(tap).map_or(0, |&w| w as u8))
        };
        let bytes: Vec<u8> = (0..taps).flat_map(tap).collect();
        words.extend(words_of(&bytes));
        let whats = if fitted.form().is_some() { 1..3 } else { 1..4 };
        for four in &ends {
            words.extend(whats.clone().flat_map(|what| four.iter().map(move |end| word(end, what))));
        }
    }
    words
}

/// Bytes, of which there are whole words, as words.
pub(super) fn words_of(bytes: &[u8]) -> impl Iterator<Item = i32> + '_ {
    bytes.chunks_exact(4).filter_map(|word| Some(i32::from_le_bytes(word.try_into().ok()?)))
}
