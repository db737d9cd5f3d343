kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", source = "gray8 320x240");

fn main() {}
