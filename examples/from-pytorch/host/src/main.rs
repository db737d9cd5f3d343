//! How many held-out samples the float and the integer networks get right, compiled into this program.

use anyhow::{Context, Result};
use ndarray::{IxDyn, OwnedRepr};
use ndarray_npy::{NpzReader, ReadableElement};
use std::fs::File;
use std::path::Path;

kiln::include_model!(pub DigitsF32 = "../models/digits_f32.onnx");
kiln::include_model!(pub DigitsInt8 = "../models/digits_int8.onnx");
kiln::include_model!(pub ExercisesF32 = "../models/exercises_f32.onnx");
kiln::include_model!(pub ExercisesInt8 = "../models/exercises_int8.onnx");
kiln::include_model!(pub SpeakersF32 = "../models/speakers_f32.onnx");
kiln::include_model!(pub SpeakersInt8 = "../models/speakers_int8.onnx");
// From torch.export: a sample at a time. What came before is in the model.
kiln::include_model!(pub StreamF32 = "../models/stream_f32.pt2");
// The same in integers. In an ONNX file each state is an input and an output.
kiln::include_model!(
    pub StreamInt8 = "../models/stream_int8.onnx",
    state("stream.mean.next", "stream.mean"),
    state("stream.causal.0.history.next", "stream.causal.0.history"),
    state("stream.causal.1.history.next", "stream.causal.1.history"),
    state("stream.causal.2.history.next", "stream.causal.2.history"),
    state("stream.causal.3.history.next", "stream.causal.3.history"),
);

/// The answer of a network: the place of its largest output.
macro_rules! answer {
    ($model:ident) => {{
        let mut network = Box::new($model::new());
        move |sample: &[f32]| {
            network.input_mut().copy_from_slice(sample);
            network.invoke();
            largest(network.output())
        }
    }};
}

/// The answer of a streaming network behind the last sample of a window, [6, 100]: channel after channel.
macro_rules! streamed {
    ($model:ident) => {{
        let mut network = Box::new($model::new());
        move |window: &[f32]| {
            network.reset();
            let steps = window.len() / 6;
            for step in 0..steps {
                for (channel, x) in network.input_mut().iter_mut().enumerate() {
                    *x = window[channel * steps + step];
                }
                network.invoke();
            }
            largest(network.output())
        }
    }};
}

fn main() -> Result<()> {
    println!("network    samples    float     int8");
    report("digits", answer!(DigitsF32), answer!(DigitsInt8))?;
    report("exercises", answer!(ExercisesF32), answer!(ExercisesInt8))?;
    report("speakers", answer!(SpeakersF32), answer!(SpeakersInt8))?;
    let held_out = HeldOut::read("exercises")?;
    let (float, int8) = (held_out.right(streamed!(StreamF32)), held_out.right(streamed!(StreamInt8)));
    println!("stream   {:>9}{float:>8.2} %{int8:>8.2} %", held_out.labels.len());
    Ok(())
}

/// The place of the largest score.
fn largest(scores: &[f32]) -> usize {
    (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
}

fn report(name: &str, float: impl FnMut(&[f32]) -> usize, int8: impl FnMut(&[f32]) -> usize) -> Result<()> {
    let held_out = HeldOut::read(name)?;
    let (float, int8) = (held_out.right(float), held_out.right(int8));
    println!("{name:<9}{:>9}{float:>8.2} %{int8:>8.2} %", held_out.labels.len());
    Ok(())
}

/// A file of the folder `data`.
fn open(name: &str) -> Result<NpzReader<File>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.npz"));
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(NpzReader::new(file)?)
}

fn array<T: ReadableElement>(archive: &mut NpzReader<File>, name: &str) -> Result<Vec<T>> {
    let array =
        archive.by_name::<OwnedRepr<T>, IxDyn>(name).with_context(|| format!("there is no {name}"))?;
    Ok(array.into_raw_vec_and_offset().0)
}

/// Samples that training never saw, one after the other, and what they show.
struct HeldOut {
    samples: Vec<f32>,
    labels: Vec<u8>,
}

impl HeldOut {
    fn read(name: &str) -> Result<HeldOut> {
        let mut archive = open(name)?;
        Ok(HeldOut { samples: array(&mut archive, "test_0")?, labels: array(&mut archive, "labels")? })
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

    #[test]
    fn a_stream_keeps_what_came_before() -> Result<()> {
        let mut archive = open("stream")?;
        let inputs: Vec<f32> = array(&mut archive, "in_0")?;
        let outputs: Vec<f32> = array(&mut archive, "out_0")?;
        let mut network = Box::new(StreamF32::new());
        for (sample, expected) in inputs.chunks_exact(6).zip(outputs.chunks_exact(7)) {
            network.input_mut().copy_from_slice(sample);
            network.invoke();
            for (a, b) in network.output().iter().zip(expected) {
                assert!((a - b).abs() < 1e-4, "{a} {b}");
            }
        }
        assert_eq!(inputs.len(), 6 * 2000);
        let exercises = HeldOut::read("exercises")?;
        let (float, int8) = (exercises.right(streamed!(StreamF32)), exercises.right(streamed!(StreamInt8)));
        assert!(float > 80.0 && float - int8 <= 1.0, "{float} {int8}");
        Ok(())
    }
}
