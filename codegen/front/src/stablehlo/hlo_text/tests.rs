//! Tests of the reader of HLO's text.

use super::*;

#[test]
fn corpus() {
    let Ok(root) = std::env::var("KILN_CORPUS") else { return };
    let root = std::path::Path::new(&root).join("../conformance/frameworks/jax");
    let (mut count, mut failed) = (0, 0);
    let mut files: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.to_str().unwrap().ends_with(".hlo.txt")) {
        let bytes = std::fs::read(file).unwrap();
        assert!(is_hlo_text(&bytes), "{}", file.display());
        match read(&bytes) {
            Ok(_) => count += 1,
            Err(error) => {
                failed += 1;
                println!("{}: {error}", file.display());
            }
        }
    }
    println!("{count} read");
    assert_eq!(failed, 0);
}
