//! What a program contains, with the shapes and work that lowering finds out.

use super::program::{InputSpec, Program};
use super::store::Store;
use super::{inputs, outputs};
use crate::torch::lower::{is_known, results, short, Importer, Target};
use crate::torch::program::Arg;
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use std::collections::{HashMap, HashSet};

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
        let (element, dims) = self.described(name);
        let quantization = QuantizationSummary::None;
        TensorSummary { name: short(name), element, dims, is_constant, quantization }
    }
}
