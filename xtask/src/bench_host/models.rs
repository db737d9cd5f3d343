//! The models of the race, all from the corpus.

/// A model, and what its peers run in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// What the tables call it.
    pub(super) name: &'static str,
    /// Its file below the corpus, without the ending; the golden cases have the name, too.
    pub(super) file: &'static str,
    pub(super) kind: Kind,
    pub(super) onnx: Onnx,
}

/// What most multiplications are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int8,
    Float32,
}

/// Where ONNX Runtime's file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onnx {
    /// The model is an ONNX file.
    Itself,
    /// The corpus has the same network as an ONNX file of that name.
    Twin(&'static str),
    /// tf2onnx converts it; what comes of that is compared only where it computes the same.
    Converted,
}

use Kind::{Float32, Int8};
use Onnx::{Converted, Itself, Twin};

/// All of them, in the order of the table.
pub(super) const ENTRIES: &[Entry] = &[
    entry("kws", "mlperf_kws_int8", Int8, Converted),
    entry("ic", "mlperf_ic_int8", Int8, Converted),
    entry("vww", "mlperf_vww_int8", Int8, Converted),
    entry("ad", "mlperf_ad_int8", Int8, Converted),
    entry("strww", "mlperf_strww_int8", Int8, Converted),
    entry("mobilenet_v2", "tflm_mobilenet_v2_224_int8", Int8, Converted),
    entry("movenet", "movenet_lightning_int8", Int8, Converted),
    entry("mcunetv2", "tinyengine_mcunetv2_large_int8", Int8, Converted),
    entry("ic_f32", "mlperf_ic_f32", Float32, Converted),
    entry("vww_f32", "mlperf_vww_f32", Float32, Twin("mlperf_vww_onnx_f32")),
    entry("ad_f32", "mlperf_ad_f32", Float32, Converted),
    entry("micro_kws_f32", "micro_kws_f32", Float32, Twin("micro_kws_onnx_f32")),
    entry("ultraface_f32", "ultraface_slim_320_f32", Float32, Twin("ultraface_slim_320_onnx_f32")),
    entry("cct_16_32", "deeploy_cct_1_16_16_32_f32", Float32, Itself),
    entry("cct_16_64", "deeploy_cct_1_16_16_64_f32", Float32, Itself),
    entry("cct_16_128", "deeploy_cct_1_16_16_128_f32", Float32, Itself),
    entry("cct_32_8", "deeploy_cct_1_32_32_8_f32", Float32, Itself),
    entry("cct_32_32", "deeploy_cct_1_32_32_32_f32", Float32, Itself),
    entry("micro_llama", "deeploy_micro_llama_f32", Float32, Itself),
    entry("deepquant", "deeploy_transformer_deepquant", Float32, Itself),
];

const fn entry(name: &'static str, file: &'static str, kind: Kind, onnx: Onnx) -> Entry {
    Entry { name, file, kind, onnx }
}

impl Entry {
    /// The model file below the corpus.
    pub(super) fn path(&self) -> String {
        match self.onnx {
            Itself => format!("onnx/{}.onnx", self.file),
            Twin(_) | Converted => format!("tflite/{}.tflite", self.file),
        }
    }

    /// What the program calls it with reproducible floats.
    pub(super) fn reproducible(&self) -> String {
        format!("{}_reproducible", self.name)
    }

    /// Its golden cases below the corpus.
    pub(super) fn golden(&self) -> String {
        format!("golden/{}.npz", self.file)
    }
}

impl Kind {
    /// As the program calls it that measures peaks.
    pub(super) fn name(self) -> &'static str {
        match self {
            Int8 => "int8",
            Float32 => "float32",
        }
    }
}

/// The entries of that name, by either name, apart by commas.
///
/// # Errors
/// Where there is none of a name.
pub(super) fn chosen(names: &str) -> Result<Vec<Entry>, String> {
    names.split(',').map(find).collect()
}

/// The entry of that name.
///
/// # Errors
/// Where there is none.
pub(super) fn find(name: &str) -> Result<Entry, String> {
    let name = name.trim();
    let found = ENTRIES.iter().find(|entry| entry.name == name || entry.file == name);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        format!("there is no model `{name}`: the models are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_two_names_and_no_third() {
        let names = |list: &str| chosen(list).map(|found| found.iter().map(|e| e.name).collect::<Vec<_>>());
        assert_eq!(names("kws, mlperf_ad_f32"), Ok(vec!["kws", "ad_f32"]));
        let error = names("kws,nothing").unwrap_err();
        assert!(error.contains("`nothing`") && error.contains("micro_llama"), "{error}");
    }

    #[test]
    fn names_are_of_one_model_each() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            let others = &ENTRIES[index + 1..];
            assert!(others.iter().all(|other| other.name != entry.name && other.file != entry.file));
        }
    }
}
