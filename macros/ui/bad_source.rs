kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", source = "rgb565 320x240, resize = lanczos");

fn main() {}
