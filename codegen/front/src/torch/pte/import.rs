//! A program, lowered: its inputs, weights, states and outputs. A program has no names for inputs and outputs; they are numbered.

use super::chain::{Network, Weight};
use super::schema::{text, Program, Tensor, Value};
use crate::budget::Budget;
use crate::interface::{self, Wanted};
use crate::onnx::lower::{check_size, Host};
use crate::torch::lower::{symbols, Aliases, Importer, OPERATOR_BYTES};
use crate::torch::program::Arg;
use crate::torch::weights;
use crate::{Lowered, Read, Refusal};
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::{Shape, Type};
use std::collections::HashSet;

/// Lowers a program.
pub(super) fn lower(
    program: &Program<'_>,
    network: &mut Network,
    name: &str,
    options: &Options,
    budget: Budget,
) -> Result<Read, Error> {
    let host = Host::default();
    let refused = network.refused.take();
    let labels = labels(program, network);
    let mut importer = Importer::new(&network.tensors, name, options, &host, budget);
    let outputs = run(&mut importer, program, network, &labels, refused)?;
    Read::of(importer.means.graph, importer.means.report, options, &outputs)
}

/// The names of weights in the model, as far as the file has them; else those among the nodes. No two are the same.
pub(super) fn labels(program: &Program<'_>, network: &Network) -> Vec<String> {
    let mut seen = HashSet::new();
    let label = |weight: &Weight| {
        let own = match program.method.values.get(weight.index) {
            Some(Value::Tensor(tensor)) if !tensor.name.is_empty() => text(tensor.name),
            _ => weight.arg.clone(),
        };
        if seen.insert(own.clone()) {
            own
        } else {
            weight.arg.clone()
        }
    };
    network.weights.iter().map(label).collect()
}

/// Names of the outputs.
pub(super) fn output_names(network: &Network) -> Vec<String> {
    (0..network.outputs.len()).map(|k| format!("output_{k}")).collect()
}

/// Lowers everything, and gives the names of outputs. `refused` is why the program could not be followed to its end.
pub(super) fn run<'p>(
    importer: &mut Importer<'_, 'p>,
    program: &Program<'_>,
    network: &'p Network,
    labels: &'p [String],
    refused: Option<(String, Refusal)>,
) -> Result<Vec<String>, Error> {
    importer.read = read_names(network);
    importer.aliases = Aliases::of(&network.nodes, &network.tensors);
    let names: Vec<String> = network.inputs.iter().take(64).map(|(name, _)| name.clone()).collect();
    let outputs = output_names(network);
    interface::check_input_shapes(&importer.options.input_shapes, &names)?;
    if refused.is_none() {
        interface::check_channels_last(importer.options, &names, &outputs)?;
    }
    for (name, index) in &network.inputs {
        let Some(Value::Tensor(tensor)) = program.method.values.get(*index) else { continue };
        importer.pte_input(name, tensor, network.inputs.len())?;
    }
    for (k, (weight, label)) in network.weights.iter().zip(labels).enumerate() {
        let is_replaced = network.replaced.iter().any(|(of, _)| *of == k);
        importer.pte_weight(program, weight, label, is_replaced)?;
    }
    for (index, node) in network.nodes.iter().enumerate() {
        importer.node(index, node)?;
    }
    if let Some((place, refusal)) = refused {
        importer.means.report.refuse(place, None, refusal)?;
        return Ok(outputs);
    }
    for (name, arg) in outputs.iter().zip(&network.outputs) {
        importer.output(name, arg)?;
    }
    for (k, name) in &network.replaced {
        let Some((weight, label)) = network.weights.get(*k).zip(labels.get(*k)) else { continue };
        importer.states.remove(weight.arg.as_str());
        let value = importer
            .refresh(name)
            .and_then(|()| importer.slots.get(name.as_str()).copied().flatten().ok_or(Refusal::Follows));
        importer.next(label, value)?;
    }
    importer.states()?;
    match outputs.is_empty() {
        true => Err(Error::malformed("program", "it has no outputs")),
        false => Ok(outputs),
    }
}

