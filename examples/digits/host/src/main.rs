//! Runs both digits networks on all held-out images and compares the number of right answers with TensorFlow Lite Micro's.

use digits_data::{images, right_with_tflm, Image, FULL_INK};
use kiln::post::{argmax, Ranked};
use std::process::ExitCode;

kiln::include_model!(pub DigitsF32 = "../models/digits_f32.tflite");
kiln::include_model!(pub DigitsInt8 = "../models/digits_int8.tflite");

fn main() -> ExitCode {
    let mut float = Box::new(DigitsF32::new());
    let mut int8 = Box::new(DigitsInt8::new());

    if let Some(image) = images().next() {
        println!("{}", drawing(&image));
        println!("scores of the float network:   {:.3?}", float_scores(&mut float, &image));
        let scores = int8_scores(&mut int8, &image).map(|score| DigitsInt8::OUTPUT.real(score));
        println!("scores of the integer network: {scores:.3?}\n");
    }

    println!("network         right     of TFLite Micro  arena");
    let agreed = [
        report("digits_f32", DigitsF32::ARENA_BYTES, |image| argmax(float_scores(&mut float, image))),
        report("digits_int8", DigitsInt8::ARENA_BYTES, |image| argmax(int8_scores(&mut int8, image))),
    ];
    if agreed == [true; 2] {
        ExitCode::SUCCESS
    } else {
        eprintln!("error: TFLite Micro has other answers");
        ExitCode::FAILURE
    }
}

fn float_scores<'a>(model: &'a mut DigitsF32, image: &Image) -> &'a [f32; 10] {
    for (x, &ink) in model.input_mut().iter_mut().zip(image.ink) {
        *x = f32::from(ink) / FULL_INK;
    }
    model.invoke();
    model.output()
}

fn int8_scores<'a>(model: &'a mut DigitsInt8, image: &Image) -> &'a [i8; 10] {
    for (x, &ink) in model.input_mut().iter_mut().zip(image.ink) {
        *x = DigitsInt8::quantize_input(f32::from(ink) / FULL_INK);
    }
    model.invoke();
    model.output()
}

/// Prints how a network does on all images; whether TFLite Micro gets as many right.
fn report<T>(name: &str, arena_bytes: usize, mut classify: impl FnMut(&Image) -> Option<Ranked<T>>) -> bool {
    let all = images().len();
    let is_right = |image: &Image| classify(image).is_some_and(|seen| seen.index == image.label.into());
    let right = images().filter(is_right).count();
    let tflm = right_with_tflm(name);
    let percent = 100.0 * right as f64 / all as f64;
    let theirs = tflm.map_or("?".to_owned(), |n| n.to_string());
    println!("{name:<13}{right:>4}/{all}  {percent:.2} %{theirs:>12}{arena_bytes:>8} B");
    tflm == Some(right)
}

/// The image as text, two characters per pixel.
fn drawing(image: &Image) -> String {
    let shade = |&ink: &u8| [' ', '.', ':', 'o', '#'][usize::from(ink.min(16)) / 4];
    let row = |row: &[u8]| row.iter().flat_map(|ink| [shade(ink); 2]).collect::<String>();
    let rows = image.ink.chunks(8).map(row).collect::<Vec<_>>();
    format!("{}\na handwritten {}", rows.join("\n"), image.label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_models_mean() {
        kiln_test::assert_equivalent!(
            DigitsF32,
            "../models/digits_f32.tflite",
            cases = 100,
            range = (0.0, 1.0)
        );
        kiln_test::assert_equivalent!(DigitsInt8, "../models/digits_int8.tflite", cases = 100);
    }
}
