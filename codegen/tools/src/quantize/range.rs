//! From the numbers of a value to the range that is stored: four methods.

use super::format::Format;
use super::histogram::Histogram;

/// How ranges are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// From the least to the greatest number.
    MinMax,
    /// Without the outermost numbers on either side: so many percent lie within each bound.
    Percentile(f64),
    /// The range whose format has the least squared error.
    Mse,
    /// The range whose format loses the least information: the Kullback–Leibler divergence of S. Migacz, "8-bit Inference with TensorRT" (GTC 2017).
    Entropy,
}

impl Method {
    /// The methods' names.
    pub const NAMES: [&'static str; 4] = ["minmax", "percentile", "mse", "entropy"];

    /// The method of a name; of percentiles the 99.99th.
    pub fn of_name(name: &str) -> Option<Method> {
        match name {
            "minmax" => Some(Method::MinMax),
            "percentile" => Some(Method::Percentile(99.99)),
            "mse" => Some(Method::Mse),
            "entropy" => Some(Method::Entropy),
            _ => None,
        }
    }

    /// The range of a value. Zero lies in it.
    pub(super) fn range(self, histogram: &Histogram) -> (f32, f32) {
        let all = (histogram.least, histogram.greatest);
        let within = |(lo, hi): (f64, f64)| ((lo as f32).max(all.0), (hi as f32).min(all.1));
        match self {
            _ if all == (0.0, 0.0) => all,
            Method::MinMax => all,
            Method::Percentile(percent) => within(histogram.quantiles(1.0 - percent / 100.0)),
            Method::Mse => mse(histogram, all),
            Method::Entropy => {
                let bound = entropy(&histogram.magnitudes(), if all.0 < 0.0 { 128 } else { 256 });
                let bound = bound as f64 * histogram.width();
                within((-bound, bound))
            }
        }
    }
}

/// Steps in which bounds are tried.
const STEPS: usize = 40;

/// Both bounds come closer together, then each alone, as long as the error becomes less.
fn mse(histogram: &Histogram, (lo, hi): (f32, f32)) -> (f32, f32) {
    let middles: Vec<(f64, f64)> = histogram.middles().collect();
    let error = |range: (f32, f32)| {
        let format = Format::of_8_bits(range);
        middles
            .iter()
            .map(|&(x, count)| (f64::from(format.nearest(x as f32)) - x).powi(2) * count)
            .sum::<f64>()
    };
    let mut best = ((1.0, 1.0), error((lo, hi)));
    let factors = || (STEPS / 5..=STEPS).map(|step| step as f32 / STEPS as f32);
    let mut attempt = |factor: (f32, f32)| {
        let found = error((lo * factor.0, hi * factor.1));
        if found < best.1 {
            best = (factor, found);
        }
        best.0
    };
    let mut chosen = (1.0, 1.0);
    for factor in factors() {
        chosen = attempt((factor, factor));
    }
    for factor in factors() {
        chosen = attempt((chosen.0, factor));
    }
    for factor in factors() {
        chosen = attempt((factor, chosen.1));
    }
    (lo * chosen.0, hi * chosen.1)
}

/// Numbers that an interval has to hold on average: with fewer, it is chance which ones are empty.
const LEAST_IN_INTERVAL: f64 = 16.0;

/// How many of the intervals from zero outwards are kept, so that a distribution of `levels` steps over them is nearest to that of all numbers. All, where there are too few numbers.
fn entropy(magnitudes: &[f64], levels: usize) -> usize {
    let used = magnitudes.iter().rposition(|&count| count > 0.0).map_or(0, |last| last + 1);
    if magnitudes.iter().sum::<f64>() < LEAST_IN_INTERVAL * used as f64 {
        if used < 4 * levels {
            return used;
        }
        let wider: Vec<f64> = magnitudes.chunks(2).map(|pair| pair.iter().sum()).collect();
        return (2 * entropy(&wider, levels)).min(used);
    }
    let mut best = (used, f64::INFINITY);
    for kept in (levels..=used).step_by(4).chain([used]) {
        if kept < levels {
            return used;
        }
        let divergence = divergence(&magnitudes[..kept], magnitudes[kept..].iter().sum(), levels);
        if divergence < best.1 {
            best = (kept, divergence);
        }
    }
    best.0
}

/// The divergence of the numbers, those outside counted in the last interval, from what `levels` steps tell of them.
fn divergence(inside: &[f64], outside: f64, levels: usize) -> f64 {
    let kept = inside.len();
    let mut steps = vec![0.0; kept];
    for level in 0..levels {
        let (begin, end) = (level * kept / levels, (level + 1) * kept / levels);
        let filled = inside[begin..end].iter().filter(|&&count| count > 0.0).count();
        let each = inside[begin..end].iter().sum::<f64>() / filled.max(1) as f64;
        for k in begin..end {
            steps[k] = if inside[k] > 0.0 { each } else { 0.0 };
        }
    }
    let (all, of_steps) = (inside.iter().sum::<f64>() + outside, steps.iter().sum::<f64>());
    if of_steps == 0.0 {
        return f64::INFINITY;
    }
    let mut sum = 0.0;
    for (k, &count) in inside.iter().enumerate() {
        let p = (count + if k + 1 == kept { outside } else { 0.0 }) / all;
        // An interval that only what lies outside fills has a step of its own, of no more than one number.
        let q = (if steps[k] > 0.0 { steps[k] } else { 1e-4 }) / of_steps;
        if p > 0.0 {
            sum += p * (p / q).ln();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A normal distribution (sums of twelve uniform numbers), and one number far outside.
    fn outlier() -> Histogram {
        let mut seed = 1u32;
        let mut uniform = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32
        };
        let mut numbers: Vec<f32> =
            (0..100_000).map(|_| (0..12).map(|_| uniform()).sum::<f32>() - 6.0).collect();
        numbers.push(40.0);
        let mut histogram = Histogram::default();
        histogram.add(&numbers);
        histogram
    }

    #[test]
    fn an_outlier_is_cut_off_where_its_error_does_not_count() {
        let histogram = outlier();
        assert_eq!(Method::MinMax.range(&histogram).1, 40.0);
        for method in [Method::Percentile(99.99), Method::Entropy] {
            let (lo, hi) = method.range(&histogram);
            assert!(hi > 2.5 && hi < 20.0 && lo < -2.0 && lo >= histogram.least, "{method:?}: {lo} {hi}");
        }
    }

    #[test]
    fn the_least_error_is_that_of_the_range_found() {
        let histogram = outlier();
        let error = |range| {
            let format = Format::of_8_bits(range);
            let error = |(x, count): (f64, f64)| (f64::from(format.nearest(x as f32)) - x).powi(2) * count;
            histogram.middles().map(error).sum::<f64>()
        };
        let found = Method::Mse.range(&histogram);
        for other in [Method::MinMax, Method::Percentile(99.99), Method::Entropy] {
            assert!(error(found) <= error(other.range(&histogram)), "{other:?}");
        }
    }

    #[test]
    fn what_is_never_negative_has_zero_for_its_least() {
        let mut histogram = Histogram::default();
        histogram.add(&(0..1000).map(|k| k as f32).collect::<Vec<_>>());
        for name in Method::NAMES {
            let (lo, hi) = Method::of_name(name).unwrap().range(&histogram);
            assert!(lo == 0.0 && hi > 500.0 && hi <= 999.0, "{name}: {lo} {hi}");
        }
    }
}
