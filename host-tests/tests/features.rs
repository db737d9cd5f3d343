//! Audio features are those of the packages that they are named after: all cases of `models/make_features.py`, whose frames Python computed from the whole signal. `KILN_BLESS=1` writes the tables in `docs/features.md`.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::{npz, place};
use kiln_boards::firmware::Mode;
use kiln_boards::qemu;
use kiln_codegen::compile_graph;
use kiln_codegen::features::{Features, Keys, Start};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
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

fn two_digits(value: &f64) -> String {
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    format!("{}", (value / unit).round() * unit)
}

/// A description as the cases write it.
fn spaced(spec: &str) -> String {
    let (_, cases) = cases();
    cases.into_iter().find(|case| plain(&case.spec) == plain(spec)).unwrap().spec
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
    assert_listed(
        "cost",
        &["features", "cycles", "bytes of RAM", "bytes of tables in flash"],
        &rows,
        two_digits,
    );
}

/// Configurations whose fixed-point form is measured: of each package with and without logarithms.
const FIXED: &[&str] = &[
    r#"like = "librosa", sample_rate = 16000, n_fft = 256, hop = 64, output = "spectrum""#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, log = "db""#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, power = 1"#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 1024, hop = 256, n_mels = 64, log = "db""#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, n_mfcc = 13"#,
    r#"like = "librosa", sample_rate = 22050"#,
    r#"like = "librosa", sample_rate = 16000, n_fft = 480, hop = 160, n_mels = 40"#,
    r#"like = "torchaudio", sample_rate = 16000, hop = 160, n_mels = 80"#,
    r#"like = "torchaudio", sample_rate = 48000, n_fft = 1200, hop = 480, n_mels = 40, log = "natural""#,
    r#"like = "torchaudio", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"#,
    r#"like = "torchaudio", sample_rate = 16000, n_fft = 512, win_length = 400, hop = 160, n_mels = 40, log = "natural""#,
    r#"like = "torchaudio", sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40, pad_mode = "constant", preemphasis = 0.97, log = "db""#,
    r#"like = "kaldi", sample_rate = 16000, n_mels = 40, log = "none""#,
    r#"like = "kaldi", sample_rate = 16000, n_mels = 40"#,
    r#"like = "kaldi", sample_rate = 16000, n_mfcc = 13, energy = true"#,
    r#"like = "tf.signal", sample_rate = 16000, win_length = 256, hop = 128, output = "spectrum""#,
    r#"like = "tf.signal", sample_rate = 16000, win_length = 480, hop = 160"#,
    r#"like = "tf.signal", sample_rate = 16000, win_length = 640, hop = 320, n_mels = 40, f_min = 20.0, f_max = 4000.0, n_mfcc = 10"#,
    r#"like = "python_speech_features", sample_rate = 16000, log = "none""#,
    r#"like = "python_speech_features", sample_rate = 16000"#,
    r#"like = "python_speech_features", sample_rate = 16000, n_mfcc = 13, window = "hamming""#,
];

/// Frames of a signal in both forms.
fn both_forms(spec: &str, signal: &[i16]) -> [Vec<f64>; 2] {
    let fixed = format!("{spec}, arithmetic = \"fixed\"");
    [spec, &fixed].map(|spec| {
        let features = features(spec);
        let mut machine = Machine::new(&features.graph("features"));
        let frames = (signal.len() - features.length()) / features.hop() - 1;
        let run = |index: usize| {
            let frame = Data::from_i16(&frame(&features, signal, index));
            machine.run(&[frame]).unwrap()[0].to_f32()
        };
        (0..frames).step_by(5).flat_map(run).map(f64::from).collect()
    })
}

/// The ratio of a signal and of the error of its fixed-point form in decibels, and the largest error.
fn errors(spec: &str, signal: &[i16]) -> [f64; 2] {
    let [float, fixed] = both_forms(spec, signal);
    let pairs = || float.iter().zip(&fixed);
    let error: f64 = pairs().map(|(x, y)| (x - y) * (x - y)).sum();
    let largest = pairs().fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    [10.0 * (float.iter().map(|x| x * x).sum::<f64>() / error).log10(), largest]
}

