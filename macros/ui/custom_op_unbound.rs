kiln::include_model!(pub Weighted = "../../../../host-tests/models/custom/weighted_sum.tflite");

fn main() {}
