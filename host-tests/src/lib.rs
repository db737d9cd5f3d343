//! What Kiln's own tests share: the models they run on.

pub mod conformance;
pub mod differential;
pub mod door;
pub mod draw;
pub mod mutate;
pub mod side_by_side;

use cargo_kiln::compare::compare;
use cargo_kiln::place::{Built, Place};
use cargo_kiln::slide::Sequence;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{compile_graph, Compiled, Options, Qdq};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A model with golden cases.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name: the file's name without the ending.
    pub name: String,
    /// The model file.
    pub path: PathBuf,
    /// Its golden cases.
    pub golden: PathBuf,
}

impl Model {
    /// Options with what this model needs besides: the sizes of its input, where the file leaves them open. Its golden outputs are those of floats between quantise
    /// and dequantise operators.
    pub fn options(&self, options: &Options) -> Options {
        let shapes = reasons(include_str!("../corpus/input_shapes.txt"));
        let given = shapes.get(&self.name).map(|shape| shape.parse());
        let input_shapes = given.map(|shape| vec![shape.unwrap_or_else(|e| panic!("{}: {e}", self.name))]);
        Options { input_shapes: input_shapes.unwrap_or_default(), qdq: Qdq::Float, ..options.clone() }
    }
}

/// The models of the folder named by `KILN_CORPUS`: `tflite/<name>.tflite` with `golden/<name>.npz`, by name.
///
/// Empty, with a line that says so, where the variable is not set.
pub fn corpus() -> Vec<Model> {
    match corpus_folder() {
        Some(folder) => models(&folder, "tflite"),
        None => {
            println!("KILN_CORPUS is not set: the corpus tests ran on the project's own models only");
            Vec::new()
        }
    }
}

/// The ONNX models of the same folder: `onnx/<name>.onnx`.
pub fn onnx_corpus() -> Vec<Model> {
    corpus_folder().map(|folder| models(&folder, "onnx")).unwrap_or_default()
}

/// Models that cannot be compiled yet, with reasons.
pub fn unsupported() -> BTreeMap<String, String> {
    reasons(include_str!("../corpus/unsupported.txt"))
}

/// The corpus, and those of the project's own models that are networks (`tests/own_models.rs` runs the single operators).
///
/// # Panics
/// Where the project's own models are missing.
pub fn networks() -> Vec<Model> {
    let mut models = own_models();
    models.retain(|m| !m.name.starts_with("op_"));
    assert!(!models.is_empty(), "the project's own models are missing");
    models.extend(corpus());
    models.extend(golden_onnx());
    models
}

/// The corpus's ONNX models that have golden outputs to be held to. Of `micro_kws_qdq` only its own tests (`tests/onnx_quantised.rs`): sums of floats that are rounded to integers
/// may differ by whole steps of these.
pub fn golden_onnx() -> Vec<Model> {
    onnx_corpus().into_iter().filter(|model| model.name != "micro_kws_qdq").collect()
}

/// Whether `KILN_SWEEP` asks for everything: every test on all models that it can take, which takes hours.
pub fn sweeps() -> bool {
    std::env::var_os("KILN_SWEEP").is_some()
}

/// Of the emulated boards whose name contains a text, one of those that run the same instructions.
pub fn emulated_kinds(name: &str) -> Vec<&'static Board> {
    let mut boards: Vec<&Board> = Vec::new();
    for board in Board::all().iter().filter(|board| board.is_emulated() && board.name.contains(name)) {
        let same = |other: &&Board| (&other.target, &other.rustflags) == (&board.target, &board.rustflags);
        if !boards.iter().any(same) {
            boards.push(board);
        }
    }
    boards
}

/// The version of ONNX whose backend tests are run.
pub const ONNX_VERSION: &str = "1.22.0";

