//! Arg-max, the best K, thresholds.

use super::support::Rng;
use super::tensor;
use kiln::post::{argmax, top_k, Labels, Ranked};

/// All classes, best first, by sorting. A stable sort keeps the first of equals in front.
fn sorted<T: PartialOrd + Copy>(scores: &[T]) -> Vec<Ranked<T>> {
    let ranked = scores.iter().enumerate().map(|(index, &score)| Ranked { index, score });
    let mut all: Vec<_> = ranked.filter(|r| r.score.partial_cmp(&r.score).is_some()).collect();
    all.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap());
    all
}

#[test]
fn the_best_are_those_that_sorting_puts_in_front() {
    let rng = &mut Rng::new(1);
    for _ in 0..2000 {
        let len = rng.size(0, 12);
        // Few values, so that there are equal ones.
        let bytes: Vec<i8> = (0..len).map(|_| rng.int(-128, -120) as i8).collect();
        let all = sorted(&bytes);
        assert_eq!(argmax(&bytes), all.first().copied());
        assert_eq!(top_k::<_, 3>(&bytes), all[..len.min(3)]);
        assert_eq!(top_k::<_, 12>(&bytes), all[..]);
        assert_eq!(top_k::<_, 0>(&bytes), []);

        let floats: Vec<f32> =
            bytes.iter().map(|&b| if b == -120 { f32::NAN } else { f32::from(b) }).collect();
        let all = sorted(&floats);
        assert_eq!(argmax(&floats), all.first().copied());
        assert_eq!(top_k::<_, 3>(&floats), all[..all.len().min(3)]);
    }
}

#[test]
fn labels_are_those_of_the_index() {
    const LABELS: Labels<3> = Labels(["a", "b", "c"]);
    assert_eq!(LABELS.argmax(&[f32::NAN; 3]).label, "a");
    assert_eq!((LABELS.name(2), LABELS.name(3)), ("c", ""));
    let best = LABELS.top_k::<_, 2>(&[-3i16, 7, 5]);
    let seen: Vec<_> = best.iter().map(|l| (l.label, l.index, l.score)).collect();
    assert_eq!(seen, [("b", 1, 7), ("c", 2, 5)]);
}

#[test]
fn a_quantised_threshold_parts_the_same_values_as_the_real_one() {
    let rng = &mut Rng::new(2);
    for _ in 0..2000 {
        let info = tensor(rng);
        let real = |stored: i8| f64::from(info.scale) * f64::from(i32::from(stored) - info.zero_point);
        let threshold = match rng.int(0, 3) {
            // Exactly the value of a byte, where `f32` has it.
            0 => real(rng.i8s(1)[0]) as f32,
            1 => rng.int(-1000, 1000) as f32 * info.scale,
            _ => rng.f32s(1)[0],
        };
        let least = info.at_least(threshold);
        for stored in i8::MIN..=i8::MAX {
            assert_eq!(
                i32::from(stored) >= least,
                real(stored) >= f64::from(threshold),
                "{info:?} {threshold}"
            );
        }
    }
}

#[test]
fn impossible_thresholds() {
    let rng = &mut Rng::new(3);
    let info = tensor(rng);
    assert_eq!(info.at_least(f32::NAN), i32::MAX);
    assert_eq!(info.at_least(f32::INFINITY), i32::MAX);
    assert_eq!(info.at_least(f32::NEG_INFINITY), i32::MIN);
    assert_eq!(kiln::TensorInfo { scale: 0.0, ..info }.at_least(0.0), i32::MAX);
}
