kiln::include_model!(
    pub Digits = "../../../../examples/digits/models/digits_int8.tflite",
    ram = "3910",
    source = "gray8 32x32, resize = bilinear",
);

fn main() {}
