//! The matrix of operators, number formats and kernels: what random draws of each operator compile to. `KILN_BLESS=1` writes it.

use kiln_codegen::front::tflite::operators;
use kiln_codegen::ir::{Graph, Node};
use kiln_codegen::schedule::StepKind;
use kiln_codegen::{compile_graph, Compiled, Options, Target};
use kiln_host_tests::draw::{rows, Component, Format, Grown, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Draws of an operator in a format.
const DRAWS: u64 = 24;

/// All targets, and what the matrix calls them.
fn targets() -> impl Iterator<Item = (Target, &'static str)> {
    Target::all().map(|target| (target, if target == Target::Vectors { "hosts" } else { target.name() }))
}

#[test]
fn the_matrix_is_what_compiles() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/src/operators.tsv");
    let names: BTreeMap<i32, String> = operators().collect();
    let rows = rows();
    let drawn: BTreeSet<i32> = rows.iter().map(|row| row.code).collect();
    let missing: Vec<&String> =
        names.iter().filter(|(code, _)| !drawn.contains(code)).map(|(_, name)| name).collect();
    assert!(missing.is_empty(), "operators that are never drawn (host-tests/src/draw): {missing:?}");

    let half = rows.len() / 2;
    let lines = |rows: &[Row]| rows.iter().flat_map(|row| of_row(row, &names[&row.code])).collect::<Vec<_>>();
    let mut all = std::thread::scope(|scope| {
        let first = scope.spawn(|| lines(&rows[..half]));
        let second = lines(&rows[half..]);
        [first.join().unwrap(), second].concat()
    });
    // By name; formats stay in their order.
    all.sort_by_key(|line| line.split('\t').next().map(str::to_owned));
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operators.md")).unwrap();
    let (page, _) = page.split_once("```console").unwrap();
    let told: BTreeSet<&str> = page.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    for name in names.values() {
        assert!(told.contains(name.as_str()), "docs/operators.md does not list {name}");
        let compiles = all.iter().any(|line| line.split('\t').next() == Some(name));
        assert!(compiles, "no draw of {name} compiles in any format");
    }
    let heading = ["operator", "format"].into_iter().chain(targets().map(|(_, name)| name));
    let heading = heading.collect::<Vec<_>>().join("\t");
    let matrix = [vec![heading], all].concat().join("\n") + "\n";
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(&path, &matrix).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<&str> = matrix.lines().filter(|line| !kept.lines().any(|kept| kept == *line)).collect();
    assert!(
        kept == matrix,
        "cli/src/operators.tsv is not what compiles (KILN_BLESS=1 writes it): {changed:#?}"
    );
}

/// A line for each format in which the operator compiles.
fn of_row(row: &Row, name: &str) -> Vec<String> {
    let formats = Format::ALL.into_iter().filter(|format| row.has_weights || !format.is_of_weights());
    formats.filter_map(|format| of_format(row, name, format)).collect()
}

fn of_format(row: &Row, name: &str, format: Format) -> Option<String> {
    let mut kernels = vec![BTreeSet::new(); targets().count()];
    let mut compiles = false;
    for seed in 0..DRAWS {
        match Component::default().grow(*row, format, seed) {
            Grown::Yes(graph) => {
                compiles = true;
                for ((target, _), kernels) in targets().zip(&mut kernels) {
                    let options = Options { target: Some(target), ..Options::default() };
                    let compiled = compile_graph(Graph::clone(&graph), &options).unwrap();
                    kernels.extend(kernels_of(&graph, &compiled, name));
                }
            }
            // Where types do not fit, no draw of them does.
            Grown::Refused(_) | Grown::Unsound(_) if seed > 6 && !compiles => break,
            Grown::Refused(_) | Grown::Unsound(_) | Grown::Senseless => {}
        }
    }
    let list = |kernels: &BTreeSet<String>| kernels.iter().cloned().collect::<Vec<_>>().join(" ");
    let lists: Vec<String> = kernels.iter().map(list).collect();
    compiles.then(|| format!("{name}\t{}\t{}", format.name(), lists.join("\t")))
}

/// The kernels of the steps that came of an operator. (A function of uint8 may have become part of the conversions around it.)
fn kernels_of(imported: &Graph, compiled: &Compiled, operator: &str) -> Vec<String> {
    let origin = |step: usize| match compiled.schedule.steps[step].kind {
        StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => compiled.graph.node(id).origin.as_str(),
        StepKind::Copy { .. } => "",
    };
    let calls = &compiled.program.calls;
    let of = |what: &str| -> Vec<String> {
        let calls = calls.iter().filter(|call| origin(call.step).contains(what));
        calls.map(|call| call.name().to_owned()).collect()
    };
    let own = of(&format!(" {operator}"));
    let is_function = |node: &Node| node.origin.contains(operator) && node.op.elementwise_operands() > 0;
    match own.is_empty() && imported.nodes().any(|(_, node)| is_function(node)) {
        true => of("uint8 as int8"),
        false => own,
    }
}
