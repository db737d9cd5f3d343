//! Inputs and outputs, by the names that the file has for them.

use super::super::module::{Attribute, Attributes, Element, Function, Type as Declared};
use super::slot::{self, Slot, Tensor};
use super::{short, Importer, Lowered, Refusal, OPERATOR_BYTES};
use crate::interface::{self, Wanted};
use crate::onnx::lower::{check_size, describe};
use kiln_ir::error::Error;
use kiln_ir::{Op, Shape, Type, ValueId};
use std::collections::HashSet;

/// The name that attributes give an argument or a result.
fn given(attributes: Option<&Attributes<'_>>, keys: &[&str]) -> Option<String> {
    let text = keys.iter().find_map(|key| match attributes?.get(key) {
        Some(Attribute::Text(text)) if !text.is_empty() => Some(short(text)),
        _ => None,
    })?;
    Some(text)
}

/// Different names: those that come twice get a number.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut distinct = Vec::new();
    for (k, name) in names.into_iter().enumerate() {
        let name = if seen.contains(&name) { format!("{name}_{k}") } else { name };
        seen.insert(name.clone());
        distinct.push(name);
    }
    distinct
}

/// How many tensors a type has, as tuples are taken apart.
fn leaves(ty: &Declared) -> usize {
    match ty {
        Declared::Tuple(list) => list.iter().take(1 << 12).map(leaves).sum(),
        _ => 1,
    }
}

impl<'p> Importer<'_, 'p> {
    /// Names of the inputs.
    pub(super) fn input_names(&self, entry: &Function<'_>) -> Vec<String> {
        let name = |k: usize| {
            let attributes = entry.argument_attributes.get(k);
            given(attributes, &["jax.arg_info", "name", "mhlo.name"]).unwrap_or_else(|| format!("arg{k}"))
        };
        distinct((0..entry.body.arguments.len()).map(name).collect())
    }

    /// Names of the outputs.
    pub(super) fn output_names(&self, entry: &Function<'_>) -> Vec<String> {
        let mut names = Vec::new();
        for (k, ty) in entry.results.iter().enumerate() {
            let attributes = entry.result_attributes.get(k);
            let own = given(attributes, &["jax.result_info", "name", "mhlo.name"]);
            for leaf in 0..leaves(ty) {
                names.push(match (&own, ty) {
                    (Some(own), Declared::Tuple(_)) => format!("{own}_{leaf}"),
                    (Some(own), _) => own.clone(),
                    (None, _) => format!("output_{}", names.len()),
                });
            }
        }
        distinct(names)
    }

    /// Adds all inputs to the graph.
    pub(super) fn inputs(&mut self, entry: &'p Function<'p>) -> Result<Vec<Slot>, Error> {
        let names = self.input_names(entry);
        let listed: Vec<String> = names.iter().take(64).cloned().collect();
        interface::check_input_shapes(&self.options.input_shapes, &listed)?;
        interface::check_channels_last(self.options, &listed, &self.output_names(entry))?;
        let mut slots = Vec::new();
        for (&value, name) in entry.body.arguments.iter().zip(&names) {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let ty = entry.types.get(value.0);
            let ty = ty.ok_or_else(|| Error::malformed(format!("input \"{name}\""), "it has no type"))?;
            let made = self.input_type(ty, name, names.len());
            slots.push(match made {
                Ok((ty, element)) => {
                    let dims = ty.shape.0.clone();
                    let input = self.means.input(name, ty)?;
                    Slot::Tensor(Tensor::of(input, &dims, &element))
                }
                Err(refusal) => {
                    self.means.report.refuse(format!("input \"{name}\""), None, refusal)?;
                    Slot::Refused
                }
            });
        }
        Ok(slots)
    }

    fn input_type(&self, ty: &Declared, name: &str, inputs: usize) -> Lowered<(Type, Element)> {
        let Declared::Tensor(tensor) = ty else {
            return Err(Refusal::unsupported("it is no tensor", "use only tensors as inputs"));
        };
        let dtype = slot::dtype(&tensor.element)?;
        let size = |size: &Option<usize>| size.map_or_else(|| "?".to_owned(), |size| size.to_string());
        let shown = format!("[{}]", tensor.shape.iter().map(size).collect::<Vec<_>>().join(", "));
        let input = Wanted::of(self.options, name.to_owned(), inputs, &shown);
        let dims = input.dims(Some(&tensor.shape), "export the model with fixed shapes")?;
        check_size(dtype, &dims)?;
        if dims.contains(&0) {
            let what = format!("its shape {dims:?} has no elements");
            return Err(Refusal::unsupported(what, "export the model without it"));
        }
        let quant = match &tensor.element {
            Element::Quantised(of) => Some(super::quantise::quant(of, &dims, &dims)?),
            _ => None,
        };
        Ok((Type { dtype, shape: Shape(dims), quant }, tensor.element.clone()))
    }

    /// Adds the outputs, and gives their names.
    pub(super) fn outputs(&mut self, entry: &Function<'_>, results: Vec<Slot>) -> Result<Vec<String>, Error> {
        let names = self.output_names(entry);
        let mut flat = Vec::new();
        for slot in results {
            flatten(slot, &mut flat);
        }
        if flat.len() != names.len() && !flat.iter().any(|slot| matches!(slot, Slot::Refused)) {
            let what = format!("it returns {} results, but has {} in its type", flat.len(), names.len());
            return Err(Error::malformed("function", what));
        }
        for (name, slot) in names.iter().zip(flat) {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let value = self.output_value(name, &slot);
            self.means.add_output(name, value)?;
        }
        match names.is_empty() {
            true => Err(Error::malformed("function", "it has no results")),
            false => Ok(names),
        }
    }

    /// The value of an output, with all its elements.
    fn output_value(&mut self, name: &str, slot: &Slot) -> Lowered<ValueId> {
        let tensor = match slot {
            Slot::Token | Slot::Tuple(_) => {
                return Err(Refusal::unsupported("it is no tensor", "remove it from the outputs"));
            }
            slot => slot.tensor()?,
        };
        let ty = self.means.graph.ty(tensor.value).with_shape(&tensor.dims);
        if tensor.dims.contains(&0) {
            let what = format!("it is {} and has no elements", describe(&ty));
            return Err(Refusal::unsupported(what, "remove it from the outputs"));
        }
        if self.means.graph.ty(tensor.value).shape.dims() == tensor.dims {
            return Ok(tensor.value);
        }
        self.means.budget.node(1)?;
        Ok(self.means.graph.add_node(Op::Broadcast {}, &[tensor.value], name, ty, "output"))
    }
}

fn flatten(slot: Slot, flat: &mut Vec<Slot>) {
    match slot {
        Slot::Tuple(list) => list.into_iter().for_each(|slot| flatten(slot, flat)),
        other => flat.push(other),
    }
}
