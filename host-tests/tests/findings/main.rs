//! Files that once showed a fault, each with what holds now. The files are in `host-tests/findings`.

mod exact;
mod onnx;
mod robust;

use std::path::{Path, PathBuf};

/// A file of `host-tests/findings`.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("findings").join(name)
}

#[test]
fn every_file_is_named_by_a_test() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings");
    let text: String = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let mut folders = vec![path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let file = entry.path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            // Goldens are named as their model.
            let stem = entry.file_name().to_string_lossy().split('.').next().unwrap().to_owned();
            assert!(stem == "README" || text.contains(&stem), "no test names {}", file.display());
        }
    }
}
