kiln::include_model!(pub Autoencoder = "../../../../host-tests/models/tflite/autoencoder_int8.tflite", input = "rows");

fn main() {}
