//! Packing problems that are hard, or come from models: `packing/*.txt` holds each with the best known size. `KILN_BLESS=1` writes what is
//! better.
//!
//! A line is `item <bytes> <align> <first> <last>`, `overlay <upper> <lower> <gap>`, `floor <bytes>`, or at the end
//! `best <bytes> bound <bytes>`.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::panic, clippy::unwrap_used)]

use kiln_codegen::plan::{solve, Item, Overlay, Problem};
use std::path::{Path, PathBuf};

/// A problem, and the size and the bound that are known of it.
fn parse(text: &str) -> (Problem, usize, usize) {
    let (mut problem, mut best, mut bound) = (Problem::default(), usize::MAX, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        match words.first() {
            Some(&"item") => problem.items.push(Item {
                bytes: number(1),
                align: number(2),
                first: number(3),
                last: number(4),
            }),
            Some(&"overlay") => {
                problem.overlays.push(Overlay { upper: number(1), lower: number(2), gap: number(3) })
            }
            Some(&"floor") => problem.floor = number(1),
            Some(&"best") => (best, bound) = (number(1), number(3)),
            _ => {}
        }
    }
    (problem, best, bound)
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packing");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

#[test]
fn hard_cases_are_packed_as_well_as_ever() {
    let files = cases();
    assert!(files.len() >= 12, "{} cases", files.len());
    let bless = std::env::var_os("KILN_BLESS").is_some();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let (problem, best, bound) = parse(&text);
        let solution = solve(&problem);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        println!("{name:40} {:8} of at least {:8}", solution.bytes, solution.bound);
        assert!(problem.accepts(&solution), "{name}");
        if bless && (solution.bytes, bound) < (best, solution.bound) {
            let kept: String =
                text.lines().filter(|l| !l.starts_with("best")).map(|l| format!("{l}\n")).collect();
            let known = format!("best {} bound {}\n", solution.bytes, solution.bound);
            std::fs::write(&path, kept + &known).unwrap();
            continue;
        }
        assert!(solution.bytes <= best, "{name}: {} bytes, {best} are known", solution.bytes);
        assert!(solution.bound >= bound, "{name}: at least {} bytes, {bound} are known", solution.bound);
    }
}

#[test]
fn equal_problems_have_equal_solutions() {
    let text = std::fs::read_to_string(&cases()[0]).unwrap();
    assert_eq!(solve(&parse(&text).0), solve(&parse(&text).0));
}
