kiln::include_model!(pub Picture = "../../../../host-tests/ui/models/picture.tflite");

fn main() {}
