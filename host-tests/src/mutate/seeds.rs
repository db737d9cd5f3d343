//! The files that mutants are made of.

use crate::draw::{component, merged, Random};
use crate::{corpus_folder, onnx_tests, own_models};
use kiln_codegen::{import, Options};
use kiln_tools::write;
use std::path::Path;

/// A sound file.
#[derive(Clone)]
pub struct Seed {
    /// Its name, or where it is.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is ONNX; else it is TFLite.
    pub is_onnx: bool,
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

/// The project's own models in both formats, the findings, drawn models, ONNX's backend tests where they are, the corpus where `KILN_CORPUS` names it, and the files of the
/// folders that `KILN_MUTATION_SEEDS` lists, separated by colons.
///
/// # Panics
/// Where the project's own models are missing.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    files(&here.join("findings"), &mut seeds);
    for model in own_models() {
        let Ok(bytes) = std::fs::read(&model.path) else { continue };
        let graph = import(&bytes, &model.name, &model.options(&Options::default()));
        // Much of TFLite's integer arithmetic has no form in ONNX.
        if let Some(bytes) =
            graph.ok().and_then(|graph| write::onnx(&graph, &write::Settings::default()).ok())
        {
            seeds.push(Seed { name: format!("{} as ONNX", model.name), bytes, is_onnx: true });
        }
        seeds.push(Seed { name: model.name, bytes, is_onnx: false });
    }
    assert!(seeds.len() > 200, "the project's own models are missing");
    for number in 0..DRAWN {
        let mut random = Random::new(number);
        let drawn = component(&mut random, number % 5 == 0, 4);
        seeds.push(Seed { name: format!("drawn {number}"), bytes: merged(&[drawn]), is_onnx: false });
    }
    for name in ONNX_SEEDS {
        let Some(file) = onnx_tests().map(|folder| folder.join(name).join("model.onnx")) else { continue };
        if let Ok(bytes) = std::fs::read(&file) {
            seeds.push(Seed { name: name.into(), bytes, is_onnx: true });
        }
    }
    corpus_folder().iter().for_each(|folder| files(folder, &mut seeds));
    if let Some(folders) = std::env::var_os("KILN_MUTATION_SEEDS") {
        std::env::split_paths(&folders).for_each(|folder| files(&folder, &mut seeds));
    }
    seeds.retain(|seed| !seed.bytes.is_empty() && seed.bytes.len() <= LARGEST);
    seeds
}

/// All models below a folder, in the order of their names.
fn files(folder: &Path, seeds: &mut Vec<Seed>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, seeds);
            continue;
        }
        let is_onnx = path.extension().is_some_and(|ending| ending == "onnx");
        if !is_onnx && path.extension().is_none_or(|ending| ending != "tflite") {
            continue;
        }
        if let Ok(bytes) = std::fs::read(&path) {
            seeds.push(Seed { name: path.display().to_string(), bytes, is_onnx });
        }
    }
}
