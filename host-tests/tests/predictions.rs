//! The cycles that the compiler predicts, by which it ranks kernels, are about those that emulated firmware takes.

use cargo_kiln::bench::bench;
use kiln_codegen::Options;
use kiln_host_tests::{corpus_folder, sweeps};

/// Models of int8. The first ones are measured in each run, all in sweeps.
const MODELS: [&str; 8] = [
    "mlperf_kws_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_ic_int8",
    "mlperf_strww_int8",
    "tflm_person_detect_int8",
    "mobilenet_v2_035_160_int8",
    "kws_cnn_s_int8",
];

/// Of a step and of a model: predicted cycles over measured ones.
const STEP: std::ops::RangeInclusive<f64> = 0.4..=2.0;
const MODEL: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Steps that take less say nothing: what surrounds a call counts in them.
const LEAST_CYCLES: u64 = 2_000;

#[test]
fn predictions_are_near_what_is_measured() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: predicted cycles are not compared");
        return;
    };
    let models: &[&str] = if sweeps() { &MODELS } else { &MODELS[..3] };
    for model in models {
        for board in ["qemu-cortex-m4", "qemu-cortex-m0", "qemu-cortex-m55", "qemu-rv32imc"] {
            let path = folder.join("tflite").join(model).with_extension("tflite");
            let report = bench(&path, &Options::default(), board, true).unwrap();
            let program = &report.compiled().program;
            let (mut predicted, mut measured) = (0, 0);
            for (step, count) in report.step_counts() {
                let cycles = program.chosen(step).and_then(|chosen| chosen.cycles);
                let Some(cycles) = cycles.filter(|_| count.cycles >= LEAST_CYCLES) else { continue };
                let ratio = cycles as f64 / count.cycles as f64;
                assert!(
                    STEP.contains(&ratio),
                    "{model} on {board}, step {step}: {cycles} for {}",
                    count.cycles
                );
                predicted += cycles;
                measured += count.cycles;
            }
            let ratio = predicted as f64 / measured as f64;
            println!("{model} on {board}: {predicted} predicted, {measured} measured, {ratio:.2}");
            assert!(MODEL.contains(&ratio), "{model} on {board}: {predicted} predicted, {measured} measured");
            assert!(5 * measured >= 4 * report.result().total.cycles, "little of {model} is predicted");
        }
    }
}
