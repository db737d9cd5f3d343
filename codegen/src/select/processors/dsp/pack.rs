//! Weights as the tiles of four or eight filters read them.
//!
//! For each tile of filters a, b, c, d … (missing ones are zeros): their first values, then the taps in pairs, then what requantises them. A word of
//! taps holds two filters: its halves are `a + 256·b` of one tap and of the next. So one `SMLAD` sums a + 256·b, another one, on the low
//! bytes alone, a.

use crate::requant::{Affine, Choice};
use crate::select::layer::{Gains, Layer};
use crate::select::Shape;
use std::ops::Range;

/// The order of a filter's taps: pairs, each tap an index into the filter's weights or nothing.
pub(super) type Pairs = Vec<[Option<usize>; 2]>;

/// Pairs of neighbours in each run of `run` taps, the last one alone where their number is odd.
pub(super) fn neighbours(runs: usize, run: usize) -> Pairs {
    let pair = |base: usize| {
        (0..run).step_by(2).map(move |k| [Some(base + k), (k + 1 < run).then_some(base + k + 1)])
    };
    (0..runs).flat_map(|r| pair(r * run)).collect()
}

/// As bytes of words come apart: of each four taps in a run the first and the third, then the second and the fourth; what is left at the end of a
/// run as [`neighbours`].
pub(super) fn crossed(runs: usize, run: usize) -> Pairs {
    let mut pairs = Vec::new();
    for base in (0..runs).map(|r| r * run) {
        let whole = run / 4 * 4;
        for k in (base..base + whole).step_by(4) {
            pairs.extend([[Some(k), Some(k + 2)], [Some(k + 1), Some(k + 3)]]);
        }
        let rest = neighbours(1, run - whole).into_iter();
        pairs.extend(rest.map(|pair| pair.map(|tap| tap.map(|k| base + whole + k))));
    }
    pairs
}

/// The taps of a convolution in the order of a window of columns: `[k_w][k_h][in_c]`, while filters are `[k_h][k_w][in_c]`. Channels in fours come
/// apart as bytes of words do.
pub(super) fn columns_first(shape: &Shape) -> Pairs {
    let taps = shape.taps();
    let pairs = if shape.in_c % 4 == 0 { crossed(1, taps) } else { neighbours(1, taps) };
    let of_filter = |tap: usize| {
        let (column, c) = (tap / shape.in_c.max(1), tap % shape.in_c.max(1));
        let (kx, ky) = (column / shape.k_h.max(1), column % shape.k_h.max(1));
        (ky * shape.k_w + kx) * shape.in_c + c
    };
    pairs.into_iter().map(|pair| pair.map(|tap| tap.map(of_filter))).collect()
}

/// How many filters are taken at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::select) enum Tiling {
    /// Four.
    Quads,
    /// Eight, so many times, and four behind those.
    Eights(usize),
    /// One, with weights as bytes.
    Dots,
}

impl Tiling {
    /// By how much the sums come shifted.
    pub(super) fn gains(self) -> Gains {
        match self {
            Tiling::Quads | Tiling::Eights(_) => Gains::Alternating,
            Tiling::Dots => Gains::None,
        }
    }
}

/// Packs the filters of a layer and what requantises them: nothing where there is no `choice`, and the kernel leaves sums. `pairs` says nothing about [`Tiling::Dots`].
pub(super) fn filters(layer: &Layer, pairs: &Pairs, choice: Option<&Choice>, tiling: Tiling) -> Vec<i32> {
    match tiling {
        Tiling::Quads => tiles(layer, pairs, choice, 0),
        Tiling::Eights(eights) => tiles(layer, pairs, choice, eights),
        Tiling::Dots => dots(layer, choice),
    }
}

/// The first value of filter `o`'s sums; 0 where there is no such filter.
pub(super) fn first(layer: &Layer, choice: Option<&Choice>, o: usize) -> i32 {
    layer.bias.get(o).copied().unwrap_or(0).wrapping_add(affine(choice, o).delta)
}

/// What requantises filters, one after the other: the multiplier and the constant, in a signed form also the correction.
pub(super) fn one_by_one(choice: Option<&Choice>, filters: Range<usize>) -> Vec<i32> {
    let Some(Choice { form, .. }) = choice else { return Vec::new() };
    let words = |affine: Affine| {
        [affine.multiplier, affine.constant].into_iter().chain(form.signed.then_some(affine.correction))
    };
    filters.flat_map(|o| words(affine(choice, o))).collect()
}

/// What requantises filters, in a signed form all corrections first.
pub(super) fn corrections_first(choice: Option<&Choice>, filters: Range<usize>) -> Vec<i32> {
    let Some(Choice { form, .. }) = choice else { return Vec::new() };
    let all = || filters.clone().map(|o| affine(choice, o));
    let corrections = all().filter(|_| form.signed).map(|affine| affine.correction);
    corrections.chain(all().flat_map(|affine| [affine.multiplier, affine.constant])).collect()
}

fn affine(choice: Option<&Choice>, o: usize) -> Affine {
    choice.and_then(|choice| choice.affine.get(o)).copied().unwrap_or_default()
}

/// The taps of a filter as bytes of words, the last one completed by zeros.
pub(super) fn bytes(filter: &[i8]) -> impl Iterator<Item = i32> + '_ {
    filter.chunks(4).map(|bytes| {
        let mut word = [0; 4];
        word.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte as u8);
        i32::from_le_bytes(word)
    })
}

