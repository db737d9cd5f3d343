//! TFLite models whose integers, infinite numbers or NaN differed from the runtime's that defines them: both the interpreter and generated code give its own.
//! `differential/corners.py` makes those whose names begin with `corner_`.

use super::path;
use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::kernels::kernels;
use cargo_kiln::place::interpret;
use kiln_codegen::ir::Graph;
use kiln_codegen::{compile_graph, import, Options, Target};
use kiln_host_tests::side_by_side::SideBySide;

/// int16: CONV_2D without a bias (sums of 64 bits), FULLY_CONNECTED with a bias of 32 (sums of 32 bits), ABS between two scales (divided in `f64`). Golden values are
/// TensorFlow Lite Micro's.
const INT16: [(&str, &str); 3] =
    [("c16_CONV_2D_none_0", "tflm"), ("fc16_i32_0", "tflm"), ("abs16_0", "tflm")];

/// uint8: average pooling between two zero points, LOGISTIC at a power of two, a CAST of int8 beside a pooling of uint8, FULLY_CONNECTED. Golden values are those of LiteRT's reference kernels.
const UINT8: [(&str, &str); 4] = [
    ("poolq_AVERAGE_POOL_2D_u8_zp", "litert-ref"),
    ("u_LOGISTIC_u8_m12_0", "litert-ref"),
    ("mixed_u8_i8", "litert-ref"),
    ("fully_connected_b1_uint8", ""),
];

/// Scales at which kernels shift by less than nothing or by more than there is: DIV, comparisons, HARD_SWISH, tables of EXP that overflow, LEAKY_RELU
/// of int16. PAD of int16 with a zero point.
const CORNERS: [(&str, &str); 12] = [
    ("corner_DIV_i8", "tflm"),
    ("corner_DIV_u8", "litert-ref"),
    ("corner_LESS_i8", "litert-ref"),
    ("corner_EQUAL_i8", "litert-ref"),
    ("corner_HARD_SWISH_i8", "tflm"),
    ("corner_HARD_SWISH_u8", "litert-ref"),
    ("corner_EXP_i16_overflow", "litert-ref"),
    ("corner_EXP_i16_steep", "litert-ref"),
    ("corner_LEAKY_RELU_i16", "tflm"),
    ("corner_PAD_i16", "tflm"),
    ("corner_LOGISTIC_i8_0", "tflm"),
    ("corner_LOGISTIC_i8_1", "tflm"),
];

/// FULLY_CONNECTED that only LiteRT computes, which rounds once: uint8 (with weights of 8 and of 16 bits), and int4 with a scale for each filter. Sums half between
/// two results, which go away from zero, and so near to it that the product of scales has to be one of double precision.
const ONCE: [(&str, &str); 6] = [
    ("corner_FULLY_CONNECTED_u8_narrow", "litert-ref"),
    ("corner_FULLY_CONNECTED_u8_wide", "litert-ref"),
    ("corner_FULLY_CONNECTED_i4", "litert-ref"),
    ("corner_FULLY_CONNECTED_u8_ties", "litert-ref"),
    ("corner_FULLY_CONNECTED_i4_ties", "litert-ref"),
    ("corner_FULLY_CONNECTED_u8_near", "litert-ref"),
];

/// Floats beyond the largest number, which fused activations clamp to it, and NaN.
const FLOATS: [(&str, &str); 3] =
    [("inf_DIV", "tflm"), ("nan_MAX_POOL_2D", "tflm"), ("corner_infinite_layers", "tflm")];

fn check(files: &[(&str, &str)]) {
    models(files).assert_golden("host");
}

/// Models with their golden cases, which the interpreter gives.
fn models(files: &[(&str, &str)]) -> SideBySide {
    let mut models = Vec::new();
    for (name, of) in files {
        let bytes = std::fs::read(path(&format!("exact/{name}.tflite"))).unwrap();
        let graph = import(&bytes, name, &Options::default()).unwrap();
        let ending = if of.is_empty() { "npz".to_owned() } else { format!("{of}.npz") };
        let golden = Golden::read(&path(&format!("exact/{name}.{ending}"))).unwrap();
        for (case, (actual, expected)) in
            interpret(&graph, &golden.inputs).unwrap().iter().zip(&golden.outputs).enumerate()
        {
            for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let difference = compare(golden.output_types[k], actual, expected);
                assert!(
                    difference.passes(),
                    "{name}, case {case}, output {k} in the interpreter: {difference}"
                );
            }
        }
        models.push((graph, golden));
    }
    SideBySide::of("exact", &models)
}

#[test]
fn odd_scales_are_those_of_the_runtimes() {
    let models = models(&CORNERS);
    for place in ["host", "qemu-cortex-m4"] {
        models.assert_golden(place);
    }
}

#[test]
fn infinite_floats_are_clamped_where_tflm_clamps_them() {
    let models = models(&FLOATS);
    for place in ["host", "host@portable", "qemu-cortex-m4"] {
        models.assert_golden(place);
    }
}

#[test]
fn layers_that_round_once_have_the_kernels_of_those_that_round_twice() {
    let models = models(&ONCE);
    for place in ["host", "host@portable", "qemu-cortex-m0", "qemu-cortex-m4"] {
        models.assert_golden(place);
    }
    let kernels_of = |name: &str, target| {
        let bytes = std::fs::read(path(&format!("exact/{name}.tflite"))).unwrap();
        let graph: Graph = import(&bytes, name, &Options::default()).unwrap();
        kernels(&compile_graph(graph, &Options { target: Some(target), ..Options::default() }).unwrap())
    };
    for (target, fast) in
        [(Target::CortexM0, "_v6m"), (Target::CortexMDsp, "_dsp"), (Target::Vectors, "_simd")]
    {
        for (name, _) in [ONCE[0], ONCE[2]] {
            let kernels = kernels_of(name, target);
            assert!(kernels.contains(fast) && !kernels.contains("once"), "{name}: {kernels}");
        }
        let wide = kernels_of(ONCE[1].0, target);
        assert!(wide.contains("dense_i8xi16_once"), "{wide}");
    }
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
