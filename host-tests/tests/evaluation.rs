//! `cargo kiln eval` of the examples: on this machine and on an emulated Cortex-M4 the same answers, and those of TensorFlow Lite Micro.

use cargo_kiln::eval::{evaluate, Numbers, Pool, Report, Settings};
use cargo_kiln::npz;
use kiln_codegen::{Input, Options};
use std::path::{Path, PathBuf};

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path)
}

/// Ink of 0 to 16, as the models take it.
fn report(model: &str, settings: Settings) -> Report {
    let numbers = Numbers { mean: Vec::new(), scale: vec![1.0 / 16.0] };
    let report = report_everywhere(model, &Options::default(), Settings { numbers, ..settings });
    let [host, board] = &report.places[..] else { panic!() };
    let cycles = board.latency.as_ref().unwrap().cycles.unwrap();
    assert!(cycles.most - cycles.least < cycles.most / 100.0, "{cycles:?}");
    assert!(host
        .latency
        .as_ref()
        .is_some_and(|latency| latency.cycles.is_none() && latency.micros.least > 0.0));
    report
}

/// On this machine and on the board, with the same scores.
fn report_everywhere(model: &str, options: &Options, settings: Settings) -> Report {
    let settings = Settings { on: ["host", "qemu-cortex-m4"].map(str::to_owned).into(), ..settings };
    let report = evaluate(&example(model), options, &settings).unwrap().report;
    let [host, board] = &report.places[..] else { panic!() };
    assert_eq!(host.measures.confusion, board.measures.confusion);
    assert_eq!(board.same_scores, Some(report.samples));
    report
}

#[test]
fn digits_have_one_confusion_matrix_everywhere() {
    let settings = Settings { data: example("classify/data/held_out.csv"), ..Settings::default() };
    let report = report("digits/models/digits_int8.tflite", settings);
    let tflm = std::fs::read_to_string(example("digits/data/tflm.txt")).unwrap();
    let right = tflm.lines().find_map(|line| line.strip_prefix("digits_int8 ")).unwrap();
    assert_eq!((report.samples, report.places[0].measures.right), (360, right.parse().unwrap()));

    // The labels of the table are those of the example, whose scores TensorFlow Lite Micro computed.
    let labels = std::fs::read(example("digits/data/labels.bin")).unwrap();
    let scores = npz::read(&example("digits/golden/digits_int8.npz")).unwrap().remove("out_0").unwrap();
    let mut confusion = vec![vec![0; 10]; 10];
    for (scores, &label) in scores.split().iter().zip(&labels) {
        let scores = scores.to_i8();
        let best = (0..10).fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
        confusion[usize::from(label)][best] += 1;
    }
    assert_eq!(report.places[0].measures.confusion, confusion);
}

/// Windows of ten rows, of which two are behind a digit, and windows two rows later.
#[test]
fn wake_digits_are_detected_everywhere() {
    let strip = std::fs::read(example("wake-digit/data/strip.bin")).unwrap();
    let ends = std::fs::read(example("wake-digit/data/ends.bin")).unwrap();
    let mut table = String::new();
    for entry in ends.chunks_exact(4) {
        let last = usize::from(entry[0]) | usize::from(entry[1]) << 8;
        let label = usize::from(entry[2] == 0);
        // A window two rows behind a digit is blank there, and begins with the digit's first row.
        for (row, label) in [(last + 1, label), (last - 4, 0)] {
            let window = &strip[(row - 9) * 8..(row + 1) * 8];
            let ink: Vec<String> = window.iter().map(u8::to_string).collect();
            table += &format!("{},{label}\n", ink.join(","));
        }
    }
    let path = std::env::temp_dir().join(format!("kiln-wake-digit-{}.csv", std::process::id()));
    std::fs::write(&path, table).unwrap();
    let settings = Settings {
        data: path.clone(),
        detect: Some("1".into()),
        thresholds: vec![0.5, 0.75],
        seconds_per_sample: Some(1.0),
        ..Settings::default()
    };
    let report = report("wake-digit/models/wake_digit_int8.tflite", settings);
    std::fs::remove_file(path).unwrap();
    let [host, board] = &report.places[..] else { panic!() };
    let (host, board) = (host.detection.as_ref().unwrap(), board.detection.as_ref().unwrap());
    assert_eq!(host.points, board.points);
    assert_eq!((host.positives, host.negatives), (35, 720 - 35));
    let [half, _] = &host.points[..] else { panic!() };
    assert!(half.misses <= 3 && half.false_accepts <= 3, "{half:?}");
}

