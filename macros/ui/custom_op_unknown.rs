fn weighted_sum() {}

kiln::include_model!(
    pub Weighted = "../../../../host-tests/models/custom/weighted_sum.tflite",
    custom_op("WeightedSum", weighted_sum),
    custom_op("Weighted", weighted_sum)
);

fn main() {}
