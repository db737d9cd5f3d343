//! How good answers are.

use serde::Serialize;
use std::cmp::Ordering;

/// Answers of a classifier beside labels.
#[derive(Clone, Debug, Serialize)]
pub struct Measures {
    /// Number of right answers.
    pub right: usize,
    /// Their share of all.
    pub accuracy: f64,
    /// How often the label is among the best classes, where that was asked for.
    pub top: Option<Top>,
    /// `confusion[label][answer]`: how often.
    pub confusion: Vec<Vec<usize>>,
    /// By class.
    pub classes: Vec<ClassMeasures>,
    /// Mean of the F1 of all classes that have samples.
    pub macro_f1: Option<f64>,
}

/// How often the label is among the `k` best classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Top {
    /// How many classes.
    pub k: usize,
    /// How often.
    pub right: usize,
    /// The share of all.
    pub accuracy: f64,
}

/// One class; what would be divided by nothing is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMeasures {
    /// Its name.
    pub name: String,
    /// Samples with this label.
    pub samples: usize,
    /// How many of the answers with this class are right.
    pub precision: Option<f64>,
    /// How many of the samples with this label are answered so.
    pub recall: Option<f64>,
    /// Their harmonic mean: `2·TP / (2·TP + FP + FN)`.
    pub f1: Option<f64>,
}

/// The class with the highest score, the first of equals, as `kiln::post::argmax`. A single score is that of the second of two classes: it is the
/// answer from the threshold on.
pub(super) fn answer(scores: &[f32], threshold: f32) -> usize {
    if let [score] = scores {
        return usize::from(*score >= threshold);
    }
    ranked(scores).first().copied().unwrap_or(0)
}

/// Classes by falling score; the first of equals before others, NaN last.
pub(super) fn ranked(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let number = |index: usize| if scores[index].is_nan() { f32::NEG_INFINITY } else { scores[index] };
    let by_score = |a: usize, b: usize| number(b).partial_cmp(&number(a)).unwrap_or(Ordering::Equal);
    order.sort_by(|&a, &b| scores[a].is_nan().cmp(&scores[b].is_nan()).then(by_score(a, b)));
    order
}

impl Measures {
    /// Of answers to samples with labels; `names` has all classes.
    pub fn new(
        names: &[String],
        labels: &[usize],
        scores: &[Vec<f32>],
        threshold: f32,
        k: Option<usize>,
    ) -> Self {
        let count = names.len();
        let mut confusion = vec![vec![0; count]; count];
        let mut in_top = 0;
        for (&label, scores) in labels.iter().zip(scores) {
            confusion[label][answer(scores, threshold)] += 1;
            let best = match scores[..] {
                // Its own class, and the other one.
                [_] => vec![answer(scores, threshold), 1 - answer(scores, threshold)],
                _ => ranked(scores),
            };
            in_top += usize::from(k.is_some_and(|k| best.iter().take(k).any(|&class| class == label)));
        }
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let right = (0..count).map(|class| confusion[class][class]).sum();
        let classes: Vec<ClassMeasures> = names
            .iter()
            .enumerate()
            .map(|(class, name)| ClassMeasures::new(name, class, &confusion))
            .collect();
        let f1: Vec<f64> =
            classes.iter().filter(|class| class.samples > 0).filter_map(|class| class.f1).collect();
        Measures {
            right,
            accuracy: share(right, labels.len()),
            top: k.map(|k| Top { k, right: in_top, accuracy: share(in_top, labels.len()) }),
            macro_f1: (!f1.is_empty()).then(|| f1.iter().sum::<f64>() / f1.len() as f64),
            confusion,
            classes,
        }
    }
}

