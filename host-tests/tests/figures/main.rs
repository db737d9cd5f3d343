//! The README's table of Kiln and TensorFlow Lite Micro is what the benchmark gives, and the goals are reached. `KILN_BLESS=1` writes the table.
//!
//! Figures belong to a compiler: with another one than the README names they are not compared.

mod baselines;
mod goals;
mod measured;
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

/// The compiler that firmware is built with.
fn compiler() -> String {
    let toolchain = kiln_boards::toolchain::ensure_target("thumbv7em-none-eabihf").unwrap();
    let rustc = toolchain.rustc.unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(" (").next().unwrap().trim().to_string()
}
