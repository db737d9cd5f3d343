//! The model `digits_int8.tflite`, and a sample to try it with.
#![no_std]

pub mod sample;

kiln::include_model!(pub DigitsInt8 = "models/digits_int8.tflite");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(DigitsInt8, "models/digits_int8.tflite", cases = 20);
    }

    #[test]
    fn the_sample_is_answered_as_recorded() {
        let mut model = DigitsInt8::new();
        sample::write(&mut model);
        model.invoke();
        assert!(sample::is_answered(&model));
    }
}
