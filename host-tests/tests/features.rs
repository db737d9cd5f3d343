//! Audio features are those of the packages that they are named after: all cases of `models/make_features.py`, whose frames Python computed from the whole signal. `KILN_BLESS=1` writes the tables in `docs/features.md`.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::{npz, place};
use kiln_boards::firmware::Mode;
use kiln_boards::qemu;
use kiln_codegen::compile_graph;
use kiln_codegen::features::{Features, Keys, Start};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data};
use kiln_codegen::Options;
use kiln_host_tests::assert_generated_with;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The largest difference, of the largest feature of a case.
const LIMIT: f64 = 1e-4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/features")
}

#[derive(Deserialize)]
struct Entry {
    spec: String,
    frames: Vec<usize>,
}

/// Features of some frames of the signal.
struct Case {
    spec: String,
    frames: Vec<usize>,
    golden: Vec<Vec<f32>>,
}

fn cases() -> (Vec<i16>, Vec<Case>) {
    let text = std::fs::read_to_string(folder().join("cases.json")).unwrap();
    let entries: Vec<Entry> = serde_json::from_str(&text).unwrap();
    let mut arrays = npz::read(&folder().join("golden.npz")).unwrap();
    let signal = arrays.remove("signal").unwrap().data.to_ints(DType::I16);
    let signal = signal.iter().map(|&sample| sample as i16).collect();
    let case = |(at, entry): (usize, Entry)| {
        let array = arrays.remove(&format!("case_{at}")).unwrap();
        let golden: Vec<Vec<f32>> = array.split().iter().map(Data::to_f32).collect();
        assert_eq!(golden.len(), entry.frames.len(), "{}", entry.spec);
        Case { spec: entry.spec, frames: entry.frames, golden }
    };
    (signal, entries.into_iter().enumerate().map(case).collect())
}

/// Without spaces.
fn plain(spec: &str) -> String {
    spec.split_whitespace().collect()
}

fn features(spec: &str) -> Features {
    let mut keys = Keys::default();
    for pair in spec.split(", ") {
        let (key, value) = pair.split_once(" = ").unwrap();
        keys.set(key, value.trim_matches('"')).unwrap();
    }
    Features::of(&keys).unwrap()
}

/// A frame of the whole signal.
fn frame(features: &Features, signal: &[i16], index: usize) -> Vec<i16> {
    let at = |t: isize| signal.get(t.unsigned_abs()).copied().unwrap_or_default();
    let sample = |i: usize| {
        let t = (index * features.hop() + i) as isize;
        match features.start() {
            Start::Zeros(zeros) if t < zeros as isize => 0,
            Start::Zeros(zeros) => at(t - zeros as isize),
            Start::Mirrored(samples) => at((t - samples as isize).abs()),
            Start::Skipped(samples) => at(t + samples as isize),
        }
    };
    (0..features.length()).map(sample).collect()
}

/// The features of the first frames of the whole signal.
fn whole_rows(features: &Features, signal: &[i16], count: usize) -> Vec<Vec<f32>> {
    let mut machine = Machine::new(&features.graph("features"));
    let run = |index: usize| {
        let frame = Data::from_i16(&frame(features, signal, index));
        numbers(features, &machine.run(&[frame]).unwrap()[0])
    };
    // What comes before that is of no frame.
    (0..count + features.delay()).map(run).skip(features.delay()).collect()
}

/// The largest difference, of the largest feature.
fn difference(golden: &[Vec<f32>], actual: &[Vec<f32>]) -> f64 {
    let pairs = || golden.iter().flatten().zip(actual.iter().flatten());
    assert_eq!(golden.iter().map(Vec::len).sum::<usize>(), actual.iter().map(Vec::len).sum::<usize>());
    let most = pairs().fold(0.0, |most: f64, (golden, _)| most.max(f64::from(golden.abs())));
    // NaN stays.
    pairs()
        .map(|(a, b)| f64::from((a - b).abs()) / most)
        .fold(0.0, |most, d| if d <= most { most } else { d })
}

/// What differences may be. Integers have no rounding of their own.
fn limit(features: &Features) -> f64 {
    if features.like().is_integer() {
        0.0
    } else {
        LIMIT
    }
}

/// Features as floats, whichever type they have.
fn numbers(features: &Features, data: &Data) -> Vec<f32> {
    match features.values() {
        DType::F32 => data.to_f32(),
        dtype => data.to_ints(dtype).iter().map(|&value| value as f32).collect(),
    }
}

