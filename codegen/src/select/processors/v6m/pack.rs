//! Weights and first values as the kernels of cores without DSP read them.
//!
//! Both come in windows of two taps, of four or of eight, with weights from 0 to 255: 128 more than they are. A filter's rows are filled up to whole windows.

use crate::select::shape::Shape;

/// Most taps of a part: how many operands the kernels hold.
pub(super) const MOST_PART: usize = 144;

/// Filters whose accumulators the kernel of pairs keeps at once.
pub(super) const PAIR_BLOCK: usize = 33;

/// Filters whose accumulators the kernel of single pixels keeps at once.
pub(super) const SINGLE_BLOCK: usize = 64;

/// Taps of the windows of single rows that are wide.
pub(super) const WIDE: usize = 8;

/// What a window adds to the lower field, so that it is never negative.
const LIFT: i32 = 128 * MOST_OF_WINDOW;

/// Most that absolute weights of a window add up to, so that its sum fits 16 bits whatever the operands are.
const MOST_OF_WINDOW: i32 = 255;

/// Filters of equal length.
pub(super) struct Filters {
    /// One after the other, each a number of whole windows.
    taps: Vec<i8>,
    /// What weights are more or less than that, as the taps; empty where windows hold them.
    rests: Vec<i8>,
    /// Taps of each.
    size: usize,
    /// Taps of a window.
    window: usize,
    /// How many.
    count: usize,
}

impl Filters {
    /// Filters `[count][rows][row]`, in windows of two taps.
    pub(super) fn new(weights: &[i8], count: usize, row: usize) -> Filters {
        Filters::in_windows(weights, count, row, 2)
    }

    /// The same in windows of so many taps, with rests.
    pub(super) fn wide(weights: &[i8], count: usize, row: usize, window: usize) -> Filters {
        let mut filters = Filters::in_windows(weights, count, row, window);
        filters.rests = vec![0; filters.taps.len()];
        for (window, rests) in filters.taps.chunks_mut(window).zip(filters.rests.chunks_mut(window)) {
            let sum: i32 = window.iter().map(|&w| i32::from(w).abs()).sum();
            let mut more = (sum - MOST_OF_WINDOW).max(0);
            // The largest ones give most: few rests.
            let mut order: Vec<usize> = (0..window.len()).collect();
            order.sort_by_key(|&tap| std::cmp::Reverse(window[tap].unsigned_abs()));
            for tap in order {
                let (weight, taken) = (i32::from(window[tap]), more.min(i32::from(window[tap]).abs()));
                rests[tap] = (weight.signum() * taken) as i8;
                window[tap] = (weight - weight.signum() * taken) as i8;
                more -= taken;
            }
        }
        filters
    }

    fn in_windows(weights: &[i8], count: usize, row: usize, window: usize) -> Filters {
        let rows = weights.len() / (count * row).max(1);
        let filled = row.next_multiple_of(window);
        let mut taps = Vec::with_capacity(count * rows * filled);
        for row in weights.chunks(row.max(1)) {
            taps.extend(row);
            taps.extend(std::iter::repeat_n(0, filled - row.len()));
        }
        Filters { taps, rests: Vec::new(), size: rows * filled, window, count }
    }

    /// Whether the sums of each window fit 16 bits, whatever the operands are.
    pub(super) fn fit_windows(&self) -> bool {
        let sum = |window: &[i8]| window.iter().map(|&w| i32::from(w).abs()).sum::<i32>();
        self.taps.chunks(self.window).all(|window| sum(window) <= MOST_OF_WINDOW)
    }

    /// How many rests there are.
    pub(super) fn rest_count(&self) -> usize {
        self.rests.iter().filter(|&&rest| rest != 0).count()
    }

    /// Taps of a part: as few parts as possible, of nearly the same size. Parts of windows of eight are as large as they can be.
    pub(super) fn part(&self) -> usize {
        if self.window == WIDE {
            return MOST_PART;
        }
        let parts = self.size.div_ceil(MOST_PART).max(1);
        self.size.div_ceil(parts).next_multiple_of(self.window).max(self.window)
    }

    /// A weight as the kernels read it; 0 for a filter beyond the last.
    fn byte(&self, o: usize, tap: usize) -> u8 {
        let weight = if o < self.count { self.taps[o * self.size + tap] } else { 0 };
        (i32::from(weight) + 128) as u8
    }

    /// The parts, each as the range of its taps.
    fn parts(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let part = self.part();
        (0..self.size).step_by(part).map(move |from| from..(from + part).min(self.size))
    }

