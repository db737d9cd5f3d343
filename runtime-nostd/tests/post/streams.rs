//! Smoothing, and detectors of events in a stream.

use super::support::Rng;
use super::{tensor, FLOATS};
use kiln::post::{Exponential, Hysteresis, MovingAverage, Ranked, StreamDetector};
use kiln::TensorInfo;

#[test]
fn a_moving_average_is_that_of_the_last_scores() {
    let rng = &mut Rng::new(11);
    let mut average = MovingAverage::<i8, 5, 2>::new();
    let mut history: Vec<[i8; 2]> = Vec::new();
    for step in 0..500 {
        if rng.int(0, 40) == 0 {
            average.clear();
            history.clear();
        }
        let scores = [rng.i8s(1)[0], rng.i8s(1)[0]];
        average.push(&scores);
        history.push(scores);
        let last = &history[history.len().saturating_sub(5)..];
        assert_eq!((average.len(), average.is_full()), (last.len(), last.len() == 5), "step {step}");
        for class in 0..2 {
            let sum: i32 = last.iter().map(|scores| i32::from(scores[class])).sum();
            assert_eq!(average.sum(class), sum);
            assert_eq!(average.mean(class), sum as f32 / last.len() as f32);
        }
        assert_eq!(average.sum(2), 0);
    }
}

#[test]
fn averages_of_floats_do_not_drift() {
    let mut average = MovingAverage::<f32, 4>::new();
    for score in [1e9, -3e8, 7e9, 0.1].into_iter().cycle().take(10_001).chain([0.25; 4]) {
        average.push(&[score]);
    }
    assert_eq!(average.mean(0), 0.25);
}

#[test]
fn exponential_smoothing_is_the_recurrence() {
    let rng = &mut Rng::new(12);
    for _ in 0..200 {
        let weight = rng.int(1, 65536) as f32 / 65536.0;
        let (mut wide, mut float) = (Exponential::<i16>::new(weight), Exponential::<f32>::new(weight));
        let mut exact: Option<f64> = None;
        for _ in 0..100 {
            let score = rng.next() as i16;
            wide.push(&[score]);
            float.push(&[f32::from(score)]);
            let before = exact.unwrap_or(score.into());
            let now = before + f64::from(weight) * (f64::from(score) - before);
            exact = Some(now);
            // Each step adds half a unit of 2⁻¹⁴, and keeps (1 − weight) of what there was.
            let bound = 0.5 / 16384.0 / f64::from(weight);
            // A number of 30 bits as an `f32`.
            let rounding = now.abs() * 2f64.powi(-23) + 2f64.powi(-15);
            let off = (f64::from(wide.value(0)) - now).abs();
            assert!(off <= bound.min(now.abs() + 65536.0) + rounding, "{weight} {off}");
            assert!((f64::from(float.value(0)) - now).abs() <= 0.05 / f64::from(weight), "{weight}");
        }
    }
}

#[test]
fn weights_are_between_nothing_and_all() {
    for (weight, expected) in [(f32::NAN, 10.0), (-1.0, 10.0), (0.0, 10.0), (1.0, -7.0), (9.0, -7.0)] {
        let mut smoothed = Exponential::<i8>::new(weight);
        assert_eq!(smoothed.value(0), 0.0);
        smoothed.push(&[10]);
        smoothed.push(&[-7]);
        assert_eq!(smoothed.value(0), expected, "{weight}");
        smoothed.clear();
        assert_eq!(smoothed.value(0), 0.0);
    }
}

/// Step and class of each report, from the definition: on all scores, in real numbers.
fn reports<const CLASSES: usize>(
    info: &TensorInfo,
    steps: &[[i8; CLASSES]],
    window: usize,
    threshold: f32,
    refractory: usize,
    background: &[usize],
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for now in 0..steps.len() {
        // The window holds steps behind the last report, and reports keep a distance.
        let begin = found.last().map_or(0, |&(step, _)| step + 1);
        let quiet = found.last().is_some_and(|&(step, _)| now - step <= refractory);
        if now + 1 < begin + window || quiet {
            continue;
        }
        let last = &steps[now + 1 - window..=now];
        let sum = |class: usize| {
            let real = |stored: i8| f64::from(info.scale) * f64::from(i32::from(stored) - info.zero_point);
            last.iter().map(|scores| real(scores[class])).sum::<f64>()
        };
        let best = (0..CLASSES).fold(0, |best, class| if sum(class) > sum(best) { class } else { best });
        if sum(best) >= f64::from(threshold) * window as f64 && !background.contains(&best) {
            found.push((now, best));
        }
    }
    found
}

#[test]
fn detectors_report_as_defined() {
    let rng = &mut Rng::new(13);
    let mut total = 0;
    for _ in 0..300 {
        let info = tensor(rng);
        let refractory = rng.size(0, 12);
        let middle = f64::from(info.scale) * f64::from(rng.int(-80, 100) as i32 - info.zero_point);
        let threshold = middle as f32;
        // Scores that stay for a while, so that averages move.
        let mut steps: Vec<[i8; 3]> = Vec::new();
        while steps.len() < 200 {
            let scores = [0; 3].map(|_| rng.i8s(1)[0]);
            (0..rng.size(1, 9)).for_each(|_| steps.push(scores));
        }
        let mut detector =
            StreamDetector::<i8, 4, 3>::new(&info, threshold, refractory as u32).with_background(&[1]);
        let mut seen = Vec::new();
        for (step, scores) in steps.iter().enumerate() {
            if let Some(Ranked { index, score }) = detector.push(scores) {
                assert!(score >= threshold - 1e-4 * (1.0 + threshold.abs()), "{score} {threshold}");
                seen.push((step, index));
            }
        }
        assert_eq!(seen, reports(&info, &steps, 4, threshold, refractory, &[1]), "{info:?} {threshold}");
        total += seen.len();
    }
    assert!(total > 1000, "{total}");
}

#[test]
fn a_detector_of_floats_and_a_reset() {
    let mut detector = StreamDetector::<f32, 2>::new(&FLOATS, 0.5, 3);
    let step =
        |detector: &mut StreamDetector<f32, 2>, score| detector.push(&[score]).map(|heard| heard.score);
    assert_eq!(
        [1.0, 0.25, 1.0, 1.0].map(|score| step(&mut detector, score)),
        [None, Some(0.625), None, None]
    );
    detector.reset();
    assert_eq!([1.0, 1.0].map(|score| step(&mut detector, score)), [None, Some(1.0)]);
    assert_eq!([1.0; 5].map(|score| step(&mut detector, score)), [None, None, None, Some(1.0), None]);
}

#[test]
fn hysteresis_turns_at_its_two_thresholds() {
    let rng = &mut Rng::new(14);
    for _ in 0..200 {
        let info = tensor(rng);
        let real = |stored: i8| f64::from(info.scale) * f64::from(i32::from(stored) - info.zero_point);
        let (on, off) = (real(60) as f32, real(-50) as f32);
        let mut gate = Hysteresis::new(&info, on, off);
        let mut expected = false;
        for score in rng.i8s(100) {
            expected = real(score) >= f64::from(if expected { off } else { on });
            assert_eq!((gate.push(score), gate.is_on()), (expected, expected));
        }
    }
}
