//! The cycles that the compiler predicts, by which it ranks kernels, are about those that emulated firmware takes. `KILN_BLESS=1` writes the table in `docs/cycles.md`.
//! Without it, and without `KILN_SWEEP`, the first models alone are measured.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::bench::bench;
use kiln_codegen::Options;
use kiln_host_tests::{corpus_folder, sweeps};
use std::path::Path;

/// Of a step and of a model: predicted cycles over measured ones.
const STEP: std::ops::RangeInclusive<f64> = 0.4..=2.5;
const MODEL: std::ops::RangeInclusive<f64> = 0.85..=1.15;

/// Steps that take less say nothing: what surrounds a call counts in them.
const LEAST_CYCLES: u64 = 4_000;

const MODELS: [&str; 9] = [
    "mlperf_kws_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_ic_int8",
    "mlperf_strww_int8",
    "tflm_person_detect_int8",
    "mobilenet_v2_035_160_int8",
    "kws_cnn_s_int8",
    "micro_kws_int8",
];
/// How many of them are measured in each run.
const FIRST: usize = 3;

const BOARDS: [&str; 4] = ["qemu-cortex-m4", "qemu-cortex-m0", "qemu-cortex-m55", "qemu-rv32imc"];

const BEGIN: &str = "<!-- predictions: begin -->\n";
const END: &str = "<!-- predictions: end -->";

/// Predicted cycles over measured ones, of the steps of a model with a prediction, which are most of it.
fn ratio(model: &Path, board: &str) -> f64 {
    let report = bench(model, &Options::default(), board, true).unwrap();
    let program = &report.compiled().program;
    let (mut predicted, mut measured) = (0, 0);
    for (step, count) in report.step_counts() {
        let cycles = program.chosen(step).and_then(|chosen| chosen.cycles);
        let Some(cycles) = cycles else { continue };
        let ratio = cycles as f64 / count.cycles as f64;
        let what = || format!("{} on {board}, step {step}: {cycles} for {}", model.display(), count.cycles);
        assert!(count.cycles < LEAST_CYCLES || STEP.contains(&ratio), "{}", what());
        predicted += cycles;
        measured += count.cycles;
    }
    let ratio = predicted as f64 / measured as f64;
    let what = format!("{} on {board}: {predicted} predicted, {measured} measured", model.display());
    println!("{what}, {ratio:.3}");
    assert!(MODEL.contains(&ratio), "{what}");
    assert!(5 * measured >= 4 * report.result().total.cycles, "little of {} is predicted", model.display());
    ratio
}

#[test]
fn predictions_are_near_what_is_measured() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: predicted cycles are not compared");
        return;
    };
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let models = if bless || sweeps() { &MODELS[..] } else { &MODELS[..FIRST] };
    let row = |model: &&'static str| {
        let path = folder.join("tflite").join(model).with_extension("tflite");
        (*model, BOARDS.map(|board| 100.0 * (ratio(&path, board) - 1.0)))
    };
    let rows: Vec<(&str, [f64; 4])> = models.iter().map(row).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cycles.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let start = text.find(BEGIN).unwrap() + BEGIN.len();
    let end = text.find(END).unwrap();
    if bless {
        let head = format!("| model | {} |\n|---{}|\n", BOARDS.join(" | "), "|--:".repeat(BOARDS.len()));
        let cell = |by: &f64| format!(" {by:+.1} % |").replace('-', "−");
        let line =
            |(model, by): &(&str, [f64; 4])| format!("| {model} |{}\n", by.each_ref().map(cell).concat());
        let table = head + &rows.iter().map(line).collect::<String>();
        std::fs::write(&page, [&text[..start], &table, &text[end..]].concat()).unwrap();
        return;
    }
    for (model, by) in rows {
        let line = text[start..end].lines().find(|line| line.starts_with(&format!("| {model} |")));
        let cells = line.unwrap_or_default().trim_matches('|').split('|').skip(1);
        let number =
            |cell: &str| cell.trim().trim_end_matches(" %").replace('−', "-").parse::<f64>().unwrap();
        let listed: Vec<f64> = cells.map(number).collect();
        // Another rustc may compile what surrounds the kernels otherwise.
        let is_near =
            listed.len() == by.len() && listed.iter().zip(by).all(|(listed, by)| (listed - by).abs() <= 1.0);
        assert!(is_near, "the table of predictions is not fresh (KILN_BLESS=1 writes it); {model}: {by:?}");
    }
}
