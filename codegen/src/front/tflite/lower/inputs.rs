//! Inputs, and the sizes that the file leaves open: the option `input_shape`.

use super::tensor::{check_size, is_wide_unsigned};
use super::{unsigned_interface, Importer, Lowered, Refusal, Slot, OPERATOR_BYTES};
use crate::error::{Error, Problem};
use crate::front::tflite::schema::{Name, Tensor};
use crate::ir::Type;
use crate::options::InputShape;

impl<'m, 'a> Importer<'m, 'a> {
    /// Adds all inputs of the model to the graph.
    pub(super) fn inputs(&mut self) -> Result<(), Error> {
        self.check_input_shapes()?;
        for (k, index) in self.sub.inputs.iter().enumerate() {
            let place = format!("input {k}");
            let Some(tensor) = self.sub.tensor(index) else {
                return Err(Error::malformed(place, format!("there is no tensor {index}")));
            };
            let place = format!("{place} \"{}\"", tensor.name);
            self.budget.charge(OPERATOR_BYTES)?;
            if !matches!(self.slot(index), Slot::Empty) {
                return Err(Error::malformed(place, "the same tensor is an input twice"));
            }
            let given = self.options.input_shapes.iter().position(|shape| self.is_of(shape, tensor.name));
            let slot = match self.input_type(tensor, given) {
                Err(refusal) => {
                    self.refuse(place, None, refusal)?;
                    Slot::Refused
                }
                Ok((ty, sizes)) => {
                    let input = self.graph.add_input(tensor.name.text(), ty);
                    match self.tensor_type(tensor) {
                        Ok(ty) => Slot::Value(self.same_number(input, Type { shape: sizes, ..ty })),
                        Err(refusal) => {
                            self.refuse(place, None, refusal)?;
                            Slot::Refused
                        }
                    }
                }
            };
            self.set_slot(index, slot);
        }
        Ok(())
    }

    /// The type of an input as the file stores it, with the sizes that were given, and these.
    fn input_type(&mut self, tensor: &Tensor<'a>, given: Option<usize>) -> Lowered<(Type, crate::ir::Shape)> {
        let mut ty = self.stored_type(tensor)?;
        if is_wide_unsigned(tensor) {
            return Err(unsigned_interface());
        }
        let open = tensor.open_axes();
        match given {
            Some(index) => {
                let given =
                    self.options.input_shapes.get(index).map(|shape| shape.dims.clone()).unwrap_or_default();
                let stated = ty.shape.dims();
                let fixed = (0..stated.len())
                    .find(|axis| !open.contains(axis) && given.get(*axis) != stated.get(*axis));
                let what = match fixed {
                    _ if given.len() != stated.len() => {
                        Some(format!("{given:?} has {} axes, the input has {}", given.len(), stated.len()))
                    }
                    Some(axis) => Some(format!("the file fixes the size of axis {axis}: {}", wanted(tensor))),
                    None => None,
                };
                if let Some(what) = what {
                    return Err(Refusal::Fatal(Error::Options(Problem {
                        place: format!("option `input_shape` {} of {:?}", index + 1, tensor.name.text()),
                        what,
                        help: format!("give sizes for the open axes: {}", self.way_out(tensor)),
                    })));
                }
                check_size(ty.dtype, &given)?;
                self.is_resized |= given != stated;
                if open.contains(&0) {
                    self.batch = given.first().copied().unwrap_or(1);
                }
                ty.shape.0 = given;
            }
            // An open first axis is the batch, of one.
            None if open.iter().all(|&axis| axis == 0) => {}
            None => {
                let open: Vec<usize> = open.into_iter().filter(|&axis| axis > 0).collect();
                let what = format!("the sizes of axes {open:?} of its shape {} are open", wanted(tensor));
                let help = format!(
                    "give them: {}; or convert the model with a fixed input shape",
                    self.way_out(tensor)
                );
                return Err(Refusal::unsupported(what, help));
            }
        }
        let sizes = ty.shape.clone();
        Ok((ty, sizes))
    }

    /// The option to write for an input.
    fn way_out(&self, tensor: &Tensor<'a>) -> String {
        match self.sub.inputs.len() {
            1 => format!("input_shape({})", wanted(tensor)),
            _ => format!("input_shape({:?}, {})", tensor.name.text(), wanted(tensor)),
        }
    }

    /// Whether a shape is given for the input of that name. Names may be given without what exporters put around them:
    /// `audio` of `serving_default_audio:0`.
    fn is_of(&self, shape: &InputShape, name: Name<'_>) -> bool {
        let name = name.text();
        let bare = name.strip_prefix("serving_default_").unwrap_or(&name);
        let bare = bare.strip_suffix(":0").unwrap_or(bare);
        match &shape.name {
            None => self.sub.inputs.len() == 1,
            Some(given) => *given == name || *given == bare,
        }
    }

    /// Refuses shapes of inputs that the model does not have, and several of one input.
    fn check_input_shapes(&self) -> Result<(), Error> {
        let names: Vec<Name<'_>> =
            self.sub.inputs.iter().take(64).filter_map(|index| Some(self.sub.tensor(index)?.name)).collect();
        let list: Vec<String> = names.iter().take(8).map(|name| format!("{:?}", name.text())).collect();
        for (index, shape) in self.options.input_shapes.iter().enumerate() {
            let mut of = names.iter().filter(|name| self.is_of(shape, **name));
            let (first, second) = (of.next(), of.next());
            let earlier = self.options.input_shapes.iter().take(index);
            let twice = first.is_some_and(|name| earlier.clone().any(|other| self.is_of(other, *name)));
            let what = match (&shape.name, first) {
                (None, None) => format!("the model has {} inputs", self.sub.inputs.len()),
                (Some(name), None) => format!("the model has no input {name:?}"),
                (_, Some(_)) if second.is_some() => "several inputs have this name".into(),
                (_, Some(_)) if twice => "the same input is given a shape twice".into(),
                _ => continue,
            };
            return Err(Error::Options(Problem {
                place: format!("option `input_shape` {}", index + 1),
                what,
                help: format!("give each input its shape by name; they are {}", list.join(", ")),
            }));
        }
        Ok(())
    }
}

/// A shape with question marks for sizes that are to be given.
fn wanted(tensor: &Tensor<'_>) -> String {
    let open = tensor.open_axes();
    let size = |(axis, size): (usize, i32)| match open.contains(&axis) {
        true if axis == 0 => "1".to_string(),
        true => "?".to_string(),
        false => size.to_string(),
    };
    format!("[{}]", tensor.shape.iter().take(64).enumerate().map(size).collect::<Vec<_>>().join(", "))
}
