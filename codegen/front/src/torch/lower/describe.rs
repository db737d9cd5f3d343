//! Tensors of a program as summaries show them: with their shapes, as far as these are known.

use super::{symbols, Importer};
use crate::torch::program::TensorMeta;

/// Names of `ScalarType`s, by number.
const ELEMENTS: &[&str] = &[
    "",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "bool",
    "bfloat16",
];

impl Importer<'_, '_> {
    /// The element type and the sizes of a tensor by its name in the program. Open sizes are -1.
    pub(in crate::torch) fn described(&self, name: &str) -> (String, Vec<i32>) {
        match (self.slots.get(name).copied().flatten(), self.metas.get(name)) {
            (Some(value), _) => {
                let ty = self.means.graph.ty(value);
                (ty.dtype.name().to_owned(), ty.shape.dims().iter().map(|&dim| dim as i32).collect())
            }
            (None, Some(meta)) => (element(meta), self.described_sizes(meta)),
            (None, None) => (String::new(), Vec::new()),
        }
    }

    fn described_sizes(&self, meta: &TensorMeta) -> Vec<i32> {
        let size = |size| {
            symbols::value(size, &self.symbols).and_then(|size| i32::try_from(size).ok()).unwrap_or(-1)
        };
        meta.sizes.iter().map(size).collect()
    }
}

fn element(meta: &TensorMeta) -> String {
    let name = usize::try_from(meta.dtype).ok().and_then(|number| ELEMENTS.get(number));
    name.map_or_else(|| format!("type {}", meta.dtype), |name| (*name).to_owned())
}
