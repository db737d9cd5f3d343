//! The table of figures in the README is what the benchmark gives. `KILN_BLESS=1` writes it.
//!
//! Figures belong to a compiler: with another one than the README names they are not compared.

use cargo_kiln::bench::{bench, Report};
use cargo_kiln::explain::grouped;
use kiln_codegen::Options;
use kiln_host_tests::{corpus_folder, own_models};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->";

/// TensorFlow Lite Micro with CMSIS-NN on the same models: instructions on a Cortex-M4 and arena in bytes (arm-none-eabi-gcc 12.2, best
/// optimisation level, August 2026).
const TFLM: &[(&str, u64, usize)] = &[
    ("mlperf_kws_int8", 7_697_905, 22_820),
    ("mlperf_ic_int8", 29_861_683, 54_996),
    ("mlperf_vww_int8", 24_101_965, 100_708),
    ("mlperf_ad_int8", 582_353, 2_580),
    ("mlperf_strww_int8", 2_225_908, 16_596),
];

#[test]
fn the_readme_has_the_figures() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(&readme).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the README has no place for figures");
    let (old, after) = rest.split_once(END).expect("the README has no end of figures");
    let compiler = compiler();
    let rows: Vec<String> = models().iter().map(|model| row(&measure(model))).collect();
    if std::env::var_os("KILN_BLESS").is_some() {
        assert!(corpus_folder().is_some(), "set KILN_CORPUS: the table has the corpus models");
        let new = format!("{BEGIN}{}{END}", table(&compiler, &rows));
        std::fs::write(&readme, format!("{before}{new}{after}")).unwrap();
        return;
    }
    if !old.contains(&compiler) {
        println!("the README's figures are of another compiler than `{compiler}`: not compared");
        return;
    }
    let missing: Vec<&String> = rows.iter().filter(|row| !old.contains(row.as_str())).collect();
    assert!(
        missing.is_empty(),
        "the README's figures are not fresh (KILN_BLESS=1 writes them); now:\n{missing:#?}"
    );
}

fn models() -> Vec<PathBuf> {
    let mut models = Vec::new();
    match corpus_folder() {
        Some(folder) => {
            models.extend(TFLM.iter().map(|(name, ..)| folder.join("tflite").join(format!("{name}.tflite"))))
        }
        None => println!("KILN_CORPUS is not set: the figures of the corpus models were not compared"),
    }
    let own = ["residual_int8", "stream_int8", "temporal_int8"];
    models.extend(own_models().into_iter().filter(|m| own.contains(&m.name.as_str())).map(|m| m.path));
    models
}

fn measure(model: &Path) -> Report {
    bench(model, &Options::default(), "qemu-cortex-m4", false).unwrap()
}

fn row(report: &Report) -> String {
    let result = report.result();
    let name = report.model();
    let tflm = TFLM.iter().find(|(model, ..)| *model == name);
    let (their_instructions, their_arena) = match tflm {
        Some((_, instructions, arena)) => (grouped(*instructions), grouped(*arena as u64)),
        None => ("–".into(), "–".into()),
    };
    format!(
        "| {name} | {} | {} | {their_instructions} | {} | {their_arena} | {} | {} | {} |",
        grouped(result.total.instructions),
        grouped(result.total.cycles),
        grouped(report.ram_bytes() as u64),
        grouped(result.stack_bytes),
        grouped(report.flash_besides_weights()),
        grouped(result.flash.weights),
    )
}

fn table(compiler: &str, rows: &[String]) -> String {
    format!(
        "One inference on a Cortex-M4 under QEMU, portable Rust, `optimize = \"speed\"`, compiled with `{compiler}`: executed instructions are exact, \
         cycles are estimated (no wait states), RAM is arena and state, flash is that of the whole image. TFLM is TensorFlow Lite Micro with \
         CMSIS-NN (arm-none-eabi-gcc 12.2, August 2026). `cargo kiln bench MODEL` prints a row's figures.\n\n\
         | model | instructions | cycles, estimated | TFLM instructions | RAM, B | TFLM arena, B | stack, B | flash besides weights, B | weights, B |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n{}\n",
        rows.join("\n")
    )
}

/// The compiler that firmware is built with.
fn compiler() -> String {
    let toolchain = kiln_boards::toolchain::ensure_target("thumbv7em-none-eabihf").unwrap();
    let rustc = toolchain.rustc.unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(" (").next().unwrap().trim().to_string()
}
