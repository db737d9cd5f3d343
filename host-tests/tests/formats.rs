//! The same layers in the files of several frameworks (`models/torch`, `models/jax`, `models/keras`, `models/tensorflow`,
//! `models/executorch`): outputs of the generated code, and what they cost on a Cortex-M4.
//!
//! The table in `docs/benchmarks.md` has the costs; `KILN_BLESS=1` writes it. Without it, and without `KILN_SWEEP`, the first network alone is measured.

use cargo_kiln::bench::bench;
use cargo_kiln::npz;
use cargo_kiln::number::grouped;
use cargo_kiln::validate::validate;
use kiln_codegen::Options;
use kiln_host_tests::conformance::input_shapes;
use kiln_host_tests::sweeps;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A network, and what is in it.
const NETWORKS: [(&str, &str); 4] = [
    ("image", "convolutions, batch normalisation, pooling, a residual connection, softmax"),
    ("attention", "a block of a transformer"),
    ("recurrent", "LSTM and GRU; in JAX a scanned LSTM"),
    ("stream", "causal convolutions with their histories in buffers"),
];

const FILES: [(&str, &str, &str); 11] = [
    ("torch", "pt2", "`torch.export`"),
    ("torch", "pt", "TorchScript"),
    ("torch", "onnx", "ONNX"),
    ("jax", "mlir", "StableHLO, text"),
    ("jax", "mlirbc", "StableHLO, bytecode"),
    ("keras", "keras", "Keras"),
    ("keras", "h5", "Keras, HDF5"),
    ("tensorflow", "saved_model", "SavedModel"),
    ("tensorflow", "pb", "GraphDef"),
    ("tensorflow", "tflite", "TFLite"),
    ("executorch", "pte", "ExecuTorch"),
];

/// Files of JAX in other forms, whose outputs are compared, too.
const MORE: [&str; 3] = ["generic.mlir", "jaxexport", "hlo.txt"];

const BEGIN: &str = "<!-- formats: begin -->\n";
const END: &str = "<!-- formats: end -->";

/// Files that do not say the same layers, and why.
const OTHERS: [(&str, &str, &str); 4] = [
    ("attention", "pte", "attention guards rows that are masked as a whole"),
    ("attention", "tflite", "infinite results become the largest number"),
    ("recurrent", "mlir", "one LSTM, without a GRU behind it"),
    ("recurrent", "mlirbc", "one LSTM, without a GRU behind it"),
];

/// How much more than of `torch.export` cycles and arena of the same layers may be.
const MARGIN: f64 = 1.03;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

fn file(folder: &str, name: &str, ending: &str) -> Option<PathBuf> {
    let path = models().join(format!("{folder}/{name}.{ending}"));
    path.exists().then_some(path)
}

fn golden(folder: &str, name: &str) -> PathBuf {
    models().join(format!("{folder}/{name}.npz"))
}

/// TorchScript does not state the shapes of inputs. A SavedModel, which is a folder, does.
fn options(path: &Path, golden: &Path) -> Options {
    if path.is_dir() {
        return Options::default();
    }
    let arrays = npz::read(golden).unwrap();
    let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.shape.get(1..)?.to_vec());
    let input_shapes = input_shapes(&std::fs::read(path).unwrap(), dims).unwrap();
    Options { input_shapes, ..Options::default() }
}

#[test]
fn networks_compute_what_the_frameworks_compute() {
    let mut checked = 0;
    for (k, (name, _)) in NETWORKS.into_iter().enumerate() {
        let more = MORE.map(|ending| ("jax", ending));
        for (folder, ending) in FILES.map(|(folder, ending, _)| (folder, ending)).into_iter().chain(more) {
            let (Some(path), golden) = (file(folder, name, ending), golden(folder, name)) else { continue };
            // Of most networks the code of one file is enough.
            let is_compiled = k == 0 || ending == FILES[0].1 || sweeps();
            let place = if is_compiled { "host" } else { "interp" };
            let report = validate(&path, &options(&path, &golden), &golden, &[place.to_owned()]);
            let report = report.unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
            assert!(report.passes() && report.cases == 4, "{}", report.text());
            checked += 1;
        }
    }
    assert_eq!(checked, 4 + 4 + 3 + 3 * 5 + 3 * 2 + 3 * 3 + 3);
}

struct Cost {
    cycles: u64,
    arena: usize,
    state: usize,
}

impl Cost {
    fn of(path: &Path, golden: &Path) -> Cost {
        let report = bench(path, &options(path, golden), "qemu-cortex-m4", false);
        let report = report.unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        let result = report.result();
        let program = &report.compiled().program;
        Cost { cycles: result.total.cycles, arena: program.arena_bytes, state: program.state_bytes }
    }
}

#[test]
fn the_same_layers_cost_the_same_in_each_format() {
    let mut table =
        String::from("| network | file | cycles | arena, bytes | state, bytes |\n|---|---|--:|--:|--:|\n");
    let bless = std::env::var_os("KILN_BLESS").is_some();
    let networks = if bless || sweeps() { &NETWORKS[..] } else { &NETWORKS[..1] };
    let mut wrong = Vec::new();
    for &(name, what) in networks {
        let first = Cost::of(&file("torch", name, "pt2").unwrap(), &golden("torch", name));
        for (folder, ending, format) in FILES {
            let Some(path) = file(folder, name, ending) else { continue };
            let Cost { cycles, arena, state } = Cost::of(&path, &golden(folder, name));
            let numbers = [cycles, arena as u64, state as u64].map(grouped).join(" | ");
            let other = OTHERS.iter().find(|(network, file, _)| (*network, *file) == (name, ending));
            let remark = other.map_or(String::new(), |(.., why)| format!(" ({why})"));
            writeln!(table, "| {name}: {what} | {format}{remark} | {numbers} |").unwrap();
            let within = |now: f64, first: f64| now <= MARGIN * first;
            let same = within(cycles as f64, first.cycles as f64) && within(arena as f64, first.arena as f64);
            if !same && other.is_none() {
                wrong.push(format!(
                    "{}: {cycles} cycles, {arena} bytes; {} and {}",
                    path.display(),
                    first.cycles,
                    first.arena
                ));
            }
        }
    }
    println!("{table}");
    let page = models().join("../../docs/benchmarks.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the page has no place for formats");
    let (old, after) = rest.split_once(END).expect("the page has no end of formats");
    if bless {
        std::fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    }
    // Cycles belong to a compiler: what does not depend on it is compared.
    let without_cycles = |table: &str| -> Vec<String> {
        let row =
            |row: &str| row.split(" | ").enumerate().filter(|(k, _)| *k != 2).map(|(_, cell)| cell).collect();
        table.lines().skip(2).map(row).collect()
    };
    let old = without_cycles(old);
    let stale: Vec<String> =
        without_cycles(&table).into_iter().filter(|row| !bless && !old.contains(row)).collect();
    assert!(
        stale.is_empty(),
        "the table of formats is not fresh (KILN_BLESS=1 writes it):\n{}",
        stale.join("\n")
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