/// ONNX's backend tests: the folder that `KILN_ONNX_TESTS` names, or the one that `cargo xtask setup` fetches, if it is there.
pub fn onnx_tests() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("KILN_ONNX_TESTS") {
        return Some(folder.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    Some(root.join(format!("target/kiln/onnx-{ONNX_VERSION}"))).filter(|folder| folder.exists())
}

/// The folder named by `KILN_CORPUS`.
pub fn corpus_folder() -> Option<PathBuf> {
    std::env::var_os("KILN_CORPUS").map(PathBuf::from)
}

/// The project's own models.
pub fn own_models() -> Vec<Model> {
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), "tflite")
}

/// The models of one format, which is their ending and the name of their folder.
fn models(folder: &Path, format: &str) -> Vec<Model> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.join(format)).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == format) {
            let name = kiln_codegen::model_name(&path);
            found.push(Model { golden: folder.join("golden").join(&name).with_extension("npz"), name, path });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Holds generated code to the interpreter, output by output, at each place (`host`, or an emulated board), and firmware to being unable to panic.
/// Returns the interpreter's outputs.
///
/// # Panics
/// Where outputs differ, with the op that computes them.
// Helpers of tests may unwrap, as tests may.
#[allow(clippy::unwrap_used)]
pub fn assert_generated_as_interpreted(graph: &Graph, case: &[Data], places: &[&str]) -> Vec<Data> {
    assert_generated_with(&Options::default(), graph, case, places)
}

/// As [`assert_generated_as_interpreted`], with options, whose target is that of every place.
///
/// # Panics
/// Where outputs differ.
#[allow(clippy::unwrap_used)]
pub fn assert_generated_with(options: &Options, graph: &Graph, case: &[Data], places: &[&str]) -> Vec<Data> {
    let cases = [case.to_vec()];
    let compiled = compile_graph(graph.clone(), options).unwrap();
    let expected = Place::Interp.run(graph, &compiled, &cases).unwrap().remove(0);
    for name in places {
        let built = Place::find(name).unwrap().build(graph, &compiled).unwrap();
        if let Built::Emulated(firmware) = &built {
            let image = Image::read(&firmware.elf).unwrap();
            assert!(image.unwanted().is_empty(), "{:?}", image.unwanted());
        }
        let actual = built.run(&cases, false).unwrap().remove(0);
        for ((actual, expected), &output) in actual.iter().zip(&expected).zip(&graph.outputs) {
            let value = graph.value(output);
            let op = graph.producer(output).map(|node| &graph.node(node).op);
            let difference = compare(value.ty.dtype, actual, expected);
            assert!(difference.passes(), "{op:?} of {} on {name}: {difference:?}", value.name);
        }
        assert_eq!(actual.len(), graph.outputs.len());
    }
    expected
}

/// Holds a sliding model to a sequence, frame by frame, on this machine and as firmware.
///
/// # Panics
/// Where outputs differ.
#[allow(clippy::unwrap_used)]
pub fn assert_slides(graph: &Graph, compiled: &Compiled, sequence: &Sequence) {
    for place in ["host", "qemu-cortex-m4"] {
        let built: Built<'_> = Place::find(place).unwrap().build(graph, compiled).unwrap();
        let actual = built.run(&sequence.frames, true).unwrap();
        assert_eq!(actual.len(), sequence.outputs.len());
        for (frame, (actual, expected)) in actual.iter().zip(&sequence.outputs).enumerate() {
            assert_eq!(actual.len(), expected.len(), "{} on {place}, frame {frame}", graph.name);
            for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let difference = compare(graph.ty(graph.outputs[k]).dtype, actual, expected);
                let name = &graph.name;
                assert!(difference.passes(), "{name} on {place}, frame {frame}, output {k}: {difference:?}");
            }
        }
    }
}

/// Time that this thread has had of a processor, where the system tells; else what has passed.
pub fn cpu_time() -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| std::time::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

/// A table of names with reasons: one `name: reason` per line, `#` begins a comment.
pub fn reasons(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, reason)| (name.trim().into(), reason.trim().into()))
        .collect()
}