fn has_logarithms(spec: &str) -> bool {
    let default = ["kaldi", "python_speech_features", "n_mfcc"].iter().any(|word| spec.contains(word));
    (default || spec.contains("log = ")) && !spec.contains(r#"log = "none""#)
}

/// The fixed-point form against floats, of a signal as it is and 60 dB below: of logarithms the largest error, else the ratio of signal and error.
#[test]
fn fixed_point_has_50_decibels() {
    let (signal, _) = cases();
    let quiet: Vec<i16> = signal.iter().map(|x| x / 1000).collect();
    let row = |spec: &&str| {
        let [loud, quiet] = [&signal, &quiet].map(|signal| errors(spec, signal));
        let (fits, cells) = match has_logarithms(spec) {
            true => (loud[1].max(quiet[1]) <= 1.0, vec![0.0, loud[1], 0.0, quiet[1]]),
            false => (loud[0].min(quiet[0]) >= 50.0, vec![loud[0], 0.0, quiet[0], 0.0]),
        };
        println!("{spec}: {loud:?}, {quiet:?}");
        assert!(fits, "{spec}: {loud:?}, {quiet:?}");
        (format!("`{spec}`"), cells)
    };
    let rows: Vec<_> = FIXED.iter().map(row).collect();
    let print = |value: &f64| match *value {
        0.0 => "none".into(),
        ratio if ratio >= 50.0 => format!("≥ {}", ratio.floor()),
        error => format!("≤ {:.3}", (error * 1000.0).ceil() / 1000.0),
    };
    let heading = ["features", "SNR in dB", "largest error", "SNR 60 dB below", "largest error 60 dB below"];
    assert_listed("fixed", &heading, &rows, print);
}

/// No samples overflow, and silence has the features of the float form.
#[test]
fn fixed_point_takes_all_samples() {
    let loud = |at: usize, step: usize| if at / step % 2 == 0 { i16::MAX } else { i16::MIN };
    for spec in FIXED {
        let features = features(spec);
        let [silent, quiet] = both_forms(spec, &[0; 9000]);
        assert_eq!(silent, quiet, "{spec}");
        let length = 3 * (features.length() + features.hop());
        let signals: [Vec<i16>; 5] = [
            vec![i16::MIN; length],
            vec![i16::MAX; length],
            (0..length).map(|at| loud(at, 1)).collect(),
            (0..length).map(|at| loud(at, 3)).collect(),
            (0..length).map(|at| loud(at * at, 11)).collect(),
        ];
        for (number, signal) in signals.iter().enumerate() {
            let [_, fixed] = both_forms(spec, signal);
            assert!(fixed.iter().all(|x| x.is_finite()), "{spec}, signal {number}");
            let [ratio, _] = errors(spec, signal);
            if number >= 3 && !has_logarithms(spec) {
                assert!(ratio >= 50.0, "{spec}, signal {number}: {ratio}");
            }
        }
    }
}

/// A band 60 dB below the loudest of its frame is a quarter of a decibel off, as the page says.
#[test]
fn quiet_bands_beside_loud_ones_are_less_precise() {
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65536.0 - 0.5
    };
    let tone = |t: i32| 20_000.0 * (f64::from(t) * std::f64::consts::TAU / 16.0).sin();
    let signal: Vec<i16> = (0..9000).map(|t| (tone(t) + 450.0 * noise()).round() as i16).collect();
    let [float, fixed] = both_forms(FIXED[2], &signal);
    let loudest = float.iter().copied().fold(f64::MIN, f64::max);
    let quiet = |(x, _): &(&f64, &f64)| (-65.0..-55.0).contains(&(*x - loudest));
    let errors: Vec<f64> = float.iter().zip(&fixed).filter(quiet).map(|(x, y)| (x - y).powi(2)).collect();
    let mean = (errors.iter().sum::<f64>() / errors.len() as f64).sqrt();
    assert!(errors.len() > 50 && mean <= 0.3, "{mean} dB of {} bands", errors.len());
}

kiln::features!(FixedPoint = { like = "kaldi", sample_rate = 16000, n_mfcc = 13, energy = true, arithmetic = "fixed" });

