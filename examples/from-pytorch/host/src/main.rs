//! How many held-out samples the float and the integer networks get right, compiled into this program.

use anyhow::{Context, Result};
use npyz::npz::NpzArchive;
use std::path::Path;

kiln::include_model!(pub DigitsF32 = "../models/digits_f32.onnx");
kiln::include_model!(pub DigitsInt8 = "../models/digits_int8.onnx");
kiln::include_model!(pub ExercisesF32 = "../models/exercises_f32.onnx");
kiln::include_model!(pub ExercisesInt8 = "../models/exercises_int8.onnx");
kiln::include_model!(pub SpeakersF32 = "../models/speakers_f32.onnx");
kiln::include_model!(pub SpeakersInt8 = "../models/speakers_int8.onnx");

/// The answer of a network: the place of its largest output.
macro_rules! answer {
    ($model:ident) => {{
        let mut network = Box::new($model::new());
        move |sample: &[f32]| {
            network.input_mut().copy_from_slice(sample);
            network.invoke();
            let scores = network.output();
            (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
        }
    }};
}

fn main() -> Result<()> {
    println!("network    samples    float     int8");
    report("digits", answer!(DigitsF32), answer!(DigitsInt8))?;
    report("exercises", answer!(ExercisesF32), answer!(ExercisesInt8))?;
    report("speakers", answer!(SpeakersF32), answer!(SpeakersInt8))
}

fn report(name: &str, float: impl FnMut(&[f32]) -> usize, int8: impl FnMut(&[f32]) -> usize) -> Result<()> {
    let held_out = HeldOut::read(name)?;
    let (float, int8) = (held_out.right(float), held_out.right(int8));
    println!("{name:<9}{:>9}{float:>8.2} %{int8:>8.2} %", held_out.labels.len());
    Ok(())
}

/// Samples that training never saw, one after the other, and what they show.
struct HeldOut {
    samples: Vec<f32>,
    labels: Vec<u8>,
}

impl HeldOut {
    fn read(name: &str) -> Result<HeldOut> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.npz"));
        let mut archive =
            NpzArchive::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let samples = archive.by_name("test_0")?.context("there are no samples")?.into_vec()?;
        let labels = archive.by_name("labels")?.context("there are no labels")?.into_vec()?;
        Ok(HeldOut { samples, labels })
    }

    /// Right answers, in percent.
    fn right(&self, mut answer: impl FnMut(&[f32]) -> usize) -> f64 {
        let samples = self.samples.chunks_exact(self.samples.len() / self.labels.len());
        let right =
            samples.zip(&self.labels).filter(|(sample, &label)| answer(sample) == label.into()).count();
        100.0 * right as f64 / self.labels.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_models_mean() {
        kiln_test::assert_equivalent!(DigitsInt8, "../models/digits_int8.onnx", cases = 20);
        kiln_test::assert_equivalent!(ExercisesInt8, "../models/exercises_int8.onnx", cases = 20);
        kiln_test::assert_equivalent!(SpeakersInt8, "../models/speakers_int8.onnx", cases = 20);
    }

    #[test]
    fn integers_cost_little() -> Result<()> {
        let exercises = HeldOut::read("exercises")?;
        let (float, int8) = (exercises.right(answer!(ExercisesF32)), exercises.right(answer!(ExercisesInt8)));
        assert!(float > 80.0 && float - int8 <= 0.5, "{float} {int8}");
        Ok(())
    }
}
