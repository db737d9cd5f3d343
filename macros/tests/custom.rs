//! Custom operators through the macro: paths of functions mean what they mean beside it.

use kiln::custom::{Dims, Dims1, Dims3, Input, Output};

/// Of each row the sum of its elements times a weight of each column, plus the first of the attributes.
fn weighted_sum<const N: usize, const C: usize>(
    x: Input<'_, i8, Dims3<1, N, C>>,
    weights: Input<'_, i8, Dims1<C>>,
    y: Output<'_, f32, Dims3<1, N, 1>>,
    attributes: &'static [u8],
) {
    let bias = attributes.first().map_or(0, |&bias| i32::from(bias));
    for (n, y) in y.cells().iter().enumerate() {
        let term = |c| Some((i32::from(x.get([0, n, c])?) - x.zero_point) * i32::from(weights.get([c])?));
        let sum: i32 = (0..C).filter_map(term).sum();
        y.set((sum + bias) as f32 * (x.scale * weights.scale));
    }
}

/// The number of the last attribute.
struct Last;

impl Last {
    fn attribute<D: Dims, W: Dims, Y: Dims>(
        _: Input<'_, i8, D>,
        _: Input<'_, i8, W>,
        y: Output<'_, f32, Y>,
        attributes: &'static [u8],
    ) {
        y.cells().iter().for_each(|y| y.set(attributes.last().map_or(0.0, |&last| last.into())));
    }
}

mod beside {
    kiln::include_model!(
        pub Weighted = "../host-tests/models/custom/weighted_sum.tflite",
        custom_op("WeightedSum", super::weighted_sum::<2, 3>),
    );
}

kiln::include_model!(
    Here = "../host-tests/models/custom/weighted_sum.tflite",
    custom_op("WeightedSum", self::weighted_sum)
);
kiln::include_model!(
    Method = "../host-tests/models/custom/weighted_sum.tflite",
    custom_op("WeightedSum", Last::attribute)
);
kiln::include_model!(
    Crate = "../host-tests/models/custom/weighted_sum.tflite",
    custom_op = "WeightedSum=crate::weighted_sum"
);

const X: [i8; 12] = [1, 2, 3, -4, 5, -6, 7, -8, 9, 100, -128, 127];

/// The largest of each pair of rows above the zero point: (4, 8, 6) and (103, -5, 130).
const Y: [f32; 2] =
    [(4 - 2 * 8 + 3 * 6 + 2) as f32 / 8.0 + 10.0, (103 + 2 * 5 + 3 * 130 + 2) as f32 / 8.0 + 10.0];

#[test]
fn functions_are_called_wherever_they_are() {
    macro_rules! output {
        ($model:ty) => {{
            let mut model = <$model>::new();
            model.input_mut().copy_from_slice(&X);
            model.invoke();
            *model.output()
        }};
    }
    assert_eq!(output!(beside::Weighted), Y);
    assert_eq!(output!(Here), Y);
    assert_eq!(output!(Crate), Y);
    assert_eq!(output!(Method), [17.0; 2]);
}
