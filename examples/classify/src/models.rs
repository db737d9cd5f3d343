//! The networks that the program can choose from.

use kiln::any::AnyModel;
use kiln::Arena;

kiln::include_model!(Dense = "models/digits_dense_f32.tflite");
kiln::include_model!(Float = "../digits/models/digits_f32.tflite");
kiln::include_model!(Int8 = "../digits/models/digits_int8.tflite");

/// Makes a model, its arena on the heap.
pub type Make = fn() -> Box<dyn AnyModel>;

/// All networks. Each takes 64 pixels, from 0 to 1, and gives a probability for each digit.
pub const MODELS: [Make; 3] = [
    || Box::new(Dense::with_arena(Arena::boxed())),
    || Box::new(Float::with_arena(Arena::boxed())),
    || Box::new(Int8::with_arena(Arena::boxed())),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_models_mean() {
        kiln_test::assert_equivalent!(
            Dense,
            "models/digits_dense_f32.tflite",
            cases = 200,
            range = (0.0, 1.0)
        );
        kiln_test::assert_equivalent!(
            Float,
            "../digits/models/digits_f32.tflite",
            cases = 100,
            range = (0.0, 1.0)
        );
        kiln_test::assert_equivalent!(Int8, "../digits/models/digits_int8.tflite", cases = 100);
    }

    #[test]
    fn all_take_and_give_the_same() {
        for make in MODELS {
            let model = make();
            let info = model.info();
            assert_eq!([info.inputs.len(), info.inputs[0].len()], [1, 64], "{}", info.name);
            assert_eq!([info.outputs.len(), info.outputs[0].len()], [1, 10], "{}", info.name);
        }
    }
}
