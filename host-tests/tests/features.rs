//! Audio features are those of the packages that they are named after: all cases of `models/make_features.py`, whose frames Python computed from the whole signal. `KILN_BLESS=1` writes the table in `docs/features.md`.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::npz;
use kiln_codegen::features::{Features, Keys, Start};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data};
use serde::Deserialize;
use std::path::{Path, PathBuf};

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

#[test]
fn features_are_those_of_the_packages() {
    let (signal, cases) = cases();
    let mut table = String::new();
    let mut wrong = String::new();
    for case in &cases {
        let features = features(&case.spec);
        let mut machine = Machine::new(&features.graph("features"));
        let run = |&index: &usize| {
            let frame = Data::from_i16(&frame(&features, &signal, index));
            machine.run(&[frame]).unwrap()[0].to_f32()
        };
        let actual: Vec<Vec<f32>> = case.frames.iter().map(run).collect();
        let difference = difference(&case.golden, &actual);
        let line = format!("| {} | {difference:.0e} |\n", case.spec);
        if difference.is_nan() || difference > LIMIT {
            wrong += &line;
        }
        table += &line;
    }
    println!("{table}");
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(cases.len() >= 60, "{}", cases.len());
}