    /// Weights for tiles of two pixels, and rests: in windows of four taps, the number of rests of each filter is behind the weights of a tile.
    pub(super) fn pairs(&self) -> (Vec<u8>, Vec<u8>) {
        let staged = self.size > self.part();
        let (mut packed, mut rests) = (Vec::with_capacity(self.taps.len()), Vec::new());
        let mut first = 0;
        while first < self.count {
            let block = match self.count - first {
                left if !staged || left <= PAIR_BLOCK => left,
                left if left == PAIR_BLOCK + 1 => PAIR_BLOCK - 2,
                _ => PAIR_BLOCK,
            };
            for taps in self.parts() {
                let mut o = first;
                for filters in tiles(block) {
                    for tap in taps.clone() {
                        packed.extend((o..o + filters).map(|o| self.byte(o, tap)));
                    }
                    for o in (o..o + filters).filter(|_| !self.rests.is_empty()) {
                        packed.push(self.add_rests(o, taps.clone(), &mut rests));
                    }
                    o += filters;
                }
            }
            first += block;
        }
        (packed, rests)
    }

    /// Adds the rests of a filter in a part, and returns how many there are.
    fn add_rests(&self, o: usize, taps: std::ops::Range<usize>, rests: &mut Vec<u8>) -> u8 {
        let before = rests.len();
        for (at, tap) in taps.enumerate() {
            let rest = if o < self.count { self.rests[o * self.size + tap] } else { 0 };
            if rest != 0 {
                // The word of the tap: windows have one more than taps. A part has at most 180.
                rests.extend([(at + at / self.window) as u8, rest as u8]);
            }
        }
        // At most 144.
        ((rests.len() - before) / 2) as u8
    }

    /// First values of the accumulators in tiles of two pixels, for filters with these biases.
    pub(super) fn pair_firsts(&self, bias: &[i32]) -> Vec<i32> {
        let lift = LIFT.wrapping_mul((self.size / self.window) as i32);
        let pair = |&b: &i32| [b.wrapping_add(b.wrapping_shl(16)).wrapping_sub(lift), b];
        bias.iter().flat_map(pair).collect()
    }

    /// Weights for tiles of one pixel, and rests: words of four filters. In wide windows, the numbers of rests of its filters are behind the weights of a tile.
    pub(super) fn singles(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut packed, mut rests) = (Vec::with_capacity(self.taps.len()), Vec::new());
        for block in (0..self.count).step_by(SINGLE_BLOCK) {
            let filters = (self.count - block).min(SINGLE_BLOCK);
            for taps in self.parts() {
                for o in (block..block + filters).step_by(4) {
                    for tap in taps.clone() {
                        packed.extend([0, 2, 1, 3].map(|lane| self.byte(o + lane, tap)));
                    }
                    for o in (o..o + 4).filter(|_| !self.rests.is_empty()) {
                        packed.push(self.add_rests(o, taps.clone(), &mut rests));
                    }
                }
            }
        }
        (packed, rests)
    }

    /// First values of the accumulators in tiles of one pixel.
    pub(super) fn single_firsts(&self, bias: &[i32]) -> Vec<i32> {
        let lift = LIFT.wrapping_mul((self.size / self.window) as i32);
        let mut firsts = Vec::with_capacity(self.count.next_multiple_of(4));
        for pair in bias.chunks(2) {
            let upper = pair.get(1).copied().unwrap_or(0).wrapping_sub(lift);
            firsts.extend([pair[0].wrapping_sub(lift).wrapping_add(upper.wrapping_shl(16)), upper]);
        }
        firsts.resize(firsts.len().next_multiple_of(4), 0);
        firsts
    }
}

/// The tiles of so many filters, as numbers of filters: threes, and twos for what is left.
fn tiles(filters: usize) -> impl Iterator<Item = usize> {
    let (threes, left) = (filters / 3, filters % 3);
    let (threes, twos) = match left {
        0 => (threes, 0),
        1 => (threes.saturating_sub(1), 2),
        _ => (threes, 1),
    };
    std::iter::repeat_n(3, threes).chain(std::iter::repeat_n(2, twos))
}

/// Depthwise weights `[o][taps]` as `[taps][o]`, with zeros to a number of taps that three divides.
pub(super) fn taps_in_threes(weights: &[i8], channels: usize) -> Vec<i8> {
    let taps = weights.len() / channels.max(1);
    let weight = |tap: usize, o: usize| if tap < taps { weights[o * taps + tap] } else { 0 };
    let filled = 0..taps.next_multiple_of(3);
    filled.flat_map(|tap| (0..channels).map(move |o| (tap, o))).map(|(tap, o)| weight(tap, o)).collect()
}

/// Elements of padding that the kernel for depthwise filters of 3 × 3 has: for three columns at least.
const ROLLING_PADDING: usize = 1024;