impl ClassMeasures {
    fn new(name: &str, class: usize, confusion: &[Vec<usize>]) -> Self {
        let right = confusion[class][class];
        let samples: usize = confusion[class].iter().sum();
        let answers: usize = confusion.iter().map(|row| row[class]).sum();
        let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
        ClassMeasures {
            name: name.into(),
            samples,
            precision: share(right, answers),
            recall: share(right, samples),
            f1: share(2 * right, samples + answers),
        }
    }
}

/// A detector of one class, by threshold.
#[derive(Clone, Debug, Serialize)]
pub struct Detection {
    /// The class.
    pub class: String,
    /// Samples with this label.
    pub positives: usize,
    /// Samples with another.
    pub negatives: usize,
    /// How long the latter last together, where that is known.
    pub negative_hours: Option<f64>,
    /// By rising threshold.
    pub points: Vec<Point>,
}

/// A detector that accepts scores from a threshold on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The threshold.
    pub threshold: f32,
    /// Samples of the class with a lower score.
    pub misses: usize,
    /// Their share of the samples of the class.
    pub miss_rate: Option<f64>,
    /// Other samples with a score that is no lower.
    pub false_accepts: usize,
    /// Their share of the other samples.
    pub false_accept_rate: Option<f64>,
    /// False accepts per hour, where the samples' duration is known.
    pub per_hour: Option<f64>,
}

impl Detection {
    /// `samples` says of each its score, whether it is of the class, and how many seconds it lasts.
    pub fn new(class: &str, samples: &[(f32, bool, Option<f64>)], thresholds: &[f32]) -> Self {
        let positives = samples.iter().filter(|sample| sample.1).count();
        let negatives = samples.len() - positives;
        let seconds: Option<f64> = samples.iter().filter(|sample| !sample.1).map(|sample| sample.2).sum();
        let hours = seconds.map(|seconds| seconds / 3600.0).filter(|&hours| hours > 0.0);
        let rate = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
        let point = |&threshold: &f32| {
            let accepted = |of_class: bool| {
                let those = samples.iter().filter(|sample| sample.1 == of_class);
                those.filter(|sample| sample.0 >= threshold).count()
            };
            let (misses, false_accepts) = (positives - accepted(true), accepted(false));
            Point {
                threshold,
                misses,
                miss_rate: rate(misses, positives),
                false_accepts,
                false_accept_rate: rate(false_accepts, negatives),
                per_hour: hours.map(|hours| false_accepts as f64 / hours),
            }
        };
        let points = thresholds.iter().map(point).collect();
        Detection { class: class.into(), positives, negatives, negative_hours: hours, points }
    }
}

/// Thresholds to show where none are given: of probabilities round ones, of other scores 11 from the lowest to the highest.
pub(super) fn thresholds(scores: &[f32]) -> Vec<f32> {
    let finite = || scores.iter().copied().filter(|score| score.is_finite());
    let (low, high) = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
    if (0.0..=1.0).contains(&low) && high <= 1.0 {
        return vec![0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
    }
    match low <= high {
        true => (0..=10).map(|step| low + (high - low) * step as f32 / 10.0).collect(),
        false => vec![0.5],
    }
}

/// How long inferences take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Estimated cycles of each quantile; none where time was measured.
    pub cycles: Option<Quantiles>,
    /// The clock at which these are microseconds.
    pub clock_hz: Option<u32>,
    /// Microseconds: measured, or of the cycles at that clock.
    pub micros: Quantiles,
    /// How many inferences took how long: parts of equal width from the least to the 90th percentile. What took longer is in the last one.
    pub histogram: Vec<usize>,
}

impl Latency {
    /// Of microseconds; `None` of none.
    pub(super) fn measured(micros: Vec<f64>) -> Option<Self> {
        let quantiles = Quantiles::of(micros.clone())?;
        Some(Latency {
            cycles: None,
            clock_hz: None,
            micros: quantiles,
            histogram: histogram(&micros, &quantiles),
        })
    }

