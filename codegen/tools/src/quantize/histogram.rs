//! What is known of the numbers of a value: how many of them lie where.

/// Intervals of a histogram, half of them on either side of zero.
pub(super) const BINS: usize = 4096;

/// Numbers seen so far. The interval is a power of two on either side of zero, which doubles where a number lies beyond: so the order in which numbers come does not matter, nor
/// which of them were counted elsewhere first.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// From −2^exponent to 2^exponent.
    exponent: i32,
    /// Empty until there is a number that is not zero.
    counts: Vec<u64>,
    /// Zeros, which are exact in every format.
    zeros: u64,
    /// The least number, and zero.
    pub(super) least: f32,
    /// The greatest number, and zero.
    pub(super) greatest: f32,
}

impl Histogram {
    /// Counts numbers; those that are not finite are left out, and make the answer false.
    pub(super) fn add(&mut self, numbers: &[f32]) -> bool {
        let mut finite = true;
        let (mut least, mut greatest) = (self.least, self.greatest);
        for &x in numbers {
            finite &= x.is_finite();
            if x.is_finite() {
                least = least.min(x);
                greatest = greatest.max(x);
            }
        }
        (self.least, self.greatest) = (least, greatest);
        self.widen(least.abs().max(greatest));
        let scale = (BINS as f64 / 2.0) / f64::from(self.exponent).exp2();
        for &x in numbers {
            if x == 0.0 || self.counts.is_empty() {
                self.zeros += 1;
            } else if x.is_finite() {
                let bin = (f64::from(x) * scale).floor() as i64 + BINS as i64 / 2;
                self.counts[bin.clamp(0, BINS as i64 - 1) as usize] += 1;
            }
        }
        finite
    }

    /// Adds the numbers of another one.
    pub(super) fn merge(&mut self, mut other: Histogram) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        let reach = self.least.abs().max(self.greatest);
        self.widen(reach);
        other.widen(reach);
        self.zeros += other.zeros;
        self.counts.iter_mut().zip(other.counts).for_each(|(own, more)| *own += more);
    }

    /// Lets the interval hold a number of that magnitude.
    fn widen(&mut self, reach: f32) {
        if reach == 0.0 {
            return;
        }
        let needed = f64::from(reach).log2().ceil() as i32;
        if self.counts.is_empty() {
            self.counts = vec![0; BINS];
            self.exponent = needed;
        }
        while self.exponent < needed {
            let mut wider = vec![0; BINS];
            for (bin, count) in self.counts.iter().enumerate() {
                wider[BINS / 4 + bin / 2] += count;
            }
            self.counts = wider;
            self.exponent += 1;
        }
    }

    /// The width of an interval.
    pub(super) fn width(&self) -> f64 {
        f64::from(self.exponent).exp2() / (BINS as f64 / 2.0)
    }

    /// Middles of the intervals with numbers, and how many those are; zeros aside.
    pub(super) fn middles(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let width = self.width();
        let filled = self.counts.iter().enumerate().filter(|(_, &count)| count > 0);
        filled.map(move |(bin, &count)| ((bin as f64 - BINS as f64 / 2.0 + 0.5) * width, count as f64))
    }

    /// Numbers in the intervals from zero outwards, on both sides together. Zeros do not count, nor what is next to them: the first interval is as full as the second.
    pub(super) fn magnitudes(&self) -> Vec<f64> {
        let mut magnitudes = vec![0.0; BINS / 2];
        for (bin, &count) in self.counts.iter().enumerate() {
            let outwards = if bin >= BINS / 2 { bin - BINS / 2 } else { BINS / 2 - 1 - bin };
            magnitudes[outwards] += count as f64;
        }
        magnitudes[0] = magnitudes[1];
        magnitudes
    }

    /// The bounds beyond which a part of all numbers lies, on either side.
    pub(super) fn quantiles(&self, part: f64) -> (f64, f64) {
        let all = self.counts.iter().sum::<u64>() + self.zeros;
        let beyond = (all as f64 * part).floor() as u64;
        let (width, half) = (self.width(), BINS / 2);
        let bound = |bins: &mut dyn Iterator<Item = usize>| {
            let mut seen = 0;
            for (outer, bin) in bins.enumerate() {
                seen += self.counts.get(bin).copied().unwrap_or(0);
                if seen > beyond {
                    return (half - outer) as f64 * width;
                }
            }
            0.0
        };
        (-bound(&mut (0..half)), bound(&mut (half..BINS).rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_parts_do_not_matter() {
        let numbers: Vec<f32> = (0..1000).map(|k| ((k * 7919 % 1000) as f32 - 300.0) / 7.0).collect();
        let mut whole = Histogram::default();
        assert!(whole.add(&numbers));
        let (mut first, mut second) = (Histogram::default(), Histogram::default());
        numbers.chunks(10).enumerate().for_each(|(k, part)| {
            assert!(if k % 3 == 0 { &mut first } else { &mut second }.add(part));
        });
        first.merge(second);
        assert_eq!(
            (first.counts, first.exponent, first.zeros),
            (whole.counts.clone(), whole.exponent, whole.zeros)
        );
        assert_eq!((whole.least, whole.greatest, whole.zeros), (-300.0 / 7.0, 699.0 / 7.0, 1));
        let (lo, hi) = whole.quantiles(0.01);
        assert!((lo + 290.0 / 7.0).abs() < 0.1 && (hi - 689.0 / 7.0).abs() < 0.1, "{lo} {hi}");
        assert!(!whole.add(&[f32::NAN]));
    }

    #[test]
    fn of_zeros_alone_there_are_no_bounds() {
        let mut zeros = Histogram::default();
        assert!(zeros.add(&[0.0; 9]));
        assert_eq!((zeros.least, zeros.greatest, zeros.quantiles(0.1)), (0.0, 0.0, (0.0, 0.0)));
        assert_eq!(zeros.middles().count(), 0);
    }
}
