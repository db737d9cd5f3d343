kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", input = "sliding");

fn main() {}
