kiln::include_model!(
    pub Digits = "../../../../examples/digits/models/digits_int8.tflite",
    schedule = "../../../../macros/ui/missing.schedule"
);

fn main() {}
