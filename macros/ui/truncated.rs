kiln::include_model!(pub Digits = "../../../../macros/ui/models/truncated.tflite");

fn main() {}
