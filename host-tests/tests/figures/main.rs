//! The README's table of Kiln and TensorFlow Lite Micro is what the benchmark gives, and the goals are reached; and so is the table of quantised models in `docs/quantize.md`. `KILN_BLESS=1` writes
//! the tables.
//!
//! Figures belong to a compiler: with another one than the README names they are not compared.

mod baselines;
mod goals;
mod measured;
mod quantised;
mod table;

use kiln_host_tests::corpus_folder;
use measured::{measured, wanted};
use std::path::Path;
use table::Tables;

const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->";

#[test]
fn the_readme_has_the_figures() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(&readme).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the README has no place for figures");
    let (old, after) = rest.split_once(END).expect("the README has no end of figures");
    let compiler = compiler();
    let tables = Tables::new(measured());
    if std::env::var_os("KILN_BLESS").is_some() {
        assert!(corpus_folder().is_some(), "set KILN_CORPUS: the table has the corpus models");
        assert!(wanted().is_none(), "KILN_MODELS is set: the table has all models");
        std::fs::write(&readme, format!("{before}{BEGIN}{}{END}{after}", tables.text(&compiler))).unwrap();
        return;
    }
    if !old.contains(&compiler) {
        println!("the README's figures are of another compiler than `{compiler}`: not compared");
        return;
    }
    let missing: Vec<&String> = tables.rows().filter(|row| !old.contains(row.as_str())).collect();
    assert!(
        missing.is_empty(),
        "the README's figures are not fresh (KILN_BLESS=1 writes them); now:\n{missing:#?}"
    );
}

#[test]
fn goals_are_reached() {
    let goals: Vec<_> = measured().iter().flat_map(goals::goals).collect();
    goals.iter().for_each(|goal| println!("{goal}"));
    let surprises: Vec<String> =
        goals.iter().filter(|goal| !goal.is_as_known()).map(ToString::to_string).collect();
    assert!(surprises.is_empty(), "not as baselines/tflm.toml says:\n{}", surprises.join("\n"));
}

#[test]
fn quantised_models_are_as_near_and_as_fast_as_the_converters() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: nothing is compared with TensorFlow Lite's converter");
        return;
    };
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/quantize.md");
    let text = std::fs::read_to_string(&guide).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the guide has no place for figures");
    let (old, after) = rest.split_once(END).expect("the guide has no end of figures");
    let (rows, compiler) = (quantised::rows(&folder), compiler());
    let new = quantised::text(&rows, &compiler);
    if wanted().is_some() || (!old.contains(&compiler) && std::env::var_os("KILN_BLESS").is_none()) {
        println!("not all models, or another compiler than the guide's: its table is not compared");
    } else if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(&guide, format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, new, "the guide's table is not fresh (KILN_BLESS=1 writes it)");
    }
}

/// The compiler that firmware is built with.
fn compiler() -> String {
    let toolchain = kiln_boards::toolchain::ensure_target("thumbv7em-none-eabihf").unwrap();
    let rustc = toolchain.rustc.unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(" (").next().unwrap().trim().to_string()
}
