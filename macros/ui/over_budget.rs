kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", ram = "1K", flash = "2K");

fn main() {}