/// A stream in fixed point has the features of its frames; logarithms of floats differ in the last bit from machine to machine.
#[test]
fn fixed_point_streams() {
    let (signal, _) = cases();
    let spec = r#"like = "kaldi", sample_rate = 16000, n_mfcc = 13, energy = true, arithmetic = "fixed""#;
    let features = features(spec);
    let mut machine = Machine::new(&features.graph("features"));
    let mut stream = FixedPoint::new();
    let mut rest = &signal[..];
    for index in 0..1 + (signal.len() - features.length()) / features.hop() {
        let whole = machine.run(&[Data::from_i16(&frame(&features, &signal, index))]).unwrap()[0].to_f32();
        let streamed = stream.push(&mut rest).unwrap();
        assert!(difference(&[whole], &[streamed.to_vec()]) <= 1e-6, "frame {index}");
    }
}

/// Cycles of a frame in both forms, and memory of the fixed one.
#[test]
fn fixed_point_costs_what_the_page_has() {
    let boards = ["qemu-cortex-m4", "qemu-cortex-m0", "qemu-rv32imc"];
    let mut rows = Vec::new();
    for at in [0, 5, 6] {
        let spec = STREAMED[at].spec;
        let form = |arithmetic: &str| {
            let features = features(&format!("{}, arithmetic = \"{arithmetic}\"", spaced(spec)));
            boards.map(|board| {
                let board = place::emulated(board).unwrap();
                let options = place::for_board(&Options::default(), board);
                let compiled = compile_graph(features.graph("features"), &options).unwrap();
                let firmware = place::build_firmware(&compiled, board, Mode::Bench).unwrap();
                let ram = compiled.plan.arena_bytes + compiled.program.state_bytes + 2 * features.length();
                let total = qemu::bench(&firmware, None, place::TIME_LIMIT).unwrap().total;
                (total.cycles as f64, ram as f64, compiled.program.constant_bytes() as f64)
            })
        };
        for arithmetic in ["float", "fixed"] {
            let costs = form(arithmetic);
            let [(_, ram, flash), ..] = costs;
            let cells = costs.iter().map(|cost| cost.0).chain([ram, flash]).collect();
            rows.push((format!("`{}`, {arithmetic}", spaced(spec)), cells));
        }
    }
    let heading =
        ["features", "Cortex-M4", "Cortex-M0+", "RV32IMC", "bytes of RAM", "bytes of tables in flash"];
    assert_listed("fixed-cost", &heading, &rows, two_digits);
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
            let number = if cell == "none" { "0" } else { cell.trim_start_matches(['≤', '≥', ' ']) };
            let listed: f64 = number.parse().unwrap();
            if cell.starts_with('≥') {
                assert!(*value >= listed - 1.0, "{first}: {value} where {cell} is listed; {stale}");
                continue;
            }
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
    for spec in [0, 5, 6].map(|at| STREAMED[at].spec) {
        let features = features(&format!("{}, arithmetic = \"fixed\"", spaced(spec)));
        let frame = Data::from_i16(&frame(&features, &signal, 7));
        let boards = ["host", "qemu-cortex-m4", "qemu-cortex-m0", "qemu-rv32imc"];
        assert_generated_with(&Options::default(), &features.graph("features"), &[frame], &boards);
    }
}

/// In front of a network, features in fixed point are those of each frame.
#[test]
fn fixed_point_stands_in_front_of_networks() {
    let features = features(r#"like = "kaldi", sample_rate = 16000, n_mels = 20, arithmetic = "fixed""#);
    let network = "graph \"network\" { input %x: f32[1,3,20] %y: f32[60] = reshape(%x) return %y }";
    let mut graph = Graph::parse(network).unwrap();
    features.in_front_of(&mut graph).unwrap();
    kiln_codegen::ir::verify::verify(&graph).unwrap();
    let samples: Vec<i16> = (0..720i32).map(|t| ((t * t * 31) % 20_000 - 10_000) as i16).collect();
    let y = Machine::new(&graph).run(&[Data::from_i16(&samples)]).unwrap()[0].to_f32();
    let mut machine = Machine::new(&features.graph("frame"));
    let frames = (0..3).flat_map(|frame| {
        let samples = &samples[frame * 160..frame * 160 + 400];
        machine.run(&[Data::from_i16(samples)]).unwrap()[0].to_f32()
    });
    assert_eq!(frames.collect::<Vec<_>>(), y);
    let long = network.replace("[1,3,20]", "[1,17,20]").replace("[60]", "[340]");
    let error = features.in_front_of(&mut Graph::parse(&long).unwrap()).unwrap_err();
    assert!(error.to_string().contains("17 new frames"), "{error}");
}
