kiln::include_model!(pub Unsupported = "../../../../host-tests/ui/models/unsupported.tflite");

fn main() {}
