//! The program as it is called: what it prints, and how it ends.

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn classify(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_classify"));
    program.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn all_models_are_compared() {
    let text = printed(&classify(&["--threads", "2", "data/held_out.csv"]));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let (head, rows) = lines.split_first().unwrap();
    assert_eq!(head.last(), Some(&"2"));
    let right: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(right, [("digits_dense_f32", "330"), ("digits_f32", "355"), ("digits_int8", "354")]);
    for row in rows {
        assert_eq!([row[3], row[5], row[7]], ["360", "us", "us"]);
        assert!(row[4].parse::<f64>().unwrap() > 0.0 && row[6].parse::<f64>().unwrap() > 0.0, "{row:?}");
    }
}

#[test]
fn one_model_is_looked_at() {
    let text = printed(&classify(&["data/held_out.csv", "--model", "digits_int8"]));
    assert!(text.ends_with("354 of 360 right, 98.33 %\n"), "{text}");
    assert!(!text.contains("digits_f32"), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    for (arguments, code, message) in [
        (&["no/such/file"][..], 1, "error: no/such/file: "),
        (&["Cargo.toml"], 1, "error: Cargo.toml: line 1: `[package]` is no number"),
        (
            &["data/held_out.csv", "--model", "x"],
            1,
            "error: there is no such model; there are digits_dense_f32, ",
        ),
        (&[], 2, "usage: classify"),
    ] {
        let output = classify(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with(message), "{text}");
    }
}
