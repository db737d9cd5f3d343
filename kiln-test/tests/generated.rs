//! Models that `include_model!` generated, as in a user's crate: one without `std`.
#![no_std]

kiln::include_model!(Residual = "../host-tests/models/tflite/residual_int8.tflite");
kiln::include_model!(ResidualFloat = "../host-tests/models/tflite/residual_f32.tflite", optimize = "memory");
kiln::include_model!(Stream = "../host-tests/models/tflite/stream_int8.tflite");
kiln::include_model!(StreamFloat = "../host-tests/models/tflite/stream_f32.tflite", optimize = "size");
kiln::include_model!(Split = "../host-tests/models/tflite/op_split_v_int8.tflite");
kiln::include_model!(Edges = "../host-tests/models/tflite/diabetes_floatedges_int8.tflite");
kiln::include_model!(Core = "../host-tests/models/tflite/diabetes_floatedges_int8.tflite", io = "quantized");
kiln::include_model!(
    Rows = "../host-tests/models/tflite/residual_f32.tflite",
    input = "rows",
    optimize = "memory"
);
kiln::include_model!(
    Slide = "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite",
    input = "sliding"
);

#[test]
fn networks() {
    kiln_test::assert_equivalent!(Residual, "../host-tests/models/tflite/residual_int8.tflite", cases = 100);
    kiln_test::assert_equivalent!(ResidualFloat, "../host-tests/models/tflite/residual_f32.tflite");
}

#[test]
fn state() {
    kiln_test::assert_equivalent!(
        Stream,
        "../host-tests/models/tflite/stream_int8.tflite",
        cases = 100,
        steps = 25
    );
    kiln_test::assert_equivalent!(
        StreamFloat,
        "../host-tests/models/tflite/stream_f32.tflite",
        range = (0.0, 1.0)
    );
}

#[test]
fn row_by_row() {
    kiln_test::assert_equivalent!(Rows, "../host-tests/models/tflite/residual_f32.tflite", cases = 20);
    kiln_test::assert_equivalent!(Slide, "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite");
}

#[test]
fn several_outputs() {
    kiln_test::assert_equivalent!(Split, "../host-tests/models/tflite/op_split_v_int8.tflite");
}

#[test]
fn float_edges_and_without_them() {
    kiln_test::assert_equivalent!(Edges, "../host-tests/models/tflite/diabetes_floatedges_int8.tflite");
    let file = "../host-tests/models/tflite/diabetes_floatedges_int8.tflite";
    kiln_test::assert_equivalent!(Core, file, io = "quantized");
}

#[test]
#[should_panic(expected = "another model: input 0 is i8[1, 10], not f32[1, 10]")]
fn the_option_has_to_be_the_one_compiled_with() {
    kiln_test::assert_equivalent!(Core, "../host-tests/models/tflite/diabetes_floatedges_int8.tflite");
}
