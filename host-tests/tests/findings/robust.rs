//! Files that made the compiler panic, stop at an error of its own, work for seconds, or tell half of what is wrong.

use super::path;
use cargo_kiln::explain::explain;
use kiln_codegen::{compile, compile_file, Error, Input, Options, Target};
use kiln_host_tests::cpu_time;
use std::time::Duration;

/// RESIZE_NEAREST_NEIGHBOR of an image without rows.
#[test]
fn an_image_without_rows_is_refused() {
    let error = compile_file(&path("robust/zero_rows.tflite"), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("has no elements"), "{error}");
}

/// Elementwise operators with a constant of which each row is for one row of the window: `explain` said that these models slide.
#[test]
fn constants_that_differ_by_row_do_not_slide() {
    for name in ["sliding_MAXIMUM", "sliding_MINIMUM", "sliding_binary", "g2785_i8_tflm"] {
        let bytes = std::fs::read(path(&format!("robust/{name}.tflite"))).unwrap();
        let text = explain(&bytes, name, &Options::default()).unwrap().text;
        let line = text.lines().find(|line| line.starts_with("slides:")).unwrap();
        assert!(line.contains("no, ") && line.contains("constants that differ from row to row"), "{line}");
        let options = Options { input: Input::Sliding, ..Options::default() };
        let error = compile(&bytes, name, &options).unwrap_err();
        assert!(matches!(error, Error::Options(_)), "{name}: {error}");
        assert!(text.contains("takes its input by rows: yes"), "{text}");
        let options = Options { input: Input::Rows, ..Options::default() };
        compile(&bytes, name, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Sums for which there are no coefficients: the search for them took two seconds for each.
#[test]
fn sums_of_any_scales_compile_in_a_moment() {
    // Of a debug build.
    const LIMIT: Duration = Duration::from_millis(500);
    for name in ["slow_one_add", "slow_add", "slow_35s"] {
        let bytes = std::fs::read(path(&format!("robust/{name}.tflite"))).unwrap();
        for target in Target::all() {
            let options = Options { target: Some(target), ..Options::default() };
            let before = cpu_time();
            compile(&bytes, name, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            let took = cpu_time().saturating_sub(before);
            assert!(took < LIMIT, "{name} for {target:?} took {took:?}");
        }
    }
}

/// SUM of int16 is refused by the reader, NEG and ELU have no kernel: all are listed.
#[test]
fn operators_without_a_kernel_are_listed_beside_those_that_are_not_read() {
    let error = compile_file(&path("robust/two_stages.tflite"), &Options::default()).unwrap_err();
    let Error::Unsupported(problems) = error else { panic!("{error}") };
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    for name in ["NEG", "ELU"] {
        assert!(text.iter().any(|problem| problem.contains(name)), "{name} is not in {text:#?}");
    }
}