/// Names that nodes read, or that are outputs.
fn read_names(network: &Network) -> HashSet<&str> {
    let inputs = network.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
    let mut read: HashSet<&str> = inputs.flat_map(Arg::names).collect();
    read.extend(network.outputs.iter().flat_map(Arg::names));
    read.extend(network.replaced.iter().map(|(_, name)| name.as_str()));
    read
}

impl<'p> Importer<'_, 'p> {
    fn pte_input(&mut self, name: &'p str, tensor: &Tensor<'_>, inputs: usize) -> Result<(), Error> {
        self.means.budget.charge(OPERATOR_BYTES)?;
        let value = match self.pte_input_type(name, tensor, inputs) {
            Ok(ty) => Some(self.means.input(name, ty)?),
            Err(refusal) => {
                self.means.report.refuse(format!("input \"{name}\""), None, refusal)?;
                None
            }
        };
        self.slots.insert(name, value);
        Ok(())
    }

    /// The type of an input. Sizes of a dynamic one are bounds.
    fn pte_input_type(&self, name: &str, tensor: &Tensor<'_>, inputs: usize) -> Lowered<Type> {
        let Some(meta) = self.metas.get(name) else { return Err(malformed!("its type is not in the file")) };
        let dtype = weights::dtype(meta.dtype)?;
        let sizes: Option<Vec<usize>> =
            tensor.sizes.iter().take(16).map(|size| usize::try_from(size).ok()).collect();
        let sizes = sizes.ok_or_else(|| malformed!("it has negative sizes"))?;
        let shown = format!("{sizes:?}");
        let input = Wanted::of(self.options, name.to_owned(), inputs, &shown);
        let fits = |given: &[usize]| {
            let is_within =
                |(given, own): (&usize, &usize)| given <= own && (tensor.is_dynamic || given == own);
            given.len() == sizes.len() && given.iter().zip(&sizes).all(is_within)
        };
        let dims = match input.given {
            Some((_, given)) if fits(given) => given.to_vec(),
            Some((_, given)) if tensor.is_dynamic => {
                return Err(
                    input.misfit(format!("{given:?} does not fit: sizes are at most {shown} in the file"))
                )
            }
            Some((_, given)) => {
                return Err(input.misfit(format!("{given:?} does not fit {shown} in the file")))
            }
            None if tensor.is_dynamic => {
                let what = format!("its sizes are open, up to {shown}");
                let help =
                    format!("state them with {}, or export the model with fixed shapes", input.way_out);
                return Err(Refusal::unsupported(what, help));
            }
            None => sizes,
        };
        check_size(dtype, &dims)?;
        malformed_if!(dims.contains(&0), "its shape {} has no elements", symbols::shown(&meta.sizes));
        Ok(Type { dtype, shape: Shape(dims), quant: None })
    }

    fn pte_weight(
        &mut self,
        program: &Program<'_>,
        weight: &'p Weight,
        label: &'p str,
        is_replaced: bool,
    ) -> Result<(), Error> {
        self.means.budget.charge(OPERATOR_BYTES)?;
        let Some(Value::Tensor(tensor)) = program.method.values.get(weight.index) else { return Ok(()) };
        let arg = weight.arg.as_str();
        let is_state = is_replaced || self.aliases.is_written(arg);
        let has_data = tensor.data != 0 || tensor.is_external;
        let found = match weight.is_buffer && !is_state && !has_data {
            true => Err(Refusal::unsupported(
                "it has no initial value, and the method never writes it",
                "let this method set it, or give the buffer as an input",
            )),
            false => program.data.tensor(label, tensor, &mut self.means.budget),
        };
        let value = match found {
            Ok((ty, data)) if is_state => {
                self.states.insert(arg, label);
                Some(self.means.graph.add_state(label, ty, data))
            }
            Ok((ty, data)) => Some(self.means.graph.add_const(label, ty, data)),
            Err(refusal) => {
                let kind = if weight.is_buffer { "buffer" } else { "constant" };
                self.means.report.refuse(format!("{kind} \"{label}\""), None, refusal)?;
                None
            }
        };
        self.slots.insert(arg, value);
        Ok(())
    }
}
