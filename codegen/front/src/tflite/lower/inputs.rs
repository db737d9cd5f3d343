//! Inputs, and the sizes that the file leaves open: the option `input_shape`.

use super::tensor::{check_size, is_wide_unsigned, some_elements};
use super::{unsigned_interface, Importer, Lowered, Refusal, Slot, OPERATOR_BYTES};
use crate::interface::{self, Wanted};
use crate::tflite::schema::Tensor;
use kiln_ir::error::{Error, Problem};
use kiln_ir::Type;

impl<'m, 'a> Importer<'m, 'a> {
    /// Adds all inputs of the model to the graph.
    pub(super) fn inputs(&mut self) -> Result<(), Error> {
        let inputs = self.sub.inputs;
        let names: Vec<String> = inputs
            .iter()
            .take(64)
            .filter_map(|index| Some(self.sub.tensor(index)?.name.text().into()))
            .collect();
        interface::check_input_shapes(&self.options.input_shapes, &names)?;
        if !self.options.channels_last.is_empty() {
            return Err(Error::Options(Problem {
                place: "option `channels_last`".into(),
                what: "images of TensorFlow Lite models are already channel-last".into(),
                help: "remove the option: it is for ONNX models".into(),
            }));
        }
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
            let slot = match self.input_type(tensor) {
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
    fn input_type(&mut self, tensor: &Tensor<'a>) -> Lowered<(Type, kiln_ir::Shape)> {
        let mut ty = self.stored_type(tensor)?;
        if is_wide_unsigned(tensor) {
            return Err(unsigned_interface());
        }
        let open = tensor.open_axes();
        let name = tensor.name.text().into_owned();
        let input = Wanted::of(self.options, name, self.sub.inputs.len(), &wanted(tensor));
        match input.given {
            Some((_, given)) => {
                let stated = ty.shape.dims();
                let fixed = (0..stated.len())
                    .find(|axis| !open.contains(axis) && given.get(*axis) != stated.get(*axis));
                if given.len() != stated.len() {
                    let what =
                        format!("{given:?} has {} axes, but the input has {}", given.len(), stated.len());
                    return Err(input.misfit(what));
                }
                if let Some(axis) = fixed {
                    let what = format!("the file fixes the size of axis {axis}: {}", wanted(tensor));
                    return Err(input.misfit(what));
                }
                check_size(ty.dtype, given)?;
                self.is_resized |= given != stated;
                if open.contains(&0) {
                    self.batch = given.first().copied().unwrap_or(1);
                }
                ty.shape.0 = given.to_vec();
            }
            // An open first axis is the batch, of one.
            None if open.iter().all(|&axis| axis == 0) => {}
            None => {
                let open: Vec<usize> = open.into_iter().filter(|&axis| axis > 0).collect();
                let what = format!("the sizes of axes {open:?} of its shape {} are open", wanted(tensor));
                let help = format!(
                    "state them with {}, or convert the model with a fixed input shape",
                    input.way_out
                );
                return Err(Refusal::unsupported(what, help));
            }
        }
        some_elements(&ty, "an input")?;
        let sizes = ty.shape.clone();
        Ok((ty, sizes))
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
