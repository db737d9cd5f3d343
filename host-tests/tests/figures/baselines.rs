//! What TensorFlow Lite Micro needs, and what Kiln may need: `baselines/tflm.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A model as TensorFlow Lite Micro runs it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The model file's name without its ending.
    pub name: String,
    /// Whether Kiln takes the model's input as a sliding window.
    #[serde(default)]
    pub sliding: bool,
    /// Multiply-accumulates of an inference.
    pub macs: u64,
    /// Executed instructions on a Cortex-M4.
    pub instructions: u64,
    /// Estimated cycles on a Cortex-M4.
    pub cycles: u64,
    /// Bytes of RAM.
    pub arena: u64,
    /// Bytes of flash besides the model file.
    pub flash: u64,
    /// Executed instructions on a Cortex-M0+, where they were counted.
    pub m0_instructions: Option<u64>,
    /// The same on a Cortex-M55.
    pub m55_instructions: Option<u64>,
    /// The same on a core with RV32IMC.
    pub rv32_instructions: Option<u64>,
    /// The operator that keeps Kiln from compiling the model.
    pub lacks: Option<String>,
    /// What Kiln may need.
    #[serde(default)]
    pub most: Most,
    /// Which of these it exceeds, and why.
    #[serde(default)]
    pub missed: BTreeMap<String, String>,
}

/// Goals; see the file's header.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Most {
    pub cycles: Option<u64>,
    pub instructions: Option<u64>,
    pub code: Option<u64>,
    pub size_code: Option<u64>,
    pub size_cycles: Option<u64>,
    pub m0_instructions: Option<u64>,
    pub m55_instructions: Option<u64>,
    pub rv32_instructions: Option<u64>,
}

/// All of them, in the order of `docs/benchmarks.md`.
pub fn baselines() -> Vec<Baseline> {
    #[derive(Deserialize)]
    struct File {
        model: Vec<Baseline>,
    }
    toml::from_str::<File>(include_str!("../../baselines/tflm.toml")).unwrap().model
}
