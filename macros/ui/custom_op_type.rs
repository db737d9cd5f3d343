use kiln::custom::{Dims1, Dims3, Input, Output};

kiln::include_model!(
    pub Weighted = "../../../../host-tests/models/custom/weighted_sum.tflite",
    custom_op("WeightedSum", kernels::weighted_sum)
);

mod kernels {
    use super::*;

    pub fn weighted_sum(
        _x: Input<'_, i8, Dims3<1, 2, 3>>,
        _weights: Input<'_, i8, Dims1<3>>,
        _y: Output<'_, f32, Dims3<1, 2, 2>>,
        _attributes: &'static [u8],
    ) {
    }
}

fn main() {}
