//! The ONNX writer: what it writes means what was read.
//!
//! Each float model (the project's own, and those of the folder that `KILN_CORPUS` names, in either format) is written, read again and computed on noise. `KILN_MODEL`
//! picks those whose name contains it; with `KILN_WRITE_TO`, the files are kept in that folder.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::panic, clippy::unwrap_used)]

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph, Type};
use kiln_codegen::{import, passes, Error, Options};
use kiln_tools::write::{onnx, Settings};
use std::path::{Path, PathBuf};

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../host-tests/models");

/// The interpreter takes long for larger ones in a debug build.
const MOST_BYTES: u64 = 1 << 19;

/// What cannot be written, and why.
const REFUSED: &[(&str, &str)] = &[
    ("stream_f32", "keeps states"),
    ("tflm_audio_preprocessor_f32", "keeps states"),
    ("tflm_lstm_mnist_f32", "keeps states"),
];

fn models() -> Vec<PathBuf> {
    let corpus = std::env::var_os("KILN_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("KILN_CORPUS is not set: the project's own models only");
    }
    let only = std::env::var("KILN_MODEL").unwrap_or_default();
    let folders = [Some(PathBuf::from(OWN)), corpus].into_iter().flatten();
    let folders = folders.flat_map(|folder| [folder.join("tflite"), folder.join("onnx")]);
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    let mut models: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    models.retain(|path| {
        let name = path.file_stem().unwrap().to_string_lossy();
        name.ends_with("_f32") && name.contains(&only)
    });
    models.retain(|path| path.metadata().unwrap().len() <= MOST_BYTES);
    models.sort();
    models
}

fn noise(ty: &Type, seed: &mut u32) -> Data {
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 17;
        *seed ^= *seed << 5;
        *seed
    };
    match ty.dtype {
        DType::F32 => Data::from_f32(
            &(0..ty.shape.numel())
                .map(|_| (next() as i32 >> 8) as f32 / (1 << 23) as f32)
                .collect::<Vec<_>>(),
        ),
        dtype => Data::from_ints(dtype, (0..ty.shape.numel()).map(|_| i64::from(next() >> 31))),
    }
}

/// How far outputs of two graphs are apart, relative to the largest magnitude.
fn difference(a: &Graph, b: &Graph) -> f32 {
    assert_eq!(a.inputs.len(), b.inputs.len());
    assert_eq!(a.outputs.len(), b.outputs.len());
    for (&x, &y) in a.inputs.iter().zip(&b.inputs).chain(a.outputs.iter().zip(&b.outputs)) {
        assert_eq!(a.ty(x), b.ty(y), "an input or output changed its type");
        assert_eq!(a.value(x).name, b.value(y).name, "an input or output changed its name");
    }
    let mut seed = 0x9e37_79b9;
    let inputs: Vec<Data> = a.inputs.iter().map(|&id| noise(a.ty(id), &mut seed)).collect();
    let (x, y) = (Machine::new(a).run(&inputs).unwrap(), Machine::new(b).run(&inputs).unwrap());
    let mut worst = 0f32;
    for ((x, y), &id) in x.iter().zip(&y).zip(&a.outputs) {
        if a.ty(id).dtype != DType::F32 {
            assert_eq!(x, y);
            continue;
        }
        let (x, y) = (x.to_f32(), y.to_f32());
        let largest = x.iter().fold(f32::MIN_POSITIVE, |m, v| m.max(v.abs()));
        let apart = x.iter().zip(&y).map(|(x, y)| if x == y { 0.0 } else { (x - y).abs() / largest });
        worst = apart.fold(worst, f32::max);
    }
    worst
}

#[test]
fn what_is_written_means_what_was_read() {
    let (mut written, mut wrong) = (0, Vec::new());
    for path in models() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let options = Options::default();
        let graph = match import(&std::fs::read(&path).unwrap(), &name, &options) {
            Ok(graph) => graph,
            Err(Error::Unsupported(_)) => continue,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let mut optimised = graph.clone();
        passes::run(&mut optimised, &mut |_, _| {}).unwrap();
        let known = REFUSED.iter().any(|(refused, _)| *refused == name);
        for graph in [&graph, &optimised] {
            let bytes = match onnx(graph, &Settings::default()) {
                Ok(bytes) => bytes,
                Err(_) if known => continue,
                Err(refusal) => {
                    wrong.push(format!("{name}: {refusal}"));
                    continue;
                }
            };
            if known {
                wrong.push(format!("{name} is written, but listed as refused"));
            }
            if let Some(folder) = std::env::var_os("KILN_WRITE_TO") {
                std::fs::write(Path::new(&folder).join(format!("{name}.onnx")), &bytes).unwrap();
            }
            written += 1;
            match import(&bytes, &name, &options) {
                Ok(again) => match difference(graph, &again) {
                    apart if apart <= 1e-6 => {}
                    apart => wrong.push(format!("{name}: outputs differ by {apart:e}")),
                },
                Err(error) => wrong.push(format!("{name} cannot be read again: {error}")),
            }
        }
    }
    println!("{written} files written");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(written > 0, "there is no float model");
}
