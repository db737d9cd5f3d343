//! Outputs.

use super::{Arg, Importer, Refusal, OPERATOR_BYTES};
use crate::onnx::lower::describe;
use kiln_ir::error::Error;
use kiln_ir::{DType, Data, Type, ValueDef};

impl<'p> Importer<'_, 'p> {
    /// Adds an output.
    pub(in crate::torch) fn output(&mut self, name: &str, arg: &'p Arg) -> Result<(), Error> {
        self.means.budget.charge(OPERATOR_BYTES)?;
        let value = match arg {
            Arg::Tensor(of) | Arg::Computed(of) => self
                .refresh(of)
                .and_then(|()| self.slots.get(of.as_str()).copied().flatten().ok_or(Refusal::Follows)),
            &Arg::Int(number) => {
                let ty = Type::plain(DType::I64, &[]);
                Ok(self.means.graph.add_const(name, ty, Data::from_ints(DType::I64, [number])))
            }
            _ => Err(Refusal::unsupported("it is no tensor", "remove it from the outputs")),
        };
        let value = value.and_then(|value| {
            let ty = self.means.graph.ty(value);
            match ty.shape.numel() {
                0 => {
                    let what = format!("it is {} and has no elements", describe(ty));
                    Err(Refusal::unsupported(what, "remove it from the outputs"))
                }
                _ => Ok(value),
            }
        });
        match value {
            Ok(value) => {
                let output = self.means.output(name, value)?;
                let value = self.means.graph.value_mut(output);
                if matches!(value.def, ValueDef::Node(_)) {
                    name.clone_into(&mut value.name);
                }
                self.means.graph.outputs.push(output);
                Ok(())
            }
            Err(refusal) => self.means.report.refuse(format!("output \"{name}\""), None, refusal),
        }
    }
}
