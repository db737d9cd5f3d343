//! What a program contains, with the shapes and work that lowering finds out.

use super::program::{InputSpec, Program};
use super::store::Store;
use super::{inputs, outputs};
use crate::torch::lower::{is_known, results, short, symbols, Importer, Target};
use crate::torch::program::{Arg, TensorMeta};
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use std::collections::{HashMap, HashSet};

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

impl<'p> Importer<'_, 'p> {
    /// A summary of the program, as far as it could be lowered.
    pub(super) fn summary(&self, program: &Program, store: &Store<'_>) -> Summary {
        let weights = program.inputs.iter().filter_map(|spec| match spec {
            InputSpec::Weight { arg, of, .. } => Some((arg.as_str(), of.as_str())),
            _ => None,
        });
        let weights: HashMap<&str, &str> = weights.collect();
        let mut seen = HashSet::new();
        let mut operators = Vec::new();
        for (index, node) in program.nodes.iter().enumerate() {
            let target = Target::of(&node.target);
            let name = target.whole();
            let given: Vec<&str> = node.inputs.iter().flat_map(|input| input.arg.names()).collect();
            let weight_bytes = given.iter().filter(|&&name| weights.contains_key(name) && seen.insert(name));
            let weight_bytes =
                weight_bytes.map(|name| store.bytes(weights[name])).fold(0, u64::saturating_add);
            operators.push(OperatorSummary {
                index,
                is_known: is_known(&target),
                inputs: given
                    .iter()
                    .map(|name| Some(self.summary_of(name, weights.contains_key(name))))
                    .collect(),
                outputs: results(node).iter().map(|name| self.summary_of(name, false)).collect(),
                macs: 0,
                weight_bytes,
                name,
            });
        }
        let version = program.torch_version.as_deref().map(|version| format!("torch {}", short(version)));
        Summary {
            format: "PyTorch",
            description: version.unwrap_or_default(),
            inputs: inputs::input_names(program).iter().map(|name| self.summary_of(name, false)).collect(),
            outputs: self.described_outputs(program),
            operators,
            ..Summary::default()
        }
        .counted(&self.means.graph)
    }

    fn described_outputs(&self, program: &Program) -> Vec<TensorSummary> {
        let outputs = outputs::user_outputs(program).zip(outputs::names(program));
        outputs
            .map(|(arg, name)| match arg {
                Arg::Tensor(of) => TensorSummary { name, ..self.summary_of(of, false) },
                _ => self.summary_of(&name, false),
            })
            .collect()
    }

    /// A tensor by its name in the program, with its shape as far as that is known.
    fn summary_of(&self, name: &str, is_constant: bool) -> TensorSummary {
        let meta = self.metas.get(name);
        let (element, dims) = match (self.slots.get(name).copied().flatten(), meta) {
            (Some(value), _) => {
                let ty = self.means.graph.ty(value);
                (ty.dtype.name().to_owned(), ty.shape.dims().iter().map(|&dim| dim as i32).collect())
            }
            (None, Some(meta)) => (element(meta), self.sizes(meta)),
            (None, None) => (String::new(), Vec::new()),
        };
        let quantization = QuantizationSummary::None;
        TensorSummary { name: short(name), element, dims, is_constant, quantization }
    }

    fn sizes(&self, meta: &TensorMeta) -> Vec<i32> {
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
