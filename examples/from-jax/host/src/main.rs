//! How many held-out digits the network gets right, compiled into this program from what JAX exported.

use anyhow::{Context, Result};
use ndarray::{IxDyn, OwnedRepr};
use ndarray_npy::{NpzReader, ReadableElement};
use std::fs::File;
use std::path::Path;

kiln::include_model!(pub Digits = "../models/digits.mlir");

/// Samples that training never saw, and JAX's outputs for them, one after the other.
struct HeldOut {
    images: Vec<f32>,
    scores: Vec<f32>,
    labels: Vec<u8>,
}

impl HeldOut {
    fn read() -> Result<HeldOut> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/digits.npz");
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut archive = NpzReader::new(file)?;
        let (images, scores) = (array(&mut archive, "in_0")?, array(&mut archive, "out_0")?);
        Ok(HeldOut { images, scores, labels: array(&mut archive, "labels")? })
    }

    /// An image, JAX's scores for it, and what it shows.
    fn samples(&self) -> impl Iterator<Item = (&[f32], &[f32], u8)> {
        let images = self.images.chunks_exact(64).zip(self.scores.chunks_exact(10));
        images.zip(&self.labels).map(|((image, scores), &label)| (image, scores, label))
    }
}

fn array<T: ReadableElement>(archive: &mut NpzReader<File>, name: &str) -> Result<Vec<T>> {
    let array =
        archive.by_name::<OwnedRepr<T>, IxDyn>(name).with_context(|| format!("there is no {name}"))?;
    Ok(array.into_raw_vec_and_offset().0)
}

/// Right answers, and the largest difference from JAX's scores.
fn checked(held_out: &HeldOut) -> (usize, f32) {
    let mut network = Box::new(Digits::new());
    let (mut right, mut largest) = (0, 0.0f32);
    for (image, expected, label) in held_out.samples() {
        network.input_mut().copy_from_slice(image);
        network.invoke();
        let scores = network.output();
        let answer = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        right += usize::from(answer == Some(label.into()));
        largest = scores.iter().zip(expected).fold(largest, |most, (a, b)| most.max((a - b).abs()));
    }
    (right, largest)
}

fn main() -> Result<()> {
    let held_out = HeldOut::read()?;
    let (right, largest) = checked(&held_out);
    println!(
        "{right} of {} digits; scores differ from JAX's by at most {largest:.1e}",
        held_out.labels.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_jax() -> Result<()> {
        let held_out = HeldOut::read()?;
        let (right, largest) = checked(&held_out);
        assert_eq!(held_out.labels.len(), 360);
        assert!(right >= 330 && largest < 1e-4, "{right} right, {largest}");
        Ok(())
    }
}