/// For each filter its first value, its taps as bytes, and what requantises it.
fn dots(layer: &Layer, choice: Option<&Choice>) -> Vec<i32> {
    let mut words = Vec::new();
    for o in 0..layer.bias.len() {
        words.push(first(layer, choice, o));
        words.extend(bytes(layer.filter(o)));
        words.extend(corrections_first(choice, o..o + 1));
    }
    words
}

/// The first filters in `eights` times eight, all others in fours.
fn tiles(layer: &Layer, pairs: &Pairs, choice: Option<&Choice>, eights: usize) -> Vec<i32> {
    let filters = layer.bias.len();
    let weight = |o: usize, tap: Option<usize>| {
        tap.and_then(|tap| layer.filter(o).get(tap)).map_or(0, |&w| i32::from(w))
    };
    let first = |o| first(layer, choice, o);
    let mut words = Vec::new();
    let quads = (8 * eights..filters).step_by(4).map(|quad| quad..quad + 4);
    for tile in (0..eights).map(|eight| 8 * eight..8 * eight + 8).chain(quads) {
        for even in tile.clone().step_by(2) {
            words.extend([first(even), first(even).wrapping_add(first(even + 1).wrapping_shl(8))]);
        }
        for &[low, high] in pairs {
            for even in tile.clone().step_by(2) {
                let half = |tap| weight(even, tap) + 256 * weight(even + 1, tap);
                words.push((half(low) & 0xffff) | half(high).wrapping_shl(16));
            }
        }
        words.extend(corrections_first(choice, tile));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Form;

    fn layer(weights: &[i8], bias: &[i32]) -> Layer {
        Layer { weights: weights.to_vec(), bias: bias.to_vec(), ..Layer::default() }
    }

    #[test]
    fn taps_in_pairs() {
        assert_eq!(
            neighbours(2, 3),
            [[Some(0), Some(1)], [Some(2), None], [Some(3), Some(4)], [Some(5), None]]
        );
        assert_eq!(crossed(1, 6), [[Some(0), Some(2)], [Some(1), Some(3)], [Some(4), Some(5)]]);
        assert_eq!(
            crossed(2, 4),
            [[Some(0), Some(2)], [Some(1), Some(3)], [Some(4), Some(6)], [Some(5), Some(7)]]
        );
    }

    #[test]
    fn eights_and_a_quad() {
        let (weights, pairs) = ([1, 2, 3, 4, 5, 6, 7, 8, 9], neighbours(1, 1));
        let layer = layer(&weights, &[0; 9]);
        let pack = |tiling| filters(&layer, &pairs, None, tiling);
        let halves = |a: i32, b: i32| a + 256 * b;
        let eight = [halves(1, 2), halves(3, 4), halves(5, 6), halves(7, 8)];
        let rest = [0, 0, 0, 0, halves(9, 0), 0];
        assert_eq!(pack(Tiling::Eights(1)), [&[0; 8][..], &eight, &rest].concat());
        let quads = [&[0; 4][..], &eight[..2], &[0; 4], &eight[2..], &rest].concat();
        assert_eq!(pack(Tiling::Quads), quads);
    }

    #[test]
    fn dots_are_bytes() {
        let affine = |delta, correction| Affine { multiplier: 100, constant: -5, delta, correction };
        let pack = |signed| {
            let choice =
                Choice { form: Form { shift: 3, signed }, affine: vec![affine(7, -9), affine(-1, -8)] };
            let layer = layer(&[1, -2, 3, 4, 5, 6, 7, 8, 9, -128], &[10, 20]);
            filters(&layer, &Vec::new(), Some(&choice), Tiling::Dots)
        };
        let first = [17, i32::from_le_bytes([1, 0xfe, 3, 4]), 5];
        let second = [19, i32::from_le_bytes([6, 7, 8, 9]), 0x80];
        assert_eq!(pack(false), [&first[..], &[100, -5], &second, &[100, -5]].concat());
        assert_eq!(pack(true), [&first[..], &[-9, 100, -5], &second, &[-8, 100, -5]].concat());
    }

    /// The sums of a packed quad, as the kernel takes them apart.
    #[test]
    fn sums_come_apart() {
        let weights: Vec<i8> = (0..15).map(|i| (i * 37 % 255 - 127) as i8).collect();
        let bias = [1000, -70_000, 5, 123_456, -1];
        let pairs = neighbours(1, 3);
        let words = tiles(&layer(&weights, &bias), &pairs, None, 0);
        assert_eq!(words.len(), 2 * (4 + 2 * 2));
        let x = [[-128i32, 127], [77, 0]];
        for (quad, words) in words.chunks(8).enumerate() {
            for half in 0..2 {
                let (mut low, mut both) = (words[2 * half], words[2 * half + 1]);
                for (pair, x) in x.iter().enumerate() {
                    let word = words[4 + 2 * pair + half];
                    for (lane, x) in x.iter().enumerate() {
                        let half = (word >> (16 * lane)) as i16;
                        both = both.wrapping_add(x * i32::from(half));
                        low = low.wrapping_add(x * i32::from(half as i8));
                    }
                }
                let sums = [low, both.wrapping_sub(low) >> 8];
                for (o, sum) in (4 * quad + 2 * half..).zip(sums) {
                    let taps = weights.get(3 * o..).unwrap_or(&[]).iter().zip([-128, 127, 77]);
                    let want =
                        bias.get(o).map_or(0, |b| b + taps.map(|(&w, x)| i32::from(w) * x).sum::<i32>());
                    assert_eq!(sum, want, "filter {o}");
                }
            }
        }
    }
}
