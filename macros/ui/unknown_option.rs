kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", fast = "yes");

fn main() {}
