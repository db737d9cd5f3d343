kiln::include_model!(
    pub Digits = "../../../../examples/digits/models/digits_int8.tflite",
    target = "cortex-m4",
    schedule = "../../../../macros/ui/wrong.schedule"
);

fn main() {}
