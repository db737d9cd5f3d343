//! Inputs, and the sizes that the file leaves open.

use super::{describe, tensor, Importer, Lowered, Refusal, OPERATOR_BYTES};
use crate::interface::{self, Wanted};
use crate::onnx::proto::{Dim, ValueInfo};
use kiln_ir::error::Error;
use kiln_ir::{Op, Shape, Type, ValueDef, ValueId};

impl<'m, 'a> Importer<'m, 'a> {
    /// The inputs that are no constants: old files list those, too.
    fn own_inputs(&self) -> impl Iterator<Item = &'m ValueInfo<'a>> + use<'_, 'm, 'a> {
        self.model.graph.inputs.iter().filter(|info| !self.initializers.contains_key(&info.name))
    }

    /// Adds all inputs of the model to the graph.
    pub(super) fn inputs(&mut self) -> Result<(), Error> {
        let names: Vec<String> = self.own_inputs().take(64).map(|info| info.name.text()).collect();
        interface::check_input_shapes(&self.options.input_shapes, &names)?;
        let outputs: Vec<String> = self.model.graph.outputs.iter().take(64).map(|o| o.name.text()).collect();
        interface::check_channels_last(self.options, &names, &outputs)?;
        let inputs: Vec<&ValueInfo<'a>> = self.own_inputs().collect();
        for &info in &inputs {
            let place = format!("input \"{}\"", info.name);
            self.budget.charge(OPERATOR_BYTES)?;
            if self.values.contains_key(&info.name) {
                return Err(Error::malformed(place, "there is another input of that name"));
            }
            let value = match self.input_type(info, inputs.len()) {
                Ok(ty) => Some(self.input(&info.name.text(), ty)?),
                Err(refusal) => {
                    self.report.refuse(place, None, refusal)?;
                    None
                }
            };
            self.values.insert(info.name, value);
        }
        Ok(())
    }

    /// Adds an input, and gives it as the file has it: channel-first, also where the caller writes it channel-last.
    pub(crate) fn input(&mut self, name: &str, ty: Type) -> Result<ValueId, Error> {
        if !interface::is_channels_last(self.options, name) {
            return Ok(self.graph.add_input(name, ty));
        }
        let [last, first] = interface::channel_orders(name, &ty)?;
        let dims: Vec<usize> = last.iter().filter_map(|&axis| ty.shape.dims().get(axis).copied()).collect();
        let input = self.graph.add_input(name, ty.with_shape(&dims));
        Ok(self.graph.add_node(Op::Transpose { perm: first }, &[input], name, ty, "channels_last"))
    }

    /// An output as the caller reads it: channel-last where that is asked for.
    pub(crate) fn output(&mut self, name: &str, value: ValueId) -> Result<ValueId, Error> {
        if !interface::is_channels_last(self.options, name) {
            return Ok(value);
        }
        let ty = self.graph.ty(value).clone();
        let [last, _] = interface::channel_orders(name, &ty)?;
        let dims: Vec<usize> = last.iter().filter_map(|&axis| ty.shape.dims().get(axis).copied()).collect();
        let op = Op::Transpose { perm: last };
        Ok(self.graph.add_node(op, &[value], name, ty.with_shape(&dims), "channels_last"))
    }

    /// Adds an output of that name, or says why it cannot be one.
    pub(crate) fn add_output(&mut self, name: &str, value: Lowered<ValueId>) -> Result<(), Error> {
        match value.and_then(|value| self.with_elements(value)) {
            Ok(value) => {
                let output = self.output(name, value)?;
                let value = self.graph.value_mut(output);
                if matches!(value.def, ValueDef::Node(_)) {
                    name.clone_into(&mut value.name);
                }
                self.graph.outputs.push(output);
                Ok(())
            }
            Err(refusal) => self.report.refuse(format!("output \"{name}\""), None, refusal),
        }
    }

    /// An output, if it has elements.
    pub(super) fn with_elements(&self, value: ValueId) -> Lowered<ValueId> {
        let ty = self.graph.ty(value);
        match ty.shape.numel() {
            0 => {
                let what = format!("it is {} and has no elements", describe(ty));
                Err(Refusal::unsupported(what, "remove it from the outputs"))
            }
            _ => Ok(value),
        }
    }

    fn input_type(&self, info: &ValueInfo<'a>, inputs: usize) -> Lowered<Type> {
        let Some(element) = info.element else {
            return Err(Refusal::unsupported("it is not a tensor", "use only tensors as inputs"));
        };
        let dtype = tensor::dtype(element)?;
        let declared = info.dims.as_deref();
        let own: Option<Vec<_>> = declared.map(|dims| dims.iter().map(fixed).collect());
        let input = Wanted::of(self.options, info.name.text(), inputs, &wanted(declared));
        let dims = input.dims(own.as_deref(), "export the model with a fixed input shape")?;
        tensor::check_size(dtype, &dims)?;
        Ok(Type { dtype, shape: Shape(dims), quant: None })
    }
}

/// The size of an axis, unless it is open. Some programs write −1 for one that is.
fn fixed(dim: &Dim<'_>) -> Option<usize> {
    match *dim {
        Dim::Size(size) => usize::try_from(size).ok().filter(|&size| size > 0),
        Dim::Symbol(_) => None,
    }
}

/// A shape with question marks, or names, for sizes that are to be given.
fn wanted(dims: Option<&[Dim<'_>]>) -> String {
    let Some(dims) = dims else { return "[…]".into() };
    let size = |(axis, dim): (usize, &Dim<'_>)| match (fixed(dim), dim) {
        (Some(size), _) => size.to_string(),
        (None, _) if axis == 0 => "1".into(),
        (None, Dim::Symbol(name)) if !name.is_empty() => name.text(),
        _ => "?".into(),
    };
    format!("[{}]", dims.iter().take(64).enumerate().map(size).collect::<Vec<_>>().join(", "))
}
