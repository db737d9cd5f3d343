//! Every TFLite model of the corpus in `KILN_CORPUS`: those that use only supported operators are read, the others
//! are refused for the right reasons.

use crate::read;
use kiln_ir::error::Error;
use kiln_ir::verify::verify;
use std::path::{Path, PathBuf};

/// The models that are refused, and words that must all occur in the refusal.
const REFUSED: &[(&str, &[&str])] = &[];

/// The corpus' models with their names, or `None` (said aloud) where there is no corpus.
pub(super) fn models() -> Option<Vec<(String, Vec<u8>)>> {
    let Some(corpus) = std::env::var_os("KILN_CORPUS").map(PathBuf::from) else {
        eprintln!("KILN_CORPUS is not set: no corpus models were read");
        return None;
    };
    let load = |path: &Path| {
        (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    };
    let files = std::fs::read_dir(corpus.join("tflite")).expect("KILN_CORPUS has a folder `tflite`");
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "tflite"));
    paths.sort();
    Some(paths.iter().map(|path| load(path)).collect())
}

#[test]
fn corpus_models_are_read_or_refused_for_the_right_reasons() {
    let mut wrong = Vec::new();
    for (name, bytes) in models().unwrap_or_default() {
        let expected = REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, words)| *words);
        match (read(&bytes, &name), expected) {
            (Ok(graph), None) => {
                let violations = verify(&graph).err().unwrap_or_default();
                wrong.extend(violations.iter().map(|v| format!("{name} does not verify: {v}")));
            }
            (Ok(_), Some(_)) => wrong.push(format!("{name} is read, but should be refused")),
            (Err(error @ Error::Unsupported(_)), Some(words)) => {
                let message = error.to_string();
                let missing: Vec<_> = words.iter().filter(|word| !message.contains(**word)).collect();
                if !missing.is_empty() {
                    wrong.push(format!("{name} is refused without mention of {missing:?}: {message}"));
                }
            }
            (Err(error), _) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn multiplications_are_those_of_the_manifest() {
    let Some(models) = models() else { return };
    let corpus = PathBuf::from(std::env::var_os("KILN_CORPUS").unwrap());
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.csv")).unwrap();
    // The columns in front of `macs` have no quotes but around the shapes, which end in `]"`.
    let macs = |name: &str| {
        let row = manifest.lines().find(|line| line.starts_with(&format!("{name},tflite,")))?;
        row.split("]\",").last()?.split(',').next()?.parse::<u64>().ok()
    };
    for (name, bytes) in models {
        let summary = crate::inspect(&bytes).unwrap();
        // Recurrent operators are not counted, and shapes that the file leaves open count as it states them.
        let counted = summary.operators.iter().all(|o| !o.name.contains("LSTM") && o.name != "SVDF");
        if let (true, Some(expected)) = (counted, macs(&name)) {
            assert_eq!(summary.macs, expected, "{name}");
        }
    }
}
