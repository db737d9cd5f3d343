//! The cycles that the compiler predicts, by which it ranks kernels, are those that emulated firmware takes. What differs is told at the end, when all is measured.
//! `KILN_BLESS=1` writes the table in `docs/cycles.md`, a row as soon as it is measured.
//! Without it, and without `KILN_SWEEP`, the first model alone is measured, in one or two modes on each board.
//! `KILN_PREDICTIONS` measures a part of the table: `"kws,vww memory m55"` the cells whose model, mode and board contain `kws` or `vww`, `memory`, and `m55`. The others stay as they are.
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

const MODELS: [&str; 51] = [
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
    "silabs_anomaly_detection_int8",
    "tflm_micro_speech_int8",
    "micro_speech_custom_int8",
    "mlperf_ad_int8_floatio",
    "mlperf_ad_hybrid",
    "tinyengine_mcunet_vww_int8",
    "mobilenet_v1_025_128_uint8",
    "mww_okay_nabu",
    "mww_alexa",
    "mww_hey_jarvis",
    "mww_hey_mycroft",
    "mww_choo_choo_homie",
    "mww_vad",
    "catdog_cnn_int8",
    "bigsine_int8",
    "tflm_hello_world_int8",
    "tinyengine_lenet300_int8",
    "tflm_keyword_scrambled_svdf",
    "lstm_mnist_coral_int8",
    "tflm_lstm_mnist_int8",
    "tflm_dtln_noise_suppression_int8",
    "mlperf_kws_hybrid",
    "dtln_1_hybrid",
    "mlperf_ic_large_int8",
    "mnist_emlearn_f32",
    "catdog_cnn_hybrid",
    "catdog_cnn_f32",
    "mlperf_ad_f32",
    "tflm_hello_world_f32",
    "magic_wand_f32",
    "micro_kws_f32",
    "mediapipe_gesture_classifier_f32",
    "umatest_cnn_f32",
    "cifar10_cnn_f32",
    "mlperf_vww_f32",
    "mlperf_ic_f32",
];
/// How many of them are measured in each run.
const FIRST: usize = 1;
/// How many of them, at the end, are measured where there is a floating-point unit: elsewhere a sum of floats takes as long as its operands ask for.
const FLOATS: usize = 11;
const WITH_FPU: [&str; 2] = ["qemu-cortex-m4", "qemu-cortex-m55"];

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

/// What was found of a model in a mode on a board: by how many per cent its prediction differs from what is measured, if it could be measured, and what is wrong.
#[derive(Default)]
struct Found {
    by: Option<f64>,
    wrong: Vec<String>,
}

/// Compares predicted cycles with measured ones: of each step with a prediction, and of all of them, which are most of the model.
fn compare(model: &Path, options: &Options, board: &str) -> Found {
    let mut found = Found::default();
    let report = match bench(model, options, board, true) {
        Ok(report) => report,
        Err(error) => {
            found.wrong.push(format!("it is not measured: {error}"));
            return found;
        }
    };
    let program = &report.compiled().program;
    let (mut predicted, mut measured) = (0, 0);
    for (step, count) in report.step_counts() {
        let cycles = program.chosen(step).and_then(|chosen| chosen.cycles);
        let Some(cycles) = cycles else { continue };
        let ratio = cycles as f64 / count.cycles as f64;
        if count.cycles >= LEAST_CYCLES && !STEP.contains(&ratio) {
            found.wrong.push(format!("step {step}: {cycles} cycles predicted, {} measured", count.cycles));
        }
        predicted += cycles;
        measured += count.cycles;
    }
    let ratio = predicted as f64 / measured as f64;
    let sum = format!("{predicted} cycles predicted, {measured} measured");
    println!("  {sum}, {ratio:.3}");
    if !MODEL.contains(&ratio) {
        found.wrong.push(sum);
    }
    if 20 * measured < 19 * report.result().total.cycles {
        found.wrong.push(format!("little is predicted: {measured} of {}", report.result().total.cycles));
    }
    found.by = Some(100.0 * (ratio - 1.0));
    found
}

/// A row of the table.
struct Row {
    model: &'static str,
    mode: &'static str,
    cells: [String; BOARDS.len()],
}

