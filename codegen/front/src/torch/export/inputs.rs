//! Weights, and inputs with the sizes that the program leaves open.

use super::outputs;
use super::program::{InputSpec, OutputSpec, Program, WeightKind};
use super::store::Store;
use crate::interface::{self, Wanted};
use crate::onnx::lower::check_size;
use crate::torch::lower::{results, short, symbols, Importer, Slots, OPERATOR_BYTES};
use crate::torch::program::{Arg, Node, Size, TensorMeta};
use crate::torch::weights;
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Shape, Type};
use std::collections::HashSet;

impl<'p> Importer<'_, 'p> {
    /// Adds all inputs, states and constants to the graph.
    pub(super) fn inputs(&mut self, program: &'p Program, store: &Store<'_>) -> Result<(), Error> {
        let names = input_names(program);
        let listed: Vec<String> = names.iter().take(64).cloned().collect();
        interface::check_input_shapes(&self.options.input_shapes, &listed)?;
        interface::check_channels_last(self.options, &listed, &outputs::names(program))?;
        let changed = |spec: &'p OutputSpec| match spec {
            OutputSpec::Buffer { of, .. } => Some(of.as_str()),
            _ => None,
        };
        let changed: HashSet<&str> = program.outputs.iter().filter_map(changed).collect();
        for spec in &program.inputs {
            self.means.budget.charge(OPERATOR_BYTES)?;
            match spec {
                InputSpec::Weight { kind, arg, of } => {
                    let is_state = changed.contains(of.as_str()) || self.aliases.is_written(arg);
                    // What nobody reads may be anything: counters of batches.
                    let is_read = self.read.contains(arg.as_str());
                    if is_state || (is_read && !self.inner_tensors(program, store, (arg, of))?) {
                        self.weight(store, *kind, (arg, of), is_state)?;
                    }
                }
                InputSpec::User(Arg::Tensor(name)) => self.input(program, name, names.len())?,
                // Numbers are part of the program.
                InputSpec::User(Arg::Tensors(_) | Arg::Computed(_) | Arg::Other) => {
                    let refusal = Refusal::unsupported("it is no tensor", "use only tensors as inputs");
                    self.means.report.refuse("input".into(), None, refusal)?;
                }
                InputSpec::User(_) => {}
                InputSpec::Other(kind) => {
                    let refusal = Refusal::unsupported("it is no tensor", "use only tensors as inputs");
                    self.means.report.refuse(format!("input of kind {}", short(kind)), None, refusal)?;
                }
            }
        }
        Ok(())
    }

    /// Binds what operators take out of a weight of another class; `false` for any other weight, and where something else reads it.
    fn inner_tensors(
        &mut self,
        program: &'p Program,
        store: &Store<'_>,
        (arg, of): (&'p str, &'p str),
    ) -> Result<bool, Error> {
        if !store.is_wrapped(of) {
            return Ok(false);
        }
        self.means.budget.charge(program.nodes.len())?;
        let reads = |node: &&Node| node.inputs.iter().any(|input| input.arg.names().contains(&arg));
        let readers: Vec<&Node> = program.nodes.iter().filter(reads).collect();
        let Some(taken) = readers.into_iter().map(taken).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        for Taken { inner, result } in taken {
            let value = match store.inner(of, inner, &mut self.means.budget) {
                Ok((ty, data)) => {
                    let label = format!("{}.{}", short(of), short(inner));
                    Some(self.means.graph.add_const(label, ty, data))
                }
                Err(refusal) => {
                    self.means.report.refuse(format!("parameter \"{}\"", short(of)), None, refusal)?;
                    None
                }
            };
            if self.slots.insert(result, value).is_some() {
                let place = format!("parameter \"{}\"", short(of));
                return Err(Error::malformed(place, "a result is computed a second time"));
            }
        }
        Ok(true)
    }

    fn weight(
        &mut self,
        store: &Store<'_>,
        kind: WeightKind,
        (arg, of): (&'p str, &'p str),
        is_state: bool,
    ) -> Result<(), Error> {
        let value = match store.weight(kind, of, &mut self.means.budget) {
            Ok((ty, data)) if is_state => {
                self.states.insert(arg, of);
                Some(self.means.graph.add_state(short(of), ty, data))
            }
            Ok((ty, data)) => Some(self.means.graph.add_const(short(of), ty, data)),
            Err(refusal) => {
                let kind = match kind {
                    WeightKind::Parameter => "parameter",
                    WeightKind::Buffer => "buffer",
                    WeightKind::Constant => "constant",
                };
                self.means.report.refuse(format!("{kind} \"{}\"", short(of)), None, refusal)?;
                None
            }
        };
        self.slots.insert(arg, value);
        Ok(())
    }

    fn input(&mut self, program: &'p Program, name: &'p str, inputs: usize) -> Result<(), Error> {
        let place = format!("input \"{}\"", short(name));
        if self.slots.contains_key(name) {
            return Err(Error::malformed(place, "there is another input of that name"));
        }
        let value = match self.input_type(program, name, inputs) {
            Ok(ty) => Some(self.means.input(&short(name), ty)?),
            Err(refusal) => {
                self.means.report.refuse(place, None, refusal)?;
                None
            }
        };
        self.slots.insert(name, value);
        Ok(())
    }

    fn input_type(&mut self, program: &Program, name: &str, inputs: usize) -> Lowered<Type> {
        let meta = self.metas.get(name);
        let meta: &TensorMeta = meta.ok_or_else(|| malformed!("its type is not in the file"))?;
        let dtype = weights::dtype(meta.dtype)?;
        let shown = symbols::shown(&meta.sizes);
        let input = Wanted::of(self.options, short(name), inputs, &shown);
        let dims = match input.given {
            Some((_, given)) if given.len() == meta.sizes.len() => {
                for (axis, (size, &given)) in meta.sizes.iter().zip(given).enumerate() {
                    self.give(program, size, given as i64).map_err(|what| {
                        input.misfit(format!(
                            "size {given} of axis {axis} does not fit {shown} in the file: {what}"
                        ))
                    })?;
                }
                given.to_vec()
            }
            Some((_, given)) => {
                return Err(input.misfit(format!("{given:?} does not fit {shown} in the file")))
            }
            None => {
                let mut dims = Vec::new();
                for (axis, size) in meta.sizes.iter().enumerate() {
                    // An open first axis is the batch, of one.
                    let known = symbols::value(size, &self.symbols);
                    let batch = || (axis == 0 && self.give(program, size, 1).is_ok()).then_some(1);
                    let Some(size) = known.or_else(batch).and_then(|size| usize::try_from(size).ok()) else {
                        let what = format!("sizes of its shape {shown} are open");
                        let help = format!(
                            "state them with {}, or export the model with fixed shapes",
                            input.way_out
                        );
                        return Err(Refusal::unsupported(what, help));
                    };
                    dims.push(size);
                }
                dims
            }
        };
        check_size(dtype, &dims)?;
        malformed_if!(dims.contains(&0), "its shape {dims:?} has no elements");
        Ok(Type { dtype, shape: Shape(dims), quant: None })
    }

    /// Lets a size be a number; says why it cannot be.
    fn give(&mut self, program: &Program, size: &Size, given: i64) -> Result<(), String> {
        if let Some(known) = symbols::value(size, &self.symbols) {
            return match known == given {
                true => Ok(()),
                false => Err(format!("it is {known}")),
            };
        }
        let Size::Symbolic(text) = size else { return Ok(()) };
        let Some(symbol) = symbols::symbol(text) else {
            return Err("it follows from other sizes, which have to be given before".into());
        };
        if let Some(range) = program.ranges.get(symbol) {
            let (least, most) = (range.least.unwrap_or(i64::MIN), range.most.unwrap_or(i64::MAX));
            if !(least..=most).contains(&given) {
                return Err(format!("{symbol} is from {least} to {most}"));
            }
        }
        self.symbols.insert(symbol.to_owned(), given);
        Ok(())
    }
}

