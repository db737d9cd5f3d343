kiln::include_model!(pub Kws = "../../../../host-tests/ui/models/no_such_file.tflite");

fn main() {}