/// Samples longer than a window: the digit, with blank rows around it, somewhere in 30 rows.
#[test]
fn sliding_models_find_digits_in_longer_samples() {
    let strip = std::fs::read(example("wake-digit/data/strip.bin")).unwrap();
    let ends = std::fs::read(example("wake-digit/data/ends.bin")).unwrap();
    let mut table = String::new();
    for (index, entry) in ends.chunks_exact(4).enumerate().take(60) {
        let last = usize::from(entry[0]) | usize::from(entry[1]) << 8;
        let before = 10 + index % 10;
        let digit = &strip[(last - 7) * 8..(last + 1) * 8];
        let rows = [&vec![0; before * 8], digit, &vec![0; (22 - before) * 8]].concat();
        let ink: Vec<String> = rows.iter().map(u8::to_string).collect();
        table += &format!("{},{}\n", ink.join(","), u8::from(entry[2] == 0));
    }
    let path = std::env::temp_dir().join(format!("kiln-wake-clips-{}.csv", std::process::id()));
    std::fs::write(&path, table).unwrap();
    let settings = Settings {
        data: path.clone(),
        on: ["interp", "host"].map(str::to_owned).into(),
        numbers: Numbers { mean: Vec::new(), scale: vec![1.0 / 16.0] },
        pool: Pool::Max,
        ..Settings::default()
    };
    let options = Options { input: Input::Sliding, ..Options::default() };
    let report =
        evaluate(&example("wake-digit/models/wake_digit_int8.tflite"), &options, &settings).unwrap().report;
    std::fs::remove_file(path).unwrap();
    let [interp, host] = &report.places[..] else { panic!() };
    assert_eq!(host.same_scores, Some(60));
    assert!(
        interp.measures.right >= 58 && interp.measures.confusion[1][1] >= 4,
        "{:?}",
        interp.measures.confusion
    );
}

/// Recordings of held-out voices through features and network, as firmware has them.
#[test]
fn wake_words_have_one_confusion_matrix_everywhere() {
    let library = std::fs::read_to_string(example("wake-word/detector/src/lib.rs")).unwrap();
    let mut options = Options::default();
    for line in library.lines().map(str::trim) {
        if let Some(features) = line.strip_prefix("features = \"") {
            options.features = Some(features.trim_end_matches("\",").into());
        }
        if let Some(state) = line.strip_prefix("state(\"") {
            let pair = state.trim_end_matches("\"),").replace("\", \"", "=");
            options.states.push(pair.parse().unwrap());
        }
    }
    assert!(options.features.is_some() && options.states.len() == 6);
    let settings = Settings {
        data: example("wake-word/clips"),
        pool: Pool::Max,
        classes: Some(["other", "hey_kiln"].map(str::to_owned).into()),
        detect: Some("hey_kiln".into()),
        ..Settings::default()
    };
    let report = report_everywhere("wake-word/models/wake_word_int8.onnx", &options, settings);
    assert_eq!(report.places[0].measures.confusion, [[6, 0], [0, 6]]);
    let [host, board] = &report.places[..] else { panic!() };
    let (host, board) = (host.detection.as_ref().unwrap(), board.detection.as_ref().unwrap());
    assert_eq!(host.points, board.points);
}