/// A tensor that is taken out of one of another class.
struct Taken<'p> {
    inner: &'p str,
    result: &'p str,
}

fn taken(node: &Node) -> Option<Taken<'_>> {
    let ([of, inner], [result]) = (&node.inputs[..], &results(node)[..]) else { return None };
    match (node.target.as_str(), &of.arg, &inner.arg) {
        ("torch.ops.export.access_subclass_inner_tensor.default", Arg::Tensor(_), Arg::Text(inner)) => {
            Some(Taken { inner, result })
        }
        _ => None,
    }
}

/// Whether a node has nothing left to do: its result was bound with the weight that it is taken out of.
pub(super) fn is_taken(node: &Node, slots: &Slots<'_>) -> bool {
    taken(node).is_some_and(|taken| slots.contains_key(taken.result))
}

/// Names of the inputs.
pub(super) fn input_names(program: &Program) -> Vec<String> {
    let user = |spec: &InputSpec| match spec {
        InputSpec::User(Arg::Tensor(name)) => Some(short(name)),
        _ => None,
    };
    program.inputs.iter().filter_map(user).collect()
}

/// Names that nodes read, or that are outputs.
pub(super) fn read_names(program: &Program) -> HashSet<&str> {
    let inputs = program.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
    let mut read: HashSet<&str> = inputs.flat_map(Arg::names).collect();
    for spec in &program.outputs {
        match spec {
            OutputSpec::User(arg) => read.extend(arg.names()),
            OutputSpec::Buffer { arg, .. } => read.extend([arg.as_str()]),
            OutputSpec::Silent | OutputSpec::Other(_) => {}
        }
    }
    read
}
