kiln::include_model!(pub Picture = "../../../../macros/ui/models/picture.tflite");

fn main() {}