    /// Of cycles at a clock; `None` of none.
    pub(super) fn estimated(cycles: Vec<f64>, clock_hz: u32) -> Option<Self> {
        let micros = |cycles: f64| cycles * 1e6 / f64::from(clock_hz.max(1));
        let quantiles = Quantiles::of(cycles.clone())?;
        let histogram = histogram(&cycles, &quantiles);
        Some(Latency {
            cycles: Some(quantiles),
            clock_hz: Some(clock_hz),
            micros: quantiles.map(micros),
            histogram,
        })
    }
}

/// Parts of a histogram.
const PARTS: usize = 24;

fn histogram(values: &[f64], quantiles: &Quantiles) -> Vec<usize> {
    let width = (quantiles.p90 - quantiles.least).max(f64::MIN_POSITIVE) / PARTS as f64;
    let mut counts = vec![0; PARTS];
    for value in values {
        let part = (value - quantiles.least) / width;
        counts[(part as usize).min(PARTS - 1)] += 1;
    }
    counts
}

/// Of a distribution. Those between are the values of the nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Quantiles {
    pub least: f64,
    pub median: f64,
    pub p90: f64,
    pub p99: f64,
    pub most: f64,
}

impl Quantiles {
    /// Of some values; `None` of none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let rank = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100).max(1);
            values.get(rank - 1).copied()
        };
        Some(Quantiles {
            least: *values.first()?,
            median: rank(50)?,
            p90: rank(90)?,
            p99: rank(99)?,
            most: rank(100)?,
        })
    }

    /// Each of them changed.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let Quantiles { least, median, p90, p99, most } = self;
        let [least, median, p90, p99, most] = [least, median, p90, p99, most].map(change);
        Quantiles { least, median, p90, p99, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Labels 0 0 0 1 1 2, answers 0 0 1 1 0 2.
    #[test]
    fn measures_of_three_classes() {
        let scores: Vec<Vec<f32>> = [
            [0.9, 0.1, 0.0],
            [0.5, 0.5, 0.0],
            [0.3, 0.6, 0.1],
            [0.1, 0.8, 0.1],
            [0.6, 0.1, 0.3],
            [0.0, 0.0, 1.0],
        ]
        .map(Vec::from)
        .into();
        let measures = Measures::new(&names(&["a", "b", "c"]), &[0, 0, 0, 1, 1, 2], &scores, 0.5, Some(2));
        assert_eq!(measures.confusion, [[2, 1, 0], [1, 1, 0], [0, 0, 1]]);
        assert_eq!((measures.right, measures.accuracy), (4, 4.0 / 6.0));
        // The fifth has label 1 in third place.
        assert_eq!(measures.top, Some(Top { k: 2, right: 5, accuracy: 5.0 / 6.0 }));
        let class = |index: usize| {
            let class = &measures.classes[index];
            (class.samples, class.precision, class.recall, class.f1)
        };
        assert_eq!(class(0), (3, Some(2.0 / 3.0), Some(2.0 / 3.0), Some(4.0 / 6.0)));
        assert_eq!(class(1), (2, Some(0.5), Some(0.5), Some(0.5)));
        assert_eq!(class(2), (1, Some(1.0), Some(1.0), Some(1.0)));
        assert!((measures.macro_f1.unwrap() - (2.0 / 3.0 + 0.5 + 1.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn of_one_score_the_answer_is_the_best_class() {
        let scores = vec![vec![0.9], vec![0.2], vec![0.7]];
        let right = |k| {
            let measures = Measures::new(&names(&["no", "yes"]), &[1, 0, 0], &scores, 0.5, Some(k));
            (measures.right, measures.top.unwrap().right)
        };
        assert_eq!([right(1), right(2)], [(2, 2), (2, 3)]);
    }

    #[test]
    fn a_class_without_samples_or_answers_has_no_measures() {
        let scores = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
        let measures = Measures::new(&names(&["a", "b", "c"]), &[0, 0], &scores, 0.5, None);
        let [a, b, c] = &measures.classes[..] else { panic!() };
        assert_eq!((a.precision, a.recall, a.f1), (Some(1.0), Some(0.5), Some(2.0 / 3.0)));
        assert_eq!((b.precision, b.recall, b.f1), (Some(0.0), None, Some(0.0)));
        assert_eq!((c.precision, c.recall, c.f1), (None, None, None));
        assert_eq!(measures.macro_f1, Some(2.0 / 3.0));
    }

    #[test]
    fn the_first_of_equals_is_the_answer_and_nan_is_none() {
        assert_eq!(answer(&[0.5, 0.5], 0.5), 0);
        assert_eq!(answer(&[-0.0, 0.0], 0.5), 0);
        assert_eq!(answer(&[f32::NAN, 0.1, 0.2], 0.5), 2);
        assert_eq!(ranked(&[f32::NAN, f32::NEG_INFINITY, 1.0]), [2, 1, 0]);
        assert_eq!([answer(&[0.49], 0.5), answer(&[0.5], 0.5), answer(&[f32::NAN], 0.5)], [0, 1, 0]);
    }

    #[test]
    fn misses_and_false_accepts_by_threshold() {
        let seconds = Some(1800.0);
        let samples = [
            (0.9, true, seconds),
            (0.4, true, seconds),
            (0.6, false, seconds),
            (0.1, false, seconds),
            (0.5, false, seconds),
        ];
        let detection = Detection::new("wake", &samples, &[0.05, 0.5, 0.95]);
        assert_eq!((detection.positives, detection.negatives, detection.negative_hours), (2, 3, Some(1.5)));
        let of = |index: usize| {
            let Point { misses, false_accepts, per_hour, .. } = detection.points[index];
            (misses, false_accepts, per_hour.unwrap())
        };
        assert_eq!([of(0), of(1), of(2)], [(0, 3, 2.0), (1, 2, 2.0 / 1.5), (2, 0, 0.0)]);
        assert_eq!(detection.points[1].miss_rate, Some(0.5));
        assert_eq!(detection.points[1].false_accept_rate, Some(2.0 / 3.0));
        let unknown = Detection::new("wake", &[(0.9, true, None), (0.1, false, None)], &[0.5]);
        assert_eq!((unknown.negative_hours, unknown.points[0].per_hour), (None, None));
    }

    #[test]
    fn thresholds_are_within_the_scores() {
        assert_eq!(thresholds(&[0.0, 0.3, 1.0]).len(), 12);
        let logits = thresholds(&[-10.0, 10.0, f32::NAN]);
        assert_eq!((logits.len(), logits[0], logits[5], logits[10]), (11, -10.0, 0.0, 10.0));
        assert_eq!(thresholds(&[]), [0.5]);
    }

    #[test]
    fn histograms_count_all() {
        let latency = Latency::measured((0..1000).map(f64::from).collect()).unwrap();
        assert_eq!(latency.histogram.iter().sum::<usize>(), 1000);
        // 37.5 of each but the last, which also has the slowest tenth.
        assert!(
            latency.histogram[..23].iter().all(|count| (37..=38).contains(count)),
            "{:?}",
            latency.histogram
        );
        let same = Latency::estimated(vec![500.0; 7], 25_000_000).unwrap();
        assert_eq!((same.histogram[0], same.micros.median, same.cycles.unwrap().most), (7, 20.0, 500.0));
    }

    #[test]
    fn quantiles_are_values_of_the_nearest_rank() {
        let hundred = Quantiles::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(hundred, Quantiles { least: 1.0, median: 50.0, p90: 90.0, p99: 99.0, most: 100.0 });
        let one = Quantiles::of(vec![7.0]).unwrap();
        assert_eq!(one, Quantiles { least: 7.0, median: 7.0, p90: 7.0, p99: 7.0, most: 7.0 });
        assert_eq!(Quantiles::of(Vec::new()), None);
    }
}
