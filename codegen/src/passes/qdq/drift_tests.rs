//! How far integer layers drift, and what is said of it.

use super::super::testing::parse;
use super::drift::{run, Drift, Layer};

fn drift(text: &str) -> Drift {
    let mut graph = parse(text);
    let drift = run(&mut graph).unwrap();
    crate::verify::verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
    drift
}

/// A dense layer whose float bias is half an accumulator off, where an accumulator is `scale` steps of the result; a finer scale behind it.
fn dense(bias: f32, scale: f32, behind: f32) -> String {
    format!(
        "input %x: i8[64,2] q(0.5 : 3)
         %d: f32[64,2] = dequantize(%x)
         const %w: i8[2,2] q(0.5 : 0) = [1, 0, -3, 4]
         %v: f32[2,2] = dequantize(%w)
         const %b: f32[2] = [{bias:?}, 0.0]
         %c: f32[64,2] = dense(%d, %v, %b) {{rescale = real, clamp = -inf..=inf}} from \"4 Gemm\"
         %q: i8[64,2] q({scale:?} : 0) = quantize(%c) {{rounding = even}}
         %e: f32[64,2] = dequantize(%q)
         %f: f32[64,2] = mul(%e, %e) {{rescale = real, clamp = -inf..=inf}} from \"6 Mul\"
         %y: i8[64,2] q({behind:?} : 0) = quantize(%f) {{rounding = even}}
         return %y"
    )
}

/// A difference of two operands of these scales, and the scale of the result.
fn difference([x, z, y]: [f32; 3]) -> Drift {
    drift(&format!(
        "input %x: i8[5] q({x:?} : 3)
         input %z: i8[5] q({z:?} : -7)
         %d: f32[5] = dequantize(%x)
         %e: f32[5] = dequantize(%z)
         %s: f32[5] = sub(%d, %e) {{rescale = real, clamp = 0.0..=inf}} from \"2 Sub\"
         %y: i8[5] q({y:?} : -128) = quantize(%s) {{rounding = even}}
         return %y"
    ))
}

#[test]
fn sums_of_which_all_pairs_were_compared_are_exact() {
    let drift = difference([0.4371, 0.2913, 0.5117]);
    assert_eq!(drift.layers.iter().map(|layer| layer.own).collect::<Vec<_>>(), [0], "{drift}");
    assert_eq!((drift.outputs[0].bound, drift.inputs), (Some(0.0), 0), "what is proven need not be measured");
    assert!(drift.to_string().contains("1 layers, 1 of them exact") && drift.check(0).is_ok(), "{drift}");
}

/// Of powers of two many sums lie between two steps. Halves to even have no form by two multiplications; rounded away from zero, they would all go the same way.
#[test]
fn sums_of_powers_of_two_are_exact() {
    let drift = difference([0.5, 0.25, 0.5]);
    assert_eq!(drift.outputs[0].bound, Some(0.0), "{drift}");
    assert!(drift.check(0).is_ok(), "{drift}");
}

#[test]
fn a_bias_between_two_accumulators_drifts_and_is_refused() {
    // An accumulator is 0.25: 47 steps of the result. The bias is half of one.
    let coarse = dense(0.125, 0.25 / 47.0, 100.0);
    let drift = drift(&coarse.replace("return %y", "return %q"));
    let layer = &drift.layers[0];
    assert_eq!((layer.origin.as_str(), layer.own, layer.bound), ("4 Gemm", 24, Some(24.0)), "{drift}");
    let output = &drift.outputs[0];
    assert!(output.bound == Some(24.0) && output.measured.is_some_and(|steps| steps >= 23.0), "{drift}");
    let refused = drift.check(8).unwrap_err().to_string();
    for words in [
        "4 Gemm: as integers, output",
        "more than the 8 that are allowed",
        "qdq = \"float\"",
        "qdq_drift = 2",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    assert!(drift.check(24).is_ok());
    // Behind it all numbers are 0, whatever they were made of.
    let drift = self::drift(&coarse);
    assert_eq!((drift.layers[0].own, drift.outputs[0].bound), (24, Some(0.0)), "{drift}");
    assert!(drift.check(0).is_ok());
}

#[test]
fn the_same_inputs_are_drawn_each_time() {
    let text = dense(0.1, 0.07, 0.3);
    assert_eq!(drift(&text), drift(&text));
}

#[test]
fn measured_drift_is_within_the_bound() {
    for k in 1..40 {
        let scale = 0.003 * k as f32;
        let drift = drift(&dense(0.01 * k as f32, scale, scale * scale * 9.0));
        for Layer { origin, bound, measured, .. } in &drift.layers {
            let (bound, measured) = (bound.unwrap(), measured.unwrap_or(0));
            assert!(measured as f64 <= bound, "{origin}: {measured} {bound}");
        }
        let output = &drift.outputs[0];
        assert!(output.measured.unwrap_or(0.0) <= output.bound.unwrap(), "{drift}");
    }
}
