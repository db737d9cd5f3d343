//! Tells malignant tumours from benign ones by thirty measurements of cell nuclei, with a model that the build script compiled.

use std::process::ExitCode;

kiln::include_compiled!(tumour);

/// The held-out patients: 30 measurements each, and 1 where the tumour was malignant.
static HELD_OUT: &str = include_str!("../data/held_out.csv");
/// How many of them TensorFlow Lite gets right.
static RIGHT_WITH_TFLITE: &str = include_str!("../data/tflite.txt");

fn main() -> ExitCode {
    let mut model = Tumour::new();
    let (mut right, mut missed, mut all) = (0, 0, 0);
    for patient in HELD_OUT.lines() {
        let numbers: Vec<f32> = patient.split(',').map(|text| text.parse().expect("a number")).collect();
        let (measured, malignant) = numbers.split_at(30);
        let malignant = malignant == [1.0];
        let answer = probability(&mut model, measured) >= 0.5;
        all += 1;
        right += usize::from(answer == malignant);
        missed += usize::from(malignant && !answer);
    }
    println!(
        "{right} of {all} right, {missed} malignant tumours missed; TensorFlow Lite: {} right",
        RIGHT_WITH_TFLITE.trim()
    );
    println!("{} B of RAM, no allocation", Tumour::ARENA_BYTES);
    match RIGHT_WITH_TFLITE.trim().parse() == Ok(right) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// How probable it is, 0 to 1, that the tumour is malignant.
fn probability(model: &mut Tumour, measured: &[f32]) -> f32 {
    model.input_mut().copy_from_slice(measured);
    model.invoke();
    let [probability] = *model.output();
    probability
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(Tumour, "models/tumour.tflite", cases = 100, range = (0.0, 100.0));
    }

    #[test]
    fn patients_are_told_apart_as_by_tflite() {
        assert_eq!(main(), ExitCode::SUCCESS);
    }
}
