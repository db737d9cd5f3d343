kiln::include_model!(pub Digits = "../../../../examples/digits/models/digits_int8.tflite", features = "librosa, sample_rate = 16000, hops = 160");

fn main() {}
