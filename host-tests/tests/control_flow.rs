//! Branches and loops of a model file, generated code against the interpreter.

use kiln_codegen::front::{self, tflite::seeds};
use kiln_codegen::ir::Data;
use kiln_host_tests::assert_generated_as_interpreted;

/// Three passes of a loop, each of which doubles x or takes its hyperbolic tangent.
#[test]
fn both_branches_of_a_loop_are_right() {
    let graph = front::read(&seeds::control(), "control").unwrap();
    let x = Data::from_f32(&[0.25, -3.0]);
    let tanh = |x: f32| x.tanh().tanh().tanh();
    for (above, expected) in [(1u8, [2.0, -24.0]), (0, [tanh(0.25), tanh(-3.0)])] {
        let places: &[&str] = if above == 1 { &["host", "qemu-cortex-m3"] } else { &["host"] };
        let y = assert_generated_as_interpreted(&graph, &[x.clone(), Data::new([above])], places);
        for (y, expected) in y[0].to_f32().iter().zip(expected) {
            assert!((y - expected).abs() < 1e-6, "{y} for {expected}");
        }
    }
}