/// Whether that kernel computes a layer with these weights `[o][9]`.
pub(super) fn rolls(shape: &Shape, weights: &[i8]) -> bool {
    let Shape { k_h, k_w, stride_h, stride_w, dilation_h, dilation_w, in_w, out_w, .. } = *shape;
    let columns = (out_w.max(1) - 1) * stride_w + 3;
    // The first two rows of a column are a window.
    let fits = |filter: &[i8]| (0..3).all(|k| filter[k] != i8::MIN || filter[3 + k] != i8::MIN);
    [k_h, k_w, dilation_h, dilation_w] == [3, 3, 1, 1]
        && (1..=2).contains(&stride_w)
        && stride_h == stride_w
        && shape.pad_left <= 1
        && columns <= in_w + shape.pad_left + 1
        && 3 * shape.in_c <= ROLLING_PADDING
        && weights.chunks_exact(9).all(fits)
}

/// Pixels that it computes at once where rows of the operand are padding.
pub(super) fn rolling_pixels(shape: &Shape) -> usize {
    let columns = ROLLING_PADDING / shape.in_c.max(1);
    match shape.in_w <= columns {
        true => shape.out_w.max(1),
        false => columns.saturating_sub(3) / shape.stride_w.max(1) + 1,
    }
}

/// Its weights: words of the filters' columns, from the last one on. The rows' weights are bytes 0, 1 and 3.
pub(super) fn columns(weights: &[i8]) -> Vec<i32> {
    let word = |filter: &[i8], k: usize| {
        let [a, b, c] = [0, 3, 6].map(|row| filter[row + k] as u8);
        i32::from_le_bytes([a, b, 0, c])
    };
    weights.chunks_exact(9).flat_map(|filter| [2, 1, 0].map(|k| word(filter, k))).collect()
}

/// Whether the kernel for filters of one column computes it.
pub(super) fn is_column(shape: &Shape) -> bool {
    let Shape { k_h, k_w, stride_h, stride_w, dilation_h, pad_left, in_w, out_w, .. } = *shape;
    [k_w, stride_h, stride_w, dilation_h, pad_left] == [1, 1, 1, 1, 0] && k_h <= 30 && out_w <= in_w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_take_all_filters() {
        for filters in 2..200 {
            assert_eq!(tiles(filters).sum::<usize>(), filters);
        }
    }

    #[test]
    fn odd_rows_are_filled_up() {
        let filters = Filters::new(&[1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6], 2, 3);
        assert_eq!((filters.size, filters.part()), (8, 8));
        let lanes = |w: &[i32]| w.iter().map(|w| (w + 128) as u8).collect::<Vec<_>>();
        let expected = lanes(&[1, -1, 2, -2, 3, -3, 0, 0, 4, -4, 5, -5, 6, -6, 0, 0]);
        assert_eq!(filters.pairs(), (expected, vec![]));
        assert_eq!(filters.singles().0[..4], lanes(&[1, 0, -1, 0]));
    }

    #[test]
    fn parts_are_even() {
        for size in 1..700 {
            let filters = Filters::new(&vec![1; size], 1, size);
            let sizes: Vec<usize> = filters.parts().map(|part| part.len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), filters.size);
            assert!(sizes.iter().all(|&size| size % 2 == 0 && size <= MOST_PART), "{sizes:?}");
        }
    }

    #[test]
    fn wide_windows_fit_and_rests_are_what_is_left() {
        let weights = [127, -128, 100, 3, -128, -128, -128, -128, 60, 60, 60, 60, 1, 2, 3, -128, 127, 9];
        let filters = Filters::wide(&weights, 2, 9, 4);
        assert_eq!((filters.size, filters.part()), (12, 12));
        assert!(filters.fit_windows());
        assert_eq!(filters.rest_count(), 5);
        let whole: Vec<i8> = filters.taps.iter().zip(&filters.rests).map(|(w, rest)| w + rest).collect();
        assert_eq!(whole[..9], weights[..9]);
        assert_eq!(whole[12..21], weights[9..]);
        let (packed, rests) = filters.pairs();
        assert_eq!(packed[24..], [4, 1]);
        let expected = [1, -103, 5, -128, 6, -128, 7, -1, 7, -5];
        assert_eq!(rests, expected.map(|byte: i8| byte as u8));
    }

    #[test]
    fn windows_of_two_extremes_do_not_fit() {
        let fit = |weights: &[i8]| Filters::new(weights, 1, weights.len()).fit_windows();
        assert!(fit(&[127, -127, 127, -128]) && fit(&[1, -128, -128, 1]));
        assert!(!fit(&[1, 1, -128, -128]));
    }

    #[test]
    fn columns_come_from_the_last_one_on() {
        let words = columns(&[1, 2, 3, 4, 5, 6, 7, -8, 9]);
        assert_eq!(words, [0x09_00_06_03, 0xf8_00_05_02_u32 as i32, 0x07_00_04_01]);
    }

    #[test]
    fn depthwise_taps_come_in_threes() {
        assert_eq!(taps_in_threes(&[1, 2, 3, 4, 5, 6, 7, 8], 2), [1, 5, 2, 6, 3, 7, 4, 8, 0, 0, 0, 0]);
    }
}
