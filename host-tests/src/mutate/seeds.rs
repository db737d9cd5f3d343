//! The files that mutants are made of.

use crate::conformance::input_shapes;
use crate::draw::{component, merged, Random};
use crate::{corpus_folder, onnx_tests, own_models};
use cargo_kiln::npz;
use kiln_codegen::{front, import, InputShape, Options};
use kiln_tools::write;
use std::path::Path;

/// A sound file.
#[derive(Clone)]
pub struct Seed {
    /// Its name, or where it is.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its format, as [`front::Format::ending`] has it.
    pub format: &'static str,
    /// Shapes of its inputs, where files of the format do not state them: those of the golden file beside it.
    pub input_shapes: Vec<InputShape>,
}

/// Larger files are left out: each mutant is compiled.
const LARGEST: usize = 24_000;

/// Models that are drawn.
const DRAWN: u64 = 200;

/// Backend tests in which a reader can get lost: subgraphs, generated constants, sizes that are computed.
const ONNX_SEEDS: [&str; 16] = [
    "node/test_attention_4d_gqa_with_past_and_present_expanded",
    "node/test_center_crop_pad_crop_and_pad_expanded",
    "node/test_einsum_batch_matmul",
    "node/test_if",
    "node/test_layer_normalization_3d_axis1_epsilon_expanded",
    "node/test_linear_attention_delta_expanded",
    "node/test_loop11",
    "node/test_lstm_with_peepholes",
    "node/test_quantizelinear_axis",
    "node/test_range_float_type_positive_delta_expanded",
    "node/test_scan9_sum",
    "pytorch-converted/test_Conv2d_depthwise_strided",
    "pytorch-converted/test_ConvTranspose2d",
    "pytorch-converted/test_MaxPool3d_stride_padding",
    "pytorch-converted/test_PixelShuffle",
    "pytorch-converted/test_ReflectionPad2d",
];

/// What mutants of a format are made of: the project's own models and the findings, drawn models, ONNX's backend tests where they are, the corpus with the conformance suites and samples beside it
/// where `KILN_CORPUS` names it, and the files of the folders that `KILN_MUTATION_SEEDS` lists, separated by colons.
///
/// # Panics
/// Where there are none.
pub fn seeds(format: &'static str) -> Vec<Seed> {
    let mut seeds = match format {
        "tflite" => models().chain(drawn()).collect(),
        "onnx" => models().filter_map(|model| as_onnx(&model)).chain(backend_tests()).collect(),
        _ => Vec::new(),
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("findings"), here.join("models")];
    if let Some(corpus) = corpus_folder() {
        let beside = ["../conformance/frameworks", "../samples"].map(|folder| corpus.join(folder));
        folders.push(corpus);
        folders.extend(beside);
    }
    if let Some(listed) = std::env::var_os("KILN_MUTATION_SEEDS") {
        folders.extend(std::env::split_paths(&listed));
    }
    folders.iter().for_each(|folder| files(folder, format, &mut seeds));
    seeds.retain(|seed| !seed.bytes.is_empty() && seed.bytes.len() <= LARGEST);
    assert!(!seeds.is_empty(), "no file of the format {format} is small enough to be damaged");
    seeds
}

fn models() -> impl Iterator<Item = Seed> {
    let models = own_models();
    assert!(models.len() > 100, "the project's own models are missing");
    models.into_iter().filter_map(|model| {
        let bytes = std::fs::read(&model.path).ok()?;
        Some(Seed { name: model.name, bytes, format: "tflite", input_shapes: Vec::new() })
    })
}

/// The same network as ONNX. Much of TFLite's integer arithmetic has no form there.
fn as_onnx(model: &Seed) -> Option<Seed> {
    let graph = import(&model.bytes, &model.name, &Options::default()).ok()?;
    let bytes = write::onnx(&graph, &write::Settings::default()).ok()?;
    Some(Seed { name: format!("{} as ONNX", model.name), bytes, format: "onnx", input_shapes: Vec::new() })
}

fn drawn() -> impl Iterator<Item = Seed> {
    (0..DRAWN).map(|number| {
        let mut random = Random::new(number);
        let drawn = component(&mut random, number % 5 == 0, 4);
        Seed {
            name: format!("drawn {number}"),
            bytes: merged(&[drawn]),
            format: "tflite",
            input_shapes: Vec::new(),
        }
    })
}

fn backend_tests() -> impl Iterator<Item = Seed> {
    ONNX_SEEDS.into_iter().filter_map(|name| {
        let file = onnx_tests()?.join(name).join("model.onnx");
        Some(Seed {
            name: name.into(),
            bytes: std::fs::read(&file).ok()?,
            format: "onnx",
            input_shapes: Vec::new(),
        })
    })
}

/// All models of a format below a folder, in the order of their names.
fn files(folder: &Path, format: &'static str, seeds: &mut Vec<Seed>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, format, seeds);
            continue;
        }
        let is_small = path.metadata().is_ok_and(|file| file.len() <= LARGEST as u64);
        // With the variables of SavedModels.
        let Some(bytes) = kiln_codegen::read_file(&path).ok().filter(|_| is_small) else { continue };
        if front::format_of(&bytes).is_ok_and(|of| of.ending == format) {
            let input_shapes =
                if matches!(format, "pt" | "pb") { shapes_beside(&path, &bytes) } else { Vec::new() };
            seeds.push(Seed { name: path.display().to_string(), bytes, format, input_shapes });
        }
    }
}

fn shapes_beside(path: &Path, bytes: &[u8]) -> Vec<InputShape> {
    let Ok(arrays) = npz::read(&path.with_extension("npz")) else { return Vec::new() };
    let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.shape.get(1..)?.to_vec());
    input_shapes(bytes, dims).unwrap_or_default()
}
