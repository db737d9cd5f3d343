//! How well the float and the integer network find digits on the held-out scenes.

use find_digits::scenes::{judged, scenes, Picture, Scene, Tally};
use find_digits::{found, Finder, Found, FULL_BRIGHTNESS, LEAST_SCORE};
use kiln::post::Detection;
use std::process::ExitCode;

kiln::include_model!(pub FindDigitsF32 = "../models/find_digits_f32.tflite");

/// From this score on boxes count for the average precision: those that are less sure change nothing.
const ANY_SCORE: f32 = 0.05;

/// What `../train.py` computes from TensorFlow Lite Micro's outputs: a network's name, and its mean average precision.
const TFLM: &str = include_str!("../../data/precision.txt");

fn main() -> ExitCode {
    let (mut float, mut int8) = (Box::new(FindDigitsF32::new()), Box::new(Finder::new()));

    println!("network  mean average precision  of TFLite Micro  precision  recall");
    let agreed = [
        report("f32", |picture, least_score| find_f32(&mut float, picture, least_score)),
        report("int8", |picture, least_score| int8.find(picture, least_score)),
    ];
    if agreed == [true; 2] {
        ExitCode::SUCCESS
    } else {
        eprintln!("error: TFLite Micro has another average precision, or it is low");
        ExitCode::FAILURE
    }
}

fn find_f32(network: &mut FindDigitsF32, picture: &Picture, least_score: f32) -> Found {
    for (x, &pixel) in network.input_mut().iter_mut().zip(picture.as_flattened()) {
        *x = f32::from(pixel) / FULL_BRIGHTNESS;
    }
    network.invoke();
    let offsets = (&network.output_0()[..], &FindDigitsF32::OUTPUT_0);
    found(offsets, (network.output_1(), &FindDigitsF32::OUTPUT_1), least_score)
}

/// Prints how a network does on all scenes; whether TFLite Micro is as good.
fn report(name: &str, mut find: impl FnMut(&Picture, f32) -> Found) -> bool {
    let seen: Vec<(Scene, Found)> = scenes().map(|scene| (scene, find(&scene.draw(), ANY_SCORE))).collect();
    let precision = mean_average_precision(&seen);
    let theirs = TFLM.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());

    let mut tally = Tally::default();
    scenes().for_each(|scene| tally.count(scene, &find(&scene.draw(), LEAST_SCORE)));
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all as f64;
    println!(
        "{name:<9}{:>20.2} %{:>15.2} %{:>9.2} %{:>6.2} %",
        100.0 * precision,
        100.0 * theirs.unwrap_or(f64::NAN),
        percent(tally.right, tally.found),
        percent(tally.right, tally.digits),
    );
    // The last bits of floats are their own, and may put two boxes of nearly the same score in another order.
    theirs.is_some_and(|theirs| (theirs - precision).abs() < 0.001) && tally.is_good()
}

/// The average of all digits.
fn mean_average_precision(seen: &[(Scene, Found)]) -> f64 {
    (0..10).map(|digit| average_precision(seen, digit)).sum::<f64>() / 10.0
}

/// The area below a digit's curve of precision over recall, as PASCAL VOC computes it since 2010: the precision at a recall is the best
/// one at that or a higher recall.
fn average_precision(seen: &[(Scene, Found)], digit: usize) -> f64 {
    let placed = seen.iter().flat_map(|(scene, _)| scene.digits());
    let total = placed.filter(|placed| placed.class() == digit).count();

    let boxes = seen.iter().flat_map(|(scene, found)| judged(*scene, found));
    let mut boxes: Vec<(&Detection, bool)> = boxes.filter(|(found, _)| found.class == digit).collect();
    boxes.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));

    let mut hits = boxes.iter().filter(|(_, right)| *right).count();
    let (mut best, mut area) = (0.0f64, 0.0);
    for (before, (_, right)) in boxes.iter().enumerate().rev() {
        best = best.max(hits as f64 / (before + 1) as f64);
        if *right {
            area += best / total as f64;
            hits -= 1;
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(
            FindDigitsF32,
            "../models/find_digits_f32.tflite",
            cases = 20,
            range = (0.0, 1.0)
        );
    }

    #[test]
    fn all_that_is_found_and_right_is_a_precision_of_one() {
        use find_digits::scenes::Placed;
        use kiln::post::Rect;
        let perfect = |placed: Placed| Detection { rect: placed.rect(), class: placed.class(), score: 0.75 };
        let mut seen: Vec<(Scene, Found)> = scenes()
            .map(|scene| {
                let mut found = Found::new();
                scene.digits().for_each(|placed| found.push(perfect(placed)));
                (scene, found)
            })
            .collect();
        assert!((mean_average_precision(&seen) - 1.0).abs() < 1e-12);
        // A box that is more sure and wrong halves the precision of its digit's first.
        let digit = seen[0].0.digits().next().map(|placed| placed.class()).unwrap_or_default();
        let elsewhere = Rect::centered(2.0, 2.0, 0.1, 0.1);
        seen[0].1.push(Detection { rect: elsewhere, class: digit, score: 0.875 });
        let less = 1.0 - mean_average_precision(&seen);
        assert!(less > 0.0 && less < 0.01, "{less}");
    }
}
