kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", cores = 100);

fn main() {}
