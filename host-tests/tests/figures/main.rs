//! The tables of Kiln and TensorFlow Lite Micro in the README and in `docs/benchmarks.md` are what the benchmark gives, and the goals are reached; and so is the table of quantised models in
//! `docs/quantize.md`. `KILN_BLESS=1` writes the tables.
//!
//! Figures belong to a compiler: with another one than the pages name they are not compared.

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
fn the_pages_have_the_figures() {
    let compiler = compiler();
    let tables = Tables::new(measured());
    let bless = std::env::var_os("KILN_BLESS").is_some();
    if bless {
        assert!(corpus_folder().is_some(), "set KILN_CORPUS: the tables have the corpus models");
        assert!(wanted().is_none(), "KILN_MODELS is set: the tables have all models");
    }
    let rows: Vec<&String> = tables.rows().collect();
    let pages = [
        ("README.md", tables.summary_text(&compiler), tables.summary.iter().collect()),
        ("docs/benchmarks.md", tables.text(&compiler), rows),
    ];
    for (page, now, rows) in pages {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) =
            text.split_once(BEGIN).unwrap_or_else(|| panic!("{page} has no place for figures"));
        let (old, after) = rest.split_once(END).unwrap_or_else(|| panic!("{page} has no end of figures"));
        if bless {
            std::fs::write(&path, format!("{before}{BEGIN}{now}{END}{after}")).unwrap();
            continue;
        }
        if !old.contains(&compiler) {
            println!("the figures of {page} are of another compiler than `{compiler}`: not compared");
            continue;
        }
        let missing: Vec<&&String> = rows.iter().filter(|row| !old.contains(row.as_str())).collect();
        assert!(
            missing.is_empty(),
            "the figures of {page} are not fresh (KILN_BLESS=1 writes them); now:\n{missing:#?}"
        );
    }
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