#[test]
fn features_are_those_of_the_packages() {
    let (signal, cases) = cases();
    let mut listed = Vec::new();
    let mut wrong = String::new();
    for case in &cases {
        let features = features(&case.spec);
        let last = case.frames.iter().max().unwrap();
        let rows = whole_rows(&features, &signal, last + 1);
        let actual: Vec<Vec<f32>> = case.frames.iter().map(|&index| rows[index].clone()).collect();
        let difference = difference(&case.golden, &actual);
        if difference.is_nan() || difference > limit(&features) {
            wrong += &format!("{}: {difference:.0e}\n", case.spec);
        }
        listed.push((format!("`{}`", case.spec), vec![difference]));
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(cases.len() >= 60, "{}", cases.len());
    // In steps: the last digits of a difference are those of a machine.
    let step = |difference: &f64| {
        if *difference == 0.0 {
            return "none".into();
        }
        let step = [1e-6, 1e-5, 1e-4].into_iter().find(|step| difference <= step);
        format!("≤ {:e}", step.unwrap_or(f64::INFINITY))
    };
    assert_listed("parity", &["features", "difference"], &listed, step);
}

/// Cycles of a frame on a Cortex-M4, and memory.
#[test]
fn costs_are_those_that_the_page_has() {
    let (_, cases) = cases();
    let board = place::emulated("qemu-cortex-m4").unwrap();
    let options = place::for_board(&Options::default(), board);
    let cost = |at: &usize| {
        let spec = STREAMED[*at].spec;
        let case = cases.iter().find(|case| plain(&case.spec) == plain(spec)).unwrap();
        let features = features(&case.spec);
        let compiled = compile_graph(features.graph("features"), &options).unwrap();
        let firmware = place::build_firmware(&compiled, board, Mode::Bench).unwrap();
        let cycles = qemu::bench(&firmware, None, place::TIME_LIMIT).unwrap().total.cycles as f64;
        let ram = compiled.plan.arena_bytes + compiled.program.state_bytes + 2 * features.length();
        (format!("`{}`", case.spec), vec![cycles, ram as f64, compiled.program.constant_bytes() as f64])
    };
    let rows: Vec<_> = [0, 3, 4, 5, 6, 8, 11, 14].iter().map(cost).collect();
    let two_digits = |value: &f64| {
        let unit = 10f64.powf(value.log10().floor() - 1.0);
        format!("{}", (value / unit).round() * unit)
    };
    assert_listed(
        "cost",
        &["features", "cycles", "bytes of RAM", "bytes of tables in flash"],
        &rows,
        two_digits,
    );
}

/// Holds a table of the page to its rows: what is measured may be more by a tenth, a difference twice of it.
fn assert_listed(name: &str, heading: &[&str], rows: &[(String, Vec<f64>)], print: impl Fn(&f64) -> String) {
    // Tests run side by side, and write one page.
    static PAGE: Mutex<()> = Mutex::new(());
    let _lock = PAGE.lock().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/features.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = page.split_once(&begin).unwrap();
    let (listed, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("KILN_BLESS").is_some() {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let heading: Vec<String> = heading.iter().map(|&cell| cell.into()).collect();
        let mut table = row(&heading) + &row(&vec!["---".into(); heading.len()]);
        for (first, values) in rows {
            let cells: Vec<String> =
                std::iter::once(first.clone()).chain(values.iter().map(&print)).collect();
            table += &row(&cells);
        }
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
        return;
    }
    let stale = format!("the table `{name}` of docs/features.md is not fresh (KILN_BLESS=1 writes it)");
    let listed: Vec<&str> = listed.lines().skip(2).collect();
    assert_eq!(listed.len(), rows.len(), "{stale}");
    for (line, (first, values)) in listed.iter().zip(rows) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        assert_eq!(cells.next(), Some(first.as_str()), "{stale}");
        for (cell, value) in cells.zip(values) {
            let number = if cell == "none" { "0" } else { cell.trim_start_matches("≤ ") };
            let listed: f64 = number.parse().unwrap();
            let most = if cell.starts_with('≤') { 2.0 } else { 1.1 };
            assert!(*value <= most * listed, "{first}: {value} where {cell} is listed; {stale}");
        }
    }
}

/// A type that the macro made, and the case that it is.
struct Streamed {
    spec: &'static str,
    /// Features of all frames of a signal that comes in blocks of that length, twice with a reset between.
    run: fn(&[i16], usize) -> Vec<Vec<f32>>,
}

macro_rules! streamed {
    ($( $name:ident { $($keys:tt)* } )+) => {
        $( kiln::features!($name = { $($keys)* }); )+

        const STREAMED: &[Streamed] = &[$( Streamed {
            spec: stringify!($($keys)*),
            run: |signal, block| {
                let mut stream = $name::new();
                let mut rows = Vec::new();
                for round in 0..2 {
                    rows.clear();
                    // The first round ends in the middle of something.
                    for block in signal.chunks(block).take(if round == 0 { 7 } else { usize::MAX }) {
                        let mut rest = block;
                        while let Some(features) = stream.push(&mut rest) {
                            rows.push(features.iter().map(|&feature| f32::from(feature)).collect::<Vec<f32>>());
                        }
                        assert!(rest.is_empty());
                    }
                    stream.reset();
                }
                rows
            },
        } ),+];
    };
}

streamed! {
    Zeros { like = "librosa", sample_rate = 16000, n_fft = 512, win_length = 400, hop = 160, n_mels = 40, log = "db" }
    Reflected { like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, log = "db", pad_mode = "reflect" }
    Skipping { like = "torchaudio", sample_rate = 16000, n_fft = 512, win_length = 400, hop = 160, n_mels = 40, log = "db", center = false }
    Apart { like = "librosa", sample_rate = 16000, n_fft = 512, hop = 800, n_mels = 20, n_mfcc = 20, f_min = 20.0, f_max = 4000.0 }
    Torchaudio { like = "torchaudio", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, n_mfcc = 10, log = "natural" }
    Kaldi { like = "kaldi", sample_rate = 16000, n_mfcc = 13, energy = true }
    Tensorflow { like = "tf.signal", sample_rate = 16000, win_length = 640, hop = 320, n_mels = 40, f_min = 20.0, f_max = 4000.0, n_mfcc = 10 }
    Emphasised { like = "python_speech_features", sample_rate = 16000, n_mfcc = 13, window = "hamming" }
    MicroSpeech { like = "tflm", sample_rate = 16000, values = "i8" }
    MicroWakeWord { like = "pymicro_features", sample_rate = 16000, values = "f32" }
    Integers { like = "microfrontend", sample_rate = 16000 }
    Velocities { like = "kaldi", sample_rate = 16000, n_mfcc = 13, deltas = 2 }
    Accelerations { like = "python_speech_features", sample_rate = 16000, n_mfcc = 13, deltas = 2 }
    Parabolas { like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, n_mfcc = 13, deltas = 2 }
    Normalised { like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, power = 1, full_scale = 2147483648.0, log = "pcen" }
}

/// Types that the macro makes, fed in blocks of odd lengths, compute what the packages compute of the whole signal.
#[test]
fn streams_are_frames_of_the_whole_signal() {
    let (signal, cases) = cases();
    for Streamed { spec, run } in STREAMED {
        let case = cases.iter().find(|case| plain(&case.spec) == plain(spec));
        let case = case.unwrap_or_else(|| panic!("no case: {spec}"));
        let features = features(&case.spec);
        let rows = run(&signal, 4096);
        let golden: Vec<Vec<f32>> = case.frames.iter().map(|&index| rows[index].clone()).collect();
        let from_packages = difference(&case.golden, &golden);
        assert!(from_packages <= limit(&features), "{spec}: {from_packages}");
        // Frames are those that fit into the signal, but for samples that nobody has heard yet behind it.
        let first = match features.start() {
            Start::Zeros(zeros) => features.length() - zeros,
            Start::Mirrored(samples) => features.length() - samples + 1,
            Start::Skipped(samples) => features.length() + samples,
        };
        let count = 1 + (signal.len() - first) / features.hop();
        assert_eq!(rows.len(), count - features.delay(), "{spec}");
        let whole = whole_rows(&features, &signal, rows.len());
        let from_whole = difference(&whole, &rows);
        assert!(from_whole <= limit(&features), "{spec}: {from_whole}");
        for block in [1, 77, 160, 333, 513] {
            assert_eq!(run(&signal, block), rows, "{spec} in blocks of {block}");
        }
    }
}

// What the build script made of a description.
kiln::include_compiled!(Built);

#[test]
fn build_scripts_make_the_same_type() {
    let (signal, _) = cases();
    let (mut built, mut kaldi) = (Built::new(), Kaldi::new());
    let (mut samples, mut same) = (&signal[..], &signal[..]);
    let mut count = 0;
    while let Some(features) = built.push(&mut samples) {
        assert_eq!(Some(features), kaldi.push(&mut same));
        count += 1;
    }
    assert_eq!(count, 1 + (signal.len() - Kaldi::LENGTH) / Kaldi::HOP);
}

#[test]
fn the_macro_lists_all_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../macros/src/lib.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let missing: Vec<&str> = Keys::names().filter(|name| !text.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Firmware computes the same as the interpreter, and cannot panic.
#[test]
fn firmware_computes_features() {
    let (signal, cases) = cases();
    for spec in [0, 5, 7, 8, 9, 10].map(|at| STREAMED[at].spec) {
        let case = cases.iter().find(|case| plain(&case.spec) == plain(spec)).unwrap();
        let features = features(&case.spec);
        let frame = Data::from_i16(&frame(&features, &signal, 7));
        let graph = features.graph("features");
        assert_generated_with(&Options::default(), &graph, &[frame], &["host", "qemu-cortex-m4"]);
    }
}
