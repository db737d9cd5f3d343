//! Digits through any model, as one batch.

use crate::file::Digit;
use crate::models::Make;
use crate::table::Table;
use kiln::any::{batch_in_threads, AnyError, AnyModel};
use kiln::post::argmax;
use std::time::{Duration, Instant};

/// What a model made of the digits.
#[derive(Debug)]
pub struct Outcome {
    /// The model's name.
    pub model: &'static str,
    /// What was seen as what.
    pub table: Table,
    /// The time that all digits took.
    pub time: Duration,
}

/// Classifies digits in as many threads as are asked for, each with a model of its own. Of several rounds, the time is the fastest's.
pub fn classify(make: Make, threads: usize, rounds: usize, digits: &[Digit]) -> Result<Outcome, AnyError> {
    let mut models: Vec<Box<dyn AnyModel>> = (0..threads).map(|_| make()).collect();
    let model = models.first().ok_or(AnyError::NoModel)?;
    let (info, input, output) = (model.info(), model.input_info(0)?, model.output_info(0)?);
    let ink: Vec<f32> = digits.iter().flat_map(|digit| digit.ink).map(|ink| f32::from(ink) / 16.0).collect();
    let mut images = vec![0; digits.len() * input.bytes()];
    input.store_reals(&ink, &mut images);
    let mut scores = vec![0; digits.len() * output.bytes()];

    let mut time = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        batch_in_threads(&mut models, &[&images], &mut [&mut scores])?;
        time = time.min(start.elapsed());
    }

    let mut table = Table::default();
    for (digit, scores) in digits.iter().zip(scores.chunks_exact(output.bytes())) {
        let scores: Vec<f32> = output.load_reals(scores).collect();
        if let Some(best) = argmax(&scores[..]) {
            table.count(usize::from(digit.label), best.index);
        }
    }
    Ok(Outcome { model: info.name, table, time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;
    use crate::models::MODELS;

    fn held_out() -> Vec<Digit> {
        file::parse(include_str!("../data/held_out.csv")).unwrap()
    }

    /// How many of the images a model gets right with TensorFlow Lite.
    fn right_with_tflite(name: &str) -> usize {
        let records = concat!(include_str!("../data/tflite.txt"), include_str!("../../digits/data/tflm.txt"));
        records.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap()
    }

    #[test]
    fn as_many_are_right_as_with_tflite() {
        for make in MODELS {
            let outcome = classify(make, 1, 1, &held_out()).unwrap();
            assert_eq!(outcome.table.right(), right_with_tflite(outcome.model), "{}", outcome.model);
        }
    }

    #[test]
    fn threads_see_what_one_sees() {
        let digits = held_out();
        for make in MODELS {
            let one = classify(make, 1, 1, &digits).unwrap();
            for (threads, digits) in [(2, &digits[..]), (3, &digits), (7, &digits)] {
                assert_eq!(classify(make, threads, 1, digits).unwrap().table, one.table);
            }
            let few = classify(make, 7, 1, &digits[..3]).unwrap();
            assert_eq!(few.table, classify(make, 1, 1, &digits[..3]).unwrap().table);
        }
    }

    #[test]
    fn no_threads_are_an_error() {
        assert_eq!(classify(MODELS[0], 0, 1, &held_out()).unwrap_err(), AnyError::NoModel);
    }
}
