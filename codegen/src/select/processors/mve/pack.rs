//! Weights as vectors of sixteen taps.

use super::end::Fitted;
use crate::select::Shape;

/// Taps of a vector.
const LANES: usize = 16;

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
    let layer = &fitted.layer;
    let vectors = vectors(order);
    let mut words = Vec::new();
    for tile in (0..layer.bias.len()).step_by(at_once) {
        for taps in &vectors {
            for o in tile..tile + at_once {
                let filter = layer.filter(o);
                let mut bytes = [0; LANES];
                for (byte, &tap) in bytes.iter_mut().zip(*taps) {
                    *byte = filter.get(tap).map_or(0, |&w| w as u8);
                }
                words.extend(words_of(&bytes));
            }
        }
        words.extend(ends(fitted, tile, at_once));
    }
    words
}

/// Taps in vectors, of which the first one has what is left of full ones.
fn vectors<T>(taps: &[T]) -> Vec<&[T]> {
    let first = match taps.len() % LANES {
        0 => LANES.min(taps.len()),
        rest => rest,
    };
    let (first, others) = taps.split_at(first);
    std::iter::once(first).chain(others.chunks(LANES)).collect()
}

/// The gates of an LSTM's units, which are given one after the other, as eights of filters of so many weights. Those of a missing unit are zeros.
pub(in crate::select) fn gates(units: &[i8], filter: usize) -> Vec<i8> {
    let filters: Vec<Vec<&[i8]>> = units.chunks(filter.max(1)).map(vectors).collect();
    let mut bytes = Vec::new();
    for eight in filters.chunks(8) {
        for vector in 0..filter.div_ceil(LANES) {
            for f in 0..8 {
                let taps = eight.get(f).and_then(|filter| filter.get(vector)).copied().unwrap_or(&[]);
                bytes.extend(taps.iter().copied().chain(std::iter::repeat(0)).take(LANES));
            }
        }
    }
    bytes
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

/// Bytes, of which there are whole words, as words.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = i32> + '_ {
    bytes.chunks_exact(4).filter_map(|word| Some(i32::from_le_bytes(word.try_into().ok()?)))
}
