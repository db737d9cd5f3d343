kiln::include_model!(pub Unsupported = "../../../../macros/ui/models/unsupported.tflite");

fn main() {}
