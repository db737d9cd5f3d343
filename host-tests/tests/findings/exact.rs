//! TFLite models whose integers differed from the runtime's that defines them: both the interpreter and generated code give its bits.

use super::path;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::interpret;
use kiln_codegen::{import, Options};
use kiln_host_tests::side_by_side::SideBySide;

/// int16: CONV_2D without a bias (sums of 64 bits), FULLY_CONNECTED with a bias of 32 (sums of 32 bits), ABS between two scales (divided in `f64`). Golden values are
/// TensorFlow Lite Micro's.
const INT16: [(&str, &str); 3] =
    [("c16_CONV_2D_none_0", "tflm"), ("fc16_i32_0", "tflm"), ("abs16_0", "tflm")];

/// uint8: average pooling between two zero points, LOGISTIC at a power of two, FULLY_CONNECTED. Golden values are those of LiteRT's reference kernels.
const UINT8: [(&str, &str); 3] = [
    ("poolq_AVERAGE_POOL_2D_u8_zp", "litert-ref"),
    ("u_LOGISTIC_u8_m12_0", "litert-ref"),
    ("fully_connected_b1_uint8", ""),
];

fn check(files: &[(&str, &str)]) {
    let mut models = Vec::new();
    for (name, of) in files {
        let bytes = std::fs::read(path(&format!("exact/{name}.tflite"))).unwrap();
        let graph = import(&bytes, name, &Options::default()).unwrap();
        let ending = if of.is_empty() { "npz".to_owned() } else { format!("{of}.npz") };
        let golden = Golden::read(&path(&format!("exact/{name}.{ending}"))).unwrap();
        assert!(interpret(&graph, &golden.inputs).unwrap() == golden.outputs, "{name} in the interpreter");
        models.push((graph, golden));
    }
    SideBySide::of("exact", &models).assert_golden("host");
}

#[test]
fn int16_is_that_of_tflm() {
    check(&INT16);
}

#[test]
fn uint8_is_that_of_litert() {
    check(&UINT8);
}

/// Weights and constants of zeros whose scale is 0, of whole tensors and of single filters: what they are multiplied with becomes 0, and biases do not count.
#[test]
fn constants_of_zeros_need_no_scale() {
    check(&[
        ("zero_scale_conv_int8", "tflm"),
        ("zero_scale_conv_int16", "tflm"),
        ("zero_scale_depthwise_int8", "tflm"),
        ("zero_scale_mul_int8", "tflm"),
        ("zero_scale_mul_uint8", "litert-ref"),
        ("zero_scale_fc", "tflm"),
    ]);
    let bytes = std::fs::read(path("exact/zero_scale_other_values.tflite")).unwrap();
    let refused = import(&bytes, "other", &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("has the scale 0") && !refused.contains("damaged"), "{refused}");
}

/// SUM of int16, along one axis and several, between scales.
#[test]
fn sums_of_int16_are_those_of_tflm() {
    check(&["sum_int16_0", "sum_int16_1", "sum_int16_2", "sum_int16_3"].map(|name| (name, "tflm")));
}
