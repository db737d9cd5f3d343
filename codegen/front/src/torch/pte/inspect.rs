//! What a program contains, with the shapes and work that lowering finds out.

use super::chain::Network;
use super::import::{labels, output_names, run};
use super::schema::{Program, Value};
use crate::budget::Budget;
use crate::onnx::lower::Host;
use crate::torch::lower::{find, results, Importer, Target};
use crate::torch::program::{Arg, Node};
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use std::collections::{HashMap, HashSet};

/// Lists what a program contains.
pub(super) fn inspect(
    program: &Program<'_>,
    network: &mut Network,
    budget: Budget,
) -> Result<Summary, Error> {
    let (host, options) = (Host::default(), Options::default());
    let refused = network.refused.take();
    let labels = labels(program, network);
    let mut importer = Importer::new(&network.tensors, "", &options, &host, budget);
    match run(&mut importer, program, network, &labels, refused) {
        Ok(_) | Err(Error::Unsupported(_)) => {}
        Err(error) => return Err(error),
    }
    let view = View { program, network, labels: &labels, importer: &importer };
    Ok(view.summary().counted(&importer.means.graph))
}

/// A lowered program.
struct View<'v, 'm, 'p> {
    program: &'v Program<'v>,
    network: &'v Network,
    labels: &'v [String],
    importer: &'v Importer<'m, 'p>,
}

impl View<'_, '_, '_> {
    fn summary(&self) -> Summary {
        let weights = self.network.weights.iter().zip(self.labels);
        let weights: HashMap<&str, (usize, &str)> =
            weights.map(|(weight, label)| (weight.arg.as_str(), (weight.index, label.as_str()))).collect();
        let mut seen = HashSet::new();
        let operators = self.network.nodes.iter().enumerate();
        let operators =
            operators.map(|(index, node)| self.operator(index, node, &weights, &mut seen)).collect();
        let inputs = self.network.inputs.iter().map(|(name, _)| self.tensor(name, name, false)).collect();
        let outputs = output_names(self.network).into_iter().zip(&self.network.outputs);
        let outputs = outputs.map(|(name, arg)| match arg {
            Arg::Tensor(of) | Arg::Computed(of) => self.tensor(&name, of, false),
            _ => self.tensor(&name, "", true),
        });
        Summary {
            format: "ExecuTorch",
            description: "ExecuTorch program".into(),
            other_subgraphs: self.program.others.iter().take(64).cloned().collect(),
            inputs,
            outputs: outputs.collect(),
            operators,
            ..Summary::default()
        }
    }

    fn operator<'v>(
        &self,
        index: usize,
        node: &'v Node,
        weights: &HashMap<&str, (usize, &str)>,
        seen: &mut HashSet<&'v str>,
    ) -> OperatorSummary {
        let target = Target::of(&node.target);
        let given: Vec<&str> = node.inputs.iter().flat_map(|input| input.arg.names()).collect();
        let bytes = |&index: &usize| match self.program.method.values.get(index) {
            Some(Value::Tensor(tensor)) => self.program.data.size(tensor),
            _ => 0,
        };
        let new = given.iter().filter_map(|name| weights.get(name).filter(|_| seen.insert(name)));
        let weight_bytes = new.map(|(index, _)| bytes(index)).fold(0, u64::saturating_add);
        let input = |name: &&str| {
            let label = weights.get(name).map_or(*name, |(_, label)| label);
            Some(self.tensor(label, name, weights.contains_key(name)))
        };
        OperatorSummary {
            index,
            is_known: find(&target).is_some(),
            inputs: given.iter().map(input).collect(),
            outputs: results(node).iter().map(|name| self.tensor(name, name, false)).collect(),
            macs: 0,
            weight_bytes,
            name: target.whole(),
        }
    }

    /// A tensor with its shape, as far as that is known.
    fn tensor(&self, label: &str, name: &str, is_constant: bool) -> TensorSummary {
        let (element, dims) = self.importer.described(name);
        let quantization = QuantizationSummary::None;
        TensorSummary { name: label.to_owned(), element, dims, is_constant, quantization }
    }
}
