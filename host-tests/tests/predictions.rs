//! The cycles that the compiler predicts, by which it ranks kernels, are those that emulated firmware takes. `KILN_BLESS=1` writes the table in `docs/cycles.md`.
//! Without it, and without `KILN_SWEEP`, the first model alone is measured, in one or two modes on each board.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::bench::bench;
use kiln_codegen::{compile_file, Input, Optimize, Options};
use kiln_host_tests::{corpus_folder, sweeps};
use std::path::Path;

/// Of a step and of a model: predicted cycles over measured ones.
const STEP: std::ops::RangeInclusive<f64> = 0.4..=2.5;
const MODEL: std::ops::RangeInclusive<f64> = 0.95..=1.05;

/// Steps that take less say nothing: what surrounds a call counts in them.
const LEAST_CYCLES: u64 = 4_000;

const MODELS: [&str; 15] = [
    "mlperf_kws_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_ic_int8",
    "mlperf_strww_int8",
    "tflm_person_detect_int8",
    "mobilenet_v2_035_160_int8",
    "kws_cnn_s_int8",
    "micro_kws_int8",
    "silabs_rock_paper_scissors_int8",
    "silabs_image_example_int8",
    "magic_wand_digits_int8",
    "mnist_emlearn_int8",
    "mnist_dense_cnn_int8",
    "silabs_micro_speech_int8",
];
/// How many of them are measured in each run.
const FIRST: usize = 1;

/// What `optimize` and `input` are in rows of the table. Some models take no rows: these have no such row.
const MODES: [(&str, Optimize, Input); 4] = [
    ("speed", Optimize::Speed, Input::Whole),
    ("size", Optimize::Size, Input::Whole),
    ("memory", Optimize::Memory, Input::Whole),
    ("rows", Optimize::Speed, Input::Rows),
];

const BOARDS: [&str; 4] = ["qemu-cortex-m4", "qemu-cortex-m0", "qemu-cortex-m55", "qemu-rv32imc"];

const BEGIN: &str = "<!-- predictions: begin -->\n";
const END: &str = "<!-- predictions: end -->";

/// Predicted cycles over measured ones, of the steps of a model with a prediction, which are most of it.
fn ratio(model: &Path, options: &Options, board: &str) -> f64 {
    let report = bench(model, options, board, true).unwrap();
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
    let Options { optimize, input, .. } = options;
    let model_name = model.display();
    let what = format!(
        "{model_name} on {board}, {optimize:?}, {input:?}: {predicted} predicted, {measured} measured"
    );
    println!("{what}, {ratio:.3}");
    assert!(MODEL.contains(&ratio), "{what}");
    assert!(20 * measured >= 19 * report.result().total.cycles, "little of {model_name} is predicted");
    ratio
}

#[test]
fn predictions_are_near_what_is_measured() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: predicted cycles are not compared");
        return;
    };
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let all = bless || sweeps();
    let models = if all { &MODELS[..] } else { &MODELS[..FIRST] };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cycles.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let start = text.find(BEGIN).unwrap() + BEGIN.len();
    let end = text.find(END).unwrap();
    let head =
        format!("| model | mode | {} |\n|---|---{}|\n", BOARDS.join(" | "), "|--:".repeat(BOARDS.len()));
    let mut table = head;
    let rows = models.iter().flat_map(|model| MODES.map(|mode| (model, mode)));
    for (at, (model, (mode, optimize, input))) in rows.enumerate() {
        let path = folder.join("tflite").join(model).with_extension("tflite");
        let options = Options { optimize, input, ..Options::default() };
        if input == Input::Rows && compile_file(&path, &options).is_err() {
            continue;
        }
        let row = format!("| {model} | {mode} |");
        let line = text[start..end].lines().find(|line| line.starts_with(&row));
        let cells = line.unwrap_or_default().trim_matches('|').split('|').skip(2);
        let listed: Vec<&str> = cells.map(str::trim).collect();
        table += &row;
        for (column, board) in BOARDS.iter().enumerate() {
            // In a short run, each board has another mode than the one before.
            if !all && (at + column) % MODES.len() != 0 {
                continue;
            }
            let by = 100.0 * (ratio(&path, &options, board) - 1.0);
            table += &format!(" {by:+.1} % |").replace('-', "−");
            if bless {
                continue;
            }
            let number = |cell: &&str| cell.trim_end_matches(" %").replace('−', "-").parse::<f64>().ok();
            let listed = listed.get(column).and_then(number);
            // Another rustc may compile what surrounds the kernels otherwise.
            let is_near = listed.is_some_and(|listed| (listed - by).abs() <= 1.0);
            let what = format!("{model}, {mode}, on {board}: {by:+.1} %, listed {listed:?}");
            assert!(is_near, "the table of predictions is not fresh (KILN_BLESS=1 writes it); {what}");
        }
        table += "\n";
    }
    if bless {
        std::fs::write(&page, [&text[..start], &table, &text[end..]].concat()).unwrap();
    }
}
