//! Tests of the reader of MLIR's text.

use super::*;
use crate::stablehlo::testing::canonical;

#[test]
fn corpus() {
    let Ok(root) = std::env::var("KILN_CORPUS") else { return };
    let root = std::path::Path::new(&root).join("../conformance");
    let mut failed = 0;
    for folder in ["stablehlo", "frameworks/jax"] {
        let mut count = 0;
        let mut files: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "mlir")) {
            let bytes = std::fs::read(file).unwrap();
            assert!(is_stablehlo_text(&bytes), "{}", file.display());
            match read(&bytes) {
                Ok(_) => count += 1,
                Err(error) => {
                    failed += 1;
                    println!("{}: {error}", file.display());
                }
            }
        }
        println!("{folder}: {count} read");
    }
    assert_eq!(failed, 0);
}

#[test]
fn pretty_and_generic_are_the_same() {
    let Ok(root) = std::env::var("KILN_CORPUS") else { return };
    let root = std::path::Path::new(&root).join("../conformance/frameworks/jax");
    let mut files: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = 0;
    for file in files.iter().filter(|file| file.to_str().unwrap().ends_with(".generic.mlir")) {
        let pretty = file.to_str().unwrap().replace(".generic.", ".");
        let (generic, pretty) = (std::fs::read(file).unwrap(), std::fs::read(&pretty).unwrap());
        let (generic, pretty) = (canonical(&read(&generic).unwrap()), canonical(&read(&pretty).unwrap()));
        for (generic, pretty) in generic.lines().zip(pretty.lines()) {
            if generic != pretty {
                println!("{}:\n{generic}\n{pretty}", file.display());
                wrong += 1;
                break;
            }
        }
    }
    assert_eq!(wrong, 0);
}
