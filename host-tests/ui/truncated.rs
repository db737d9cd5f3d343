kiln::include_model!(pub Digits = "../../../../host-tests/ui/models/truncated.tflite");

fn main() {}