impl Row {
    /// The row that the table has, or one without figures.
    fn listed(table: &str, model: &'static str, mode: &'static str) -> Row {
        let start = format!("| {model} | {mode} |");
        let line = table.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
        let mut listed = line.split('|').map(|cell| cell.trim().to_string());
        Row { model, mode, cells: BOARDS.map(|_| listed.next().unwrap_or_default()) }
    }

    /// The per cent that a cell says.
    fn number(&self, column: usize) -> Option<f64> {
        self.cells[column].trim_end_matches(" %").replace('−', "-").parse().ok()
    }

    /// Whether it has a figure.
    fn is_known(&self) -> bool {
        self.cells.iter().any(|cell| !cell.is_empty())
    }
}

/// The table in Markdown.
fn table(rows: &[Row]) -> String {
    let mut text =
        format!("| model | mode | {} |\n|---|---{}|\n", BOARDS.join(" | "), "|--:".repeat(BOARDS.len()));
    for Row { model, mode, cells } in rows.iter().filter(|row| row.is_known()) {
        text += &format!("| {model} | {mode} | {} |\n", cells.join(" | "));
    }
    text
}

/// Whether a text has all words that `KILN_PREDICTIONS` asks for, each as one of the words that commas separate.
fn is_asked_for(text: &str, asked: &str) -> bool {
    asked.split_whitespace().all(|words| words.split(',').any(|word| text.contains(word)))
}

#[test]
fn predictions_are_near_what_is_measured() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: predicted cycles are not compared");
        return;
    };
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let asked = std::env::var("KILN_PREDICTIONS").ok();
    let all = bless || sweeps() || asked.is_some();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cycles.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let start = text.find(BEGIN).unwrap() + BEGIN.len();
    let end = text.find(END).unwrap();
    let modes = || MODES.map(|(mode, ..)| mode);
    let mut rows: Vec<Row> = MODELS
        .iter()
        .flat_map(|&model| modes().map(|mode| Row::listed(&text[start..end], model, mode)))
        .collect();
    let mut wrong: Vec<String> = Vec::new();
    let count = if all { rows.len() } else { FIRST * MODES.len() };
    for at in 0..count {
        let Row { model, mode, .. } = rows[at];
        let (_, optimize, input) = MODES[at % MODES.len()];
        let path = folder.join("tflite").join(model).with_extension("tflite");
        let options = Options { optimize, input, ..Options::default() };
        // In a short run, each board has another mode than the one before.
        let in_turn = |column| all || (at + column) % MODES.len() == 0;
        let what = |board| format!("{model}, {mode}, {board}");
        let is_asked = |board| asked.as_ref().is_none_or(|asked| is_asked_for(&what(board), asked));
        let floats = at / MODES.len() >= MODELS.len() - FLOATS;
        let suits = |board| !floats || WITH_FPU.contains(&board);
        let measured = |&column: &usize| in_turn(column) && suits(BOARDS[column]) && is_asked(BOARDS[column]);
        let columns: Vec<usize> = (0..BOARDS.len()).filter(measured).collect();
        if columns.is_empty() {
            continue;
        }
        if input == Input::Rows && compile_file(&path, &options).is_err() {
            rows[at].cells = BOARDS.map(|_| String::new());
            continue;
        }
        for column in columns {
            let what = what(BOARDS[column]);
            println!("{what}");
            let Found { by, wrong: found } = compare(&path, &options, BOARDS[column]);
            wrong.extend(found.into_iter().map(|found| format!("{what}: {found}")));
            let (Some(by), listed) = (by, rows[at].number(column)) else { continue };
            // Another rustc may compile what surrounds the kernels otherwise.
            if !bless && listed.is_none_or(|listed| (listed - by).abs() > 1.0) {
                wrong.push(format!(
                    "{what}: {by:+.1} %, listed {listed:?}: the table is not fresh (KILN_BLESS=1 writes it)"
                ));
            }
            rows[at].cells[column] = format!("{by:+.1} %").replace('-', "−");
        }
        if bless {
            std::fs::write(&page, [&text[..start], &table(&rows), &text[end..]].concat()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
