//! Inputs and outputs, by the names that the file has for them.

use super::super::schema::{text, Block, Name, Tensor};
use super::{dims_of, dtype_of, Importer, Lowered, Refusal, Slot, OPERATOR_BYTES};
use crate::interface::{self, Wanted};
use crate::onnx::lower::check_size;
use kiln_ir::error::Error;
use kiln_ir::{Type, ValueId};

/// Names as text.
fn listed(names: &[Name<'_>]) -> Vec<String> {
    names.iter().map(|name| text(name).into_owned()).collect()
}

impl<'m, 'a> Importer<'m, 'a> {
    /// Adds all inputs to the graph.
    pub(super) fn inputs(&mut self, block: &'m Block<'a>) -> Result<Vec<Slot>, Error> {
        let names = listed(&block.inputs);
        let few: Vec<String> = names.iter().take(64).cloned().collect();
        interface::check_input_shapes(&self.options.input_shapes, &few)?;
        interface::check_channels_last(self.options, &few, &listed(&block.outputs))?;
        let mut slots = Vec::new();
        for (input, name) in block.inputs.iter().zip(&names) {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let tensor = block.tensors.get(input);
            let tensor =
                tensor.ok_or_else(|| Error::malformed(format!("input \"{name}\""), "it is no tensor"))?;
            slots.push(match self.input_type(tensor, name, names.len()) {
                Ok(ty) => Slot::Value(self.means.input(name, ty)?),
                Err(refusal) => {
                    self.means.report.refuse(format!("input \"{name}\""), None, refusal)?;
                    Slot::Refused
                }
            });
        }
        Ok(slots)
    }

    fn input_type(&self, tensor: &Tensor<'_>, name: &str, inputs: usize) -> Lowered<Type> {
        let dtype = dtype_of(tensor.element)?;
        let declared = dims_of(tensor);
        let size = |size: &Option<usize>| size.map_or_else(|| "?".to_owned(), |size| size.to_string());
        let shown = match &declared {
            Some(dims) => format!("[{}]", dims.iter().map(size).collect::<Vec<_>>().join(", ")),
            None => "[…]".into(),
        };
        let input = Wanted::of(self.options, name.to_owned(), inputs, &shown);
        let dims = input.dims(declared.as_deref(), "export the model with fixed shapes")?;
        check_size(dtype, &dims)?;
        if dims.contains(&0) {
            let what = format!("its shape {dims:?} has no elements");
            return Err(Refusal::unsupported(what, "export the model without it"));
        }
        Ok(Type::plain(dtype, &dims))
    }

    /// Adds the outputs, and gives their names.
    pub(super) fn outputs(&mut self, block: &'m Block<'a>, results: Vec<Slot>) -> Result<Vec<String>, Error> {
        let names = listed(&block.outputs);
        for (name, slot) in names.iter().zip(results) {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let value = self.output_value(block, &slot);
            self.means.add_output(name, value)?;
        }
        match names.is_empty() && self.variables.is_empty() {
            true => Err(Error::malformed("block", "it has no outputs")),
            false => Ok(names),
        }
    }

    /// The value of an output.
    fn output_value(&mut self, block: &'m Block<'a>, slot: &Slot) -> Lowered<ValueId> {
        match slot {
            Slot::Value(value) => Ok(*value),
            Slot::Lazy(id) => self.computed_lazy(block, *id),
            Slot::Shape(_) => Err(Refusal::unsupported("it is a shape", "remove it from the outputs")),
            Slot::Refused => Err(Refusal::Follows),
        }
    }
}
