kiln::include_model!(pub Kws = "../../../../macros/ui/models/no_such_file.tflite");

fn main() {}
